"""The study from start to verdict and charts: two systems, two file systems each, a turbo; killed once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collector.models import Run
from collector.store import load_run
from tests.integration.conftest import ROOT, environment
from tests.integration.lab_machine import LabMachine
from tests.lab import lab
from tests.standin_tpcc import archive

if TYPE_CHECKING:
    from conftest import Perflab

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("the_lab")]

HOSTS = ("debian12", "debian13")
INVENTORY = (
    *("-i", "tests/lab/inventory/lab.yml", "-i", "tests/lab/inventory/os_compare.yml"),
    *("--limit", "debian12,debian13,x86"),
)
KILLED_AFTER = 12  # points: some of every kind are still to come
TIMEOUT_S = 1500
RUN_ID = "20261130T101500Z-os_compare"


def inputs(cache: Path) -> str:
    """A database of the stand-in's, small enough for a loop file; the rest is what the profile smoke says."""
    return json.dumps(
        {
            "os_compare_profile": "smoke",
            # Never asked: it is in the cache.
            "tpcc_mysql_source_url": f"https://sources.invalid/{archive.NAME}",
            "tpcc_mysql_source_sha256": archive.write(cache),
            "tpcc_mysql_source_cache": str(cache),
            "tpcc_mysql_warehouse_mb": 10,
            "mysql_buffer_pool_mb": 64,
            "mysql_redo_log_mb": 32,
        }
    )


def left_behind(host: LabMachine) -> str:
    """Whatever of perflab's still runs, is mounted or lies there, but for programs."""
    return host.shell(
        "cd /var/lib/perflab && ls -d os_compare filesystems/* runs/*/* 2>/dev/null;"
        "findmnt --noheadings --output TARGET | grep perflab/;"
        "losetup --noheadings --output BACK-FILE | grep os_compare;"
        "cat /proc/[0-9]*/comm | grep -E 'mariadbd|mysqld|fio|sysbench|tpcc'; true"
    )


def test_from_start_to_verdict_killed_once_and_resumed(perflab: Perflab, tmp_path: Path) -> None:
    machines = {machine.name: LabMachine(machine) for machine in lab.up([*HOSTS, "x86"])}
    knobs = machines["x86"].knobs()
    arguments = ("-e", inputs(tmp_path / "sources"))
    run = perflab.runs / RUN_ID

    with (tmp_path / "killed.log").open("w") as log:
        killed = subprocess.Popen(
            perflab.playbook_argv("os_compare.yml", *INVENTORY, *arguments, "-e", f"run_id={RUN_ID}"),
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(),
        )  # fmt: skip
    deadline = time.monotonic() + TIMEOUT_S
    while len(list(run.glob("*/*/point.json"))) < KILLED_AFTER:
        assert killed.poll() is None, (tmp_path / "killed.log").read_text()[-8000:]
        assert time.monotonic() < deadline, (tmp_path / "killed.log").read_text()[-8000:]
        time.sleep(0.5)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    before = {path: path.stat().st_mtime_ns for path in run.glob("*/*/point.json")}

    resumed = perflab.collector(
        "run", "os_compare", *INVENTORY, *arguments, "--resume", str(run), timeout_s=TIMEOUT_S
    )
    assert resumed.returncode == 0, (
        resumed.stdout + resumed.stderr + (run / "ansible.log").read_text()[-8000:]
    )

    # Every point was measured, the first ones only once, and what was swept is what the profile says.
    tree = load_run(run)
    assert not tree.missing
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert all(point.failure is None for point in tree.points), [point.failure for point in tree.points]
    swept = _swept(tree.run)
    for host in HOSTS:
        system = f"Debian {host.removeprefix('debian')}"
        assert swept[host, "fio"] == {
            (filesystem, system, size, threads)
            for filesystem in ("ext4", "xfs")
            for size in ("4K", "16K")
            for threads in (1, 4)
        }
        assert {what[:2] for what in swept[host, "tpcc_mysql"]} == {("ext4", system), ("xfs", system)}
        assert swept[host, "sysbench_memory"]
    assert {what[1] for what in swept["x86", "sysbench_cpu"]} == {"on", "off"}
    assert {p.point.observed.turbo for p in tree.points if p.point.host == "x86"} == {"on", "off"}

    # The hosts are as they were: nothing runs, is mounted or lies there, and turbo is as it was found.
    assert {name: left_behind(machine) for name, machine in machines.items()} == dict.fromkeys(machines, "")
    assert machines["x86"].knobs() == knobs
    stored = b"".join(path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert (
        stored.count(b"{secret:mysql}") >= 2 * 4
    )  # both echoes, of two connection counts on two file systems

    for words in ("CPU events", "memory throughput", "fio IOPS", "fio read latency", "TPC-C throughput"):
        assert words in resumed.stdout
    assert "does turbo off cost or gain?" in resumed.stdout
    assert "tool versions differ" in resumed.stdout  # Debian 12 and 13 have other versions of fio
    drawn = perflab.collector("plot", str(run))
    assert drawn.returncode == 0, drawn.stderr
    charts = [Path(line) for line in drawn.stdout.splitlines()]
    assert {path.suffix for path in charts} == {".png", ".svg"}
    assert all(path.stat().st_size > 10_000 for path in charts)


def _swept(run: Run) -> dict[tuple[str, str], set[tuple[object, ...]]]:
    """What was varied, by host and workload: levels by factor, then block size, threads or connections."""
    found: dict[tuple[str, str], set[tuple[object, ...]]] = {}
    for point in run.points:
        settings = [
            point.params[name] for name in ("block_size", "threads", "connections") if name in point.params
        ]
        levels = [level for _, level in sorted(point.factors.items())]
        found.setdefault((point.host, point.workload), set()).add((*levels, *settings))
    return found

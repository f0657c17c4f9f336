"""A CPU bandwidth limit on a real process of this machine, through the module."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ansible_collections.perflab.bench.plugins.module_utils.cpu_quota import find_hierarchy

from tests.unit.plugins.adhoc import run_module

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or find_hierarchy() is None,
    reason="needs root and a cgroup hierarchy with the cpu controller",
)
SYSTEMD = Path("/run/systemd/system").is_dir()
UNIT = "perflab-test-busy.service"
BUSY = [sys.executable, "-c", "while True: pass"]


@contextmanager
def run_busy(*prefix: str) -> Iterator[int]:
    """Run a busy loop, behind the words *prefix*; give its process id."""
    process = subprocess.Popen([*prefix, *BUSY])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def cpu_share(pid: int, seconds: float) -> float:
    """Return the share of one CPU that *pid* gets over *seconds*."""

    def used() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before, since = used(), time.monotonic()
    time.sleep(seconds)
    return (used() - before) / (time.monotonic() - since)


@pytest.fixture()
def busy(tmp_path: Path) -> Iterator[int]:
    """A process that takes all the CPU it gets, as a unit where systemd runs, else with a pid file."""
    if SYSTEMD:
        subprocess.run(["systemd-run", "--unit", UNIT, *BUSY], check=True)
        show = ["systemctl", "show", UNIT, "--property=MainPID", "--value"]
        yield int(subprocess.run(show, check=True, capture_output=True, text=True).stdout)
        subprocess.run(["systemctl", "stop", UNIT], check=True)
        return
    with run_busy() as pid:
        (tmp_path / "busy.pid").write_text(f"{pid}\n")
        yield pid


def test_a_busy_process_gets_its_share_and_so_does_its_client(busy: int, tmp_path: Path) -> None:
    arguments = {"unit": UNIT, "pid_file": str(tmp_path / "busy.pid")}
    groups = Path(f"/proc/{busy}/cgroup").read_text()
    try:
        assert run_module("cpu_quota", "--check", quota="38%", **arguments)["changed"]
        assert Path(f"/proc/{busy}/cgroup").read_text() == groups

        done = run_module("cpu_quota", quota="38%", **arguments)
        assert done["changed"] and done["after"]["server"] == {"quota_us": 3800, "period_us": 10000}
        assert not run_module("cpu_quota", quota="38%", **arguments)["changed"]
        # Other work on this machine can take more away, but the limit is the limit.
        assert cpu_share(busy, 2) < 0.45
        counts = dict(line.split() for line in Path(done["throttle_file"]).read_text().splitlines())
        assert int(counts["nr_throttled"]) > 0

        with run_busy(*done["client_prefix"]) as client:
            time.sleep(0.5)
            assert cpu_share(client, 2) < 0.45
    finally:
        lifted = run_module("cpu_quota", state="absent", **arguments)
    assert lifted["changed"] and lifted["after"]["server"] is None
    assert Path(f"/proc/{busy}/cgroup").read_text() == groups
    assert not run_module("cpu_quota", state="absent", **arguments)["changed"]


def test_a_service_that_does_not_run(tmp_path: Path) -> None:
    pid_file = str(tmp_path / "none")
    failed = run_module("cpu_quota", quota="50%", unit="perflab-none.service", pid_file=pid_file)
    assert "does not run" in failed["msg"] and "start it" in failed["msg"]

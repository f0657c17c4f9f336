"""The main job, whole, on this machine: a real Redis, real steps, real logs, then the table."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from collector.models import Point, Run, Status
from collector.store import load_runs
from tests.integration.conftest import ROOT, SHORT_SWEEP, Perflab, environment

REDIS_PID = Path("/run/perflab-redis/redis.pid")
STATE = Path("/var/lib/perflab")


def _points(run: Path) -> list[Point]:
    return [Point.model_validate_json(path.read_text()) for path in sorted(run.glob("*/*/point.json"))]


def assert_put_back() -> None:
    """No server, no quota, no saved state, no point under way: the machine is as it was found."""
    assert not REDIS_PID.exists() or not Path(f"/proc/{REDIS_PID.read_text().strip()}").exists()
    assert not list(Path("/sys/fs/cgroup").glob("**/perflab/server"))
    assert not (STATE / "cpu_frequency.json").exists()
    assert not _runs("redis-benchmark")


def _runs(program: str) -> bool:
    return any(_text(process / "comm").strip() == program for process in Path("/proc").glob("[0-9]*"))


def test_sweep_then_summarize(perflab: Perflab) -> None:
    done = perflab.sweep("-e", "redis_benchmark_requests=20000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert_put_back()

    run_dir = perflab.only_run()
    run = Run.model_validate_json((run_dir / "run.json").read_text())
    points = _points(run_dir)
    assert run.run_id == run_dir.name
    assert {point.point_id for point in points} == {planned.point_id for planned in run.points}
    assert all(point.status is Status.OK for point in points)
    assert (run_dir / "localhost" / "host.json").exists()
    assert (run_dir / "ansible.log").stat().st_size > 1000

    # The limit was real: at half a CPU Redis is clearly slower than without.
    (tree,) = load_runs([run_dir])
    rates = {True: 0.0, False: 0.0}
    for loaded in tree.points:
        as_found = "as_found" in (loaded.point.factors.get("quota"), loaded.point.factors.get("frequency"))
        rates[as_found] += sum(sample.value for sample in loaded.parsed.samples if sample.metric == "rps")
    assert 0 < rates[False] < 0.9 * rates[True]

    table = perflab.collector("summarize", "--runs-dir", str(perflab.runs))
    assert table.returncode == 0, table.stderr
    assert "SET " in table.stdout
    assert "geometric mean" in table.stdout
    tidy = perflab.collector("summarize", str(run_dir), "--format", "json")
    assert json.loads(tidy.stdout)


def test_the_password_is_in_no_file_of_the_run(perflab: Perflab, tmp_path: Path) -> None:
    """Read the password while the run goes on, then look for it in all that was printed and kept."""
    auth = Path("/run/perflab-redis/auth.conf")
    passwords = set()
    output = tmp_path / "output"
    with output.open("w") as stream:
        sweep = subprocess.Popen(
            perflab.playbook_argv("freq_sweep.yml", "-i", "inventory/local", "-vvv", *SHORT_SWEEP),
            cwd=ROOT, stdout=stream, stderr=subprocess.STDOUT, env=environment(),
        )  # fmt: skip
        while sweep.poll() is None:
            passwords |= set(re.findall(r"requirepass \"?(\w+)", _text(auth)))
            time.sleep(0.1)
    assert sweep.returncode == 0, output.read_text()
    assert len(passwords) == 1
    (password,) = passwords
    for path in [output, *perflab.runs.rglob("*")]:
        assert path.is_dir() or password.encode() not in path.read_bytes(), path
    assert not auth.exists()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_check_mode_changes_nothing(perflab: Perflab) -> None:
    before = _machine()
    done = perflab.playbook("freq_sweep.yml", "-i", "inventory/local", "--check", "--diff", *SHORT_SWEEP)
    assert done.returncode == 0, done.stdout + done.stderr
    assert _machine() == before
    assert not perflab.runs.exists()


def _machine() -> list[str]:
    """All files that perflab could have touched, with their times."""
    paths = [
        path
        for folder in ("/var/lib/perflab", "/run/perflab-redis", "/etc/perflab-redis", "/opt/perflab")
        for path in [Path(folder), *sorted(Path(folder).rglob("*"))]
        if path.exists()
    ]
    return [f"{path} {path.lstat().st_mtime_ns}" for path in paths]


def _start_and_wait_for_a_limited_point(perflab: Perflab) -> subprocess.Popen[str]:
    """Start a sweep whose points take long, and return once one runs under the limit."""
    sweep = subprocess.Popen(
        perflab.playbook_argv(
            "freq_sweep.yml", "-i", "inventory/local", *SHORT_SWEEP,
            "-e", '{"freq_sweep_quotas": ["50%"], "freq_sweep_frequencies": ["min"]}',
            "-e", "redis_benchmark_requests=3000000",
        ),
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(),
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not _runs("redis-benchmark"):
        assert time.monotonic() < deadline
        assert sweep.poll() is None, sweep.communicate()[0]
        time.sleep(0.2)
    return sweep


def test_killed_half_way_then_restored(perflab: Perflab) -> None:
    sweep = _start_and_wait_for_a_limited_point(perflab)
    os.kill(sweep.pid, signal.SIGKILL)
    sweep.communicate()
    with pytest.raises(AssertionError):
        assert_put_back()  # nobody could: this is what restore.yml is for

    done = perflab.playbook("restore.yml", "-i", "inventory/local")
    assert done.returncode == 0, done.stdout
    assert_put_back()
    again = perflab.playbook("restore.yml", "-i", "inventory/local")
    assert "changed=0" in again.stdout, again.stdout


def test_interrupted_then_put_back_then_resumed(perflab: Perflab) -> None:
    sweep = _start_and_wait_for_a_limited_point(perflab)
    os.kill(sweep.pid, signal.SIGINT)
    output = sweep.communicate(timeout=120)[0]
    assert sweep.returncode != 0
    assert "restor" in output.lower()
    assert_put_back()

    run = perflab.only_run()
    assert not any(point.status is Status.OK for point in _points(run))
    # The plan is the run's: the same requests, though this time they are few enough to finish.
    table = perflab.collector("summarize", str(run))
    assert "missing" in table.stdout + table.stderr or "interrupted" in table.stdout + table.stderr


def test_a_failed_benchmark_is_a_gap_and_the_host_is_put_back(perflab: Perflab) -> None:
    done = perflab.sweep("-e", "redis_benchmark_timeout_s=1", "-e", "redis_benchmark_requests=3000000")
    assert done.returncode == 1, done.stdout + done.stderr
    points = _points(perflab.only_run())
    assert [point.status for point in points] == [Status.TIMEOUT, Status.TIMEOUT]
    assert all(point.reason for point in points)
    assert "timeout" in done.stdout + done.stderr
    assert_put_back()


def test_an_unreachable_host_is_reported_once_and_holds_nobody_up(perflab: Perflab, tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(
        "all:\n"
        "  hosts:\n"
        "    localhost:\n"
        "      ansible_connection: local\n"
        "      ansible_python_interpreter: '{{ ansible_playbook_python }}'\n"
        "    gone: {ansible_host: 127.0.0.1, ansible_port: 1}\n"
        "  vars: {cpu_frequency_method: auto, cpu_frequency_nearest: true}\n"
    )
    done = perflab.collector(
        "run", "freq_sweep", "-i", str(inventory), "--runs-dir", str(perflab.runs), *SHORT_SWEEP
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert len([line for line in output.splitlines() if line.startswith("gone: unreachable")]) == 1, output
    run_dir = perflab.only_run()
    assert len(_points(run_dir)) == 2
    planned = Run.model_validate_json((run_dir / "run.json").read_text())
    assert {point.host for point in planned.points} == {"localhost", "gone"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "freq_swep", "-i", "inventory/local"], ["freq_swep", "freq_sweep"]),
        (["run", "freq_sweep", "-i", "inventory/nowhere"], ["inventory/nowhere"]),
        (["run", "freq_sweep", "-i", "inventory/local", "--limit", "nobody"], ["nobody"]),
        (["summarize", "--runs-dir", "/nonexistent"], ["/nonexistent"]),
        (["summarize", "examples/kunpeng-frequency", "--metric", "rpz"], ["rpz", "rps"]),
        (["sumarize"], ["summarize"]),
    ],
)
def test_bad_input_is_one_clear_line(perflab: Perflab, arguments: list[str], words: list[str]) -> None:
    done = perflab.collector(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_an_unknown_frequency_is_refused_before_anything_is_changed(perflab: Perflab) -> None:
    before = _machine()
    done = perflab.sweep(
        "-e", '{"freq_sweep_frequencies": ["2.5 furlongs"], "freq_sweep_quotas": ["2.5 furlongs"]}'
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert "2.5 furlongs" in output
    assert _machine() == before


def test_a_host_of_the_frequency_that_nobody_knows_is_not_connected_to(perflab: Perflab) -> None:
    done = perflab.sweep("-e", "cpu_frequency_host=nobody")
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert "cpu_frequency_host of localhost is 'nobody', which the inventory does not have" in output

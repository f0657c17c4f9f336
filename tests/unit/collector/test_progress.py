"""How far a run is: read from its folder, shown on a terminal and in a pipe."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from collector.models import Status
from collector.progress import Progress, describe
from collector.progress_view import ProgressView

_START = datetime(2026, 11, 30, 10, tzinfo=UTC)
_LOG = b"PING_INLINE: 1000.00 requests per second\n"


class RunFolder:
    """A run whose points are written one by one: two frequencies and two repeats on every host."""

    def __init__(self, path: Path, hosts: tuple[str, ...] = ("kunpeng1",)) -> None:
        self.path = path
        self.points = [
            {
                "point_id": f"{order:03d}", "host": host, "workload": "redis_benchmark",
                "factors": {"frequency": frequency, "turbo": "as_found"}, "params": {},
                "repeat": repeat, "order": order,
            }
            for host in hosts
            for order, (repeat, frequency) in enumerate(
                [(1, "2GHz"), (1, "1GHz"), (2, "2GHz"), (2, "1GHz")], start=1
            )
        ]  # fmt: skip

    def write_plan(self) -> None:
        run = {
            "schema": 1, "run_id": self.path.name, "study": "freq_sweep", "playbook": None, "revision": None,
            "versions": {}, "seed": 1, "profile": None, "started_at": _START.isoformat(), "hosts": [],
            "points": self.points,
        }  # fmt: skip
        self.path.mkdir(exist_ok=True)
        (self.path / "run.json").write_text(json.dumps(run))

    def finish(self, index: int, *, start_s: float = 0, duration_s: float = 10, **changes: Any) -> None:
        planned = self.points[index]
        point = planned | {
            "schema": 1, "run_id": self.path.name, "study": "freq_sweep", "argv": [], "tool_version": None,
            "setting": None, "observed": {}, "duration_s": duration_s, "rc": 0, "status": "ok",
            "reason": None, "started_at": (_START + timedelta(seconds=start_s)).isoformat(),
            "finished_at": (_START + timedelta(seconds=start_s + duration_s)).isoformat(),
            "logs": [{"name": "redis-benchmark.txt", "bytes": len(_LOG), "sha256": sha256(_LOG).hexdigest()}],
        } | changes  # fmt: skip
        folder = self.path / str(planned["host"]) / str(planned["point_id"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "redis-benchmark.txt").write_bytes(_LOG)
        (folder / "point.json").write_text(json.dumps(point))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")


def _polled(folder: RunFolder) -> Progress:
    progress = Progress(folder.path)
    progress.poll()
    return progress


def test_nothing_is_known_before_the_plan(folder: RunFolder) -> None:
    progress = Progress(folder.path)
    assert progress.poll() == []
    assert (progress.planned, progress.missing) == ([], 0)
    folder.write_plan()
    progress.poll()
    assert (len(progress.planned), progress.missing) == (4, 4)


def test_every_point_is_told_once_as_it_finishes(folder: RunFolder) -> None:
    folder.write_plan()
    progress = _polled(folder)
    assert progress.next_point("kunpeng1") == progress.planned[0]
    folder.finish(0)
    assert [finished.planned.point_id for finished in progress.poll()] == ["001"]
    assert progress.poll() == []
    assert progress.next_point("kunpeng1") == progress.planned[1]
    assert progress.next_point("kunpeng2") is None
    assert (progress.missing, progress.failed) == (3, 0)


@pytest.mark.parametrize(
    ("changes", "status", "reason"),
    [
        ({"status": "failed", "reason": "refused"}, Status.FAILED, "refused"),
        ({"status": "timeout", "reason": "over 900 s"}, Status.TIMEOUT, "over 900 s"),
        (
            {"logs": [{"name": "gone.txt", "bytes": 1, "sha256": "0"}]},
            Status.FAILED,
            "gone.txt: cannot be read",
        ),
        ({"schema": 2}, Status.FAILED, "its point.json cannot be read"),
    ],
)
def test_a_failed_point_has_a_reason(
    folder: RunFolder, changes: dict[str, Any], status: Status, reason: str
) -> None:
    folder.write_plan()
    folder.finish(0, **changes)
    progress = Progress(folder.path)
    (finished,) = progress.poll()
    assert finished.status is status
    assert finished.reason is not None
    assert reason in finished.reason
    assert progress.failed == 1


def test_an_interrupted_point_is_not_finished_until_it_is_measured_again(folder: RunFolder) -> None:
    folder.write_plan()
    folder.finish(0, status="interrupted", reason="ended by a signal")
    progress = _polled(folder)
    assert progress.missing == 4
    folder.finish(0)
    assert len(progress.poll()) == 1


def test_time_left_follows_what_points_took(folder: RunFolder) -> None:
    folder.write_plan()
    progress = _polled(folder)
    now = _START + timedelta(seconds=32)
    assert progress.left_s({"kunpeng1"}, now) is None
    folder.finish(0, start_s=0, duration_s=10)
    folder.finish(1, start_s=12, duration_s=20)
    progress.poll()
    # 10 s at 2 GHz and 20 s at 1 GHz again, each after a pause of 2 s
    assert progress.left_s({"kunpeng1"}, now) == pytest.approx(34)
    assert progress.left_s({"kunpeng1"}, now + timedelta(seconds=4)) == pytest.approx(30)
    assert progress.left_s(set(), now) == 0


def test_tools_that_run_for_a_set_time_tell_it_beforehand(folder: RunFolder) -> None:
    for point, time_s in zip(folder.points, (30, 60, 60, 900), strict=True):
        point["params"] = {"time_s": time_s, "warmup_s": 5}
    folder.write_plan()
    progress = _polled(folder)
    now = _START + timedelta(seconds=37)
    assert progress.left_s({"kunpeng1"}, now) == pytest.approx(30 + 60 + 60 + 900 + 4 * 5)
    folder.finish(0, start_s=0, duration_s=37)  # 2 s beyond what was set, which the others will need too
    progress.poll()
    assert progress.left_s({"kunpeng1"}, now) == pytest.approx(60 + 60 + 900 + 3 * (5 + 2))


def test_hosts_work_side_by_side(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", ("kunpeng1", "kunpeng2"))
    folder.write_plan()
    folder.finish(0, duration_s=10)
    progress = _polled(folder)
    now = _START + timedelta(seconds=10)
    assert progress.left_s({"kunpeng1", "kunpeng2"}, now) == pytest.approx(40)  # kunpeng2 has all four to do
    assert progress.left_s({"kunpeng1"}, now) == pytest.approx(30)


def test_a_point_in_words(folder: RunFolder) -> None:
    folder.write_plan()
    progress = _polled(folder)
    assert describe(progress.planned[0]) == "2.0 GHz, repeat 1, redis_benchmark"
    as_found = progress.planned[0].model_copy(
        update={"factors": {"frequency": "as_found", "turbo": "as_found"}}
    )
    assert describe(as_found, with_workload=False) == "as found, repeat 1"
    quota = progress.planned[0].model_copy(update={"factors": {"quota": "77%", "turbo": "off"}})
    assert describe(quota, with_workload=False) == "quota 77%, turbo off, repeat 1"
    swept = progress.planned[0].model_copy(
        update={
            "workload": "fio",
            "factors": {"filesystem": "xfs"},
            "params": {"block_size": "4K", "threads": 12, "iodepth": 16},
        }
    )
    assert describe(swept) == "xfs, repeat 1, fio 4K, 12 threads"
    assert describe(swept, with_workload=False) == "xfs, repeat 1, 4K, 12 threads"


def _shown(folder: RunFolder, *, terminal: bool, width: int = 130) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=width, color_system=None, legacy_windows=False)
    progress = Progress(folder.path)
    with ProgressView("freq_sweep", progress, console) as view:
        view.phase("redis", "redis: Install the package")
        folder.write_plan()
        view.activity("kunpeng1", "1.0 GHz, repeat 1, redis_benchmark")
        folder.finish(0)
        folder.finish(1, status="failed", reason="Redis closed the connection")
        for finished in progress.poll():
            view.finished(finished)
        view.refresh()
    return out.getvalue()


def test_a_pipe_gets_a_plain_line_a_point(folder: RunFolder) -> None:
    lines = _shown(folder, terminal=False).splitlines()
    assert [line.split("   ")[-1] for line in lines[:2]] == [
        "redis: Install the package",
        "kunpeng1: ok  2.0 GHz, repeat 1, redis_benchmark",
    ]
    assert lines[1].startswith("freq_sweep  2 of 4 points   00:00:0")
    assert lines[2] == (
        f"kunpeng1: failed  1.0 GHz, repeat 1: Redis closed the connection "
        f"(log: {folder.path}/kunpeng1/002)   1 failed, run goes on"
    )
    assert len(lines) == 3


@pytest.mark.parametrize("width", [80, 130])
def test_a_terminal_gets_a_bar_that_goes_away(folder: RunFolder, width: int) -> None:
    shown = _shown(folder, terminal=True, width=width)
    assert "━" in shown
    assert "2 of 4 points" in shown
    assert "kunpeng1: 1.0 GHz, repeat 1, redis_benchmark" in shown
    assert "kunpeng1: failed  1.0 GHz, repeat 1: Redis closed the connection" in shown
    assert "kunpeng1: ok" not in shown  # the bar tells
    assert shown.rstrip().endswith("\x1b[2K")


def test_many_hosts_are_counted(tmp_path: Path) -> None:
    hosts = tuple(f"host{number:02}" for number in range(20))
    folder = RunFolder(tmp_path / "run", hosts)
    folder.write_plan()
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, height=30, color_system=None)
    with ProgressView("freq_sweep", _polled(folder), console) as view:
        for host in hosts:
            view.activity(host, "redis: Start")
        view.refresh()
    assert "host07: redis: Start" in out.getvalue()
    assert "host08" not in out.getvalue()
    assert "and 12 more hosts" in out.getvalue()

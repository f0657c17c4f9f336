"""Writes small run trees for tests: redis-benchmark -q logs with the numbers that a test wants."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STARTED = "2026-11-30T10:15:00Z"


@dataclass
class Written:
    """One point as a test describes it; `rps` None is a point that was planned but has no point.json.

    :param log: what the workload wrote, if it is not redis-benchmark's rates.
    :param step_logs: by name, what was written beside the workload: "ping-before.log".
    """

    factors: Mapping[str, str]
    rps: Mapping[str, float] | None
    repeat: int = 1
    host: str = "kunpeng1"
    params: Mapping[str, Any] = field(default_factory=dict)
    status: str = "ok"
    reason: str | None = None
    tool_version: str | None = None
    setting: Mapping[str, Any] | None = None
    observed: Mapping[str, Any] = field(default_factory=dict)
    workload: str = "redis_benchmark"
    log: str | None = None
    step_logs: Mapping[str, str] = field(default_factory=dict)
    duration_s: float = 1.0


def repeats(factors: Mapping[str, str], *rps: Mapping[str, float] | None, **others: Any) -> list[Written]:
    """A condition's points: one a mapping of test to rps."""
    return [Written(factors, one, repeat, **others) for repeat, one in enumerate(rps, start=1)]


def clock(low: float, median: float, high: float) -> dict[str, Any]:
    """What point.json holds as `observed` for a clock in GHz."""
    khz = {"min": low * 1e6, "median": median * 1e6, "max": high * 1e6, "samples": 5}
    return {"frequency_khz": khz}


def write_run(
    folder: Path,
    points: Sequence[Written],
    study: str = "freq_sweep",
    profiles: Mapping[str, Mapping[str, Any]] | None = None,
    started_at: str = STARTED,
) -> Path:
    """Write the run tree into `folder`, whose name is the run's id."""
    planned = []
    for order, point in enumerate(points, start=1):
        plan = {
            "point_id": f"{order:03d}-{point.workload}-r{point.repeat}",
            "host": point.host,
            "workload": point.workload,
            "factors": dict(point.factors),
            "params": dict(point.params),
            "repeat": point.repeat,
            "order": order,
        }
        planned.append(plan)
        if point.rps is not None:
            _write_point(folder, study, point, plan)
    hosts = list(dict.fromkeys(point.host for point in points))
    run = {
        "schema": 1,
        "run_id": folder.name,
        "study": study,
        "playbook": None,
        "revision": None,
        "versions": {},
        "seed": None,
        "profile": None,
        "started_at": started_at,
        "hosts": hosts,
        "points": planned,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(run))
    for host, profile in (profiles or {}).items():
        document = {"schema": 1, "host": host, "collected_at": STARTED, **profile}
        (folder / host).mkdir(exist_ok=True)
        (folder / host / "host.json").write_text(json.dumps(document))
    return folder


def _write_point(folder: Path, study: str, point: Written, plan: Mapping[str, Any]) -> None:
    home = folder / point.host / plan["point_id"]
    home.mkdir(parents=True)
    rates = "".join(f"{test}: {rps:.2f} requests per second\n" for test, rps in (point.rps or {}).items())
    log = (rates if point.log is None else point.log).encode()
    logs = [_write_log(home / "stdout.log", log)]
    for name, text in point.step_logs.items():
        step = "after" if "-after" in name else "before"
        logs.append(_write_log(home / name, text.encode()) | {"step": step})
    document = {
        "schema": 1,
        "run_id": folder.name,
        "study": study,
        **plan,
        "argv": ["redis-benchmark", "-q"],
        "tool_version": point.tool_version,
        "setting": point.setting,
        "observed": point.observed,
        "started_at": STARTED,
        "finished_at": STARTED,
        "duration_s": point.duration_s,
        "rc": 0 if point.status == "ok" else 1,
        "status": point.status,
        "reason": point.reason,
        "logs": logs,
    }
    (home / "point.json").write_text(json.dumps(document))


def _write_log(file: Path, content: bytes) -> dict[str, Any]:
    file.write_bytes(content)
    return {"name": file.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

"""Makes a run tree from logs that Ansible did not make: a colleague's, a blog's, a Windows host's."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from collector import __version__, levels, parsers
from collector.errors import CollectorError
from collector.models import (
    SCHEMA,
    Factors,
    FrequencyObserved,
    HostProfile,
    Log,
    Observed,
    Params,
    PlannedPoint,
    Point,
    Run,
    Status,
)
from collector.nearest import did_you_mean
from collector.parsers.text import decode
from collector.samples import Parsed
from collector.store import load_run, read_run

STUDIES = ("freq_sweep", "net_compare", "os_compare", "virt_compare")
_KHZ_PER_GHZ = 1e6
_FILE_NAME = re.compile(r"\w[\w.+-]*")


@dataclass(frozen=True)
class Source:
    """What was measured in some logs, and where: one condition on one host.

    :param host_info: parts of host.json, {"cpu": {"model": "Kunpeng 920"}}.
    :param observed_frequency: the clock that the host is known to have had, "2.6GHz".
    """

    study: str
    host: str
    workload: str
    factors: Factors
    params: Params = field(default_factory=dict)
    tool_version: str | None = None
    observed_frequency: str | None = None
    host_info: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def import_logs(
    logs: Sequence[Path], source: Source, runs_dir: Path, run_id: str, started_at: datetime
) -> list[Point]:
    """Write each log as a point, the next repeat of its condition, and return the points.

    The run is made, or extended. A log without a result becomes a failed point with a reason, as if Ansible
    had fetched it.

    :param started_at: when a new run was started, and a host's profile taken.
    :raises CollectorError: a log cannot be read or holds several runs, a word of *source* is unknown, or the
        run is of another study or has the log already. Nothing is written then.
    """
    source = _checked(source)
    _check_name("run", run_id)
    run_dir = runs_dir / run_id
    run = _open_run(run_dir, source.study, started_at)
    contents = [_read(log) for log in logs]
    known = _known_logs(run_dir) if run.points else {}
    points: list[Point] = []
    for log, content in zip(logs, contents, strict=True):
        digest = hashlib.sha256(content).hexdigest()
        if digest in known:
            raise CollectorError(f"is in the run already, as {known[digest]}", path=log)
        point = _point(source, [*run.points, *points], run.run_id, log, content)
        known[digest] = f"{point.host}/{point.point_id}"
        points.append(point)

    planned = [PlannedPoint(**point.model_dump(include=set(PlannedPoint.model_fields))) for point in points]
    run.hosts = sorted({*run.hosts, source.host})
    run.points += planned
    try:
        _write_json(run_dir / "run.json", run)
        _write_profile(run_dir / source.host / "host.json", source, started_at)
        for point, content in zip(points, contents, strict=True):
            folder = run_dir / point.host / point.point_id
            folder.mkdir(parents=True)
            (folder / point.logs[0].name).write_bytes(content)
            _write_json(folder / "point.json", point)
    except OSError as error:
        raise CollectorError(f"cannot be written: {error.strerror}", path=run_dir) from error
    return points


def _checked(source: Source) -> Source:
    """The source with canonical levels, if all its words are known."""
    if source.study not in STUDIES:
        raise CollectorError(f"no study {source.study!r}", remedy=did_you_mean(source.study, STUDIES))
    _check_name("host", source.host)
    parsers.workload(source.workload)
    return replace(
        source, factors={name: levels.canonical(name, level) for name, level in source.factors.items()}
    )


def _check_name(of: str, name: str) -> None:
    """Names become folders: none may lead elsewhere."""
    if not _FILE_NAME.fullmatch(name):
        raise CollectorError(f"{name!r} cannot be the name of a {of}", remedy="use letters, digits, . and -")


def _open_run(run_dir: Path, study: str, started_at: datetime) -> Run:
    if (run_dir / "run.json").exists():
        run = read_run(run_dir)
        if run.study != study:
            raise CollectorError(f"is a run of {run.study}, not of {study}", path=run_dir)
        return run
    return Run(
        schema_=SCHEMA,
        run_id=run_dir.name,
        study=study,
        playbook=None,
        revision=None,
        versions={"collector": __version__},
        seed=None,
        profile=None,
        started_at=started_at,
        hosts=[],
        points=[],
    )


def _known_logs(run_dir: Path) -> dict[str, str]:
    """Where the run has which log, by sha256."""
    return {
        log.sha256: f"{loaded.point.host}/{loaded.point.point_id}"
        for loaded in load_run(run_dir).points
        for log in loaded.point.logs
    }


def _read(log: Path) -> bytes:
    try:
        return log.read_bytes()
    except OSError as error:
        raise CollectorError(f"cannot be read: {error.strerror}", path=log) from error


def _point(
    source: Source, before: Sequence[PlannedPoint | Point], run_id: str, log: Path, content: bytes
) -> Point:
    """The point that *log* is, after the points *before* it."""
    parsed = parsers.parse(source.workload, decode(content))
    _refuse_several_runs(log, parsed)
    order = 1 + sum(point.host == source.host for point in before)
    condition = (source.host, source.workload, source.factors, source.params)
    repeat = 1 + sum((p.host, p.workload, p.factors, p.params) == condition for p in before)
    frequency = None
    if source.observed_frequency:
        khz = levels.gigahertz(source.observed_frequency) * _KHZ_PER_GHZ
        frequency = FrequencyObserved(min=khz, median=khz, max=khz, samples=0)
    slugs = (re.sub(r"[^\w.]+", "_", level) for level in source.factors.values())
    return Point(
        schema_=SCHEMA,
        run_id=run_id,
        point_id="-".join([f"{order:03d}", source.workload, *slugs, f"r{repeat}"]),
        study=source.study,
        host=source.host,
        workload=source.workload,
        factors=source.factors,
        params=source.params,
        repeat=repeat,
        order=order,
        argv=[],
        tool_version=source.tool_version,
        setting=None,
        observed=Observed(frequency_khz=frequency),
        started_at=None,
        finished_at=None,
        duration_s=None,
        rc=None,
        status=Status.FAILED if parsed.failure else Status.OK,
        reason=parsed.failure,
        logs=[Log(name=log.name, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())],
    )


def _refuse_several_runs(log: Path, parsed: Parsed) -> None:
    """A log with a test twice holds several conditions, or repeats: only a person can tell which."""
    first_run: dict[tuple[str, str], int] = {}
    for sample in parsed.samples:
        if first_run.setdefault((sample.test, sample.metric), sample.run) != sample.run:
            raise CollectorError(
                f"holds several runs, number {sample.run} begins before line {sample.line}",
                path=log,
                remedy="split it, one file a run; `collector parse` shows them",
            )


def _write_profile(file: Path, source: Source, collected_at: datetime) -> None:
    """Write host.json, or add to it; a host of which nothing was told has none."""
    if not source.host_info:
        return
    profile = HostProfile(schema_=SCHEMA, host=source.host, collected_at=collected_at)
    if file.exists():
        profile = HostProfile.model_validate_json(file.read_bytes())
    content = profile.model_dump(by_alias=True)
    for part, facts in source.host_info.items():
        content[part] = content.get(part, {}) | facts
    _write_json(file, HostProfile.model_validate(content))


def _write_json(file: Path, document: BaseModel) -> None:
    """Write a file that appears whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(document.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(file)

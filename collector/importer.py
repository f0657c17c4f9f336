"""Makes a run tree from logs that Ansible did not make: a colleague's, a blog's, a Windows host's."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
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
from collector.nearest import did_you_mean, nearest
from collector.parsers.text import decode
from collector.samples import Parsed
from collector.store import load_run, read_profile, read_run

STUDIES = tuple(levels.MAIN_FACTORS)
_KHZ_PER_GHZ = 1e6
_FILE_NAME = re.compile(r"\w[\w.+-]*")
# What the run tree itself has beside hosts, and beside logs.
_NO_HOST = ("run.json", "run.unfinished", "ansible.log")
_NO_LOG = ("point.json", "point.unfinished", "supervisor.lock")
# Fields of host.json that are no parts.
_NO_PART = ("schema", "schema_", "host", "collected_at")


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
    :raises CollectorError: a log cannot be read, holds several runs or has the name of another file of the
        run tree; a word of *source* is unknown, or the study's main factor is lacking; the run is of another
        study, has the log already, or cannot be read or written. It is left as it was then.
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
            raise CollectorError(
                f"is in the run already, as {known[digest]}", path=log, remedy="leave it out"
            )
        point = _point(source, [*run.points, *points], run.run_id, log, content)
        known[digest] = f"{point.host}/{point.point_id}"
        points.append(point)

    planned = [PlannedPoint(**point.model_dump(include=set(PlannedPoint.model_fields))) for point in points]
    run.hosts = sorted({*run.hosts, source.host})
    run.points += planned
    folders = [run_dir / point.host / point.point_id for point in points]
    files = {folder / log.name: content for folder, log, content in zip(folders, logs, contents, strict=True)}
    documents: dict[Path, BaseModel] = {
        folder / "point.json": point for folder, point in zip(folders, points, strict=True)
    }
    if source.host_info:  # a host of which nothing was told has no host.json
        documents[run_dir / source.host / "host.json"] = _profile(run_dir / source.host, source, started_at)
    documents[run_dir / "run.json"] = run  # last: it makes points of the folders
    try:
        _write(files, documents)
    except OSError as error:
        raise CollectorError(
            f"cannot be written: {error.strerror}",
            path=Path(error.filename or run_dir),
            remedy="make it writable, or choose another --runs-dir",
        ) from error
    return points


def _checked(source: Source) -> Source:
    """The source with canonical levels, if all its words are known."""
    if source.study not in STUDIES:
        raise CollectorError(f"no study {source.study!r}", remedy=did_you_mean(source.study, STUDIES))
    _check_name("host", source.host)
    parsers.workload(source.workload)
    _check_factors(source)
    return replace(
        source, factors={name: levels.canonical(name, level) for name, level in source.factors.items()}
    )


def _check_name(of: str, name: str) -> None:
    """Names become folders: none may lead elsewhere."""
    if not _FILE_NAME.fullmatch(name):
        raise CollectorError(f"{name!r} cannot be the name of a {of}", remedy="use letters, digits, . and -")
    if of == "host" and name in _NO_HOST:
        raise CollectorError(f"{name!r} cannot be the name of a host", remedy="a run has a file of this name")


def _check_factors(source: Source) -> None:
    """A point without the factor that its study is about would stand in no comparison."""
    main = levels.MAIN_FACTORS.get(source.study, ())
    if not main or any(name in source.factors for name in main):
        return
    meant = next((near for name in source.factors if (near := nearest(name, main))), None)
    given = f", not {', '.join(map(repr, source.factors))}" if source.factors else ""
    raise CollectorError(
        f"{source.study} compares by the factor {' or '.join(main)}{given}",
        remedy=f"did you mean {meant}?" if meant else f"add --factor {main[0]}=LEVEL",
    )


def _open_run(run_dir: Path, study: str, started_at: datetime) -> Run:
    if (run_dir / "run.json").exists():
        run = read_run(run_dir)
        if run.study != study:
            raise CollectorError(
                f"is a run of {run.study}, not of {study}", path=run_dir, remedy="choose another --run-id"
            )
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
    if log.name in _NO_LOG or not log.name.isprintable():
        raise CollectorError(
            f"{log.name!r} cannot be the name of a log in a run", remedy="rename it, to some.log"
        )
    try:
        return log.read_bytes()
    except OSError as error:
        raise CollectorError(
            f"cannot be read: {error.strerror}", path=log, remedy="name a log that can be read"
        ) from error


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


def _profile(folder: Path, source: Source, collected_at: datetime) -> HostProfile:
    """The host.json that a host's folder has, or a new one, with what is told of the host."""
    profile = read_profile(folder) or HostProfile(schema_=SCHEMA, host=source.host, collected_at=collected_at)
    content = profile.model_dump(by_alias=True)
    for part, facts in source.host_info.items():
        known = content.get(part, {})
        if part in _NO_PART or not isinstance(known, dict):
            raise CollectorError(
                f"{part!r} is no part of a host's profile",
                remedy="parts are cpu, cpufreq, os, kernel, memory",
            )
        content[part] = {**known, **facts}
    return HostProfile.model_validate(content)


def _write(files: Mapping[Path, bytes], documents: Mapping[Path, BaseModel]) -> None:
    """Write *files* into new folders, and *documents* in their order: all, or after an error none.

    Each document appears whole or not at all, when everything else has been written.
    """
    with ExitStack() as undo:
        for file, content in files.items():
            _make_folder(file.parent, undo)
            file.write_bytes(content)
        unfinished = {file.with_suffix(".unfinished"): file for file in documents}
        for beside, file in unfinished.items():
            undo.callback(beside.unlink, missing_ok=True)
            beside.write_text(
                documents[file].model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8"
            )
        for beside, file in unfinished.items():
            beside.replace(file)
        undo.pop_all()


def _make_folder(folder: Path, undo: ExitStack) -> None:
    """Make a folder that is not there yet; *undo* removes it, and those above it that had to be made too."""
    for parent in reversed(folder.parents):
        if not parent.exists():
            undo.callback(_remove_empty, parent)
    folder.mkdir(parents=True)
    undo.callback(shutil.rmtree, folder, ignore_errors=True)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()

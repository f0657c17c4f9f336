"""Finds, loads and validates run trees (docs/run-tree.md). Nothing here changes one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from collector import parsers
from collector.errors import CollectorError
from collector.models import SCHEMA, HostProfile, Log, PlannedPoint, Point, Run, Status
from collector.parsers.text import decode
from collector.samples import Parsed

DEFAULT_RUNS_DIR = Path("runs")

_HOW_TO_GET_RUNS = (
    "measure with `python -m collector run freq_sweep -i inventory/local`, "
    "or bring logs in with `python -m collector import`"
)
_HOW_TO_REPAIR = {
    "run.json": "restore it from a copy, or remove the run's folder",
    "point.json": "restore it from a copy, or remove the point's folder",
    "host.json": "restore it from a copy, or remove it",
}
_Document = TypeVar("_Document", bound=BaseModel)


@dataclass(frozen=True)
class StepLogs:
    """What the commands beside a workload wrote.

    :param texts: by the log's name.
    :param damage: why others are not among them, a line each.
    """

    texts: dict[str, str]
    damage: tuple[str, ...]


@dataclass(frozen=True)
class LoadedPoint:
    """A finished point and its logs.

    :param point: its point.json.
    :param path: its folder.
    """

    point: Point
    path: Path

    @cached_property
    def parsed(self) -> Parsed:
        """What the workload's logs say, all of them together.

        :raises CollectorError: a log is missing, or is not the one that point.json describes.
        """
        together = Parsed()
        for log in self.point.logs:
            if log.step:  # of a command beside the workload
                continue
            text = decode(_read_log(self.path / log.name, log))
            if self.point.argv and not text.endswith("\n"):
                # Its hash was taken when the program had ended: this is how the program left it, not a cut.
                text += "\n"
            parsed = parsers.parse(self.point.workload, text)
            last = max((sample.run for sample in together.samples), default=0)
            together.samples.extend(replace(sample, run=sample.run + last) for sample in parsed.samples)
            together.issues.extend(
                replace(issue, reason=f"{issue.reason} ({log.name})") for issue in parsed.issues
            )
        return together

    @cached_property
    def step_logs(self) -> StepLogs:
        """What was measured beside the workload. A damaged log hides neither the others nor the point."""
        texts: dict[str, str] = {}
        damage: list[str] = []
        for log in self.point.logs:
            if log.step:
                try:
                    texts[log.name] = decode(_read_log(self.path / log.name, log))
                except CollectorError as error:
                    damage.append(str(error))
        return StepLogs(texts, tuple(damage))

    @cached_property
    def failure(self) -> str | None:
        """Why the point has no result that may be compared, in one line; None when it has one."""
        if self.point.status is not Status.OK:
            return self.point.reason or self.point.status.value
        return self.parsed.failure


@dataclass(frozen=True)
class RunTree:
    """A run as it lies on the disk.

    :param path: its folder.
    :param run: its run.json.
    :param points: the points that have a point.json, whatever their status, in the order of run.json.
    :param missing: the planned points that have none: not run yet, or never.
    :param profiles: host.json by host, for the hosts that have one, also those without points.
    """

    path: Path
    run: Run
    points: list[LoadedPoint]
    missing: list[PlannedPoint]
    profiles: dict[str, HostProfile]


def load_runs(paths: Sequence[Path]) -> list[RunTree]:
    """Load the runs whose folders are given.

    :raises CollectorError: a folder that is not a run, or a file in it that cannot be read.
    """
    return [load_run(path) for path in paths]


def load_run(path: Path) -> RunTree:
    """Load one run's folder; logs are read only when :attr:`LoadedPoint.parsed` is asked for.

    :raises CollectorError: not a run, broken JSON, an unknown schema, or a point of another run.
    """
    run = read_run(path)
    points: list[LoadedPoint] = []
    missing: list[PlannedPoint] = []
    for planned in run.points:
        folder = path / planned.host / planned.point_id
        if (folder / "point.json").exists():
            points.append(LoadedPoint(_read_point(folder / "point.json", run, planned), folder))
        else:
            missing.append(planned)
    described = [file.parent.name for file in sorted(path.glob("*/host.json"))]
    hosts = dict.fromkeys([*run.hosts, *described])
    profiles = {host: profile for host in hosts if (profile := read_profile(path / host))}
    return RunTree(path, run, points, missing, profiles)


def read_run(path: Path) -> Run:
    """The run.json of the run in folder *path*.

    :raises CollectorError: *path* is not a run, or its run.json cannot be read.
    """
    if not path.is_dir():
        raise CollectorError(_no_folder(path), path=path, remedy="`python -m collector list` shows the runs")
    if not (path / "run.json").exists():
        raise CollectorError("not a run: it has no run.json", path=path, remedy="name the folder of one run")
    return _read_document(path / "run.json", Run)


def read_profile(path: Path) -> HostProfile | None:
    """The host.json in *path*, a host's folder in a run; None if it has none.

    :raises CollectorError: host.json cannot be read.
    """
    file = path / "host.json"
    return _read_document(file, HostProfile) if file.exists() else None


def find_runs(runs_dir: Path) -> list[Path]:
    """The folders of all runs in *runs_dir*, by name.

    :raises CollectorError: there is none.
    """
    found = sorted(file.parent for file in runs_dir.glob("*/run.json"))
    if not found:
        what = "no runs in this folder" if runs_dir.is_dir() else _no_folder(runs_dir)
        raise CollectorError(what, path=runs_dir, remedy=_HOW_TO_GET_RUNS)
    return found


def newest_run(runs_dir: Path) -> Path:
    """The folder of the run in *runs_dir* that was started last, of those whose run.json can be read.

    :raises CollectorError: there is none.
    """
    started: dict[Path, datetime] = {}
    for path in find_runs(runs_dir):
        try:
            started[path] = read_run(path).started_at
        except CollectorError as error:
            damage = error
    if not started:
        raise damage
    return max(started, key=lambda path: started[path])


def _no_folder(path: Path) -> str:
    return "is not a folder" if path.exists() else "no such folder"


def _read_point(file: Path, run: Run, planned: PlannedPoint) -> Point:
    point = _read_document(file, Point)
    if (point.run_id, point.host, point.point_id) != (run.run_id, planned.host, planned.point_id):
        raise CollectorError(
            f"belongs to point {point.point_id} of host {point.host} in run {point.run_id}",
            path=file,
            remedy="move it back to where it was made",
        )
    return point


def _read_document(file: Path, model: type[_Document]) -> _Document:
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise CollectorError(
            f"cannot be read: {error.strerror}", path=file, remedy=_HOW_TO_REPAIR[file.name]
        ) from error
    except ValueError as error:
        raise CollectorError(f"is not JSON: {error}", path=file, remedy=_HOW_TO_REPAIR[file.name]) from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if type(schema) is not int or schema != SCHEMA:  # true equals 1
        raise CollectorError(
            f"unknown schema {schema!r}, this version knows {SCHEMA}",
            path=file,
            remedy="use the version of perflab that wrote it",
        )
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise CollectorError(
            f"{where}: {first['msg']}", path=file, remedy=_HOW_TO_REPAIR[file.name]
        ) from error


def _read_log(file: Path, log: Log) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CollectorError(
            f"cannot be read: {error.strerror}",
            path=file,
            remedy="its point.json lists it: restore it from a copy",
        ) from error
    if hashlib.sha256(content).hexdigest() != log.sha256:
        raise CollectorError(
            "is not the log that was recorded: its sha256 differs from point.json",
            path=file,
            remedy="restore it from a copy, do not edit logs",
        )
    return content

"""How far a run is, read from its folder: what is finished, what is next, how long the rest may take."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean

from pydantic import ValidationError

from collector import levels, rows
from collector.errors import CollectorError
from collector.models import PlannedPoint, Point, Status
from collector.store import LoadedPoint, read_run


@dataclass(frozen=True)
class Finished:
    """A point that is over.

    :param planned: the point as run.json announced it.
    :param folder: where its logs are.
    :param status: ``ok``, ``failed`` or ``timeout``.
    :param reason: why it is not ok, in one line; None when it is.
    """

    planned: PlannedPoint
    folder: Path
    status: Status
    reason: str | None


class Progress:
    """The state of one run; :meth:`poll` brings it up to date.

    A point that was interrupted is not finished: it is measured again when the run is resumed.
    """

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.planned: list[PlannedPoint] = []
        self.finished: list[Finished] = []
        self._unfinished: list[PlannedPoint] = []
        self._seen: dict[Path, int] = {}  # modification time of every point.json that was read
        self._times = _Times()

    def poll(self) -> list[Finished]:
        """Look for points that finished since the last call, and return them.

        :raises CollectorError: run.json cannot be read.
        """
        if not self.planned and (self.run_dir / "run.json").exists():
            self.planned = read_run(self.run_dir).points
            self._unfinished = sorted(self.planned, key=lambda point: point.order)
        new = [finished for planned in self._unfinished if (finished := self._look_at(planned))]
        over = {(finished.planned.host, finished.planned.point_id) for finished in new}
        self._unfinished = [p for p in self._unfinished if (p.host, p.point_id) not in over]
        self.finished += new
        return new

    @property
    def failed(self) -> int:
        """How many of the finished points have no result."""
        return sum(finished.status is not Status.OK for finished in self.finished)

    @property
    def missing(self) -> int:
        """How many planned points are not finished."""
        return len(self._unfinished)

    def next_point(self, host: str) -> PlannedPoint | None:
        """The point that *host* is measuring: its first that is not finished."""
        return next((planned for planned in self._unfinished if planned.host == host), None)

    def left_s(self, hosts: set[str], now: datetime | None = None) -> float | None:
        """About how many seconds the unfinished points of *hosts* will take, the hosts working side by side.

        None as long as nothing tells: no point has finished, and the points have no set time.
        """
        return self._times.left_s([p for p in self._unfinished if p.host in hosts], now or datetime.now(UTC))

    def _look_at(self, planned: PlannedPoint) -> Finished | None:
        folder = self.run_dir / planned.host / planned.point_id
        file = folder / "point.json"
        try:
            modified = file.stat().st_mtime_ns
        except OSError:
            return None
        if self._seen.get(file) == modified:
            return None
        self._seen[file] = modified
        try:
            point = Point.model_validate_json(file.read_bytes())
            failure = LoadedPoint(point, folder).failure
        except ValidationError:
            return Finished(planned, folder, Status.FAILED, "its point.json cannot be read")
        except CollectorError as error:
            return Finished(planned, folder, Status.FAILED, str(error))
        if point.status is Status.INTERRUPTED:
            return None
        self._times.add(planned, point)
        # A benchmark that ended well with a log that has no result failed too.
        status = Status.FAILED if failure and point.status is Status.OK else point.status
        return Finished(planned, folder, status, failure)


def describe(planned: PlannedPoint, *, with_workload: bool = True) -> str:
    """A point in words: ``2.0 GHz, repeat 2, redis_benchmark``, ``ext4, repeat 1, fio 4K, 12 threads``."""
    condition = [levels.label(*item) for item in planned.factors.items() if item[1] != levels.AS_FOUND]
    _, swept = rows.split(planned.workload, planned.params)
    work = [planned.workload] if with_workload else []
    work = [*work, rows.words(planned.workload, swept)] if swept else work
    return ", ".join(
        [*(condition or ["as found"]), f"repeat {planned.repeat}", *filter(None, [" ".join(work)])]
    )


class _Times:
    """What points took, to estimate what others will take.

    A tool that runs for a set time takes that time, and a mean over all of what such points took beyond it.
    Any other point is expected to take as long as the mean of those that are most like it: the same host,
    workload and condition; else the same host and workload; else any. What lies between two points of a host
    (setting the condition, settling, fetching) is added as a mean over all.
    """

    def __init__(self) -> None:
        self._durations: dict[tuple[str, ...], list[float]] = defaultdict(list)
        self._beyond: list[float] = []
        self._pauses: list[float] = []
        self._last_end: dict[str, datetime] = {}

    def add(self, planned: PlannedPoint, point: Point) -> None:
        if point.started_at is None or point.finished_at is None:
            return
        duration = (point.finished_at - point.started_at).total_seconds()
        if set_s := _set_time_s(planned):
            self._beyond.append(duration - set_s)
        for likeness in _likenesses(planned):
            self._durations[likeness].append(duration)
        if (last := self._last_end.get(planned.host)) and last < point.started_at:
            self._pauses.append((point.started_at - last).total_seconds())
        self._last_end[planned.host] = point.finished_at

    def left_s(self, points: list[PlannedPoint], now: datetime) -> float | None:
        if not self._durations and not all(map(_set_time_s, points)):
            return None
        left: dict[str, float] = defaultdict(float)
        for planned in points:
            left[planned.host] += self._expected_s(planned)
        for host, last in self._last_end.items():
            if host in left:  # what its present point has used up already
                left[host] -= min((now - last).total_seconds(), left[host])
        return max(left.values(), default=0.0)

    def _expected_s(self, planned: PlannedPoint) -> float:
        if set_s := _set_time_s(planned):
            expected = set_s + (mean(self._beyond) if self._beyond else 0.0)
        else:
            expected = mean(
                next(self._durations[key] for key in _likenesses(planned) if key in self._durations)
            )
        return expected + (mean(self._pauses) if self._pauses else 0.0)


def _likenesses(planned: PlannedPoint) -> list[tuple[str, ...]]:
    """What makes points alike, the closest likeness first."""
    work = (planned.host, planned.workload)
    return [(*work, *planned.factors.values()), work, ()]


def _set_time_s(planned: PlannedPoint) -> float:
    """The seconds that the workload's settings say it runs for; 0 where they do not."""
    return float(planned.params.get("time_s", 0)) + float(planned.params.get("warmup_s", 0))

"""The one tidy frame that tables, charts and reports are pivots of.

One row a sample, joined with its point. A point without a usable result (missing, failed, a log that cannot
be read) is one row whose ``test``, ``metric`` and ``value`` are empty, so that no gap gets lost on the way.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from pydantic import BaseModel, FiniteFloat, ValidationError

from collector import circumstances, parsers, rows
from collector.errors import CollectorError
from collector.models import PlannedPoint, Point, Status
from collector.store import LoadedPoint, RunTree

FACTOR = (
    "factor_"  # before a factor's name in a column's name; the value is "" where a point has no such factor
)
MISSING = "missing"  # the status of a planned point that has no point.json

COLUMNS = (
    "run_id",
    "study",
    "host",
    "workload",
    "params",  # JSON with sorted keys, without the settings that are rows
    "settings",  # those that are rows, as JSON
    "repeat",
    "order",
    "point_id",
    "status",  # ok, failed, timeout, interrupted or missing
    "reason",  # why the status is not ok
    "path",  # the point's folder
    "tool_version",
    "method",  # what set the condition: cpufreq, quota
    "quota_cpus",  # the CPUs that a quota of 100% stands for
    "setting_notes",  # what was set otherwise than asked for
    "achieved_ghz",  # as read back after setting: median over policies
    "observed_ghz",  # median while the workload ran
    "observed_min_ghz",
    "observed_max_ghz",
    "throttled",
    "steal_pct",
    *circumstances.COLUMNS,
    "test",  # key: equal for samples that stand in one row and are compared with each other
    "tool_test",  # key of the tool's test, without the settings that are rows
    "series",  # the row's title without what is swept
    "swept",  # the value of what is swept: the number of threads
    "title",
    "note",  # what differs in the work done although the key is equal
    "metric",
    "value",
)
_NUMBERS = (
    "quota_cpus",
    "achieved_ghz",
    "observed_ghz",
    "observed_min_ghz",
    "observed_max_ghz",
    "throttled",
    "steal_pct",
    *circumstances.NUMBERS,
    "swept",
    "value",
)
POINT_KEY = ["run_id", "host", "point_id"]
_KHZ_PER_GHZ = 1e6


class _Setting(BaseModel):
    """What is used of a point's ``setting``."""

    method: str | None = None
    quota_cpus: FiniteFloat | None = None
    achieved_khz: dict[str, FiniteFloat | None] | None = None
    notes: list[str] | None = None


def tidy(trees: Sequence[RunTree]) -> pd.DataFrame:
    """The samples of all points of the runs: :data:`COLUMNS`, and a column ``factor_<name>`` a factor.

    :raises CollectorError: a point's setting is not of the form that docs/run-tree.md describes.
    """
    records = [record for tree in trees for record in _tree_records(tree)]
    factors = list(dict.fromkeys(name for record in records for name in record if name.startswith(FACTOR)))
    frame = pd.DataFrame(records, columns=[*COLUMNS, *factors])
    frame[factors] = frame[factors].fillna("")
    frame[list(_NUMBERS)] = frame[list(_NUMBERS)].astype(float)
    return frame


def factor_columns(frame: pd.DataFrame) -> dict[str, str]:
    """The columns of the factors that the frame's points have, by the factor's name."""
    names = [str(name) for name in frame.columns if str(name).startswith(FACTOR)]
    return {name.removeprefix(FACTOR): name for name in names if (frame[name] != "").any()}


def shared_params(frame: pd.DataFrame) -> dict[str, Any]:
    """The workload's settings that are the same at all points of the frame, besides those that are rows."""
    first, *others = [json.loads(text) for text in frame["params"].unique()]
    return {
        name: value for name, value in first.items() if all(name in o and o[name] == value for o in others)
    }


def points(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a planned point."""
    return frame.drop_duplicates(POINT_KEY)


def _tree_records(tree: RunTree) -> Iterator[dict[str, Any]]:
    for loaded in tree.points:
        emulated = circumstances.emulated_hosts(tree.run.study, loaded.point.host, tree.profiles)
        yield from ({**record, "emulated": emulated} for record in _point_records(tree.run.study, loaded))
    for planned in tree.missing:
        yield _planned(tree.run.run_id, tree.run.study, planned) | {"status": MISSING}


def _planned(run_id: str, study: str, planned: PlannedPoint | Point) -> dict[str, Any]:
    params, settings = rows.split(planned.workload, planned.params)
    return {
        "run_id": run_id,
        "study": study,
        "host": planned.host,
        "workload": planned.workload,
        "params": json.dumps(params, sort_keys=True),
        "settings": json.dumps(settings),
        "repeat": planned.repeat,
        "order": planned.order,
        "point_id": planned.point_id,
        **{FACTOR + name: level for name, level in planned.factors.items()},
    }


def _point_records(study: str, loaded: LoadedPoint) -> Iterator[dict[str, Any]]:
    point = loaded.point
    record = _planned(point.run_id, study, point) | _read_back(loaded) | circumstances.of(loaded)
    record["path"] = str(loaded.path)
    try:
        failure = loaded.failure
    except CollectorError as error:  # one damaged log must not hide the others
        failure = str(error)
    if failure:
        status = Status.FAILED if point.status is Status.OK else point.status
        yield record | {"status": status.value, "reason": failure}
        return
    _, planned = rows.split(point.workload, point.params)
    told = rows.told(point.workload, loaded.parsed.samples)
    for sample in loaded.parsed.samples:
        identity = parsers.identity(point.workload, sample.test)
        settings = rows.settings(planned, told, sample)
        row = rows.identify(point.workload, identity, settings)
        yield record | {
            "status": Status.OK.value,
            "settings": json.dumps(settings),
            "test": row.key,
            "tool_test": identity.key,
            "title": row.title,
            "series": row.series,
            "swept": row.swept,
            "note": identity.note,
            "metric": sample.metric,
            "value": sample.value,
        }


def _read_back(loaded: LoadedPoint) -> dict[str, Any]:
    """What was set, and what was read back while the workload ran."""
    setting, observed = _setting(loaded), loaded.point.observed
    record = {
        "tool_version": loaded.point.tool_version,
        "method": setting.method,
        "quota_cpus": setting.quota_cpus or 1.0,
        "setting_notes": "; ".join(setting.notes or []),
        "throttled": observed.throttled,
        "steal_pct": observed.steal_pct,
    }
    if achieved := [khz for khz in (setting.achieved_khz or {}).values() if khz]:
        record["achieved_ghz"] = statistics.median(achieved) / _KHZ_PER_GHZ
    if frequency := observed.frequency_khz:
        record["observed_ghz"] = frequency.median / _KHZ_PER_GHZ
        record["observed_min_ghz"] = frequency.min / _KHZ_PER_GHZ
        record["observed_max_ghz"] = frequency.max / _KHZ_PER_GHZ
    return record


def _setting(loaded: LoadedPoint) -> _Setting:
    try:
        return _Setting.model_validate(loaded.point.setting or {})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, ("setting", *first["loc"])))
        raise CollectorError(f"{where}: {first['msg']}", path=loaded.path / "point.json") from error

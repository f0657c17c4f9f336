"""All comparisons that some runs allow: what ``summarize`` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from collector import design, overhead, questions
from collector.compare import compare, metrics_of
from collector.comparison import Comparison
from collector.describe import Profiles
from collector.errors import CollectorError
from collector.frame import factor_columns, points, tidy
from collector.metrics import Metric
from collector.models import Status
from collector.store import RunTree
from collector.verdicts import VerdictTable, verdict_tables
from collector.words import counted, listed

MAIN_METRIC, ALL_METRICS = "main", "all"


@dataclass(frozen=True)
class Summary:
    """The tables of some runs.

    :param comparisons: one a group and metric; only groups that have a result.
    :param profiles: of the hosts.
    :param doubts: about what is in no table.
    :param verdicts: what the comparisons answer, of studies that ask.
    :param splits: where the cost of virtualisation arises, if it was measured from a client and from inside.
    """

    comparisons: list[Comparison]
    profiles: Profiles
    doubts: list[str]
    verdicts: list[VerdictTable] = field(default_factory=list)
    splits: list[overhead.Split] = field(default_factory=list)


def summarize(
    trees: Sequence[RunTree],
    *,
    by: str | None = None,
    baseline: str | None = None,
    metric: str = MAIN_METRIC,
) -> Summary:
    """Compare all that the runs hold.

    :param trees: the runs; a folder that is among them twice counts once.
    :param by: the factor whose levels stand side by side; by default the study's main factor.
    :param baseline: the level that the others are divided by, in any spelling.
    :param metric: a metric's name; "main" for those that the study asks about, or of a study without
        questions the most telling one of each workload; or "all". A single metric gives no verdicts.
    :raises CollectorError: a factor, level or metric that the runs do not have; two folders with one run id.
    """
    trees = _distinct(trees)
    frame = tidy(trees)
    groups = design.groups(frame, by)
    if not groups:
        raise CollectorError("no points in these runs", path=trees[0].path if trees else None)
    beside = _beside(frame, groups) if by is None else []
    if baseline is not None:
        _check_baseline([*groups, *beside], baseline)
    measured = [group for group in groups if (group.frame["status"] == Status.OK).any()]
    comparisons = [
        compare(group, chosen, baseline) for group in measured for chosen in _metrics(group.frame, metric)
    ]
    if measured and not comparisons:
        known = dict.fromkeys(m.name for group in measured for m in metrics_of(group.frame))
        raise CollectorError(f"no metric {metric!r} in these runs", remedy=f"there are {', '.join(known)}")
    return Summary(
        comparisons,
        profiles={
            (tree.run.run_id, host): profile for tree in trees for host, profile in tree.profiles.items()
        },
        doubts=_without_result([group for group in groups if group not in measured]),
        verdicts=verdict_tables([*comparisons, *_compare_beside(beside, baseline)])
        if metric in (MAIN_METRIC, ALL_METRICS)
        else [],
        splits=overhead.splits(comparisons),
    )


def _beside(frame: pd.DataFrame, main: Sequence[design.Group]) -> list[design.Group]:
    """The groups along the factors that studies ask about besides their main one."""
    factors = {name for study in frame["study"].unique() for name in questions.BESIDE.get(str(study), {})}
    shown = {(group.by, _workload(group)) for group in main}
    return [
        group
        for by in sorted(factors & set(factor_columns(frame)))
        for group in design.groups(frame, by)
        if group.by == by and (by, _workload(group)) not in shown
    ]


def _workload(group: design.Group) -> tuple[str, str]:
    first = group.frame.iloc[0]
    return str(first["study"]), str(first["workload"])


def _compare_beside(groups: Sequence[design.Group], baseline: str | None) -> Iterator[Comparison]:
    for group in groups:
        study, _ = _workload(group)
        found = list(group.frame["level"].unique())
        wanted = design.find_level(group.by, found, baseline) if baseline else None
        for metric in _metrics(group.frame, MAIN_METRIC):
            yield compare(group, metric, wanted or questions.BESIDE.get(study, {}).get(group.by))


def _distinct(trees: Sequence[RunTree]) -> list[RunTree]:
    folders = list({tree.path.resolve(): tree for tree in trees}.values())
    seen: dict[str, RunTree] = {}
    for tree in folders:
        other = seen.setdefault(tree.run.run_id, tree)
        if other is not tree:
            raise CollectorError(
                f"has the run id {tree.run.run_id}, as {other.path} has: their points cannot be told apart",
                path=tree.path,
                remedy="name one of the two",
            )
    return folders


def _metrics(frame: pd.DataFrame, wanted: str) -> list[Metric]:
    found = metrics_of(frame)
    if wanted == MAIN_METRIC:
        first = frame.iloc[0]
        asked = questions.metrics(str(first["study"]), str(first["workload"]))
        return [metric for metric in found if metric.name in asked] or found[:1]
    return [metric for metric in found if wanted in (ALL_METRICS, metric.name)]


def _check_baseline(groups: Sequence[design.Group], baseline: str) -> None:
    found = [(group.by, list(group.frame["level"].unique())) for group in groups]
    if not any(design.find_level(by, levels, baseline) for by, levels in found):
        known = dict.fromkeys(f"{level} ({by})" for by, levels in found for level in levels)
        raise CollectorError(
            f"no condition {baseline!r} in these runs", remedy=f"there are {', '.join(known)}"
        )


def _without_result(groups: Sequence[design.Group]) -> list[str]:
    """Hosts of which nothing can be shown, alike ones in one line."""
    hosts: dict[str, list[str]] = {}
    for group in groups:
        planned = points(group.frame)
        what = planned["status"].value_counts()
        reasons = planned["reason"].dropna().unique()
        outcome = listed(f"{count} {status}" for status, count in what.items())
        why = f": {reasons[0]}" if len(reasons) else ""
        hosts.setdefault(f"no result from {counted(len(planned), 'point')}, {outcome}{why}", []).extend(
            planned["host"].unique()
        )
    return [f"{listed(dict.fromkeys(names), most=20)}: {text}" for text, names in hosts.items()]

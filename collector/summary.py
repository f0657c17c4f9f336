"""All comparisons that some runs allow: what ``summarize`` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from collector import design
from collector.compare import compare, metrics_of
from collector.comparison import Comparison
from collector.describe import Profiles
from collector.errors import CollectorError
from collector.frame import points, tidy
from collector.metrics import Metric
from collector.models import Status
from collector.store import RunTree
from collector.words import counted, listed

MAIN_METRIC, ALL_METRICS = "main", "all"


@dataclass(frozen=True)
class Summary:
    """The tables of some runs.

    :param comparisons: one a group and metric; only groups that have a result.
    :param profiles: of the hosts.
    :param doubts: about what is in no table.
    """

    comparisons: list[Comparison]
    profiles: Profiles
    doubts: list[str]


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
    :param metric: a metric's name, "main" for the most telling one of each workload, or "all".
    :raises CollectorError: a factor, level or metric that the runs do not have; two folders with one run id.
    """
    trees = _distinct(trees)
    groups = design.groups(tidy(trees), by)
    if not groups:
        raise CollectorError("no points in these runs", path=trees[0].path if trees else None)
    if baseline is not None:
        _check_baseline(groups, baseline)
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
    )


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
        return found[:1]
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

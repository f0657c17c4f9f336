"""What virtualisation costs: the overhead of a platform over the baseline's, and where it arises."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collector.comparison import Comparison
from collector.link_doubts import emulated
from collector.metrics import Better
from collector.words import by_condition

STUDY, FACTOR = "virt_compare", "platform"
LOCAL, REMOTE = "local", "remote"


@dataclass(frozen=True)
class Split:
    """The overhead of one platform, seen from a client and from inside the server.

    :param what: the platform, the workload and its metric, for people.
    :param rows: the rows that both tables have.
    :param seen: from the client, as a share: 0.05 is 5%.
    :param inside: without the network, over the same rows.
    :param doubts: what to doubt about what was compared.
    """

    what: str
    rows: int
    seen: float
    inside: float
    doubts: tuple[str, ...]

    @property
    def rest(self) -> float:
        """What the network path adds; below 0 where the inside costs more: client and server share CPUs."""
        return self.seen - self.inside


def is_asked(comparison: Comparison) -> bool:
    """Whether the table's ratios are read as overheads."""
    return comparison.study == STUDY and comparison.by == FACTOR


def of(comparison: Comparison, ratio: float) -> float:
    """The overhead that a ratio means, as a share; below 0 where the other platform is better."""
    return ratio - 1 if comparison.metric.better is Better.LOWER else 1 - ratio


def percent(overhead: float) -> str:
    """ "4.8%"; no "-0.0%"."""
    return f"{round(overhead * 100, 1) + 0:.1f}%"


def remarks(comparison: Comparison) -> list[str]:
    """What the percentages mean, and on which machines guests ran."""
    if not any(comparison.ratios(column.level) for column in comparison.columns[1:]):
        return []
    formula = "ratio - 1" if comparison.metric.better is Better.LOWER else "1 - ratio"
    baseline = comparison.columns[0].label
    said = [f"the overhead is {formula}, what is lost against {baseline}; below 0%: faster than {baseline}"]
    hypervisors = {c.label: c.factors.get("hypervisor", "none") for c in comparison.columns}
    if guests := {label: name for label, name in hypervisors.items() if name != "none"}:
        said.append(f"hypervisor: {by_condition(guests)}")
    return said


def splits(comparisons: Sequence[Comparison]) -> list[Split]:
    """For each platform that was measured from a client and from inside, where its overhead arises."""
    tables = [comparison for comparison in comparisons if is_asked(comparison)]
    return [
        split
        for remote in tables
        for local in tables
        if (_path(remote), _path(local)) == (REMOTE, LOCAL) and _is_pair(remote, local)
        for split in _splits(remote, local)
    ]


def _path(comparison: Comparison) -> str | None:
    return comparison.fixed.get("path")


def _is_pair(remote: Comparison, local: Comparison) -> bool:
    """Whether the two tables differ in nothing but the path."""
    first, second = (
        (
            table.workload,
            table.metric,
            table.columns[0].level,
            table.columns[0].params,
            {name: level for name, level in table.fixed.items() if name != "path"},
            {run for column in table.columns for run in column.runs},
        )
        for table in (remote, local)
    )
    return first == second


def _splits(remote: Comparison, local: Comparison) -> Iterator[Split]:
    for column in remote.columns[1:]:
        from_client, from_inside = remote.ratios(column.level), local.ratios(column.level)
        shared = [test for test in from_client if test in from_inside]
        if not shared:
            continue
        seen, inside = (
            of(remote, statistics.geometric_mean([ratios[test] for test in shared]))
            for ratios in (from_client, from_inside)
        )
        what = f"{column.label}: {remote.workload}, {remote.metric.name}"
        yield Split(what, len(shared), seen, inside, tuple(emulated(remote.measured)))

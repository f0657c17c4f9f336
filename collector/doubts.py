"""What a reader of a comparison should doubt, each in one sentence.

A doubt names the condition, the test and the number, so that it can be checked. What is missing comes first,
then whether the conditions were what they are called, then noise, then what else differed.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator

import pandas as pd

from collector import rows, stats
from collector.comparison import Column, Comparison, Measured
from collector.frame import MISSING, points, shared_params
from collector.link_doubts import link_doubts
from collector.models import Status
from collector.words import by_condition, counted, listed

NOISY = 0.05  # coefficient of variation over repeats
STEAL_PCT = 1.0
CLOCK_MOVED = 0.03  # range of the observed clock over its median

# Factors that differ because the axis does.
_PART_OF = {"platform": {"platform", "hypervisor"}}
_OUTCOMES = {"failed": "failed", "timeout": "timed out", "interrupted": "was interrupted"}


def doubts(comparison: Comparison) -> list[str]:
    """The doubts about one table."""
    measured = comparison.measured
    return [
        *_baseline(comparison),
        *gaps(comparison.frame, {c.level: c.label for c in comparison.columns}),
        *_clock(comparison, measured),
        *_few_repeats(comparison, measured),
        *_outliers(comparison),
        *_noise(comparison),
        *_circumstances(comparison, measured),
        *link_doubts(measured),
        *differences(comparison),
    ]


def _baseline(comparison: Comparison) -> Iterator[str]:
    baseline = comparison.columns[0]
    if len(comparison.columns) > 1 and baseline.status != Status.OK:
        yield f"no result at {baseline.label}, the baseline: nothing to compare with"


def gaps(frame: pd.DataFrame, labels: dict[str, str]) -> Iterator[str]:
    """The points without a result, alike ones together.

    :param frame: points with the axis's level in the column ``level``.
    :param labels: the levels for people.
    """
    planned = points(frame)
    several_hosts = planned["host"].nunique() > 1
    failed = planned[~planned["status"].isin([Status.OK, MISSING])]
    alike_in = ["host", "level", "status", "reason"]
    for (host, level, status, reason), alike in failed.groupby(alike_in, sort=False):
        where = f"{host}: " if several_hosts else ""
        what = f"{_which(alike)} {_OUTCOMES[str(status)]}"
        yield f"{where}{labels[str(level)]}, {what}: {reason} ({alike['path'].iloc[0]})"
    missing = planned[planned["status"] == MISSING]
    not_run = [
        f"{labels[str(level)]}{f' on {host}' if several_hosts else ''} ({_which(alike)})"
        for (host, level), alike in missing.groupby(["host", "level"], sort=False)
    ]
    if not_run:
        yield f"not run: {listed(not_run, most=12)}"


def _which(alike: pd.DataFrame) -> str:
    """The points by row of the table, if it has such, and repeat."""
    by_row = [
        (rows.words(str(alike["workload"].iloc[0]), json.loads(str(settings))), _repeats(of_row["repeat"]))
        for settings, of_row in alike.groupby("settings", sort=False)
    ]
    return listed(", ".join(filter(None, row)) for row in by_row)


def _repeats(numbers: pd.Series[int]) -> str:
    return f"repeat{'s' if len(numbers) > 1 else ''} {listed(map(str, sorted(numbers)))}"


def _clock(comparison: Comparison, measured: Measured) -> Iterator[str]:
    for column, ok in measured:
        low, high, clock = ok["observed_min_ghz"].min(), ok["observed_max_ghz"].max(), ok["observed_ghz"]
        if column.achieved is False:
            when = "while measuring" if clock.notna().any() else "when read back"
            reached = clock.fillna(ok["achieved_ghz"]).median()
            yield f"{column.label} was set but not achieved: {reached:.2f} GHz {when}"
        elif comparison.by == "frequency" and column.size and (high - low) / column.size > CLOCK_MOVED:
            moved = f"the clock moved between {low:.2f} and {high:.2f} GHz while measuring"
            yield f"{column.label}: {moved} (median {clock.median():.2f})"
        for note in filter(None, ok["setting_notes"].unique()):
            yield f"{column.label}: {note}"


def _few_repeats(comparison: Comparison, measured: Measured) -> Iterator[str]:
    baseline, *others = comparison.columns
    single = [column for column, _ in measured if _most_repeats(comparison, column) == 1]
    if not single or not others:
        return
    if len(single) == len(measured):
        yield "one repeat: differences are not tested against noise"
    elif baseline in single:
        yield f"one repeat at {baseline.label}: differences are not tested against noise"
    else:
        where = listed(column.label for column in single)
        yield f"one repeat at {where}: no difference is tested against noise there"


def _most_repeats(comparison: Comparison, column: Column) -> int:
    return max((row.cells[column.level].n for row in comparison.rows if column.level in row.cells), default=0)


def _outliers(comparison: Comparison) -> Iterator[str]:
    for column in comparison.columns[1:]:
        ratios = comparison.ratios(column.level)
        far = stats.outliers(ratios)
        if not far:
            continue
        middle = statistics.median(ratios.values())
        for side, tests in (
            ("below", [test for test in far if ratios[test] < middle]),
            ("above", [test for test in far if ratios[test] > middle]),
        ):
            if tests:
                first, *rest = tests
                named = [f"{first} at {column.label} ({ratios[first]:.3f})"]
                named += [f"{test} ({ratios[test]:.3f})" for test in rest]
                verb = "lie" if rest else "lies"
                yield f"{listed(named)} {verb} far {side} the other tests (median {middle:.3f})"


def _noise(comparison: Comparison) -> Iterator[str]:
    noisy = [
        (cell.variation, f"{row.test} at {column.label} ({cell.variation:.1%})")
        for row in comparison.rows
        for column in comparison.columns
        if (cell := row.cells.get(column.level)) and cell.variation and cell.variation > NOISY
    ]
    if noisy:
        worst_first = [text for _, text in sorted(noisy, reverse=True)]
        yield f"repeats differ by more than {NOISY:.0%} (coefficient of variation): {listed(worst_first)}"


def _circumstances(comparison: Comparison, measured: Measured) -> Iterator[str]:
    throttled, stolen = [], []
    for column, ok in measured:
        events, steal = ok["throttled"].fillna(0), ok["steal_pct"].fillna(0)
        if events.sum() > 0:
            throttled.append(f"{column.label} ({counted(int(events.sum()), 'time')}, {_count(events > 0)})")
        if (steal > STEAL_PCT).any():
            stolen.append(f"{column.label} (up to {steal.max():.1f}%, {_count(steal > STEAL_PCT)})")
    if throttled and "quota" not in comparison.columns[0].factors:  # a quota works by throttling
        yield f"the CPU was throttled while measuring: {listed(throttled)}"
    if stolen:
        yield f"the hypervisor took CPU time while measuring: {listed(stolen)}"


def _count(affected: pd.Series[bool]) -> str:
    return f"in {affected.sum()} of {counted(len(affected), 'point')}"


def differences(comparison: Comparison) -> Iterator[str]:
    """What differs between the conditions besides the factor, or within one."""
    measured = comparison.measured
    if of_condition := versions(comparison):
        yield f"tool versions differ: {by_condition(of_condition)}"
    for name in dict.fromkeys(name for column, _ in measured for name in column.factors):
        of_condition = {column.label: column.factors.get(name, "") for column, _ in measured}
        if name not in _PART_OF.get(comparison.by, {comparison.by}) and len(set(of_condition.values())) > 1:
            yield f"{name} differs: {by_condition(of_condition)}"
    shared = shared_params(comparison.frame)
    for name in dict.fromkeys(name for column, _ in measured for name in column.params if name not in shared):
        yield f"{name} differs: {by_condition({c.label: str(c.params.get(name, '')) for c, _ in measured})}"
    for column, _ in measured:
        if len(column.hosts) > 1:
            yield f"{column.label} pools {listed(column.hosts)}: its spread includes how they differ"
    if comparison.averaged:
        yield f"several times in one log, averaged: {listed(comparison.averaged)}"
    if comparison.zeros:
        labels = {column.level: column.label for column in comparison.columns}
        where = listed(f"{test} at {labels[level]}" for test, level in comparison.zeros)
        yield f"{comparison.metric.name} of 0, below what the tool resolves, gives no ratio: {where}"


def versions(comparison: Comparison) -> dict[str, str]:
    """The tool's versions by condition, if the conditions were measured with different ones; else nothing."""
    found = {
        column.label: listed(sorted(ok["tool_version"].dropna().unique()))
        for column, ok in comparison.measured
    }
    return found if len(set(filter(None, found.values()))) > 1 else {}

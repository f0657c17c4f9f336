"""A comparison as data: everything that a renderer needs, and nothing about how it looks.

One :class:`Comparison` is one table of one metric: the levels of one factor side by side, each against the
baseline. Values are in the metric's unit; a ratio is the condition over the baseline, whatever the
metric's direction; a verdict knows the direction.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from collector import stats
from collector.frame import points
from collector.metrics import Metric
from collector.models import Status
from collector.rows import Settings
from collector.stats import Repeats


@dataclass(frozen=True)
class Column:
    """A condition.

    :param level: as it stands in the run tree.
    :param label: for people.
    :param factors: all factors of the condition, also those that the whole table shares.
    :param size: its clock in GHz or its CPUs, whichever the table scales with; None where unknown. A clock is
        what it was set to if that was achieved, else what was observed, or read back where nothing was.
    :param observed_ghz: the clock while the workload ran, the median of its points; None where unknown.
    :param params: the workload's settings that all its points share.
    :param status: "ok", or where none of its points has a result, what became of most of them.
    :param achieved: whether the frequency that it is called after was reached; None if none was set or the
        clock is not known.
    """

    level: str
    label: str
    factors: dict[str, str]
    hosts: tuple[str, ...]
    runs: tuple[str, ...]
    size: float | None
    observed_ghz: float | None
    params: dict[str, Any]
    status: str
    achieved: bool | None = None

    @property
    def head(self) -> str:
        """The label, with a mark if what it says was not achieved."""
        return f"{self.label} *" if self.achieved is False else self.label


# Conditions, each with its points that have a result.
Measured = Sequence[tuple[Column, pd.DataFrame]]


@dataclass(frozen=True)
class Cell:
    """One test under one condition.

    :param repeats: one value a repeat, by its point: run, host and point_id.
    :param mean: arithmetic.
    :param stddev: of the sample; None for one value.
    :param per_size: the mean per GHz or per CPU.
    :param ratio: of the geometric means, condition over baseline; None for the baseline, where that has no
        value, and where either has a value of 0.
    :param low: lower end of the ratio's 95% interval; None where the repeats do not allow one.
    :param p: corrected for all comparisons of the table.
    :param verdict: None where there is no ratio.
    """

    repeats: Repeats
    mean: float
    stddev: float | None
    per_size: float | None
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: stats.Verdict | None

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(self.repeats.values())

    @property
    def n(self) -> int:
        return len(self.repeats)

    @property
    def variation(self) -> float | None:
        """The coefficient of variation: the standard deviation over the mean."""
        return self.stddev / self.mean if self.stddev is not None and self.mean > 0 else None


@dataclass(frozen=True)
class Outcome:
    """What became of some points.

    :param planned: their number.
    :param status: "ok", or where none of them has a result, what became of most of them.
    """

    planned: int
    status: str


@dataclass(frozen=True)
class Row:
    """A test, or one point of a sweep: a test with a number of threads.

    :param tool_test: the tool's test, without the settings that are rows.
    :param series: the title without what is swept.
    :param swept: the value of what is swept; None where nothing is.
    :param settings: the workload's settings that are rows.
    :param cells: by level; a condition without a value has none.
    :param notes: what differs in the work done, by level, where it is not the test's usual work.
    :param outcomes: what became of the points that were planned for it, by level.
    """

    test: str
    title: str
    tool_test: str
    series: str
    swept: float | None
    settings: Settings
    cells: dict[str, Cell]
    notes: dict[str, str]
    outcomes: dict[str, Outcome]


@dataclass(frozen=True)
class Mean:
    """The ratios of one column, over the rows that it shares with the baseline."""

    tests: int
    arithmetic: float
    geometric: float


@dataclass(frozen=True)
class Scaling:
    """How the metric follows what the table scales with.

    :param unit: "GHz" or "CPU".
    :param ratios: size over the baseline's size, by level.
    :param exponent: median over tests of the slope of log value over log size; None without two known sizes
        that differ by more than a clock that counts as achieved.
    :param tests: how many tests have values, none of them 0, at every known size.
    :param unknown: the levels whose size is not known.
    """

    unit: str
    ratios: dict[str, float]
    exponent: float | None
    tests: int
    unknown: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """One table.

    :param by: the factor (or "host", "run") whose levels are the columns.
    :param sweep: the setting that is swept along the rows ("threads"); None where nothing is.
    :param fixed: the factors that have one level in the whole table.
    :param zeros: the tests that have a value of 0, with the level: 0 has neither a ratio nor a logarithm.
    :param averaged: tests that stand several times in one log.
    :param frame: what it was made from, samples and gaps, as in :mod:`collector.frame`.
    """

    study: str
    workload: str
    by: str
    sweep: str | None
    metric: Metric
    fixed: dict[str, str]
    columns: tuple[Column, ...]  # the baseline first
    rows: tuple[Row, ...]
    scaling: Scaling | None
    zeros: tuple[tuple[str, str], ...]
    averaged: tuple[str, ...]
    frame: pd.DataFrame

    def ratios(self, level: str) -> dict[str, float]:
        """The column's ratios by test, over the tests that it shares with the baseline."""
        cells = {row.test: row.cells.get(level) for row in self.rows}
        return {test: cell.ratio for test, cell in cells.items() if cell and cell.ratio is not None}

    def mean(self, level: str) -> Mean | None:
        """The foot of a column; None if it shares no test with the baseline."""
        ratios = self.ratios(level).values()
        if not ratios:
            return None
        return Mean(len(ratios), statistics.fmean(ratios), statistics.geometric_mean(ratios))

    @property
    def measured(self) -> Measured:
        """The conditions that have a result, in the order of the columns."""
        planned = points(self.frame)
        ok = planned[planned["status"] == Status.OK]
        found = [(column, ok[ok["level"] == column.level]) for column in self.columns]
        return [(column, with_result) for column, with_result in found if len(with_result)]

    @property
    def tested(self) -> int:
        """How many differences were tested against noise."""
        return sum(cell.p is not None for row in self.rows for cell in row.cells.values())

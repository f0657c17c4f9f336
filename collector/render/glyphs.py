"""The signs of a table, and numbers with their signs, alike in every format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from collector import overhead
from collector.comparison import Cell, Comparison
from collector.stats import ALPHA, CONFIDENCE, SAME_WITHIN, Verdict
from collector.words import counted

NONE = "-"  # where there is no value
_MOST_DECIMALS = 3
_ASYMMETRIC = 0.1  # of an interval's width: sides that differ by more are not told by one number


class Compared(Protocol):
    """What has a ratio to a baseline: a cell of a table, or the verdict over some."""

    @property
    def ratio(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def verdict(self) -> Verdict | None: ...


@dataclass(frozen=True)
class Glyphs:
    """Signs for verdicts and margins, for output that can or cannot show more than ASCII."""

    better: str
    worse: str
    same: str
    undecided: str
    plus_minus: str

    def sign(self, cell: Compared) -> str:
        """The verdict; "" where nothing may be claimed."""
        signs = {
            Verdict.BETTER: self.better,
            Verdict.WORSE: self.worse,
            Verdict.SAME: self.same,
            Verdict.UNDECIDED: self.undecided,
        }
        return signs.get(cell.verdict, "") if cell.verdict else ""

    def margin(self, cell: Compared) -> str:
        """The larger side of the ratio's interval, its ends where the sides differ much, "" without one."""
        if cell.ratio is None or cell.low is None or cell.high is None:
            return ""
        below, above = cell.ratio - cell.low, cell.high - cell.ratio
        if abs(above - below) > _ASYMMETRIC * (cell.high - cell.low):
            return f"({cell.low:.3f}-{cell.high:.3f})"
        return f"{self.plus_minus}{max(below, above):.3f}"

    def spread(self, cell: Cell) -> str:
        """The coefficient of variation over repeats, "" where there is but one."""
        return "" if cell.variation is None else f"{self.plus_minus}{cell.variation:.1%}"

    def legend(self, comparison: Comparison) -> list[str]:
        """What the signs mean; nothing where nothing was tested."""
        if not comparison.tested:
            return []
        return [
            f"{self.better} better, {self.worse} worse, {self.same} same within {SAME_WITHIN:.0%}, "
            f"{self.undecided} not told apart: Welch's t-test on log values (where no repeat varies: exact "
            f"permutation), corrected for {counted(comparison.tested, 'comparison')} "
            f"(Benjamini-Hochberg, {ALPHA:.0%})",
            f"{self.plus_minus} is the larger side of the {CONFIDENCE:.0%} interval of a ratio, "
            f"(low-high) where its sides differ much; "
            f"{self.plus_minus} with % is the coefficient of variation over repeats",
        ]


UNICODE = Glyphs("▲", "▼", "=", "~", "±")
ASCII = Glyphs("^", "v", "=", "~", "+-")


def ratio(cell: Cell) -> str:
    """The ratio, "" where there is none."""
    return "" if cell.ratio is None else f"{cell.ratio:.3f}"


def cost(comparison: Comparison, cell: Cell) -> str:
    """The overhead, "" where the table asks for none or there is no ratio."""
    if cell.ratio is None or not overhead.is_asked(comparison):
        return ""
    return overhead.percent(overhead.of(comparison, cell.ratio))


def formatter(values: Iterable[float]) -> Callable[[float], str]:
    """A format that all the values share, so that their digits align: three digits for the smallest one.

    >>> f = formatter([130378.09, 4385.2]); f(130378.09)
    '130,378'
    >>> f = formatter([12.5, 0.0791]); f(12.5)
    '12.500'
    """
    smallest = min((abs(value) for value in values if value), default=1.0)
    decimals = min(max(2 - math.floor(math.log10(smallest)), 0), _MOST_DECIMALS)
    return lambda value: f"{value:,.{decimals}f}"

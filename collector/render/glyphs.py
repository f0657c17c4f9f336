"""The signs of a table, and numbers with their signs, alike in every format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from collector.compare import Cell, Comparison
from collector.stats import ALPHA, CONFIDENCE, Verdict

NONE = "-"  # where there is no value
_MOST_DECIMALS = 3


@dataclass(frozen=True)
class Glyphs:
    """Signs for verdicts and margins, for output that can or cannot show more than ASCII."""

    better: str
    worse: str
    same: str
    plus_minus: str

    def sign(self, cell: Cell) -> str:
        """The verdict; "" where nothing may be claimed."""
        signs = {Verdict.BETTER: self.better, Verdict.WORSE: self.worse, Verdict.SAME: self.same}
        return signs.get(cell.verdict, "") if cell.verdict else ""

    def margin(self, cell: Cell) -> str:
        """Half the width of the ratio's interval, "" where there is none."""
        if cell.low is None or cell.high is None:
            return ""
        return f"{self.plus_minus}{(cell.high - cell.low) / 2:.3f}"

    def spread(self, cell: Cell) -> str:
        """The coefficient of variation over repeats, "" where there is but one."""
        return "" if cell.variation is None else f"{self.plus_minus}{cell.variation:.1%}"

    def legend(self, comparison: Comparison) -> list[str]:
        """What the signs mean; nothing where nothing was tested."""
        if not comparison.tested:
            return []
        return [
            f"{self.better} better, {self.worse} worse, {self.same} same within noise: Welch's t-test on log "
            f"values, corrected for {comparison.tested} comparisons (Benjamini-Hochberg, {ALPHA:.0%})",
            f"{self.plus_minus} is half the {CONFIDENCE:.0%} interval of a ratio; "
            f"{self.plus_minus} with % is the coefficient of variation over repeats",
        ]


UNICODE = Glyphs("▲", "▼", "~", "±")
ASCII = Glyphs("^", "v", "~", "+-")


def ratio(cell: Cell) -> str:
    """The ratio, "" where there is none."""
    return "" if cell.ratio is None else f"{cell.ratio:.3f}"


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

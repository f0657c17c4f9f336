"""The arithmetic of a comparison: spread, ratio with interval, verdict, means, scaling, outliers.

Pure functions of numbers. Ratios are the other condition over the baseline, whatever the direction of the
metric; the direction enters only in :func:`verdict`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scipy import special

from collector.metrics import Better

ALPHA = 0.05  # the rate of false discoveries among the differences that a table claims
CONFIDENCE = 0.95  # of the interval of one ratio
SAME_WITHIN = 0.02  # a ratio whose whole interval lies this close to 1 is called the same
OUTLIER_SCORE = 3.5  # Iglewicz and Hoaglin's recommendation
OUTLIER_MINIMUM = math.log(1.10)  # a test within 10% of the others is never called far from them
_MAD_TO_SIGMA = 0.6745  # the median absolute deviation of a normal distribution, in standard deviations

Repeats = Mapping[Hashable, float]  # values by the repeat that they were measured in
Row = tuple[Repeats, Repeats]  # of the baseline, and of the other condition


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNDECIDED = "undecided"
    TOO_FEW = "too few repeats"


@dataclass(frozen=True)
class Difference:
    """How two conditions differ: the interval of the ratio other / baseline, and p under no difference.

    :param low: None, like `high`, where there is no interval.
    """

    low: float | None
    high: float | None
    p: float

    @property
    def negligible(self) -> bool:
        """Whether there is an interval, and all of it lies within 2% of 1."""
        if self.low is None or self.high is None:
            return False
        return self.low >= 1 - SAME_WITHIN and self.high <= 1 + SAME_WITHIN


def difference(baseline: Sequence[float], other: Sequence[float]) -> Difference | None:
    """Welch's t-test on log values, as a ratio.

    Performance varies in proportion to its size, so logs have the steadier variance, and a difference of
    logs is a ratio. The interval is that of the ratio of geometric means, with Welch and Satterthwaite's
    degrees of freedom: B. L. Welch, The generalization of "Student's" problem when several different
    population variances are involved, Biometrika 34 (1947); F. E. Satterthwaite, An approximate distribution
    of estimates of variance components, Biometrics Bulletin 2 (1946).

    Repeats that do not vary at all (a latency in coarse steps) give no variance to test with, hence no
    interval. Then p is that of the exact permutation test for two samples that do not overlap,
    2 / C(n + m, n). Nor is there an interval where an end of it is beyond what a float holds.

    :returns: None if a side has fewer than two values or a value is not positive.
    """
    return mean_difference([(dict(enumerate(baseline)), dict(enumerate(other)))])


def mean_difference(rows: Sequence[Row]) -> Difference | None:
    """The same test of several rows at once: of the mean over rows of the differences of mean logs.

    The interval is that of the geometric mean of the rows' ratios. The mean's variance is the sum of s^2 / n
    of both sides of all rows, over the square of the number of rows, and its degrees of freedom are v^2 /
    sum(v_i^2 / f_i) over the parts v_i of that sum: both papers named above treat the general case.

    Rows that were measured in the same repeats (reads and writes of one log) go up and down together. Their
    deviations are added by repeat before they are squared, as cluster-robust variances do: K.-Y. Liang and
    S. L. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73 (1986). Otherwise
    the noise of one row is taken to be independent of that of the next. The answer is about these rows, not
    about others that might have been measured.

    Where no repeat of any row varies, p is that of the permutation test, 2 / prod C(n + m, n) over the blocks
    of rows that were measured apart and differ, if all differ the same way, and else 1.

    :returns: None if there is no row, a side has fewer than two values or a value is not positive.
    """
    if not rows or any(len(side) < 2 or min(side.values()) <= 0 for row in rows for side in row):
        return None
    blocks = _measured_together([(_logs(baseline), _logs(other)) for baseline, other in rows])
    parts = [_variance(sides) for block in blocks for sides in zip(*block, strict=True)]
    shifts = [sum(_mean(other) - _mean(baseline) for baseline, other in block) for block in blocks]
    total = sum(variance for variance, _ in parts)
    if total == 0:
        return Difference(None, None, _permutation_p(blocks, shifts))
    shift, error = sum(shifts) / len(rows), math.sqrt(total) / len(rows)
    freedom = total**2 / sum(variance**2 / free for variance, free in parts)
    margin = error * float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))
    p = 2 * float(special.stdtr(freedom, -abs(shift) / error))
    try:
        return Difference(math.exp(shift - margin), math.exp(shift + margin), p)
    except OverflowError:
        return Difference(None, None, p)


def _logs(side: Repeats) -> Repeats:
    return {repeat: math.log(value) for repeat, value in side.items()}


def _mean(side: Repeats) -> float:
    return statistics.mean(side.values())  # exact, unlike fmean: what does not vary must not seem to


def _measured_together(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows in blocks, of which no two have a repeat in common."""
    blocks: list[list[Row]] = []
    for row in rows:
        apart, together = [], [row]
        for block in blocks:
            if any(x.keys() & y.keys() for other in block for x, y in zip(row, other, strict=True)):
                together += block
            else:
                apart.append(block)
        blocks = [*apart, together]
    return blocks


def _variance(sides: Sequence[Repeats]) -> tuple[float, int]:
    """The variance of the sum of the sides' means, and its degrees of freedom."""
    deviations: dict[Hashable, float] = {}
    for side in sides:
        mean = _mean(side)
        for repeat, value in side.items():
            deviations[repeat] = deviations.get(repeat, 0.0) + (value - mean) / len(side)
    count = len(deviations)
    return count / (count - 1) * sum(deviation**2 for deviation in deviations.values()), count - 1


def _permutation_p(blocks: Sequence[Sequence[Row]], shifts: Sequence[float]) -> float:
    """p of repeats that do not vary: in how few of all ways to divide them are the sides as far apart."""
    one_way = all(shift >= 0 for shift in shifts) or all(shift <= 0 for shift in shifts)
    counts = [
        [len(set().union(*sides)) for sides in zip(*block, strict=True)]
        for block, shift in zip(blocks, shifts, strict=True)
        if shift != 0
    ]
    return 2 / math.prod(math.comb(n + m, n) for n, m in counts) if counts and one_way else 1.0


def adjust(p_values: Sequence[float]) -> list[float]:
    """p values corrected for the number of comparisons made at once.

    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, J. R. Statist. Soc. B 57 (1995).
    """
    adjusted = [1.0] * len(p_values)
    smallest = 1.0
    by_size = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for rank, i in reversed(list(enumerate(by_size, start=1))):
        smallest = min(smallest, p_values[i] * len(p_values) / rank)
        adjusted[i] = smallest
    return adjusted


def ratio(baseline: Sequence[float], other: Sequence[float]) -> float:
    """The ratio of geometric means, other / baseline, which the interval of :func:`difference` is about.

    :raises statistics.StatisticsError: a value is not positive.
    """
    return statistics.geometric_mean(other) / statistics.geometric_mean(baseline)


def verdict(ratio: float, tested: Difference | None, better: Better) -> Verdict:
    """What may be claimed of a ratio.

    That a difference was not found is no claim of sameness: that needs an interval within 2% of 1.

    :param tested: with p corrected for all comparisons; None where there were too few repeats to test.
    """
    if tested is None:
        return Verdict.TOO_FEW
    if tested.p >= ALPHA:
        return Verdict.SAME if tested.negligible else Verdict.UNDECIDED
    return Verdict.BETTER if (ratio > 1) is (better is Better.HIGHER) else Verdict.WORSE


def scaling_exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The k of value ~ size^k: least-squares slope of log value over log size.

    :param sizes: clock frequencies in GHz, or CPU shares; at least two different ones.
    :raises statistics.StatisticsError: if they are fewer or all the same.
    """
    return statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(value) for value in values]
    ).slope


def outliers(ratios: Mapping[str, float]) -> list[str]:
    """The keys whose ratio lies far from the others, farthest first.

    The modified z-score on log ratios, |0.6745 (x - median) / MAD| > 3.5: B. Iglewicz and D. C. Hoaglin,
    How to Detect and Handle Outliers, ASQC (1993). Where nearly all ratios agree the score flags trifles,
    hence a minimum distance of 10% from the median.
    """
    if not ratios:
        return []
    logs = {key: math.log(ratio) for key, ratio in ratios.items()}
    middle = statistics.median(logs.values())
    distance = {key: abs(value - middle) for key, value in logs.items()}
    limit = max(OUTLIER_SCORE * statistics.median(distance.values()) / _MAD_TO_SIGMA, OUTLIER_MINIMUM)
    return sorted((key for key in distance if distance[key] > limit), key=lambda key: -distance[key])

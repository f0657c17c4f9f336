"""The arithmetic of a comparison: spread, ratio with interval, verdict, means, scaling, outliers.

Pure functions of numbers. Ratios are the other condition over the baseline, whatever the direction of the
metric; the direction enters only in :func:`verdict`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
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
    n, m = len(baseline), len(other)
    if min(n, m) < 2 or min(*baseline, *other) <= 0:
        return None
    x, y = [math.log(v) for v in baseline], [math.log(v) for v in other]
    shift = statistics.fmean(y) - statistics.fmean(x)
    var_x, var_y = statistics.variance(x) / n, statistics.variance(y) / m
    error = math.sqrt(var_x + var_y)
    if error == 0:
        p = 1.0 if shift == 0 else 2 / math.comb(n + m, n)
        return Difference(None, None, p)
    freedom = (var_x + var_y) ** 2 / (var_x**2 / (n - 1) + var_y**2 / (m - 1))
    margin = error * float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))
    p = 2 * float(special.stdtr(freedom, -abs(shift) / error))
    try:
        return Difference(math.exp(shift - margin), math.exp(shift + margin), p)
    except OverflowError:
        return Difference(None, None, p)


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

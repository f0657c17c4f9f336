"""The arithmetic, against scipy and against what it must find and must not find in simulated results."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from collector import stats
from collector.metrics import Better
from collector.stats import Verdict

ROWS, REPEATS, NOISE = 20, 5, 0.02


def test_difference_agrees_with_scipy_on_log_values() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.lognormal(10, 0.03, 4), rng.lognormal(10.1, 0.08, 6)
    ours = stats.difference(list(a), list(b))
    theirs = scipy_stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert ours is not None
    assert ours.p == pytest.approx(theirs.pvalue)
    assert (ours.low, ours.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))


@pytest.mark.parametrize("pair", [([1.0], [1.0, 2.0]), ([1.0, 2.0], [1.0]), ([0.0, 1.0], [1.0, 2.0])])
def test_no_difference_is_claimed_without_repeats_or_with_values_that_have_no_log(
    pair: tuple[list[float], list[float]],
) -> None:
    assert stats.difference(*pair) is None


def test_repeats_that_do_not_vary_are_tested_by_permutation() -> None:
    same = stats.difference([0.111] * 3, [0.111] * 3)
    assert same == stats.Difference(None, None, 1.0)
    few, enough = stats.difference([1.0] * 3, [2.0] * 3), stats.difference([1.0] * 5, [2.0] * 5)
    assert few is not None and few.p == pytest.approx(0.1)
    assert enough is not None and enough.p < 0.01


def test_adjust_agrees_with_scipy() -> None:
    p_values = [0.001, 0.2, 0.01, 0.04, 0.04, 0.9]
    expected = scipy_stats.false_discovery_control(p_values)
    assert stats.adjust(p_values) == pytest.approx(list(expected))
    assert stats.adjust([]) == []


@pytest.mark.parametrize(
    ("ratio", "p", "better", "expected"),
    [
        (1.1, 0.01, Better.HIGHER, Verdict.BETTER),
        (0.9, 0.01, Better.HIGHER, Verdict.WORSE),
        (1.1, 0.01, Better.LOWER, Verdict.WORSE),
        (0.9, 0.01, Better.LOWER, Verdict.BETTER),
        (0.9, 0.05, Better.LOWER, Verdict.UNDECIDED),
        (0.1, None, Better.HIGHER, Verdict.TOO_FEW),
    ],
)
def test_verdict_follows_the_direction_of_the_metric(
    ratio: float, p: float | None, better: Better, expected: Verdict
) -> None:
    tested = None if p is None else stats.Difference(ratio * 0.9, ratio * 1.1, p)
    assert stats.verdict(ratio, tested, better) is expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.981, 1.019, Verdict.SAME),
        (0.979, 1.001, Verdict.UNDECIDED),
        (0.999, 1.021, Verdict.UNDECIDED),
        (None, None, Verdict.UNDECIDED),
    ],
)
def test_sameness_takes_an_interval_that_lies_near_1(
    low: float | None, high: float | None, expected: Verdict
) -> None:
    assert stats.verdict(1.0, stats.Difference(low, high, 0.5), Better.HIGHER) is expected


def test_few_repeats_that_do_not_vary_decide_nothing() -> None:
    for other in (0.111, 0.112):
        tested = stats.difference([0.111] * 3, [other] * 3)
        assert stats.verdict(other / 0.111, tested, Better.LOWER) is Verdict.UNDECIDED


def test_an_interval_beyond_what_a_float_holds_is_none() -> None:
    tested = stats.difference([1.0, 1e-200], [1.0, 1e200])
    assert tested is not None and (tested.low, tested.high) == (None, None)
    assert stats.verdict(1e200, tested, Better.HIGHER) is Verdict.UNDECIDED


def test_the_ratio_lies_in_its_interval() -> None:
    a, b = [1.0, 1.001, 1.0], [1.0, 100.0, 1.0]  # the ratio of arithmetic means is 34
    tested = stats.difference(a, b)
    assert tested is not None and tested.low is not None and tested.high is not None
    assert stats.ratio(a, b) == pytest.approx(100 ** (1 / 3), rel=1e-3)
    assert stats.ratio(a, b) == pytest.approx(math.sqrt(tested.low * tested.high))


def claimed(true_ratio: float, tables: int = 200) -> list[int]:
    """In each simulated table of ROWS tests, how many are called different."""
    rng = np.random.default_rng(2026)
    counts = []
    for _ in range(tables):
        found: list[stats.Difference] = []
        for _ in range(ROWS):
            level = rng.uniform(5e3, 2e5)
            a = level * rng.normal(1, NOISE, REPEATS)
            b = level * true_ratio * rng.normal(1, NOISE, REPEATS)
            result = stats.difference(list(a), list(b))
            assert result is not None
            found.append(result)
        adjusted = zip(found, stats.adjust([result.p for result in found]), strict=True)
        verdicts = [stats.verdict(true_ratio, replace(d, p=p), Better.HIGHER) for d, p in adjusted]
        counts.append(sum(v in (Verdict.BETTER, Verdict.WORSE) for v in verdicts))
    return counts


def test_identical_systems_are_not_called_different() -> None:
    counts = claimed(1)
    assert statistics.median(counts) == 0
    assert sum(count > 0 for count in counts) / len(counts) <= 0.06


def test_a_true_five_percent_is_found() -> None:
    counts = claimed(1.05)
    assert statistics.median(counts) >= 17
    assert statistics.fmean(counts) >= 17


def test_scaling_exponent_of_a_power_law() -> None:
    sizes = [2.6, 2.0, 1.0]
    assert stats.scaling_exponent(sizes, [7 * s**0.8 for s in sizes]) == pytest.approx(0.8)
    with pytest.raises(statistics.StatisticsError):
        stats.scaling_exponent([1.0, 1.0], [2.0, 3.0])


def test_outliers_are_far_from_the_others_farthest_first() -> None:
    ratios = {"a": 0.30, "b": 0.29, "c": 0.31, "d": 0.28, "LPOP": 0.14, "e": 0.30, "LRANGE": 0.62, "f": 0.29}
    assert stats.outliers(ratios) == ["LPOP", "LRANGE"]


def test_ratios_within_ten_percent_of_the_others_are_no_outliers() -> None:
    assert stats.outliers({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.001, "e": 1.09}) == []
    assert stats.outliers({}) == []

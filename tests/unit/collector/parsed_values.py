"""A parsed log as plain values, to compare with what a test expects."""

from __future__ import annotations

from collector.samples import Parsed


def by_test(parsed: Parsed) -> dict[tuple[str, str], float]:
    """Every sample's value by test and metric; no two of a run may have both in common."""
    assert len({(sample.test, sample.metric, sample.run) for sample in parsed.samples}) == len(parsed.samples)
    return {(sample.test, sample.metric): sample.value for sample in parsed.samples}


def of_test(parsed: Parsed, test: str) -> dict[str, float]:
    """The values of one test by metric."""
    return {metric: value for (of, metric), value in by_test(parsed).items() if of == test}

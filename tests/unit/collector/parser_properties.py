"""What must hold for everything that a parser gives back, whatever stands in the log."""

from __future__ import annotations

import math
from collections.abc import Callable

from collector.metrics import Better
from collector.samples import Parsed


def check(parsed: Parsed, text: str) -> None:
    """Samples are numbers that can have been measured, and all stand on lines that there are."""
    lines = text.count("\n") + 1
    for sample in parsed.samples:
        assert math.isfinite(sample.value)
        assert sample.value >= 0
        assert 1 <= sample.line <= lines
        assert sample.run >= 1
        assert sample.test.strip()
        assert sample.unit
    assert all(1 <= issue.line <= lines and issue.reason for issue in parsed.issues)


def check_cuts(parse: Callable[[str], Parsed], log: str) -> None:
    """A log that is cut anywhere is a failure, or has no result that the whole log has not."""
    whole = {(sample.test, sample.metric, sample.value) for sample in parse(log).samples}
    for end in range(0, len(log), 1 + len(log) // 150):
        parsed = parse(log[:end])
        results = [sample for sample in parsed.samples if sample.better is not Better.NONE]
        assert parsed.failure or all((s.test, s.metric, s.value) in whole for s in results), log[:end][-80:]

"""What must hold for everything that a parser gives back, whatever stands in the log."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from collector.metrics import Better
from collector.parsers.text import decode
from collector.samples import Parsed

Parse = Callable[[str], Parsed]


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


def any_text_tests(
    parse: Parse, logs: Sequence[str], words: st.SearchStrategy[str]
) -> tuple[Callable[[], None], Callable[[], None], Callable[[], None]]:
    """Tests for a module of a parser: of any text, of any bytes, and of any damage to a log.

    :param words: that the parser knows, so that arbitrary text gets into its corners.
    """

    @given(st.text() | st.lists(words | st.text(max_size=5)).map("".join))
    def test_any_text(text: str) -> None:
        check(parse(text), text)

    @given(st.binary())
    def test_any_bytes(content: bytes) -> None:
        text = decode(content)
        check(parse(text), text)

    @given(st.sampled_from(logs), st.data())
    def test_any_damage(log: str, data: st.DataObject) -> None:
        begin = data.draw(st.integers(0, len(log)))
        end = data.draw(st.integers(begin, min(len(log), begin + 200)))
        damaged = log[:begin] + data.draw(words | st.text(max_size=10)) + log[end:]
        check(parse(damaged), damaged)

    return test_any_text, test_any_bytes, test_any_damage


def check_cuts(parse: Parse, log: str) -> None:
    """A log that is cut anywhere is a failure, or has no result that the whole log has not."""
    whole = {(sample.test, sample.metric, sample.value) for sample in parse(log).samples}
    for end in range(0, len(log), 1 + len(log) // 400):
        parsed = parse(log[:end])
        results = [sample for sample in parsed.samples if sample.better is not Better.NONE]
        assert parsed.failure or all((s.test, s.metric, s.value) in whole for s in results), log[:end][-80:]


def check_time(parse: Parse, text: str) -> None:
    """A large text takes no longer than its size."""
    begin = time.monotonic()
    parse(text)
    assert time.monotonic() - begin < 10

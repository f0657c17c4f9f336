"""Whatever stands in a log, the parser does not raise and yields no figure that is none."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.metrics import Better
from collector.parsers.redis_benchmark import parse
from collector.parsers.text import decode
from collector.samples import Parsed

_FILES = sorted((Path(__file__).parents[2] / "data" / "redis_benchmark").glob("*-*"))
_LOGS = [decode(file.read_bytes()) for file in _FILES]
# Words that the parser knows, so that arbitrary text gets into its corners.
_WORDS = st.sampled_from(
    [
        *("SET", ": ", "7.50", "nan", "inf", "9" * 400, " requests per second", ", p50=", " msec"),
        *('"', '","', "\\n", "\r", "\n", "====== ", " ======", "# ", "<br>", ": rps=", "avg_msec=", "NOAUTH"),
        *("100.00% <= 1 milliseconds", "  1000 requests completed in 1.00 seconds", "  50 parallel clients"),
        *("throughput summary: ", "latency summary", "0.100 0.100 0.100 0.100 0.100 0.100"),
    ]
)


def _check(parsed: Parsed, text: str) -> None:
    lines = text.count("\n") + 1
    for sample in parsed.samples:
        assert math.isfinite(sample.value)
        assert sample.value >= 0
        assert 1 <= sample.line <= lines
        assert sample.run >= 1
        assert sample.test.strip()
    assert all(1 <= issue.line <= lines and issue.reason for issue in parsed.issues)


@given(st.text() | st.lists(_WORDS | st.text(max_size=5)).map("".join))
def test_any_text(text: str) -> None:
    _check(parse(text), text)


@given(st.binary())
def test_any_bytes(content: bytes) -> None:
    text = decode(content)
    _check(parse(text), text)


@given(st.sampled_from(_LOGS), st.data())
def test_any_damage(log: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(log)))
    end = data.draw(st.integers(begin, min(len(log), begin + 200)))
    damaged = log[:begin] + data.draw(_WORDS | st.text(max_size=10)) + log[end:]
    _check(parse(damaged), damaged)


@pytest.mark.parametrize("log", _LOGS, ids=[file.name for file in _FILES])
def test_a_cut_log_has_no_figure_that_the_whole_log_has_not(log: str) -> None:
    whole = {(sample.test, sample.metric, sample.value) for sample in parse(log).samples}
    for end in range(0, len(log), 1 + len(log) // 400):
        parsed = parse(log[:end])
        results = [sample for sample in parsed.samples if sample.better is not Better.NONE]
        assert parsed.failure or all((s.test, s.metric, s.value) in whole for s in results), log[:end][-80:]

"""Whatever stands in a log, the parser does not raise and yields no figure that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from collector.parsers.redis_benchmark import parse
from collector.parsers.text import decode
from tests.unit.collector.parser_properties import any_text_tests, check_cuts

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

test_any_text, test_any_bytes, test_any_damage = any_text_tests(parse, _LOGS, _WORDS)


@pytest.mark.parametrize("log", _LOGS, ids=[file.name for file in _FILES])
def test_a_cut_log_has_no_figure_that_the_whole_log_has_not(log: str) -> None:
    check_cuts(parse, log)

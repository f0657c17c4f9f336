"""Whatever stands in a log of tpcc-mysql, the parser does not raise and yields no figure that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from collector.parsers.text import decode
from collector.parsers.tpcc_mysql import parse
from tests.unit.collector.parser_properties import any_text_tests, check_cuts, check_time

_FILES = sorted((Path(__file__).parents[2] / "data" / "tpcc_mysql").glob("*.txt"))
_LOGS = [decode(file.read_bytes()) for file in _FILES]
# Words that the parser knows, so that arbitrary text gets into its corners.
_WORDS = st.sampled_from(
    [
        *("TPC-C Load Generator\n", "MEASURING START\n", "STOPPING THREADS", "[connection]: 7\n", "[pass]: "),
        *(
            "\n10, trx: ",
            "7, 95%: ",
            "1.500, 99%: ",
            "2.5, max_rt: ",
            "9.125, 1|",
            "9" * 400,
            "9" * 5000,
            "\n",
        ),
        *("\n10, 7(0):", "1.5|", "2.5, ", "nan", "inf", "1213, 40001, Deadlock", "\n2013, HY000, Lost"),
        *(
            "<Raw Results>\n",
            "<Raw Results2(sum ver.)>\n",
            "[0] sc:",
            "1 lt:",
            "2  rt:",
            "3  fl:",
            " avg_rt: ",
        ),
        *(
            "[transaction percentage]\n",
            "[response time",
            "Payment: 4.5% [NG]\n",
            "<TpmC>\n",
            " 720.5",
            " TpmC\n",
        ),
    ]
)

test_any_text, test_any_bytes, test_any_damage = any_text_tests(parse, _LOGS, _WORDS)


@pytest.mark.parametrize("log", _LOGS, ids=[file.name for file in _FILES])
def test_a_cut_log_has_no_figure_that_the_whole_log_has_not(log: str) -> None:
    check_cuts(parse, log)


@pytest.mark.parametrize(
    "text",
    [
        _LOGS[-1] * 2_000,
        "10, trx: 1\n" * 50_000,
        "MEASURING START\n10, trx" + "\n1" * 100_000,
        "1, " * 300_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_large_texts_take_no_longer_than_their_size(text: str) -> None:
    check_time(parse, text)

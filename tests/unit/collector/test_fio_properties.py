"""Whatever stands in a log of fio, the parser does not raise and yields no figure that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from collector.parsers.fio import parse
from collector.parsers.text import decode
from tests.unit.collector.parser_properties import any_text_tests, check_cuts, check_time

_FILES = sorted((Path(__file__).parents[2] / "data" / "fio").glob("*-*"))
_LOGS = [decode(file.read_bytes()) for file in _FILES]
# Up to the last of their states these have an older one, which nothing tells from a last one.
_CUT = [file for file in _FILES if not file.name.startswith("status-interval")]
_HEADING = "x: (groupid=0, jobs=1): err= 0: pid=3: Mon"
# Words that the parser knows, so that arbitrary text gets into its corners.
_WORDS = st.sampled_from(
    [
        *(
            "nan",
            "inf",
            "-nan",
            "1e999",
            "9" * 400,
            "9" * 5000,
            "\n",
            "\r",
            '"',
            ";",
            "%=",
            "<vm> ",
            "hostname=vm",
        ),
        *(
            '{"fio version": "fio-3.33", "jobs": [',
            '{"jobname": "x", "error": ',
            '"read": {"io_bytes": ',
            "}",
            "]",
        ),
        *(
            '"iops": ',
            '"clat_ns": {"max": 7, "percentile": {"99.000000": ',
            ", ",
            "1",
            "-1",
            "null",
            "[" * 3000,
        ),
        *(
            "3;fio-3.33;x;0;0;",
            "2;x;0;0;7;",
            "7;",
            "1.000000%=7;",
            "\n" + _HEADING + "\n",
            "All clients: ",
            "err=5",
        ),
        *(
            "  read: IOPS=",
            "1.5k",
            ", BW=2MiB/s (3MB/s)(4MiB/5msec)\n",
            "  write: io=1KB, bw=2KB/s, iops=",
            ", runt= 7msec",
        ),
        *(
            "    clat (usec): min=1, max=2, avg=",
            ", stdev=",
            "    clat percentiles (usec):\n     | 99.00th=[",
            "]",
        ),
        *(
            "Run status group 0",
            "x: (g=0): rw=read\n",
            "fio: pid=1, err=22/file:f, func=g, error=h",
            "verify: bad",
        ),
    ]
)

test_any_text, test_any_bytes, test_any_damage = any_text_tests(parse, _LOGS, _WORDS)


@pytest.mark.parametrize("file", _CUT, ids=lambda file: file.name)
def test_a_cut_log_has_no_figure_that_the_whole_log_has_not(file: Path) -> None:
    check_cuts(parse, decode(file.read_bytes()))


@pytest.mark.parametrize(
    "text",
    [
        _LOGS[0] * 50,
        '{"jobname": 1,\n' * 20_000,
        '{"fio version": "fio-3.33", "jobs": [\n' * 20_000,
        f"{_HEADING}\n" * 20_000,
        "fio: " * 50_000,
        "3;fio-3.33;x;0;0;" + "0;" * 500_000,
        "func=" * 2_000,
        "\n" * 200_000,
        " " * 1_000_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_large_texts_take_no_longer_than_their_size(text: str) -> None:
    check_time(parse, text)

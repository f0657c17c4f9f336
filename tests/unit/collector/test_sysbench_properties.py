"""Whatever stands in a log, the parser does not raise and yields no figure that is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from collector.metrics import Better
from collector.parsers.sysbench import parse
from collector.parsers.text import decode
from collector.samples import Parsed
from tests.unit.collector.parser_properties import any_text_tests

_FILES = sorted((Path(__file__).parents[2] / "data" / "sysbench").glob("*-*.*"))
_LOGS = [decode(file.read_bytes()) for file in _FILES]
# Words that the parser knows, so that arbitrary text gets into its corners.
_WORDS = st.sampled_from(
    [
        *(
            "sysbench 1.0.20 (using",
            "sysbench 0.4.12:  multi-threaded",
            "\n",
            "\r",
            " ",
            "# ",
            "<br>",
            "FATAL: ",
        ),
        *(
            "Running the test with following options:\n",
            "Number of threads: 4\n",
            "[ 1s ] Checkpoint report:\n",
        ),
        *("[ 1s ] thds: 4", "CPU speed:\n", "General statistics:\n", "events per ms: ", "total time: "),
        *(
            "total number of events: ",
            "7.50",
            "0",
            "nan",
            "inf",
            "9" * 307,
            "9" * 400,
            "s\n",
            "ms\n",
            "mutex\n",
        ),
        *("95th percentile: ", "sum: 1.00\n", "fsync: IOPS=1.00\n", "transactions: 5 (0.10 per sec.)\n"),
        *(
            "events (avg/stddev): 0.0001/",
            "execution time (avg/stddev): 1.0000/0.10\n",
            "Removing test files",
        ),
        *("Total operations: 1 (1 per second)\n", "Read 1Tb  Written 0b  Total transferred 1Tb  (1b/sec)\n"),
    ]
)

test_any_text, test_any_bytes, test_any_damage = any_text_tests(parse, _LOGS, _WORDS)


@pytest.mark.parametrize("log", _LOGS, ids=[file.name for file in _FILES])
def test_a_cut_log_has_no_figure_that_the_whole_log_has_not(log: str) -> None:
    whole = {(sample.test, sample.metric, sample.value) for sample in parse(log).samples}
    for end in (*range(0, len(log), 1 + len(log) // 400), *range(len(log) - 40, len(log))):
        parsed = parse(log[:end])
        others = [s for s in parsed.samples if (s.test, s.metric, s.value) not in whole]
        assert parsed.failure or not others, log[:end][-80:]
        # A failed log is shown too: what it has of results is right, as far as their test is known.
        results = [s for s in others if s.better is not Better.NONE and s.test != "unnamed"]
        assert not results, log[:end][-80:]


@pytest.mark.parametrize("log", _LOGS, ids=[file.name for file in _FILES])
def test_a_log_without_its_beginning_has_no_figure_that_the_whole_log_has_not(log: str) -> None:
    def results(parsed: Parsed) -> set[tuple[str, float]]:
        # Without the test's name the time may be a result or not, and be so in another metric.
        skipped = ("intervals", "events_per_s", "total_time", "duration")
        return {(s.metric, s.value) for s in parsed.samples if s.metric not in skipped}

    whole = results(parse(log))
    for begin in range(0, len(log), 1 + len(log) // 400):
        parsed = parse(log[begin:])
        assert parsed.failure or results(parsed) <= whole, log[begin:][:80]

"""The redis-benchmark parser: one test a kind of output or of trouble."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.parsers.redis_benchmark import parse
from collector.parsers.text import decode
from collector.samples import Parsed
from tests.unit.collector.parsed_values import by_test

DATA = Path(__file__).parents[2] / "data" / "redis_benchmark"


def _parsed(name: str) -> Parsed:
    return parse(decode((DATA / name).read_bytes()))


def _rates(text: str) -> list[tuple[str, float, int]]:
    return [(s.test, s.value, s.run) for s in parse(text).samples if s.metric == "rps"]


def test_quiet_with_progress_that_is_overwritten_with_cr() -> None:
    parsed = _parsed("quiet-7.0.txt")
    values = by_test(parsed)
    assert parsed.issues == []
    assert len(values) == 2 * 20
    assert values["PING_INLINE", "rps"] == 39062.50
    assert values["PING_INLINE", "p50"] == 0.719
    assert {sample.run for sample in parsed.samples} == {1}
    assert [sample.line for sample in parsed.samples[:4]] == [1, 1, 2, 2]


def test_full_form_of_today() -> None:
    parsed = _parsed("full-7.0.txt")
    assert parsed.issues == []
    assert by_test(parsed) == {
        ("SET", "requests"): 20000,
        ("SET", "duration"): 0.47,
        ("SET", "clients"): 50,
        ("SET", "payload"): 3,
        ("SET", "rps"): 42918.46,
        ("SET", "avg"): 0.762,
        ("SET", "min"): 0.128,
        ("SET", "p50"): 0.727,
        ("SET", "p95"): 1.119,
        ("SET", "p99"): 2.095,
        ("SET", "max"): 4.703,
        ("GET", "requests"): 20000,
        ("GET", "duration"): 0.47,
        ("GET", "clients"): 50,
        ("GET", "payload"): 3,
        ("GET", "rps"): 42372.88,
        ("GET", "avg"): 0.778,
        ("GET", "min"): 0.072,
        ("GET", "p50"): 0.767,
        ("GET", "p95"): 1.151,
        ("GET", "p99"): 1.431,
        ("GET", "max"): 3.447,
    }


def test_full_form_of_old_in_a_document_with_two_servers() -> None:
    parsed = _parsed("full-2.4.md")
    assert parsed.issues == []
    assert [(s.run, s.test, s.metric, s.value, s.line) for s in parsed.samples if s.metric[0] in "mr"] == [
        (1, "SET", "requests", 1004, 5),
        (1, "SET", "max_le", 4, 12),
        (1, "SET", "rps", 50200, 13),
        (1, "GET", "requests", 1000, 16),
        (1, "GET", "max_le", 2, 23),
        (1, "GET", "rps", 71428.57, 24),
        (2, "SET", "requests", 1000, 30),
        (2, "SET", "max_le", 0, 35),
        (2, "SET", "rps", 83333.34, 36),
    ]
    assert list(dict.fromkeys(sample.run_label for sample in parsed.samples)) == [
        "Old server / redis-benchmark -n 1000 -t set,get",
        "New server / redis-benchmark -n 1000 -t set",
    ]


def test_full_form_with_tenths_of_milliseconds() -> None:
    values = by_test(_parsed("full-6.0.txt"))
    assert values["SET", "max_le"] == 1.1
    assert values["SET", "payload"] == 16
    assert values["SET", "rps"] == 25641.03


def test_csv_of_today_and_of_old() -> None:
    today, old = by_test(_parsed("csv-7.0.csv")), by_test(_parsed("csv-5.0.csv"))
    assert len(today) == 4 * 7
    assert [today["SET", metric] for metric in ("rps", "avg", "min", "p50", "p95", "p99", "max")] == [
        60060.06,
        0.430,
        0.112,
        0.423,
        0.551,
        0.663,
        1.599,
    ]
    assert old == {
        ("SET", "rps"): 71428.57,
        ("LPUSH (needed to benchmark LRANGE)", "rps"): 70921.99,
        ("LRANGE_500 (first 450 elements)", "rps"): 8130.08,
    }


@pytest.mark.parametrize("name", ["command-7.0.csv", "command-quiet-7.0.txt"])
def test_a_title_may_hold_quotes_colons_and_commas(name: str) -> None:
    parsed = _parsed(name)
    assert parsed.issues == []
    assert {sample.test for sample in parsed.samples} == {"eval return 'a: b, \"c\"' 0"}


def test_columns_are_those_of_each_line() -> None:
    assert by_test(parse('\ufeff"SET","1.50"\nGET,2.50,0.1,0.2,0.3,0.4,0.5,0.6\n')) == {
        ("SET", "rps"): 1.5,
        **{
            ("GET", metric): value
            for metric, value in zip(
                ("rps", "avg", "min", "p50", "p95", "p99", "max"),
                (2.5, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
                strict=True,
            )
        },
    }
    (issue,) = parse('"SET","1.50"\n"GET","2.50","0.10"\n').issues
    assert (issue.line, issue.fatal) == (2, False)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("GET: rps=0.0 (overall: nan) avg_msec=nan        GET: 7.50 requests per second", "GET"),
        ("GET: rps=0.0 (overall: -nan) avg_msec=-nan (overall: -nan)GET: 7.50 requests per second", "GET"),
        ("SET: 0.00SET: 45.12SET: 7.50 requests per second", "SET"),
        ("SET: 0.00\r   \rSET: 7.50 requests per second, p50=0.1 msec7 (overall: 0.3)", "SET"),
        ("> - SET: 7.50 requests per second  ", "SET"),
        ("**SET**: 7.50 requests per second<br>", "SET"),
        ("PING\\_INLINE: 7.50 requests per second", "PING_INLINE"),
        ("client_1  | SET: 7.50 requests per second", "SET"),
        ("\x1b[32mSET: 7.50 requests per second\x1b[0m", "SET"),
        ("eval &quot;return 1&quot;: 7.50 requests per second", 'eval "return 1"'),
    ],
)
def test_what_stands_around_a_quiet_result(text: str, test: str) -> None:
    assert _rates(text + "\r\n") == [(test, 7.5, 1)]


def test_thousands_separators() -> None:
    assert _rates("SET: 1,234,567.50 requests per second\nGET: 12,345 requests per second\n") == [
        ("SET", 1234567.5, 1),
        ("GET", 12345, 1),
    ]


def test_words_that_look_like_results_are_none() -> None:
    text = "Clients: 10\nUptime: 3.25\nA fast machine: 50000 requests per second\n"
    parsed = parse(text)
    assert parsed.samples == []
    assert [issue.line for issue in parsed.issues] == [3]


def test_the_same_title_again_is_a_further_run() -> None:
    text = "# Sweep\nClients: 1\nINCR: 1.50 requests per second\nClients: 2\nINCR: 2.50 requests per second\n"
    assert _rates(text) == [("INCR", 1.5, 1), ("INCR", 2.5, 2)]
    assert [sample.run_label for sample in parse(text).samples] == [
        "Sweep / Clients: 1",
        "Sweep / Clients: 2",
    ]


def test_a_command_line_begins_a_further_run() -> None:
    text = (
        "$ redis-benchmark -q -t set\nSET: 1.50 requests per second\n"
        "$ redis-benchmark -q -t get\nGET: 2.50 requests per second\nINCR: 3.50 requests per second\n"
    )
    assert _rates(text) == [("SET", 1.5, 1), ("GET", 2.5, 2), ("INCR", 3.5, 2)]


def test_a_banner_without_a_test_is_a_heading() -> None:
    parsed = parse(
        "====== Small ======\nSET: 1.50 requests per second\n"
        "====== Large ======\nSET: 2.50 requests per second\n"
    )
    assert [(sample.run_label, sample.value) for sample in parsed.samples] == [("Small", 1.5), ("Large", 2.5)]
    assert parsed.issues == []


def test_text_inside_json() -> None:
    log = (
        " \rSET: rps=0.0 (overall: nan) avg_msec=nan\rSET: 1.50 requests per second, p50=0.1 msec\n"
        "GET: 2.50 requests per second\n"
    )
    document = json.dumps({"rc": 0, "output": log, "again": json.dumps({"out": '"SET","9.50"\n'})}, indent=1)
    parsed = parse("some words\n" + document)
    assert [(s.test, s.metric, s.value, s.line, s.run) for s in parsed.samples] == [
        ("SET", "rps", 1.5, 4, 1),
        ("SET", "p50", 0.1, 4, 1),
        ("GET", "rps", 2.5, 4, 1),
        ("SET", "rps", 9.5, 5, 2),
    ]
    cut = parse(json.dumps({"output": log})[:-30])
    assert cut.failure is not None
    assert [sample.value for sample in cut.samples] == [1.5, 0.1]


@pytest.mark.parametrize("rate", ["inf", "nan", "-nan", "0.00", "-nan(ind)", "1.#INF"])
def test_no_rate_is_an_issue_and_no_sample(rate: str) -> None:
    parsed = parse(f"SET: {rate} requests per second\nGET: 7.50 requests per second\n")
    assert by_test(parsed) == {("GET", "rps"): 7.5}
    assert [(issue.line, issue.fatal) for issue in parsed.issues] == [(1, False)]
    assert rate in parsed.issues[0].reason


def test_one_request_has_latencies_but_no_rate() -> None:
    parsed = _parsed("one-request-7.0.csv")
    assert ("SET", "rps") not in by_test(parsed)
    assert by_test(parsed)["SET", "p99"] == 0.063
    assert [issue.reason for issue in parsed.issues] == ["no value for SET: inf rps"]


def test_zero_latencies_of_no_request_are_no_samples() -> None:
    assert parse("SET: 0.00 requests per second, p50=0.000 msec\n").samples == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("noauth-7.0.txt", "NOAUTH Authentication required"),
        ("refused-7.0.txt", "Connection refused"),
        ("error-reply-7.0.txt", "ERR wrong number of arguments"),
    ],
)
def test_what_the_tool_reports_as_failed_is_fatal(name: str, words: str) -> None:
    failure = _parsed(name).failure
    assert failure is not None
    assert words in failure


@pytest.mark.parametrize(
    "error",
    [
        "ERROR: WRONGPASS invalid username-password pair",
        "Error: -DENIED Redis is running in protected mode",
        "SET: rps=1055Error: Server closed the connection",
        "SET: 1234.5Error: Connection reset by peer",
        "All clients disconnected... aborting.",
    ],
)
def test_fatal_even_if_rates_follow(error: str) -> None:
    parsed = parse(f"{error}\nGET: 7.50 requests per second\n")
    assert [issue.fatal for issue in parsed.issues] == [True]
    assert parsed.failure is not None
    assert by_test(parsed) == {("GET", "rps"): 7.5}


@pytest.mark.parametrize(
    "warning",
    [
        "ERROR: Unknown command CONFIG",
        "ERROR: failed to fetch CONFIG from 127.0.0.1:6379",
        "ERR unknown command 'CONFIG', with args beginning with: 'GET' 'save'",
        "WARNING: Could not fetch server CONFIG",
        "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.",
        "WARNING: -e option has no effect. We now immediately exit on error to avoid false results.",
    ],
)
def test_harmless_warnings(warning: str) -> None:
    assert parse(f"{warning}\nSET: 7.50 requests per second\n").issues == []


@pytest.mark.parametrize(
    "end",
    [
        "GE",
        "LRANGE_600 (first 600 el",
        "GET: ",
        "GET: 12",
        "GET: 12.50 requests per s",
        "GET: 12.50 requests per second, p50=0.1",
        "GET: 12.50 requests per second",  # the line before has a p50
        "GET: rps=10.0 (overall: 10.0) avg_ms",
        "\rGET: rps=10.0 (overall: 10.0) avg_msec=0.1 (overall: 0.1)\r",
        "GET: 12.50\r",
        '"GET","1',
        '"GET","12.50","0.1',
        "====== GET ======\n  1000 requests comp",
        "====== GET ======\n  1000 requests completed in 1.00 seconds\n",
        "====== GET ======\n  1000 requests completed in 1.00 seconds\n99.00% <= 1 millisec",
        "====== GET ======\n  1000 requests completed in 1.00 seconds\n1000.00 requests per",
        "====== GE",
    ],
)
def test_a_cut_log_is_failed(end: str) -> None:
    parsed = parse("SET: 7.50 requests per second, p50=0.100 msec\n" + end)
    assert [issue.fatal for issue in parsed.issues] == [True]
    assert "the log ends" in parsed.issues[0].reason
    assert parsed.failure is not None


def test_a_row_that_lost_columns_is_cut() -> None:
    rows = '"SET","7.50","0.1","0.1","0.1","0.1","0.1","0.1"\n"GET","8.50","0.1"'
    assert parse(rows).failure is not None


def test_a_log_that_lost_only_its_line_end_is_whole() -> None:
    for name in ("csv-7.0.csv", "quiet-7.0.txt", "full-7.0.txt", "full-6.0.txt"):
        text = decode((DATA / name).read_bytes())
        assert parse(text.rstrip("\n")) == parse(text)


def test_a_block_without_its_rate_is_an_issue_but_others_are_read() -> None:
    text = decode((DATA / "full-2.4.md").read_bytes()).replace("    71428.57 requests per second\n", "")
    parsed = parse(text)
    assert parsed.failure is None
    assert [issue.reason for issue in parsed.issues] == ["the rate of GET is missing before this line"]
    assert [sample.value for sample in parsed.samples if sample.metric == "rps"] == [50200, 83333.34]


def test_no_result_at_all_is_a_failure() -> None:
    assert parse("").failure == "no result in the log"
    assert parse("Hello\n").failure == "no result in the log"


def test_utf_16_of_powershell() -> None:
    assert _rates(decode("SET: 7.50 requests per second\r\n".encode("utf-16"))) == [("SET", 7.5, 1)]

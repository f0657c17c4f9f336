"""The sysbench parser: one test a kind of output or of trouble."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from collector import parsers
from collector.metrics import METRICS
from collector.parsers.sysbench import parse
from collector.parsers.sysbench_lines import figures
from collector.parsers.text import decode
from collector.samples import Parsed
from tests.unit.collector.parsed_values import by_test

DATA = Path(__file__).parents[2] / "data" / "sysbench"
WHOLE = ("cpu-0.4.log", "cpu-1.0.20.txt", "cpu-1.1.log", "fileio-0.4.log", "fileio-1.0.20.txt")
WHOLE += ("fileio-1.1.log", "memory-1.0.20.txt", "oltp-0.5.md", "oltp-1.0.log", "checkpoint-1.0.20.txt")


def _text(name: str) -> str:
    return decode((DATA / name).read_bytes())


def _parsed(name: str) -> Parsed:
    return parse(_text(name))


def _of_test(name: str, test: str) -> dict[str, float]:
    parsed = _parsed(name)
    values = by_test(parsed)
    assert parsed.failure is None
    assert {title for title, _ in values} == {test}
    return {metric: value for (_, metric), value in values.items()}


def test_cpu_with_intervals_a_histogram_and_another_percentile() -> None:
    assert _of_test("cpu-1.0.20.txt", "cpu") == {
        "threads": 2,
        "intervals": 2,
        "events_per_s": 913.5,
        "duration": 2.0029,
        "events": 1830,
        "min": 2.08,
        "avg": 2.19,
        "max": 10.3,
        "p90": 2.22,
        "lat_sum": 4000.31,
        "events_avg": 915,
        "events_stddev": 9,
        "events_spread": pytest.approx(100 * 9 / 915),
        "time_avg": 2.0002,
        "time_stddev": 0,
    }


def test_cpu_of_0_4_has_the_time_for_a_number_of_events() -> None:
    values = _of_test("cpu-0.4.log", "cpu (sysbench 0.4)")
    assert values["total_time"] == 4.125
    assert values["p95"] == 1.98
    assert values["event_time"] == 16.487
    assert values["events_spread"] == 2
    assert not values.keys() & {"duration", "events_per_s"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Threads started!", "Threads started!\nTime limit exceeded, exiting..."),
        ("number of events:              10000", "number of events:              9876"),
    ],
)
def test_a_time_that_was_given_is_no_result_but_the_rate_is(old: str, new: str) -> None:
    parsed = parse(_text("cpu-0.4.log").replace(old, new))
    values = {metric: value for (_, metric), value in by_test(parsed).items()}
    assert values["duration"] == 4.125
    assert values["events_per_s"] == values["events"] / 4.125
    assert "total_time" not in values


def test_cpu_of_1_1_has_the_rate_twice() -> None:
    values = _of_test("cpu-1.1.log", "cpu")
    assert (values["events_per_s"], values["eps"]) == (2501.25, 2501.2498)
    assert values["duration"] == 10.001


def test_memory() -> None:
    values = _of_test("memory-1.0.20.txt", "memory")
    assert values["operations"] == 1502413
    assert values["ops_per_s"] == 1501236.74
    assert values["transferred"] == 5868.8
    assert values["bandwidth"] == 5864.21
    assert values["p99"] == 0
    assert "events_per_s" not in values


def test_fileio_of_three_generations() -> None:
    old = _of_test("fileio-0.4.log", "fileio (sysbench 0.4)")
    assert (old["reads"], old["writes"], old["other_operations"], old["operations"]) == (
        6000,
        4000,
        12,
        10012,
    )
    assert (old["read_total"], old["written_total"], old["transferred"]) == (93.75, 0.5, 1536)
    assert (old["bandwidth"], old["iops"]) == (25.625, 1640.25)
    assert old["duration"] == 6.0966
    today = _of_test("fileio-1.0.20.txt", "fileio")
    assert (today["reads_per_s"], today["writes_per_s"], today["fsyncs_per_s"]) == (27551.9, 18367.93, 920.4)
    assert (today["read_bandwidth"], today["write_bandwidth"]) == (430.5, 287)
    assert _of_test("fileio-1.1.log", "fileio") == {
        "threads": 1,
        "intervals": 2,
        "reads_per_s": 656.25,
        "read_bandwidth": 10.25,
        "writes_per_s": 437.5,
        "write_bandwidth": 6.84,
        "fsyncs_per_s": 3.2,
        "min": 0.02,
        "avg": 0.91,
        "max": 41.5,
        "p95": 3.19,
        "lat_sum": 9968.12,
    }


def test_fileio_that_only_writes_has_no_reads_and_no_issue() -> None:
    values = _of_test("fileio-write-1.0.20.txt", "fileio")
    assert values["write_bandwidth"] == 252.05
    assert not values.keys() & {"reads_per_s", "read_bandwidth"}
    assert _parsed("fileio-write-1.0.20.txt").issues == []


def test_oltp() -> None:
    values = _of_test("oltp-1.0.log", "oltp")
    assert (values["transactions"], values["tps"]) == (8000, 799.52)
    assert (values["queries"], values["qps"]) == (160018, 15992.29)
    assert (values["ignored_errors"], values["ignored_errors_per_s"]) == (1, 0.1)
    assert values["p99"] == 32.53
    assert values["events_spread"] == 2.5
    assert values["intervals"] == 2


def test_a_rate_of_zero_is_an_issue_and_no_sample() -> None:
    values = _of_test("oltp-0.5.md", "oltp (sysbench 0.5)")
    assert values["rw_requests_per_s"] == 910.5
    assert "tps" not in values
    assert [(issue.line, issue.fatal, issue.reason) for issue in _parsed("oltp-0.5.md").issues] == [
        (23, False, "no value for oltp (sysbench 0.5): tps is 0")
    ]


def test_the_label_is_the_heading_and_the_command_without_its_password() -> None:
    label = _parsed("oltp-0.5.md").samples[0].run_label
    assert label.startswith("Reads only / [root@db1 ~]# sysbench --test=./select.lua")
    assert "Geheim" not in label


def test_checkpoint_reports_are_tests_of_their_own() -> None:
    parsed = _parsed("checkpoint-1.0.20.txt")
    values = by_test(parsed)
    assert values["cpu, checkpoint 1s", "events_per_s"] == 1407.47
    assert values["cpu", "events_per_s"] == 510.16
    assert values["cpu, checkpoint 1s", "threads"] == values["cpu", "threads"] == 1
    assert {sample.test: sample.run for sample in parsed.samples} == {"cpu, checkpoint 1s": 1, "cpu": 2}


def test_no_rate_is_calculated_for_a_report_whose_time_is_not_its_own() -> None:
    text = _text("checkpoint-1.0.20.txt").replace("CPU speed:\n", "").replace("Prime numbers", "Numbers")
    text = "\n".join(line for line in text.splitlines() if "events per second" not in line) + "\n"
    for test in ("threads", "mutex"):
        metrics = {sample.metric for sample in parse(text, unnamed=test).samples}
        assert "duration" in metrics
        assert not metrics & {"events_per_s", "total_time"}


def test_intervals_after_a_checkpoint_are_those_of_the_last_report() -> None:
    text = _text("checkpoint-1.0.20.txt")
    last = text.rindex("CPU speed")
    text = f"{text[:last]}[ 2s ] thds: 1 eps: 510.00 lat (ms,95%): 0.26\n{text[last:]}"
    assert [(s.test, s.metric) for s in parse(text).samples if s.metric == "intervals"] == [
        ("cpu", "intervals")
    ]


def test_without_its_last_report_a_run_with_checkpoints_is_cut() -> None:
    text = _text("checkpoint-1.0.20.txt")
    parsed = parse(text[: text.rindex("CPU speed")])
    assert [issue.fatal for issue in parsed.issues] == [True]
    assert by_test(parsed)["cpu, checkpoint 1s", "events_per_s"] == 1407.47


def test_events_per_millisecond_of_a_patched_build() -> None:
    text = _text("cpu-1.1.log").replace("events per second:  2501.25", "events per ms:    2.51")
    text = text.replace("events/s (eps):", "events/ms (epms):").replace("10.0010s", "10.5ms")
    values = {sample.metric: sample.value for sample in parse(text).samples}
    assert (values["events_per_s"], values["eps"], values["duration"]) == (
        2510,
        pytest.approx(2501249.8),
        0.0105,
    )


@pytest.mark.parametrize("test", ["threads", "mutex"])
def test_threads_and_mutex_do_not_print_their_names(test: str) -> None:
    text = _text(f"{test}-1.0.20.txt")
    assert {sample.test for sample in parse(text).samples} == {"unnamed"}
    by_workload = parsers.parse(f"sysbench_{test}", text)
    assert {sample.test for sample in by_workload.samples} == {test}
    for before in (f"$ sysbench {test} --threads=4 run", f"{test.upper()} BENCHMARKS\n-------"):
        assert {sample.test for sample in parse(f"{before}\n{text}").samples} == {test}


def test_threads_have_a_rate_and_mutex_a_time() -> None:
    threads = parsers.parse("sysbench_threads", _text("threads-1.0.20.txt"))
    assert by_test(threads)["threads", "events_per_s"] == 330 / 1.0029
    assert by_test(threads)["threads", "duration"] == 1.0029
    mutex = parsers.parse("sysbench_mutex", _text("mutex-1.0.20.txt"))
    assert by_test(mutex)["mutex", "total_time"] == 1.112
    assert not {"events_per_s", "duration"} & {sample.metric for sample in mutex.samples}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fatal-0.4.log", "FATAL: Failed to read file! file: 3"),
        ("no-files-1.0.20.txt", "FATAL: Cannot open file 'test_file.0'"),
        ("no-database-1.0.20.txt", "FATAL: unable to connect to MySQL server"),
    ],
)
def test_what_the_tool_reports_as_failed_is_fatal(name: str, words: str) -> None:
    failure = _parsed(name).failure
    assert failure is not None
    assert words in failure


def test_a_run_without_events_has_no_figures_even_if_no_fatal_message_came() -> None:
    parsed = parse(_text("fatal-0.4.log").replace("FATAL: ", ""))
    assert parsed.samples == []
    assert [(issue.line, issue.fatal) for issue in parsed.issues] == [(18, True)]
    assert parsed.failure == "line 18: fileio (sysbench 0.4) did not do a single event"


def test_a_failed_prepare_fails_the_log_but_the_other_tests_are_read() -> None:
    failed = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nFATAL: Failed to write file! errno = 28\n"
    parsed = parse(failed + _text("cpu-1.0.20.txt"))
    assert [(issue.line, issue.fatal) for issue in parsed.issues] == [(3, True)]
    assert by_test(parsed)["cpu", "events_per_s"] == 913.5


def test_a_run_that_was_cut_in_the_middle_of_a_file() -> None:
    parsed = _parsed("two-runs-one-cut.log")
    assert [(i.line, i.fatal, i.reason) for i in parsed.issues] == [
        (1, True, "the run that begins here is cut off")
    ]
    assert [(s.run, s.value) for s in parsed.samples if s.metric == "bandwidth"] == [(2, 1000)]


def test_a_cut_run_without_a_banner_after_it() -> None:
    text = _text("cpu-1.1.log")
    lines = text.splitlines(keepends=True)
    rest = lines[lines.index("Throughput:\n") :]
    parsed = parse("".join([*lines[:-4], *rest]))
    assert [(issue.line, issue.fatal) for issue in parsed.issues] == [(1, True)]
    assert [(s.run, s.value) for s in parsed.samples if s.metric == "max"] == [(1, 9.02), (2, 9.02)]


def test_what_stands_between_runs_is_the_label_of_the_next() -> None:
    cut = _text("cpu-1.1.log").partition("Latency")[0]
    parsed = parse(f"# Old\n{cut}# New\n$ sysbench cpu run\n{_text('cpu-1.0.20.txt')}")
    assert list(dict.fromkeys(sample.run_label for sample in parsed.samples)) == [
        "Old",
        "New / sysbench cpu run",
    ]
    prepared = _text("fileio-1.0.20.txt").partition(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning"
    )
    (label,) = {s.run_label for s in parse(f"{prepared[0]}Now cpu\n{_text('cpu-1.1.log')}").samples}
    assert label == "Now cpu"


@pytest.mark.parametrize("name", WHOLE)
def test_a_log_that_lost_only_its_last_line_end_is_whole(name: str) -> None:
    text = _text(name)
    assert parse(text.rstrip("\n")) == parse(text)


@pytest.mark.parametrize("name", WHOLE)
def test_runs_after_each_other_are_told_apart(name: str) -> None:
    text = _text(name)
    once, thrice = parse(text), parse(text * 3)
    runs = max(sample.run for sample in once.samples)
    assert {sample.run for sample in thrice.samples} == set(range(1, 3 * runs + 1))
    assert len(thrice.samples) == 3 * len(once.samples)
    last = [(s.test, s.metric, s.value) for s in thrice.samples if s.run > 2 * runs]
    assert last == [(s.test, s.metric, s.value) for s in once.samples]


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(
    "kind", ["windows", "bom", "stamped", "compose", "quoted", "coloured", "indented", "json", "no-banner"]
)
def test_what_stands_around_the_lines(name: str, kind: str) -> None:
    text = _text(name)
    lines = text.splitlines()
    around = {
        "windows": "".join(f"{line}\r\n" for line in lines),
        "bom": "\ufeff" + text,
        "stamped": "".join(f"2024-05-06T07:08:09Z host1 {line}\n" for line in lines),
        "compose": "".join(f"client_1  | {line}\n" for line in lines),
        "quoted": "".join(f"> {line}\n" for line in lines),
        "coloured": "".join(f"\x1b[32m{line}\x1b[0m\n" for line in lines),
        "indented": "".join(f"\t{line}\n" for line in lines),
        "json": json.dumps({"rc": 0, "stdout": text}),
        # Then the labels tell the version.
        "no-banner": "".join(f"{line}\n" for line in lines if "sysbench" not in line or "run" in line),
    }
    found = parse(around[kind])
    assert found.failure is None
    assert by_test(found) == by_test(parse(text))


def test_a_banner_may_have_words_before_it_and_lack_its_first_letter() -> None:
    text = _text("cpu-1.1.log")
    parsed = parse("CPU 3 " + text)
    assert parsed.samples[0].run_label == "CPU 3"
    assert parse(text[1:]).samples == parse(text).samples


@pytest.mark.parametrize("no_number", ["nan", "-nan", "inf"])
def test_no_number_is_an_issue_and_no_sample(no_number: str) -> None:
    text = (
        _text("oltp-1.0.log").replace("799.52", no_number).replace("500.0000/12.50", f"500.0000/{no_number}")
    )
    values = by_test(parse(text))
    assert ("oltp", "tps") not in values
    assert ("oltp", "events_spread") not in values
    assert values["oltp", "qps"] == 15992.29
    assert [(issue.line, issue.fatal, issue.reason) for issue in parse(text).issues] == [
        (22, False, "no value for oltp: tps is not a number"),
        (39, False, "no value for oltp: events_stddev is not a number"),
    ]


@pytest.mark.parametrize("percent", [1, 75, 99, 100])
def test_any_percentile(percent: int) -> None:
    text = _text("cpu-1.1.log").replace(" 95th percentile:", f"{percent:3d}th percentile:")
    assert by_test(parse(text))["cpu", f"p{percent}"] == 0.87
    assert METRICS[f"p{percent}"].unit == "ms"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("         min:    2.88ms", {"min": 2.88}),
        ("total time: 20.5ms", {"duration": 0.0205}),
        ("Read 2Tb  Written 1Kb  Total transferred 2Tb  (0.5Gb/sec)", {"read_total": 2 * 1024**2}),
    ],
)
def test_units_that_are_glued_to_numbers(line: str, found: dict[str, float]) -> None:
    assert {metric: value for metric, value in figures(line).items() if metric in found} == found


@pytest.mark.parametrize(
    "line",
    [
        "thread #  0: min: 0.0001s  avg: 0.0001s  max: 0.0002s  events: 17",
        "total number of events: 100[ 3s ] thds: 4",
        "subtotal time: 3.0000s",
        "execution time (avg/stddev): 4.1217/0.0",
        "101th percentile: 3.00",
    ],
)
def test_lines_that_are_no_figures(line: str) -> None:
    assert figures(line) == {}


def test_words_that_look_like_figures_are_none_between_runs() -> None:
    text = "total time:     9.0000s\nmin:   1.00\n 3.00 Requests/sec executed\n"
    assert by_test(parse(text + _text("cpu-1.1.log") + text)) == by_test(_parsed("cpu-1.1.log"))
    assert parse(text).failure == "no result in the log"


def test_no_result_at_all_is_a_failure() -> None:
    assert parse("").failure == "no result in the log"
    assert parse("bash: sysbench: command not found\n").failure == "line 1: sysbench: command not found"


def test_a_large_log_is_read_quickly() -> None:
    interval = "[ 1s ] thds: 16 tps: 801.20 qps: 16024.00 (r/w/o: 1/2/3) lat (ms,99%): 31.94 err/s: 0.00\n"
    text = _text("oltp-1.0.log").replace("SQL statistics:", interval * 20_000 + "SQL statistics:")
    began = time.process_time()
    assert by_test(parse(text))["oltp", "intervals"] == 20_002
    assert parse("sysbench 1.0 (using\n" + ("sysbench run " * 800 + "\n") * 200).samples == []
    assert time.process_time() - began < 5

"""The tpcc-mysql parser: one test a generation of its output or a kind of trouble."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.parsers.text import decode
from collector.parsers.tpcc_mysql import ORDER, identity, parse
from tests.unit.collector.parsed_values import of_test

DATA = Path(__file__).parents[2] / "data" / "tpcc_mysql"
START = "MEASURING START.\n\n"
INTERVAL = "10, trx: 12, 95%: 9.500, 99%: 18.750, max_rt: 21.125, 12|9.1, 1|1.1, 1|4.5, 1|6.7\n"
RESULT = "<TpmC>\n                 720.500 TpmC\n"


def _text(name: str) -> str:
    return decode((DATA / name).read_bytes())


def _failure(text: str) -> str:
    failure = parse(text).failure
    assert failure is not None
    return failure


def test_the_form_of_today() -> None:
    parsed = parse(_text("today.txt"))
    assert parsed.failure is None
    assert parsed.issues == []  # response times that are NG are no trouble
    assert of_test(parsed, "tpcc") == {
        "connections": 16,
        "duration": 30,
        "tpmC": 7812,
        "intervals": 3,
        "deadlocks": 2,
    }
    assert of_test(parsed, "New-Order") == {
        "sc": 6,
        "lt": 3900,
        "rt": 1,
        "fl": 2,
        "avg_rt": 12.5,
        "sc_sum": 6,
        "lt_sum": 3901,
        "rt_sum": 1,
        "fl_sum": 2,
        "in_time": 0.15,
    }
    assert of_test(parsed, "Stock-Level")["mix"] == 4.33
    assert of_test(parsed, "interval 10") == {"trx": 1201, "p95": 18.5, "p99": 31.25, "max": 90.125}
    assert of_test(parsed, "interval 30") == {"trx": 1403, "p95": 16.125, "p99": 29.75, "max": 70.625}
    lines = {(sample.test, sample.metric): sample.line for sample in parsed.samples}
    assert (lines["tpcc", "tpmC"], lines["interval 10", "trx"], lines["Payment", "lt_sum"]) == (65, 27, 46)


def test_an_interval_may_follow_a_deadlock_on_its_line() -> None:
    parsed = parse(_text("today.txt"))
    assert of_test(parsed, "interval 20") == {"trx": 1302, "p95": 17.25, "p99": 30.5, "max": 80.875}


def test_the_form_of_2012_is_in_seconds() -> None:
    parsed = parse(_text("old-2012.txt"))
    assert parsed.issues == []
    assert of_test(parsed, "tpcc") == {"connections": 32, "duration": 20, "tpmC": 1185, "intervals": 2}
    assert of_test(parsed, "interval 20") == pytest.approx({"trx": 198, "p90": 1664, "max": 1852})
    assert of_test(parsed, "Payment") == {"sc": 393, "lt": 0, "rt": 0, "fl": 0}


def test_the_oldest_form_has_no_highest_time() -> None:
    parsed = parse(_text("oldest.txt"))
    assert parsed.issues == []
    assert of_test(parsed, "interval 20") == pytest.approx({"trx": 75, "p90": 400})
    assert of_test(parsed, "tpcc") == {"tpmC": 414, "intervals": 2}


def test_lines_that_a_terminal_broke_are_put_together() -> None:
    parsed = parse(_text("wrapped.txt"))
    assert parsed.issues == []
    assert of_test(parsed, "interval 10") == {"trx": 493, "p95": 764.362, "p99": 1011.23, "max": 3165.036}
    assert of_test(parsed, "interval 20") == {"trx": 456, "p95": 838.937, "p99": 1053.247, "max": 1200.276}
    assert [sample.line for sample in parsed.samples if sample.metric == "trx"] == [3, 5]


def test_what_explains_a_run_after_its_end_is_no_part_of_it() -> None:
    parsed = parse(_text("wrapped.txt"))
    assert "interval 30" not in {sample.test for sample in parsed.samples}
    assert of_test(parsed, "tpcc") == {"tpmC": 3634.3, "intervals": 2}


def test_a_run_that_was_cut_before_its_result_is_a_failure_without_percent_signs_too() -> None:
    parsed = parse(_text("cut-before-the-result.txt"))
    assert parsed.failure == "line 11: the log ends before the result (TpmC)"
    assert of_test(parsed, "interval 2") == {"trx": 714, "p95": 11.917, "p99": 26.138, "max": 133.971}
    assert of_test(parsed, "tpcc") == {"connections": 4, "intervals": 2}


def test_a_mix_that_is_ng_makes_the_result_doubtful_but_not_failed() -> None:
    text = _text("today.txt").replace("43.40% (>=43.0%) [OK]", "42.10% (>=43.0%) [NG] *")
    parsed = parse(text)
    assert parsed.failure is None
    assert [(issue.line, issue.reason, issue.fatal) for issue in parsed.issues] == [
        (53, "tpmC is doubtful: 42.10% of the transactions are Payment, less than 43.0%", False)
    ]


@pytest.mark.parametrize("name", ["today.txt", "old-2012.txt", "cut-before-the-result.txt"])
def test_the_password_is_nowhere_in_what_is_given_back(name: str) -> None:
    whole = _text(name)
    for end in [*range(0, len(whole), 7), len(whole)]:
        assert "s3cret" not in repr(parse(whole[:end]))


@pytest.mark.parametrize(
    "command",
    [
        'tpcc_start -h 127.0.0.1 -d tpcc -u root -p "s3cret word" -w 10 -c 8',
        "./tpcc_start -hdb1 -dtpcc -uroot -ps3cret -w10 -c8",
        "tpcc_start localhost tpcc root s3cret 10 8 60 300",
        "mysql -uroot --password=s3cret tpcc",
    ],
)
def test_a_command_line_introduces_a_run_without_its_password(command: str) -> None:
    parsed = parse(f"$ {command}\n{START}{INTERVAL}{RESULT}")
    assert "s3cret" not in repr(parsed)
    assert command.split()[0] in parsed.samples[0].run_label


def test_the_loader_before_is_no_run() -> None:
    loader = (
        "*************************************\n*** TPCC-mysql Data Loader        ***\n"
        "option p with value 's3cret'\n<Parameters>\n       [pass]: s3cret\n  [warehouse]: 10\n"
        "TPCC Data Load Started...\nLoading Item \n....... 5000\n...DATA LOADING COMPLETED SUCCESSFULLY.\n"
    )
    assert parse(loader).failure == "no result in the log"
    parsed = parse(loader + _text("today.txt"))
    assert parsed.issues == []
    assert {sample.run for sample in parsed.samples} == {1}
    assert of_test(parsed, "tpcc")["tpmC"] == 7812


def test_two_runs_in_a_file() -> None:
    parsed = parse(f"# ext4\n{_text('today.txt')}# xfs\n{_text('old-2012.txt')}")
    results = [
        (sample.value, sample.run, sample.run_label) for sample in parsed.samples if sample.metric == "tpmC"
    ]
    assert results == [(7812, 1, "ext4"), (1185, 2, "xfs")]


def test_a_run_without_its_result_before_another_is_a_failure() -> None:
    assert "the result (TpmC) of the run before is missing" in _failure(
        _text("cut-before-the-result.txt") + _text("today.txt")
    )


def test_errors_of_the_server() -> None:
    parsed = parse(f"{START}1205, HY000, Lock wait timeout exceeded\n{INTERVAL}{RESULT}")
    assert [(issue.reason, issue.fatal) for issue in parsed.issues] == [
        ("the server's error 1205: Lock wait timeout exceeded", False)
    ]
    lost = "2013, HY000, Lost connection to MySQL server during query\n"
    assert "the server's error 2013: Lost connection" in _failure(f"{START}{lost}{lost}{INTERVAL}{RESULT}")
    assert len(parse(f"{START}{lost}{lost}{RESULT}").issues) == 1
    denied = "1045, 28000, Access denied for user 'root'@'localhost' (using password: YES)\n"
    assert "error 1045" in _failure(denied)


def test_deadlocks_of_a_log_that_has_errors_alone_are_counted() -> None:
    deadlock = "\n1213, 40001, Deadlock found when trying to get lock; try restarting transaction"
    parsed = parse(deadlock * 3)
    assert [(s.test, s.metric, s.value, s.line) for s in parsed.samples] == [("tpcc", "deadlocks", 3, 2)]
    assert parsed.issues == []


@pytest.mark.parametrize("value", ["0.000", "nan", "-nan", "inf"])
def test_no_transaction_is_no_result(value: str) -> None:
    assert f"no value for tpmC: {value}" in _failure(START + INTERVAL + RESULT.replace("720.500", value))


def test_an_interval_that_is_not_whole_is_reported() -> None:
    parsed = parse(f"{START}10, trx: 12, 95%: 9.5\nSTOPPING THREADS...\n{RESULT}")
    assert [issue.reason for issue in parsed.issues] == ["an interval that is not whole"]
    assert of_test(parsed, "tpcc") == {"tpmC": 720.5}


def test_a_log_in_a_json_string_is_read() -> None:
    assert of_test(parse('{"stdout": "MEASURING START.\\n\\n<TpmC>\\n  720.500 TpmC\\n"}'), "tpcc") == {
        "tpmC": 720.5
    }


def test_titles_are_the_same_in_all_versions() -> None:
    assert [identity(title).key for title in ORDER] == list(ORDER)

"""The fio parser: one test a form of its output or a kind of trouble."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from collector.parsers.fio import identity, parse
from collector.parsers.text import decode
from collector.samples import Parsed, Sample
from tests.unit.collector.parsed_values import by_test, of_test

DATA = Path(__file__).parents[2] / "data" / "fio"
HEADING = "perflab: (groupid=0, jobs=8): err= 0: pid=31: Mon Nov 30 17:33:46 2026\n"
RATES = "  read: IOPS=12.3k, BW=48.0MiB/s (50.4MB/s)(480MiB/10001msec)\n"
STATUS = "Run status group 0 (all jobs):\n"


def _text(name: str) -> str:
    return decode((DATA / name).read_bytes())


def _document(*jobs: dict[str, Any], **more: Any) -> str:
    return json.dumps({"fio version": "fio-3.33", **more, "jobs": list(jobs)}, indent=2) + "\n"


def _job(iops: float, name: str = "perflab", error: int = 0, **more: Any) -> dict[str, Any]:
    read = {"io_bytes": 4096 * iops, "io_kbytes": 4 * iops, "bw_bytes": 4096 * iops, "iops": iops}
    return {"jobname": name, "error": error, "read": read | {"runtime": 1000}, **more}


def _iops(parsed: Parsed) -> list[tuple[str, float, int]]:
    return [(sample.test, sample.value, sample.run) for sample in parsed.samples if sample.metric == "iops"]


def _failure(text: str) -> str:
    failure = parse(text).failure
    assert failure is not None
    return failure


def test_text_of_today() -> None:
    parsed = parse(_text("text-3.33.txt"))
    values = by_test(parsed)
    assert parsed.issues == []
    assert {sample.test for sample in parsed.samples} == {"perflab", "perflab: read", "perflab: write"}
    assert values["perflab: write", "threads"] == 2
    assert values["perflab", "err"] == 0
    read = of_test(parsed, "perflab: read")
    assert read["iops"] == 111_000
    assert read["bandwidth"] == 434
    assert read["io"] == pytest.approx(10.8 * 2**20)
    assert read["duration"] == 0.025
    assert read["lat_mean"] == pytest.approx(0.00172199)
    assert read["clat_min"] == pytest.approx(0.000862)
    assert read["clat_p1"] == pytest.approx(0.001064)
    lines = {(sample.test, sample.metric): sample.line for sample in parsed.samples}
    assert [lines["perflab: read", metric] for metric in ("threads", "iops", "lat_mean")] == [6, 7, 9]


def test_text_of_fio_2_whose_kb_are_1024_bytes_and_whose_lines_have_units_of_their_own() -> None:
    parsed = parse(_text("text-2.2.txt"))
    assert parsed.issues == []
    assert of_test(parsed, "seq") == {"err": 0}
    assert of_test(parsed, "seq: read") == pytest.approx(
        {
            "threads": 4,
            "iops": 5120,
            "bandwidth": 20,
            "io": 2048 * 2**20,
            "duration": 102.4,
            "slat_min": 0.001,
            "slat_max": 0.8,
            "slat_mean": 0.0055,
            "slat_stddev": 0.00225,
            "clat_min": 0.039,
            "clat_max": 84.543,
            "clat_mean": 1.98734,
            "clat_stddev": 1.06122,
            "lat_min": 0.16,
            "lat_max": 84.546,
            "lat_mean": 1.99261,
            "lat_stddev": 1.06207,
            "clat_p1": 1,
            "clat_p50": 2,
            "clat_p99": 4,
            "clat_p99_5": 5,
            "clat_p99_9": 10,
            "clat_p99_99": 54,
        }
    )
    write = of_test(parsed, "seq: write")
    assert write["bandwidth"] == pytest.approx(3999.2 / 1024)
    assert write["io"] == 960520 * 1024
    assert write["lat_mean"] == 4.75


@pytest.mark.parametrize("name", ["json-3.33.json", "json-plus-3.33.json"])
def test_json_says_what_it_says_in_ns_and_bytes(name: str) -> None:
    text = _text(name)
    job = json.loads(text)["jobs"][0]
    parsed = parse(text)
    assert parsed.issues == []
    assert of_test(parsed, "perflab") == {"err": 0}
    for direction in ("read", "write"):
        values, said = of_test(parsed, f"perflab: {direction}"), job[direction]
        assert values["threads"] == 2
        assert values["iops"] == said["iops"]
        assert values["bandwidth"] * 2**20 == pytest.approx(said["bw_bytes"])
        assert values["io"] == said["io_bytes"]
        assert values["duration"] * 1000 == pytest.approx(said["runtime"])
        assert values["lat_mean"] * 1e6 == pytest.approx(said["lat_ns"]["mean"])
        assert values["clat_stddev"] * 1e6 == pytest.approx(said["clat_ns"]["stddev"])
        assert values["clat_p99_9"] * 1e6 == pytest.approx(said["clat_ns"]["percentile"]["99.900000"])
        assert "slat_mean" not in values  # psync submits nothing
    lines = text.split("\n")
    opened = {s.test: lines[s.line - 1].strip() for s in parsed.samples if s.metric != "threads"}
    assert opened["perflab"].startswith('"jobname"')
    assert opened["perflab: write"] == '"write" : {'


def test_json_of_fio_2_is_in_microseconds_and_kib_and_a_name_means_nothing() -> None:
    parsed = parse(_text("json-2.1.json"))
    assert parsed.issues == []
    assert of_test(parsed, "random-read") == {"err": 0}
    assert of_test(parsed, "random-read: write") == pytest.approx(
        {
            "iops": 2048,
            "bandwidth": 8,
            "io": 40960 * 1024,
            "duration": 5,
            "slat_min": 0.002,
            "slat_max": 0.03,
            "slat_mean": 0.0045,
            "slat_stddev": 0.0015,
            "clat_min": 0.1,
            "clat_max": 9,
            "clat_mean": 0.45025,
            "clat_p1": 0.11,
            "clat_p99": 1.5,
            "clat_p99_9": 8,
            "lat_min": 0.102,
            "lat_max": 9.02,
            "lat_mean": 0.45575,
            "lat_stddev": 0.0215,
        }
    )


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_terse_lines_have_each_field_where_their_version_has_it(version: int) -> None:
    text = _text(f"terse-{version}-3.33.txt")
    fields = text.strip().split(";")
    first, width = (4 if version == 2 else 5), (47 if version == 5 else 41)
    parsed = parse(text)
    assert parsed.issues == []
    assert {test for test, _ in by_test(parsed)} == {"perflab", "perflab: read", "perflab: write"}
    for index, direction in enumerate(("read", "write")):
        values, said = of_test(parsed, f"perflab: {direction}"), fields[first + index * width :]
        assert values["io"] == int(said[0]) * 1024
        assert values["bandwidth"] * 1024 == pytest.approx(int(said[1]))
        assert values["iops"] == int(said[2])
        assert values["duration"] * 1000 == pytest.approx(int(said[3]))
        assert values["clat_mean"] * 1000 == pytest.approx(float(said[10]))
        assert values["lat_max"] * 1000 == pytest.approx(int(said[33]))
        assert said[24] == f"99.000000%={values['clat_p99'] * 1000:.0f}"
        assert "slat_mean" not in values


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_a_terse_line_without_all_its_fields_has_no_value(version: int) -> None:
    fields = _text(f"terse-{version}-3.33.txt").strip().split(";")
    for count in range(13, 100):
        assert _iops(parse(";".join(fields[:count]) + "\n")) == []
    moved = [*fields[:8], "0", *fields[8:]]
    assert f"terse version {version}: {len(moved)} fields" in _failure(";".join(moved) + "\n")


def test_an_unknown_terse_version_is_not_guessed() -> None:
    line = _text("terse-5-3.33.txt").strip()
    assert "not a whole line of terse version 6" in _failure("6" + line[1:] + "\n")


def test_terse_lines_of_two_runs() -> None:
    line = _text("terse-3-3.33.txt").strip() + "\n"
    parsed = parse(f"# ext4\n{line}# xfs\n{line}")
    assert [run for test, _, run in _iops(parsed) if test == "perflab: read"] == [1, 2]
    assert list(dict.fromkeys(sample.run_label for sample in parsed.samples)) == ["ext4", "xfs"]


def test_clients_keep_their_hosts_and_all_clients_is_not_added_up() -> None:
    text = _text("clients-3.33.json")
    said = {job["jobname"]: [] for job in json.loads(text)["client_stats"]}
    for job in json.loads(text)["client_stats"]:
        said[job["jobname"]].append(job["read"]["iops"])
    parsed = parse(text)
    assert parsed.issues == []
    assert _iops(parsed) == [
        ("perflab on 127.0.0.1: read", said["perflab"][0], 1),
        ("perflab on 127.0.0.1 #2: read", said["perflab"][1], 1),
        ("All clients: read", said["All clients"][0], 1),
    ]


def test_clients_as_text() -> None:
    text = _text("clients-3.33.txt")
    parsed = parse(text)
    assert parsed.issues == []
    assert [test for test, _, _ in _iops(parsed)] == [
        "perflab on vm: read",
        "perflab on vm #2: read",
        "All clients: read",
    ]
    bandwidth = re.findall(r"All clients.*\n.*BW=(\d+)Mi", text)  # fio forgets B/s here
    assert of_test(parsed, "All clients: read")["bandwidth"] == float(bandwidth[0])
    assert {sample.run for sample in parsed.samples} == {1}


def test_of_the_documents_of_a_run_that_goes_on_the_last_counts() -> None:
    text = _text("status-interval-3.33.json")
    states = [
        json.loads(part)["jobs"][0]["read"]
        for part in re.split(r"(?<=^})\n", text, flags=re.M)
        if part.strip()
    ]
    parsed = parse(text)
    assert len(states) > 2
    assert _iops(parsed) == [("perflab: read", states[-1]["iops"], 1)]
    assert len(parsed.issues) == len(states) - 1
    assert all("later state" in issue.reason and not issue.fatal for issue in parsed.issues)


def test_of_the_texts_of_a_run_that_goes_on_the_last_counts() -> None:
    text = _text("status-interval-3.33.txt")
    runtimes = [int(runtime) / 1000 for runtime in re.findall(r"/(\d+)msec\)\n", text)]
    parsed = parse(text)
    durations = [sample for sample in parsed.samples if sample.metric == "duration"]
    assert [sample.value for sample in durations] == runtimes[-2:]
    assert [(sample.test, sample.run) for sample in durations] == [
        ("perflab: read", 1),
        ("perflab #2: read", 1),
    ]
    assert parsed.failure is None


def test_documents_of_separate_runs_are_runs() -> None:
    first = _document(_job(100, elapsed=10), timestamp_ms=100_000)
    second = _document(_job(200, elapsed=10), timestamp_ms=115_000)
    parsed = parse(f"# ext4\n{first}# xfs\n{second}")
    assert _iops(parsed) == [("perflab: read", 100, 1), ("perflab: read", 200, 2)]
    assert list(dict.fromkeys(sample.run_label for sample in parsed.samples)) == ["ext4", "xfs"]


def test_notes_stand_before_inside_and_after_a_document() -> None:
    lines = _document(_job(100)).split("\n")
    note = "note: both iodepth >= 1 and synchronous I/O engine are selected"
    text = "\n".join(["\ufeff" + note, *lines[:4], note, *lines[4:], note, ""])
    parsed = parse(text)
    assert parsed.issues == []
    assert _iops(parsed) == [("perflab: read", 100, 1)]


def test_progress_written_over_itself_before_a_document() -> None:
    parsed = parse("Jobs: 1 (f=1)\rJobs: 1 (f=1): [r(1)][100.0%]\r" + _document(_job(100)))
    assert _iops(parsed) == [("perflab: read", 100, 1)]


def test_repeated_keys_and_options_that_only_the_global_ones_have() -> None:
    text = _document(_job(100), **{"global options": {"numjobs": "16", "bs": "4k"}})
    text = text.replace('"bs": "4k"', '"bs": "4k",\n    "bs": "8k"')
    assert of_test(parse(text), "perflab: read")["threads"] == 16


def test_every_job_has_its_own_number_of_threads() -> None:
    jobs = [
        _job(100, name, **{"job options": {"numjobs": number}}) for name, number in (("a", "1"), ("b", "4"))
    ]
    values = by_test(parse(_document(*jobs)))
    assert (values["a: read", "threads"], values["b: read", "threads"]) == (1, 4)


def test_json_is_read_and_not_the_text_beside_it() -> None:
    text = _text("sync-normal-and-json-3.33.txt")
    job = json.loads(text[text.index("{") : text.rindex("}") + 1])["jobs"][0]
    parsed = parse(text)
    assert parsed.issues == []
    write = of_test(parsed, "perflab: write")
    assert write["iops"] == job["write"]["iops"]
    assert write["sync_mean"] * 1e6 == pytest.approx(job["sync"]["lat_ns"]["mean"])
    assert write["sync_p99"] * 1e6 == pytest.approx(job["sync"]["lat_ns"]["percentile"]["99.000000"])
    assert write["lat_p99"] * 1e6 == pytest.approx(job["write"]["lat_ns"]["percentile"]["99.000000"])


def test_percentile_tables_of_clat_lat_and_sync_are_told_apart() -> None:
    text = _text("sync-3.33.txt")
    tables = re.findall(r"(\w+) percentiles \((\w+)\):\n[^%]*? 50\.00th=\[ *(\d+)\]", text)
    said = {f"{kind}_p50": int(value) * {"nsec": 1e-6, "usec": 1e-3}[unit] for kind, unit, value in tables}
    assert list(said) == ["clat_p50", "lat_p50", "sync_p50"]
    write = of_test(parse(text), "perflab: write")
    assert {metric: write[metric] for metric in said} == pytest.approx(said)
    assert write["sync_mean"] > 10 * write["clat_mean"]


def test_tables_by_priority_are_not_those_of_all() -> None:
    tables = (
        "    clat percentiles (usec):\n     | 50.00th=[   50]\n"
        "    high prio (20.5%) clat percentiles (usec):\n     | 50.00th=[   10]\n"
    )
    assert of_test(parse(HEADING + RATES + tables + STATUS), "perflab: read")["clat_p50"] == 0.05


def test_jobs_of_the_same_name_are_numbered_in_text_and_json() -> None:
    text = HEADING + RATES + HEADING.replace("pid=31", "pid=32") + RATES + STATUS
    expected = [("perflab: read", 12300, 1), ("perflab #2: read", 12300, 1)]
    assert _iops(parse(text)) == expected
    assert _iops(parse(_document(_job(12300), _job(12300)))) == expected


def test_runs_of_a_document_have_the_words_before_them() -> None:
    run = "```\n" + HEADING + RATES + STATUS + "```\n"
    command = "> fio -direct=1 -rw=randread -name=perflab\n"
    parsed = parse(f"## ext4\n{command}{run}## xfs\n{command}{run.replace('pid=31', 'pid=44')}")
    assert [run for _, _, run in _iops(parsed)] == [1, 2]
    assert list(dict.fromkeys(sample.run_label for sample in parsed.samples)) == [
        "ext4 / fio -direct=1 -rw=randread -name=perflab",
        "xfs / fio -direct=1 -rw=randread -name=perflab",
    ]


def test_bits_and_decimal_units() -> None:
    rates = RATES.replace("BW=48.0MiB/s", "BW=8.00Mibit/s").replace("(480MiB", "(4.00Gibit")
    read = of_test(parse(HEADING + rates + STATUS), "perflab: read")
    assert (read["bandwidth"], read["io"]) == (1, 2**29)
    rates = RATES.replace("BW=48.0MiB/s", "BW=50.0MB/s")
    found = of_test(parse(HEADING + rates + STATUS), "perflab: read")
    assert found["bandwidth"] == pytest.approx(50e6 / 2**20)


def test_an_error_of_a_job_is_a_failure_even_with_results() -> None:
    heading = HEADING.replace(
        "err= 0:", "err= 5 (file:filesetup.c:223, func=write, error=Input/output error):"
    )
    parsed = parse(heading + RATES + STATUS)
    assert parsed.failure == "line 1: perflab failed: Input/output error (EIO)"
    assert _iops(parsed) == [("perflab: read", 12300, 1)]
    assert (
        _failure(_document(_job(100, error=28))) == "line 5: perflab failed: No space left on device (ENOSPC)"
    )


def test_an_error_number_without_words_and_one_of_another_system() -> None:
    assert _failure(HEADING.replace("err= 0", "err=-1") + STATUS).endswith("perflab failed: error -1")
    line = "fio: pid=3, err=42/file:io_u.c:2074, func=io_u_queued_complete, error=Illegal byte sequence\n"
    failures = [issue.reason for issue in parse(line + _document(_job(100, error=42))).issues]
    assert failures == [
        "fio failed in io_u_queued_complete: Illegal byte sequence (error 42)",
        "perflab failed: Illegal byte sequence (error 42)",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "fio: pid=15, err=22/file:filesetup.c:805, func=open(/srv/f), error=Invalid argument\n",
            "line 1: fio failed in open(/srv/f): Invalid argument (EINVAL)",
        ),
        ("fio: destination does not support O_DIRECT\n", "the file system cannot do direct I/O"),
        ("verify: bad header numberio 7, wanted 0 at file f\n", "the data that were read back are wrong"),
        (
            "sha256: verify failed at file f offset 4096, length 4096\n",
            "the data that were read back are wrong",
        ),
        ("fio: engine libaio not loadable\n", "could not do what was asked: engine libaio not loadable"),
        ("Bad option <redwrite=1>\n", "could not do what was asked: Bad option <redwrite=1>"),
        (
            _text("trim-refused-3.33.txt"),
            "fio failed in td_io_queue: Inappropriate ioctl for device (ENOTTY)",
        ),
        (_text("interrupted-3.33.json"), "fio was stopped before its end: terminating on signal 2"),
        (_text("no-folder-3.33.stderr"), "failed to create dir (/proc/nosuch): No such file or directory"),
    ],
)
def test_error_lines_are_failures_with_their_cause(text: str, reason: str) -> None:
    assert reason in _failure(text)


def test_a_thousand_lines_of_the_same_error_are_one_issue_and_are_counted() -> None:
    lines = [f"verify: bad header numberio {number}, wanted 0 at file f\n" for number in range(1000)]
    parsed = parse("".join(lines))
    assert len(parsed.issues) == 1
    assert parsed.issues[0].reason.endswith("(and 999 more like it)")
    assert parsed.samples == [Sample("errors", "error_lines", 1000, 1)]


def test_a_job_without_io_has_no_result_though_fio_reports_no_error() -> None:
    assert parse(_text("no-folder-3.33.json")).failure == "no result in the log (line 8: perflab did no I/O)"
    assert "no result in the log" in _failure(HEADING + STATUS)


def test_harmless_remarks_are_none_of_our_business() -> None:
    remark = "fio: this platform does not support process shared mutexes, forcing use of threads.\n"
    assert parse(remark + HEADING + RATES + STATUS).issues == []


def test_rates_of_zero_are_no_values() -> None:
    parsed = parse(HEADING + RATES.replace("12.3k", "0") + STATUS)
    assert "no value for perflab: read: iops" in [issue.reason for issue in parsed.issues]
    assert "iops" not in of_test(parsed, "perflab: read")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEADING + RATES, "the run's end is missing"),
        ("perflab: (g=0): rw=read, bs=4K\nfio-3.33\nStarting 1 process\n", "ends before fio has a result"),
        (_text("json-3.33.json")[:-20], "the JSON document that begins here is cut off or damaged"),
        (_document(_job(100)) + _document(_job(200))[:-20], "cut off or damaged"),
    ],
)
def test_a_cut_log_is_a_failure(text: str, reason: str) -> None:
    assert reason in _failure(text)


def test_a_result_whose_job_is_cut_away_is_reported() -> None:
    parsed = parse(RATES + STATUS)
    assert parsed.samples == []
    assert [issue.reason for issue in parsed.issues] == ["a result whose job is not named before it"]


def test_the_job_of_our_own_is_known_by_its_direction() -> None:
    titles = ["perflab: read", "perflab #2: write", "perflab on web1: trim", "other: read", "perflab-2: read"]
    assert [identity(title).key for title in titles] == [
        "read",
        "write #2",
        "trim on web1",
        "other: read",
        "perflab-2: read",
    ]

"""Settings that are rows of one table, not tables of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector import design, frame, rows, store
from collector.comparison import Comparison
from collector.doubts import doubts
from collector.parsers.identity import TestIdentity
from collector.render import tidy
from tests.unit.collector import sweeps
from tests.unit.collector.runs import Written, write_run
from tests.unit.collector.sweeps import cpu, fio, point, summary


@pytest.fixture(autouse=True)
def workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps.register(monkeypatch)


def table(folder: Path, points: list[Written], metric: str) -> Comparison:
    (found,) = [c for c in summary(folder, points).comparisons if c.metric.name == metric]
    return found


@pytest.mark.parametrize(
    ("workload", "test", "settings", "title", "series", "swept"),
    [
        ("sysbench_cpu", "cpu", {"threads": 1}, "1 thread", "", 1),
        ("sysbench_cpu", "cpu", {"threads": 1024}, "1,024 threads", "", 1024),
        ("sysbench_cpu", "cpu (0.4)", {"threads": 6}, "cpu (0.4), 6 threads", "cpu (0.4)", 6),
        ("sysbench_memory", "memory", {"operation": "read", "threads": 1}, "read, 1 thread", "read", 1),
        ("fio", "read", {"block_size": "4K", "threads": 12}, "read 4K, 12 threads", "read 4K", 12),
        ("fio", "read", {"block_size": "4K"}, "read 4K", "read 4K", None),
        ("fio", "read", {}, "read", "read", None),
        ("sysbench_cpu", "cpu", {}, "cpu", "cpu", None),
        ("sysbench_cpu", "cpu", {"threads": "auto"}, "auto", "auto", None),
        ("tpcc_mysql", "tpcc", {"connections": 16}, "16 connections", "", 16),
        ("redis_benchmark", "SET", {}, "SET", "SET", None),
    ],
)
def test_a_row_is_called_after_its_test_and_settings(
    workload: str, test: str, settings: rows.Settings, title: str, series: str, swept: float | None
) -> None:
    found = rows.identify(workload, TestIdentity(test, test), settings)
    assert found == rows.RowIdentity(title, title, series, swept)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(12, 12), ("12", 12), (12.0, 12), ("4k", "4K"), ("4KiB", "4K"), ("1.5M", "1.5M"), ("read", "read")],
)
def test_a_setting_has_one_spelling(value: Any, expected: int | str) -> None:
    others, settings = rows.split("fio", {"block_size": value, "iodepth": 8})
    assert (others, settings) == ({"iodepth": 8}, {"block_size": expected})


def test_a_workload_without_a_sweep_keeps_its_params_together() -> None:
    assert rows.split("redis_benchmark", {"threads": 4}) == ({"threads": 4}, {})
    assert rows.split("never_heard_of", {"threads": 4}) == ({"threads": 4}, {})


def test_a_sweep_is_one_table_sorted_by_test_size_and_number(tmp_path: Path) -> None:
    points = [p for os in "ab" for p in fio(os, "ext4", sizes=("1M", "64K", "4K"), threads=(12, 2))]
    found = table(tmp_path, points, "iops")
    assert [row.title for row in found.rows] == [
        f"{test} {size}, {threads} threads"
        for test in ("read", "write")
        for size in ("4K", "64K", "1M")
        for threads in (2, 12)
    ]
    assert found.sweep == "threads"
    assert {row.swept for row in found.rows if row.series == "read 64K"} == {2, 12}


def test_other_settings_still_set_tables_apart(tmp_path: Path) -> None:
    points = [
        point("fio", {"os": os}, {"threads": t, "iodepth": depth}, {("read", "iops"): 1.0}, host=os)
        for os in "ab"
        for t in (1, 2)
        for depth in (1, 32)
    ]
    found = summary(tmp_path, points).comparisons
    assert [[row.title for row in table.rows] for table in found] == [
        ["read, 1 thread", "read, 2 threads"]
    ] * 2


def test_a_setting_that_nobody_gave_is_taken_from_the_logs_own_run(tmp_path: Path) -> None:
    log = "".join(
        f"cpu threads {threads} {run}\ncpu events_per_s {rate} {run}\n"
        for run, threads, rate in ((1, 1, 100), (2, 4, 400), (3, 8, 800))
    )
    run = write_run(
        tmp_path / "r1", [Written({"os": "a"}, {}, workload="sysbench_cpu", log=log)], "os_compare"
    )
    (group,) = design.groups(frame.tidy(store.load_runs([run])))
    found = group.frame[group.frame["metric"] == "events_per_s"]
    assert list(found["test"]) == ["1 thread", "4 threads", "8 threads"]
    assert list(found["value"]) == [100, 400, 800]


def test_the_plan_knows_better_than_the_log(tmp_path: Path) -> None:
    values = {("cpu", "threads"): 4.0, ("cpu", "events_per_s"): 1.0}
    found = table(tmp_path, [point("sysbench_cpu", {"os": "a"}, {"threads": 8}, values)], "events_per_s")
    assert [row.title for row in found.rows] == ["8 threads"]


def test_a_gap_is_a_gap_of_its_row(tmp_path: Path) -> None:
    points = [
        *cpu("a", threads=(1, 2), repeats=2),
        *cpu("b", threads=(1,), repeats=2),
        point("sysbench_cpu", {"os": "b"}, {"threads": 2, "max_prime": 20000, "time_s": 60}, None, host="b"),
        point(
            "sysbench_cpu", {"os": "b"}, {"threads": 2, "max_prime": 20000, "time_s": 60}, None, 2, host="b"
        ),
    ]
    found = summary(tmp_path, points)
    first = found.comparisons[0]
    assert [sorted(row.cells) for row in first.rows] == [["a", "b"], ["a"]]
    assert "not run: b on b (2 threads, repeats 1 and 2)" in doubts(first)
    assert {len(cell.values) for row in first.rows for cell in row.cells.values()} == {2}
    records = [r for r in tidy.to_csv(found).splitlines() if ",events_per_s," in r and "2 threads" in r]
    assert [record.split(",events/s,higher,,,")[1].split(",")[:3] for record in records] == [
        ["ok", "2", "2"],
        ["missing", "2", "0"],
    ]


def test_one_repeat_of_a_sweep_is_one_repeat(tmp_path: Path) -> None:
    points = [p for os in "ab" for p in cpu(os)]
    assert "one repeat: differences are not tested against noise" in doubts(
        table(tmp_path, points, "events_per_s")
    )


def test_what_follows_the_os_is_no_other_table_but_a_doubt(tmp_path: Path) -> None:
    points = [p for os, fs in (("a", "ext4"), ("b", "xfs")) for p in fio(os, fs)]
    found = table(tmp_path, points, "iops")
    assert (found.by, found.fixed) == ("os", {})
    assert "filesystem differs: a ext4 and b xfs" in doubts(found)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([("a", "ext4", "on"), ("b", "ext4", "on"), ("a", "xfs", "on"), ("b", "xfs", "off")], "os"),
        ([("a", "ext4", "on"), ("a", "xfs", "on"), ("a", "xfs", "off"), ("a", "ext4", "off")], "filesystem"),
        ([("a", "ext4", "on"), ("a", "ext4", "off")], "turbo"),
    ],
)
def test_the_axis_is_the_os_then_the_filesystem_then_turbo(
    tmp_path: Path, labels: list[tuple[str, str, str]], expected: str
) -> None:
    points = [p for os, fs, turbo in labels for p in fio(os, fs, turbo=turbo)]
    assert {comparison.by for comparison in summary(tmp_path, points).comparisons} == {expected}


def test_two_os_with_two_file_systems_are_two_tables(tmp_path: Path) -> None:
    points = [p for os in "ab" for fs in ("ext4", "xfs") for p in fio(os, fs)]
    found = [c for c in summary(tmp_path, points).comparisons if c.metric.name == "iops"]
    assert [(c.by, c.fixed, [column.level for column in c.columns]) for c in found] == [
        ("os", {"filesystem": "ext4"}, ["a", "b"]),
        ("os", {"filesystem": "xfs"}, ["a", "b"]),
    ]

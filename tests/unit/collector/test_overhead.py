"""What virtualisation costs, from a client and from inside."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from collector import describe, overhead
from collector.render import markdown, tidy
from collector.render.split_table import lines
from collector.summary import Summary
from tests.unit.collector import sweeps
from tests.unit.collector.comparisons import one, summary
from tests.unit.collector.runs import Written
from tests.unit.collector.test_render import shown

PHYSICAL = {"SET": 100e3, "GET": 200e3, "MSET (10 keys)": 50e3}
# SET loses 10%, GET 40%, MSET gains 20%: the geometric mean of 0.9, 0.6 and 1.2 is 0.8653.
VIRTUAL = {"SET": 90e3, "GET": 120e3, "MSET (10 keys)": 60e3}


def pair(
    physical: Mapping[str, float] = PHYSICAL,
    virtual: Mapping[str, float] = VIRTUAL,
    path: str = "remote",
    **others: str,
) -> Iterator[Written]:
    for platform, rps in (("physical", physical), ("virtual", virtual)):
        host = "client" if path == "remote" else platform
        yield Written({"platform": platform, "path": path, **others}, rps, host=host)


def test_an_overhead_is_what_is_lost_against_the_baseline(tmp_path: Path) -> None:
    found = one(tmp_path, list(pair()), "virt_compare")
    assert overhead.of(found, 0.9) == pytest.approx(0.1)
    foot = {row.label: row.cells for row in describe.foot(found)}
    assert foot["mean of ratios, 3 tests"] == {"virtual": "0.900"}
    assert foot["geometric mean"] == {"virtual": "0.865"}
    assert foot["overhead (of the geometric mean)"] == {"virtual": "13.5%"}


def test_of_a_latency_it_is_what_is_added(tmp_path: Path) -> None:
    text = "SET: 100.00 requests per second, p50={} msec\n"
    points = [
        Written({"platform": platform}, {}, log=text.format(p50))
        for platform, p50 in (("physical", 0.4), ("virtual", 0.5))
    ]
    found = one(tmp_path, points, "virt_compare", metric="p50")
    assert overhead.of(found, found.ratios("virtual")["SET"]) == pytest.approx(0.25)
    assert any(text.startswith("the overhead is ratio - 1") for text in describe.remarks(found))


def test_it_stands_beside_every_ratio(tmp_path: Path) -> None:
    found = summary(tmp_path, list(pair()), "virt_compare")
    text = shown(found)
    assert re.search(r"^GET +200,000 +120,000 +0\.600 +40\.0%$", text, re.MULTILINE)
    assert re.search(r"^MSET \(10 keys\) +50,000 +60,000 +1\.200 +-20\.0%$", text, re.MULTILINE)
    assert "\n- virtual is faster in 1 of 3 tests: MSET (10 keys) (1.200)\n" in text
    page = markdown.render(found)
    assert "| rps, higher is better | physical | virtual | ratio | overhead |" in page
    assert "| GET | 200,000 | 120,000 | 0.600 | 40.0% |" in page
    assert "| overhead (of the geometric mean) |  |  |  | 13.5% |" in page
    rows = {row["test"]: row for row in csv.DictReader(io.StringIO(tidy.to_csv(found))) if row["ratio"]}
    assert float(rows["GET"]["overhead"]) == pytest.approx(0.4)


def test_a_sweep_of_another_tool_has_one_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps.register(monkeypatch)
    points = [
        sweeps.point(
            "sysbench_cpu",
            {"platform": platform, "path": "local"},
            {"threads": threads, "max_prime": 20000, "time_s": 10},
            {("cpu", "events_per_s"): rate * threads},
            host=platform,
        )
        for platform, rate in (("physical", 1000.0), ("virtual", 980.0))
        for threads in (1, 2)
    ]
    text = shown(summary(tmp_path, points, "virt_compare"))
    assert re.search(r"^2 threads +2,000 +1,960 +0\.980 +2\.0%$", text, re.MULTILINE)
    assert re.search(r"^overhead \(of the geometric mean\) +2\.0%$", text, re.MULTILINE)


def test_other_studies_have_none(tmp_path: Path) -> None:
    points = [Written({"path": "local"}, PHYSICAL), Written({"path": "remote"}, VIRTUAL)]
    found = summary(tmp_path, points, "net_compare")
    assert "overhead" not in shown(found) + markdown.render(found) + tidy.to_csv(found)


def test_the_faster_tests_of_each_guest_are_pointed_out(tmp_path: Path) -> None:
    points = [
        *pair(),
        Written({"platform": "container", "path": "remote"}, PHYSICAL | {"GET": 220e3}, host="client"),
    ]
    remarks = describe.remarks(one(tmp_path, points, "virt_compare"))
    assert "virtual is faster in 1 of 3 tests: MSET (10 keys) (1.200)" in remarks
    assert "container is faster in 1 of 3 tests: GET (1.100)" in remarks


def split(folder: Path, local: Mapping[str, float], **options: str) -> Summary:
    return summary(folder, [*pair(), *pair(virtual=local, path="local")], "virt_compare", **options)


def test_what_is_seen_from_the_client_is_split_into_inside_and_path(tmp_path: Path) -> None:
    found = split(tmp_path, {"SET": 95e3, "GET": 190e3, "MSET (10 keys)": 47.5e3})
    (only,) = found.splits
    assert (only.seen, only.inside) == (pytest.approx(0.1347, abs=1e-4), pytest.approx(0.05))
    assert only.rest == pytest.approx(0.0847, abs=1e-4)
    assert list(lines(found.splits)) == [("virtual: redis_benchmark, rps", "3", "13.5%", "5.0%", "8.5%")]
    text = shown(found)
    assert re.search(r"^virtual: redis_benchmark, rps +3 +13\.5% +5\.0% +8\.5%$", text, re.MULTILINE)
    assert "| virtual: redis\\_benchmark" not in markdown.render(found)
    assert "| virtual: redis_benchmark, rps | 3 | 13.5% | 5.0% | 8.5% |" in markdown.render(found)


def test_only_rows_that_both_have_are_split(tmp_path: Path) -> None:
    (only,) = split(tmp_path, {"SET": 80e3}).splits
    assert (only.rows, only.seen, only.inside) == (1, pytest.approx(0.1), pytest.approx(0.2))
    assert only.rest == pytest.approx(-0.1)


def test_one_path_alone_is_not_split(tmp_path: Path) -> None:
    assert summary(tmp_path, list(pair()), "virt_compare").splits == []


def test_tables_that_differ_in_more_than_the_path_are_not_split(tmp_path: Path) -> None:
    points = [*pair(turbo="on"), *pair(path="local", turbo="off")]
    assert summary(tmp_path, points, "virt_compare").splits == []


def test_emulation_is_told_with_the_split(tmp_path: Path) -> None:
    points = [*pair(), *pair(path="local")]
    found = summary(
        tmp_path, points, "virt_compare", profiles={"virtual": {"virtualisation": {"vm": "qemu"}}}
    )
    assert shown(found).rstrip().endswith("the cost of emulation, not of virtualisation")
    records = json.loads(tidy.to_json(found))
    assert {record["emulated"] for record in records} == {"virtual"}


@pytest.mark.parametrize(("share", "text"), [(0.0478, "4.8%"), (-0.285, "-28.5%"), (-0.0001, "0.0%")])
def test_percent(share: float, text: str) -> None:
    assert overhead.percent(share) == text

"""The table of link and load, as people and programs get it."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from collector import link_table
from collector.render import markdown, tidy
from tests.unit.collector.comparisons import one, summary
from tests.unit.collector.links import linked, step_logs
from tests.unit.collector.runs import Written
from tests.unit.collector.test_render import shown

LOCAL, REMOTE = {"path": "local"}, {"path": "remote"}
# 50 clients: 0.5 ms a request from inside, and 1.25 ms over the link.
POINTS = [
    linked(LOCAL, {"SET": 100e3}, step_logs((0.04, 0.06), up=20e3, down=19e3, cpus=0.97)),
    linked(
        REMOTE,
        {"SET": 40e3},
        step_logs((0.5, 0.6), up=940, down=930, cpus=0.4, os="Windows"),
        observed={"command_cpus": 0.2},
    ),
]


def test_rows_by_condition(tmp_path: Path) -> None:
    found = link_table.made_of(one(tmp_path, POINTS, "net_compare"))
    assert found
    assert {row.label: list(row.cells.values()) for row in found.rows} == {
        "RTT median, ms": ["0.050", "0.550"],
        "RTT min - p99, ms": ["0.040 - 0.060", "0.500 - 0.600"],
        "TCP to the server, Mbit/s": ["20,000", "940"],
        "TCP from the server, Mbit/s": ["19,000", "930"],
        "client CPUs": ["0.40", "0.20"],
        "server CPUs": ["1.07", "0.50"],
        "of them its main thread": ["0.97", "0.40"],
        "mean latency of a test, ms": ["0.500", "1.25"],
        "the link's share of it": ["10%", "44%"],  # 0.05 / 0.5, 0.55 / 1.25
        "its share of what is added": ["67%"],  # 0.5 / 0.75
    }


def test_what_the_rows_mean_and_what_the_servers_are(tmp_path: Path) -> None:
    found = link_table.made_of(one(tmp_path, POINTS, "net_compare"))
    assert found
    assert found.remarks == [
        "the link's share is the median RTT over the mean latency (of the one test); "
        "ping finds the link idle",
        "of what is added: (RTT - RTT at local) / (mean latency - mean latency at local)",
        "mean latency by Little's law, clients / rps: the logs do not have it everywhere",
        "servers: local 7.0.15, standalone, Linux 6.1; remote 7.0.15, standalone, Windows",
        "the server's main thread had no time left: it is the limit at local (0.97 CPUs)",
    ]


def test_shares_are_told_by_tcp_where_it_is_known(tmp_path: Path) -> None:
    points = [
        linked(LOCAL, {"SET": 100e3}, step_logs((0.04,), tcp_rtt_ms=(0.05,))),
        linked(REMOTE, {"SET": 40e3}, step_logs((0.04,), tcp_rtt_ms=(0.55,))),
    ]
    found = link_table.made_of(one(tmp_path, points, "net_compare"))
    assert found
    cells = {row.label: list(row.cells.values()) for row in found.rows}
    assert cells["RTT median, ms"] == ["0.040", "0.040"]
    assert cells["TCP RTT median, ms"] == ["0.050", "0.550"]
    assert cells["the link's share of it"] == ["10%", "44%"]  # 0.05 / 0.5, 0.55 / 1.25
    assert found.remarks[:2] == [
        "the link's share is the median TCP RTT over the mean latency (of the one test); "
        "connects, which a NAT forwards, find the link idle",
        "of what is added: (TCP RTT - TCP RTT at local) / (mean latency - mean latency at local)",
    ]


def test_one_server_is_told_once(tmp_path: Path) -> None:
    points = [linked(LOCAL, {"SET": 1e5}, step_logs()), linked(REMOTE, {"SET": 4e4}, step_logs())]
    found = link_table.made_of(one(tmp_path, points, "net_compare"))
    assert found and found.remarks[-1] == "server: 7.0.15, standalone, Linux 6.1"


def test_a_pipeline_is_explained(tmp_path: Path) -> None:
    point = linked(REMOTE, {"SET": 4e5}, step_logs(), params={"clients": 50, "pipeline": 16})
    found = link_table.made_of(one(tmp_path, [point], "net_compare"))
    assert (
        found and "requests of a pipeline go over the link together: each waits for one RTT" in found.remarks
    )


def test_every_format_shows_it(tmp_path: Path) -> None:
    found = summary(tmp_path, POINTS, "net_compare")
    assert re.search(r"^link and load +local +remote$", shown(found), re.MULTILINE)
    assert re.search(r"^RTT median, ms +0\.050 +0\.550$", shown(found), re.MULTILINE)
    assert "\n\n| link and load | local | remote |\n|---|---:|---:|\n" in markdown.render(found)
    assert "| its share of what is added |  | 67% |\n\n- " in markdown.render(found)
    local, remote = csv.DictReader(io.StringIO(tidy.to_csv(found)))
    assert (float(remote["rtt_median_ms"]), float(remote["up_mbit_s"])) == (pytest.approx(0.55), 940)
    assert (float(remote["latency_ms"]), float(remote["link_share"])) == (1.25, pytest.approx(0.44))
    assert (local["added_share"], float(remote["added_share"])) == ("", pytest.approx(0.5 / 0.75))
    assert (remote["server_version"], remote["server_system"]) == ("7.0.15", "Windows")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_narrow_terminal_folds_it(tmp_path: Path, width: int) -> None:
    assert max(map(len, shown(summary(tmp_path, POINTS, "net_compare"), width).splitlines())) <= width


def test_a_condition_that_did_not_run_has_an_empty_column(tmp_path: Path) -> None:
    text = shown(summary(tmp_path, [POINTS[0], Written(REMOTE, None)], "net_compare"))
    assert re.search(r"^RTT median, ms +0\.050$", text, re.MULTILINE)


def test_imported_logs_have_no_table_and_no_columns(tmp_path: Path) -> None:
    points = [Written(path, {"SET": 1e5}, params={"clients": 50}) for path in (LOCAL, REMOTE)]
    found = summary(tmp_path, points, "net_compare")
    assert "link and load" not in shown(found) + markdown.render(found)
    assert "rtt" not in tidy.to_csv(found)

"""How much of a latency the link explains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector import link_and_load
from collector.link_and_load import Conditions, Latency
from tests.unit.collector.comparisons import one
from tests.unit.collector.links import csv, linked, step_logs
from tests.unit.collector.runs import Written

LOCAL, REMOTE = {"path": "local"}, {"path": "remote"}
NEAR, FAR = step_logs((0.04,), up=20e3), step_logs((0.54,), up=940.0)


def conditions(folder: Path, *points: Written) -> Conditions:
    found = link_and_load.conditions(one(folder, points, "net_compare"))
    assert found
    return found


def shares(found: Conditions, level: str, test: str) -> tuple[Any, ...]:
    latency = found.latencies[level][test]
    return latency.ms, latency.link_share, latency.added_share


def test_the_mean_latency_of_the_log_counts(tmp_path: Path) -> None:
    found = conditions(
        tmp_path,
        linked(LOCAL, {}, NEAR, log=csv({"SET": (100e3, 0.4)})),
        linked(REMOTE, {}, FAR, log=csv({"SET": (50e3, 1.2)})),
    )
    assert found.derived == frozenset()
    assert shares(found, "local", "SET") == (0.4, pytest.approx(0.04 / 0.4), None)
    assert shares(found, "remote", "SET") == (1.2, pytest.approx(0.54 / 1.2), pytest.approx(0.5 / 0.8))


def test_without_one_it_is_littles_law(tmp_path: Path) -> None:
    """50 clients at 100,000 requests/s: each request takes 50 / 100,000 s = 0.5 ms."""
    found = conditions(tmp_path, linked(LOCAL, {"SET": 100e3}, NEAR), linked(REMOTE, {"SET": 40e3}, FAR))
    assert found.derived == {"SET"}
    assert shares(found, "local", "SET") == (pytest.approx(0.5), pytest.approx(0.08), None)
    assert shares(found, "remote", "SET") == (
        pytest.approx(1.25),
        pytest.approx(0.54 / 1.25),
        pytest.approx(0.5 / 0.75),
    )


def test_both_sides_are_derived_where_one_log_has_no_latency(tmp_path: Path) -> None:
    found = conditions(
        tmp_path,
        linked(LOCAL, {}, NEAR, log=csv({"SET": (100e3, 0.4), "GET": (100e3, 0.3)})),
        linked(REMOTE, {"SET": 40e3}, FAR),
    )
    assert found.derived == {"SET"}
    assert found.latencies["local"]["SET"].ms == pytest.approx(0.5)
    assert found.latencies["local"]["GET"].ms == 0.3


def test_requests_of_a_pipeline_are_under_way_together(tmp_path: Path) -> None:
    params = {"clients": 10, "pipeline": 16, "threads": 0}
    point = linked(REMOTE, {"SET": 200e3}, FAR, params=params)
    assert shares(conditions(tmp_path, point), "remote", "SET")[:2] == (
        pytest.approx(0.8),  # 10 * 16 / 200,000 s
        pytest.approx(0.54 / 0.8),
    )
    assert link_and_load.pipelines(one(tmp_path / "again", [point], "net_compare")) == {16}


def test_a_latency_that_did_not_grow_has_no_added_share(tmp_path: Path) -> None:
    found = conditions(tmp_path, linked(LOCAL, {"SET": 100e3}, NEAR), linked(REMOTE, {"SET": 96e3}, FAR))
    assert found.latencies["remote"]["SET"].ms == pytest.approx(0.5208, abs=1e-4)  # 4.2% more than 0.5
    assert found.latencies["remote"]["SET"].added_share is None


def test_without_a_number_of_clients_there_is_no_latency(tmp_path: Path) -> None:
    found = conditions(tmp_path, linked(REMOTE, {"SET": 40e3}, FAR, params={}))
    assert found.latencies == {}
    assert found.numbers["remote"]["rtt_median_ms"] == 0.54


def test_the_number_of_clients_may_stand_in_the_log_alone(tmp_path: Path) -> None:
    log = """====== SET ======
  100000 requests completed in 2.00 seconds
  20 parallel clients
  3 bytes payload

100.00% <= 1 milliseconds
50000.00 requests per second
"""
    found = conditions(tmp_path, linked(REMOTE, {}, FAR, log=log, params={}))
    assert found.latencies["remote"]["SET"].ms == pytest.approx(0.4)


def test_a_nat_that_answers_ping_itself_hides_no_part_of_the_way(tmp_path: Path) -> None:
    """To a ping both ways are as long; to TCP the forwarded one is 0.5 ms longer."""
    found = conditions(
        tmp_path,
        linked({"path": "direct"}, {"SET": 100e3}, step_logs((0.04,), tcp_rtt_ms=(0.05, 0.05))),
        linked({"path": "nat"}, {"SET": 40e3}, step_logs((0.04,), tcp_rtt_ms=(0.5, 0.6))),
    )
    assert found.trip == "tcp_rtt_median_ms"
    assert found.known("tcp_rtt_median_ms") == {"direct": 0.05, "nat": pytest.approx(0.55)}
    assert shares(found, "direct", "SET")[1] == pytest.approx(0.05 / 0.5)
    assert shares(found, "nat", "SET")[1:] == (pytest.approx(0.55 / 1.25), pytest.approx(0.5 / 0.75))


def test_ping_counts_where_tcps_round_trip_is_not_known_everywhere(tmp_path: Path) -> None:
    found = conditions(
        tmp_path,
        linked(LOCAL, {"SET": 100e3}, NEAR),
        linked(REMOTE, {"SET": 40e3}, step_logs((0.54,), tcp_rtt_ms=(0.7,))),
    )
    assert found.trip == "rtt_median_ms"
    assert shares(found, "remote", "SET")[1:] == (pytest.approx(0.54 / 1.25), pytest.approx(0.5 / 0.75))


def test_what_is_typical_is_the_median_over_points_and_over_tests(tmp_path: Path) -> None:
    rps = {"SET": 50e3, "GET": 100e3, "INCR": 25e3}  # 1, 0.5 and 2 ms
    links = [(0.1, 0.4), (0.5, 0.5), (0.2, 0.6)]
    found = conditions(
        tmp_path,
        *(
            linked(REMOTE, rps, step_logs((rtt,)), repeat=repeat, observed={"command_cpus": cpus})
            for repeat, (rtt, cpus) in enumerate(links, start=1)
        ),
    )
    assert found.known("rtt_median_ms") == {"remote": 0.2}
    assert found.known("client_cpus") == {"remote": 0.5}
    assert found.typical("ms") == {"remote": pytest.approx(1)}
    assert found.typical("link_share") == {"remote": pytest.approx(0.2)}
    assert found.typical("added_share") == {}


def test_points_without_a_result_do_not_count(tmp_path: Path) -> None:
    found = conditions(
        tmp_path,
        linked(REMOTE, {"SET": 50e3}, step_logs((0.2,))),
        linked(REMOTE, {"SET": 50e3}, step_logs((9.0,)), repeat=2, status="failed", reason="lost"),
    )
    assert found.known("rtt_median_ms") == {"remote": 0.2}


def test_a_link_may_be_known_at_one_condition_only(tmp_path: Path) -> None:
    found = conditions(tmp_path, Written(LOCAL, {"SET": 1e5}), linked(REMOTE, {"SET": 4e4}, FAR))
    assert found.known("rtt_median_ms") == {"remote": 0.54}
    assert found.latencies["remote"]["SET"] == Latency(pytest.approx(1.25), pytest.approx(0.432), None)


def test_imported_logs_have_no_conditions(tmp_path: Path) -> None:
    points = [Written(path, {"SET": 1e5}, params={"clients": 50}) for path in (LOCAL, REMOTE)]
    assert link_and_load.conditions(one(tmp_path, points, "net_compare")) is None

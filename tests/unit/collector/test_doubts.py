"""What a reader of a comparison is told to doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector import describe
from collector.doubts import doubts
from tests.unit.collector.comparisons import one, row, scaled, sweep
from tests.unit.collector.runs import Written, clock, repeats


def test_outliers_are_doubted(tmp_path: Path) -> None:
    points = [*sweep("as_found"), Written({"frequency": "2.5GHz"}, scaled(0.96, SET=61.6e3))]
    assert "SET at 2.5 GHz (0.616) lies far below the other tests (median 0.960)" in doubts(
        one(tmp_path, points)
    )


def test_noisy_rows_are_doubted_worst_first(tmp_path: Path) -> None:
    points = repeats({"frequency": "2GHz"}, {"SET": 90.0, "GET": 80.0}, {"SET": 110.0, "GET": 120.0})
    (said,) = doubts(one(tmp_path, points))
    assert said.startswith("repeats differ by more than 5%")
    assert said.endswith(": GET at 2.0 GHz (28.3%) and SET at 2.0 GHz (14.1%)")


def test_a_frequency_that_was_not_achieved_is_marked(tmp_path: Path) -> None:
    points = [
        *sweep("as_found"),
        *sweep("2.5GHz", observed=clock(2.4, 2.45, 2.5)),
        *sweep("2GHz", observed=clock(1.5, 1.6, 2.0), setting={"achieved_khz": {"policy0": 2.0e6}}),
        *sweep("1GHz", setting={"achieved_khz": {"policy0": 1.2e6}, "notes": ["nearest step is 1.2 GHz"]}),
    ]
    found = one(tmp_path, points)
    assert {c.level: c.achieved for c in found.columns} == {
        "as_found": None,
        "2.5GHz": True,
        "2GHz": False,
        "1GHz": False,
    }
    said = doubts(found)
    assert "2.0 GHz was set but not achieved: 1.60 GHz while measuring" in said
    assert "1.0 GHz was set but not achieved: 1.20 GHz when read back" in said
    assert "1.0 GHz: nearest step is 1.2 GHz" in said
    assert "2.5 GHz: the clock moved between 2.40 and 2.50 GHz while measuring (median 2.45)" in said


def test_what_was_not_achieved_counts_as_what_was_observed(tmp_path: Path) -> None:
    points = [
        *sweep("2GHz", observed=clock(2, 2, 2)),
        Written({"frequency": "1GHz"}, scaled(1.6 / 2.6), observed=clock(1.6, 1.6, 1.6)),
    ]
    found = one(tmp_path, points)
    assert [(c.size, c.observed_ghz, c.achieved) for c in found.columns] == [
        (2.0, 2.0, True),
        (1.6, 1.6, False),
    ]
    assert row(found, "SET")["1GHz"].per_size == pytest.approx(100e3 / 2.6, rel=1e-4)
    assert found.scaling is not None
    assert found.scaling.ratios == pytest.approx({"1GHz": 0.8})
    assert found.scaling.exponent == pytest.approx(1, abs=1e-3)
    turned = one(tmp_path / "t", points, baseline="1GHz")
    assert describe.foot(turned)[-1].label == "frequency ratio (1.0 GHz = 1.60 GHz)"


def test_throttling_and_steal_are_doubted(tmp_path: Path) -> None:
    points = [*sweep("as_found", observed={"throttled": 3, "steal_pct": 2.5}), *sweep("1GHz")]
    said = doubts(one(tmp_path, points))
    assert "the CPU was throttled while measuring: as found (3 times, in 1 of 1 point)" in said
    assert "the hypervisor took CPU time while measuring: as found (up to 2.5%, in 1 of 1 point)" in said


def test_different_tools_and_settings_are_doubted(tmp_path: Path) -> None:
    points = [
        Written({"path": "local"}, scaled(1), tool_version="7.2.4", params={"clients": 50, "requests": 9}),
        Written(
            {"path": "remote"}, scaled(0.5), tool_version="3.2.100", params={"clients": 20, "requests": 9}
        ),
    ]
    found = one(tmp_path, points, "net_compare")
    said = doubts(found)
    assert "tool versions differ: local 7.2.4 and remote 3.2.100" in said
    assert "clients differs: local 50 and remote 20" in said
    assert "redis_benchmark: 9 requests" in describe.facts(found, {})


def test_pooled_hosts_are_doubted(tmp_path: Path) -> None:
    points = [
        Written({"platform": platform}, scaled(1), host=host)
        for platform, hosts in (("physical", "a"), ("virtual", "bc"))
        for host in hosts
    ]
    said = doubts(one(tmp_path, points, "virt_compare"))
    assert "virtual pools b and c: its spread includes how they differ" in said

"""The published comparisons in examples/ come out as they were published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector import describe, store
from collector.comparison import Comparison
from collector.doubts import doubts
from collector.stats import Verdict
from collector.summary import Summary, summarize

EXAMPLES = Path(__file__).parents[3] / "examples"


def summary(example: str, **options: Any) -> Summary:
    return summarize(store.load_runs([EXAMPLES / example]), **options)


def one(example: str, **options: Any) -> Comparison:
    (comparison,) = summary(example, **options).comparisons
    return comparison


def foot(comparison: Comparison, level: str, digits: int = 3) -> tuple[int, float, float]:
    """Tests, arithmetic and geometric mean at the foot of a column, rounded as they were published."""
    mean = comparison.mean(level)
    assert mean is not None
    return mean.tests, round(mean.arithmetic, digits), round(mean.geometric, digits)


@pytest.mark.parametrize(
    ("level", "arithmetic", "geometric"),
    [("2.5GHz", 0.893, 0.884), ("2GHz", 0.701, 0.695), ("1GHz", 0.359, 0.355)],
)
def test_kunpeng_frequency(level: str, arithmetic: float, geometric: float) -> None:
    assert foot(one("kunpeng-frequency"), level) == (20, arithmetic, geometric)


def test_kunpeng_is_proportional_to_frequency() -> None:
    scaling = one("kunpeng-frequency").scaling
    assert scaling is not None
    assert scaling.exponent == pytest.approx(1.01, abs=5e-3)
    assert scaling.tests == 20
    assert scaling.ratios["2GHz"] == pytest.approx(2 / 2.6)


def test_kunpeng_header() -> None:
    found = summary("kunpeng-frequency")
    (comparison,) = found.comparisons
    assert describe.facts(comparison, found.profiles) == [
        "freq_sweep",
        "kunpeng1 (Kunpeng 920, 128 CPUs, cppc_cpufreq)",
        "redis_benchmark: 50 clients, 100,000 requests",
        "1 repeat",
    ]


def test_arm_kvm_redis() -> None:
    found = one("arm-kvm-redis")
    assert foot(found, "virtual", digits=4) == (20, 0.9552, 0.9522)
    faster = {test: ratio for test, ratio in found.ratios("virtual").items() if ratio > 1}
    assert faster == {"MSET (10 keys)": pytest.approx(1.285, abs=5e-4)}


def test_workstation_network_against_local() -> None:
    found = one("workstation-network")
    assert foot(found, "bridged_remote") == (20, 0.330, 0.313)
    assert any("LPOP at bridged remote (0.138)" in doubt for doubt in doubts(found))


def test_workstation_network_against_windows_local() -> None:
    found = one("workstation-network", baseline="windows_local")
    assert foot(found, "bridged_remote")[:2] == (17, 0.512)
    assert "PING_MBULK" in found.ratios("bridged_remote")
    assert any("HSET, ZADD and ZPOPMIN" in remark for remark in describe.remarks(found))
    (lrange,) = [row for row in found.rows if row.test == "LRANGE_500"]
    assert lrange.notes == {"windows_local": "450 elements"}


@pytest.mark.parametrize("example", ["arm-kvm-redis", "kunpeng-frequency", "workstation-network"])
def test_one_repeat_claims_nothing(example: str) -> None:
    found = one(example)
    verdicts = {cell.verdict for row in found.rows for cell in row.cells.values() if cell.ratio is not None}
    assert verdicts == {Verdict.TOO_FEW}
    assert found.tested == 0
    assert any("not tested against noise" in doubt for doubt in doubts(found))

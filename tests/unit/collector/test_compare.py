"""Comparisons: ratios, verdicts, the foot and scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from collector import describe, design, store
from collector.compare import compare
from collector.comparison import Comparison
from collector.doubts import doubts
from collector.errors import CollectorError
from collector.frame import tidy
from collector.metrics import METRICS
from collector.render import markdown
from collector.stats import Verdict
from collector.summary import Summary, summarize
from collector.words import listed
from tests.unit.collector.comparisons import BASE, noisy, one, row, scaled, summary, sweep
from tests.unit.collector.runs import Written, clock, repeats, write_run


def test_values_ratios_and_rps_per_ghz(tmp_path: Path) -> None:
    found = one(tmp_path, sweep("as_found", "2GHz", "1GHz"))
    assert [c.level for c in found.columns] == ["as_found", "2GHz", "1GHz"]
    assert [r.test for r in found.rows] == list(BASE)
    cell = row(found, "SET")["2GHz"]
    assert cell.mean == pytest.approx(100e3 * 2 / 2.6, rel=1e-4)
    assert cell.ratio == pytest.approx(2 / 2.6, rel=1e-4)
    assert cell.per_size == pytest.approx(100e3 / 2.6, rel=1e-4)
    assert row(found, "SET")["as_found"].ratio is None


def test_the_baseline_can_be_chosen_in_any_spelling(tmp_path: Path) -> None:
    found = one(tmp_path, sweep("as_found", "2GHz", "1GHz"), baseline="2000 MHz")
    assert [c.level for c in found.columns] == ["2GHz", "as_found", "1GHz"]
    assert row(found, "SET")["1GHz"].ratio == pytest.approx(0.5, rel=1e-4)


def test_an_unknown_baseline_or_metric_is_an_error_that_says_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(CollectorError, match=r"as_found \(frequency\), 1GHz \(frequency\)"):
        summary(tmp_path, sweep("as_found", "1GHz"), baseline="3GHz")
    with pytest.raises(CollectorError, match=r"no metric 'iops' in these runs \(there are rps\)"):
        summarize(store.load_runs([tmp_path / "r1"]), metric="iops")


def test_scaling_exponent_takes_the_observed_clock_of_as_found(tmp_path: Path) -> None:
    points = [
        *sweep("as_found", observed=clock(2.6, 2.6, 2.6)),
        *sweep("2.5GHz", "2GHz", "1GHz"),
    ]
    found = one(tmp_path, points)
    assert found.scaling is not None
    assert found.scaling.exponent == pytest.approx(1, abs=1e-3)
    assert found.scaling.ratios == pytest.approx({"2.5GHz": 2.5 / 2.6, "2GHz": 2 / 2.6, "1GHz": 1 / 2.6})
    assert describe.foot(found)[-1].label == "frequency ratio (as found = 2.60 GHz)"
    assert (
        describe.scaling(found)
        == "scaling exponent 1.00 (median over 6 tests; 1 = proportional to frequency)"
    )


def test_an_unknown_clock_is_left_out_and_said(tmp_path: Path) -> None:
    found = one(tmp_path, sweep("as_found", "2GHz", "1GHz"))
    assert row(found, "SET")["as_found"].per_size is None
    assert str(describe.scaling(found)).endswith("; as found left out, frequency not known")
    assert [r.label for r in describe.foot(found)] == ["mean of ratios, 6 tests", "geometric mean"]


def test_one_known_clock_gives_no_exponent(tmp_path: Path) -> None:
    assert describe.scaling(one(tmp_path, sweep("as_found", "1GHz"))) is None


def test_a_quota_is_labelled_as_one_and_never_a_frequency(tmp_path: Path) -> None:
    setting = {"method": "quota", "quota_cpus": "2"}
    points = [
        Written({"quota": level}, scaled(by), setting=setting, observed={"throttled": 100})
        for level, by in (("as_found", 1.0), ("80%", 0.8), ("40%", 0.4))
    ] + [Written({"quota": "20%"}, None)]
    found = one(tmp_path, points)
    assert [c.label for c in found.columns] == ["as found", "quota 80%", "quota 40%", "quota 20%"]
    assert describe.per_size(found) == "rps per CPU"
    assert row(found, "SET")["40%"].per_size == pytest.approx(100e3 / 2)
    foot = describe.foot(found)[-1]
    ratios = {"80%": "0.800", "40%": "0.400", "20%": "0.200"}
    assert (foot.label, foot.cells) == (
        "quota ratio (as found is not limited)",
        ratios,
    )
    words = " ".join([str(describe.scaling(found)), *describe.facts(found, {}), *doubts(found)])
    assert "proportional to quota" in words
    assert "frequency" not in words and "throttled" not in words


def test_verdicts_with_repeats(tmp_path: Path) -> None:
    points = [
        *repeats({"platform": "physical"}, *noisy(1, seed=1), host="arm1"),
        *repeats({"platform": "virtual"}, *noisy(0.9, seed=2), host="vm1"),
    ]
    found = one(tmp_path, points, "virt_compare")
    cell = row(found, "GET")["virtual"]
    assert cell.verdict is Verdict.WORSE
    assert 0.85 < cell.low < cell.ratio < cell.high < 0.95
    assert found.tested == 6
    assert doubts(found) == []
    assert describe.facts(found, {})[-1] == "5 repeats"


@pytest.mark.parametrize(("noise", "expected"), [(0.002, Verdict.SAME), (0.03, Verdict.UNDECIDED)])
def test_the_same_system_twice_is_not_told_apart(tmp_path: Path, noise: float, expected: Verdict) -> None:
    points = [
        Written({"platform": platform}, rps, repeat)
        for platform, seed in (("physical", 3), ("virtual", 4))
        for repeat, rps in enumerate(noisy(1, seed, noise), start=1)
    ]
    found = one(tmp_path, points, "virt_compare")
    assert {cells.cells["virtual"].verdict for cells in found.rows} == {expected}
    assert "virtual is faster in none of 6 tests" in describe.remarks(found)


def test_a_ratio_is_of_geometric_means_and_values_are_arithmetic_ones(tmp_path: Path) -> None:
    points = [
        *repeats({"platform": "physical"}, {"SET": 10.0}, {"SET": 10.0}),
        *repeats({"platform": "virtual"}, {"SET": 10.0}, {"SET": 40.0}),
    ]
    cell = row(one(tmp_path, points, "virt_compare"), "SET")["virtual"]
    assert (cell.mean, cell.ratio) == pytest.approx((25, 2))
    assert cell.low < cell.ratio < cell.high


def test_repeats_that_do_not_vary_have_no_interval(tmp_path: Path) -> None:
    points = [
        *repeats({"platform": "physical"}, *[{"SET": 10.0, "GET": 10.0}] * 5),
        *repeats({"platform": "virtual"}, *[{"SET": 10.0, "GET": 11.0}] * 5),
    ]
    found = one(tmp_path, points, "virt_compare")
    same, better = row(found, "SET")["virtual"], row(found, "GET")["virtual"]
    assert (same.low, same.high, same.verdict) == (None, None, Verdict.UNDECIDED)
    assert (better.low, better.high, better.verdict) == (None, None, Verdict.BETTER)
    assert better.p == pytest.approx(2 * 2 / 252)  # one of 252 ways, two sides, two comparisons


def zeroed(folder: Path, points: Sequence[Written], baseline: str, at: Mapping[str, int]) -> Comparison:
    """The comparison if SET had been 0 in these repeats by level: a latency below the tool's resolution."""
    frame = tidy(store.load_runs([write_run(folder / "r1", points)]))
    for level, repeat in at.items():
        hit = (frame["factor_frequency"] == level) & (frame["repeat"] == repeat) & (frame["test"] == "SET")
        frame.loc[hit, "value"] = 0.0
    (group,) = design.groups(frame)
    return compare(group, METRICS["rps"], baseline)


@pytest.mark.parametrize(("baseline", "without"), [("2GHz", {"1GHz"}), ("1GHz", {"2GHz", "1.5GHz"})])
def test_a_zero_gives_no_ratio_whatever_the_other_repeats_say(
    tmp_path: Path, baseline: str, without: set[str]
) -> None:
    points = [
        *repeats({"frequency": "2GHz"}, scaled(1), scaled(1.01)),
        *repeats({"frequency": "1.5GHz"}, scaled(0.75), scaled(0.76)),
        *repeats({"frequency": "1GHz"}, scaled(0.5), scaled(0.5)),
    ]
    found = zeroed(tmp_path, points, baseline, {"1GHz": 2})
    cells = row(found, "SET")
    assert {level for level in cells if level != baseline and cells[level].ratio is None} == without
    assert all(cells[level].verdict is None and cells[level].p is None for level in without)
    assert cells["1GHz"].mean == pytest.approx(25e3)
    assert {len(found.ratios(level)) for level in without} == {5}
    assert found.scaling is not None and found.scaling.tests == 5
    assert "rps of 0, below what the tool resolves, gives no ratio: SET at 1.0 GHz" in doubts(found)


def test_nothing_but_zeros(tmp_path: Path) -> None:
    points = [Written({"frequency": level}, {"SET": 1.0}) for level in ("2GHz", "1GHz")]
    found = zeroed(tmp_path, points, "2GHz", {"2GHz": 1, "1GHz": 1})
    assert row(found, "SET")["1GHz"].mean == 0
    assert found.mean("1GHz") is None and describe.scaling(found) is None
    assert "0.00" in markdown.render(Summary([found], {}, []))


def test_one_repeat_claims_nothing(tmp_path: Path) -> None:
    found = one(tmp_path, sweep("as_found", "1GHz"))
    assert row(found, "SET")["1GHz"].verdict is Verdict.TOO_FEW
    assert "one repeat: differences are not tested against noise" in doubts(found)


def test_one_repeat_of_some_conditions_is_told_apart(tmp_path: Path) -> None:
    points = [
        *repeats({"frequency": "2GHz"}, *noisy(1, seed=1)),
        *repeats({"frequency": "1GHz"}, *noisy(0.5, seed=2)),
        Written({"frequency": "1.5GHz"}, scaled(0.75)),
    ]
    found = one(tmp_path, points)
    assert "one repeat at 1.5 GHz: no difference is tested against noise there" in doubts(found)
    baseline = one(tmp_path / "b", points, baseline="1.5GHz")
    assert "one repeat at 1.5 GHz: differences are not tested against noise" in doubts(baseline)


def test_unmatched_tests_are_named_and_left_out_of_the_means(tmp_path: Path) -> None:
    points = [
        Written({"path": "local"}, scaled(1, HSET=100.0)),
        Written({"path": "remote"}, scaled(0.5, MSET=1.0)),
        Written({"path": "bridged"}, scaled(0.25, HSET=25.0)),
    ]
    found = one(tmp_path, points, "net_compare")
    remote, bridged = found.mean("remote"), found.mean("bridged")
    assert remote is not None and [remote.tests, remote.arithmetic] == pytest.approx([6, 0.5])
    assert bridged is not None and [bridged.tests, bridged.geometric] == pytest.approx([7, 0.25])
    assert describe.foot(found)[0].cells == {"remote": "6", "bridged": "7"}
    assert "unmatched, left out of the means: HSET has no value at remote" in describe.remarks(found)


def test_tests_whose_work_differs_get_a_footnote(tmp_path: Path) -> None:
    points = [
        Written({"path": "local"}, {"LRANGE_500 (first 500 elements)": 2.0}),
        Written({"path": "windows_local"}, {"LRANGE_500 (first 450 elements)": 1.0}),
    ]
    assert describe.footnotes(one(tmp_path, points, "net_compare")) == {
        "LRANGE_500": "450 elements at windows local, elsewhere as the title says: the work differs"
    }


def test_the_exceptions_of_two_conditions(tmp_path: Path) -> None:
    points = [
        Written({"platform": "physical"}, scaled(1)),
        Written({"platform": "virtual"}, scaled(0.9, SET=128e3)),
    ]
    found = one(tmp_path, points, "virt_compare")
    assert "virtual is faster in 1 of 6 tests: SET (1.280)" in describe.remarks(found)
    turned = one(tmp_path / "t", points, "virt_compare", baseline="virtual")
    assert "physical is faster in 5 of 6 tests, slower in 1: SET (0.781)" in describe.remarks(turned)


def test_clocks_that_hardly_differ_give_no_exponent(tmp_path: Path) -> None:
    points = [*sweep("2GHz", observed=clock(2.6, 2.6, 2.6)), *sweep("1GHz", observed=clock(2.6, 2.61, 2.61))]
    assert describe.scaling(one(tmp_path, points)) is None


def test_a_run_counts_once_and_its_copy_is_an_error(tmp_path: Path) -> None:
    run, copy = (write_run(tmp_path / place / "r1", sweep("2GHz", "1GHz")) for place in ("a", "b"))
    again = run / ".." / "r1"
    (found,) = summarize(store.load_runs([run, again])).comparisons
    assert row(found, "SET")["1GHz"].n == 1
    with pytest.raises(CollectorError, match=r"b/r1: has the run id r1, as .*a/r1 has"):
        summarize(store.load_runs([run, copy]))


def test_hosts_side_by_side_are_named_once_in_the_header(tmp_path: Path) -> None:
    points = [*sweep("2GHz", host="h1"), *sweep("2GHz", host="h2")]
    assert describe.facts(one(tmp_path, points, by="host"), {})[1:3] == ["h1", "h2"]


def test_gaps_are_listed_and_never_averaged(tmp_path: Path) -> None:
    points = [
        *repeats({"frequency": "as_found"}, scaled(1), scaled(1), scaled(1)),
        *repeats({"frequency": "1GHz"}, scaled(0.4), None, None),
        Written(
            {"frequency": "1GHz"}, {"SET": 1.0}, 4, status="failed", reason="Redis closed the connection"
        ),
    ]
    found = one(tmp_path, points)
    assert row(found, "SET")["1GHz"].n == 1
    said = doubts(found)
    assert said[0].startswith("1.0 GHz, repeat 4 failed: Redis closed the connection (")
    assert said[1] == "not run: 1.0 GHz (repeats 2 and 3)"


def test_a_condition_without_any_result_is_a_gap_and_the_others_stay(tmp_path: Path) -> None:
    points = [*sweep("as_found", "2GHz"), Written({"frequency": "1GHz"}, None)]
    found = one(tmp_path, points)
    assert found.columns[-1].status == "missing"
    assert "1GHz" not in row(found, "SET")
    assert found.mean("1GHz") is None and found.mean("2GHz") is not None


def test_without_a_baseline_result_there_are_no_ratios(tmp_path: Path) -> None:
    found = one(tmp_path, [Written({"frequency": "as_found"}, None), *sweep("2GHz", "1GHz")])
    assert describe.foot(found) == [] or describe.foot(found)[0].label.startswith("frequency ratio")
    assert "no result at as found, the baseline: nothing to compare with" in doubts(found)


def test_hosts_without_any_result_are_told_together(tmp_path: Path) -> None:
    points = [
        *sweep("as_found", "1GHz", host="a"),
        *(Written({"frequency": f}, None, host=host) for host in ("b", "c") for f in ("as_found", "1GHz")),
    ]
    found = summary(tmp_path, points)
    assert len(found.comparisons) == 1
    assert found.doubts == ["b and c: no result from 2 points, 2 missing"]


def test_the_header_says_what_was_compared(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "r1",
        sweep(
            "as_found", "1GHz", params={"requests": 100000, "clients": 50, "tests": ["set"], "pipeline": 1}
        ),
        profiles={
            "kunpeng1": {"cpu": {"model": "Kunpeng 920", "cpus": 128}, "cpufreq": {"driver": "cppc_cpufreq"}}
        },
    )
    found = summarize(store.load_runs([run]))
    assert describe.facts(found.comparisons[0], found.profiles) == [
        "freq_sweep",
        "kunpeng1 (Kunpeng 920, 128 CPUs, cppc_cpufreq)",
        "redis_benchmark: 50 clients, 100,000 requests",
        "1 repeat",
    ]


def test_the_header_says_what_sets_tables_of_a_kind_apart(tmp_path: Path) -> None:
    points = [
        Written({"frequency": f, "turbo": t, "heap_size": "4G"}, scaled(1))
        for f in ("2GHz", "1GHz")
        for t in ("on", "off")
    ]
    runs = [write_run(tmp_path / name, points) for name in ("r_1", "r_2")]
    headers = [describe.facts(comparison, {}) for comparison in summarize(store.load_runs(runs)).comparisons]
    assert [header[3:-1] for header in headers] == [
        ["run r_1", "turbo on", "heap_size 4G"],
        ["run r_1", "turbo off", "heap_size 4G"],
        ["run r_2", "turbo on", "heap_size 4G"],
        ["run r_2", "turbo off", "heap_size 4G"],
    ]
    side_by_side = summarize(store.load_runs(runs), by="run").comparisons
    assert {tuple(column.label for column in found.columns) for found in side_by_side} == {("r_1", "r_2")}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (list("abcdefgh"), None),
    ],
)
def test_listed(items: list[str], expected: str | None) -> None:
    assert listed(items) == (expected if expected is not None else "a, b, c, d, e and 3 more")

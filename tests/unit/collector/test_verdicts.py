"""Verdict tables: who wins, by how much, how sure; and who does not."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from collector import stats
from collector.questions import QUESTIONS
from collector.render import markdown, terminal, tidy
from collector.render.glyphs import UNICODE
from collector.render.verdicts import how_sure, lines
from collector.stats import Verdict
from collector.summary import Summary
from collector.verdicts import Judgement, VerdictTable
from tests.unit.collector import sweeps
from tests.unit.collector.comparisons import summary as redis_summary
from tests.unit.collector.comparisons import sweep
from tests.unit.collector.sweeps import cpu, fio, point, summary


@pytest.fixture(autouse=True)
def workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps.register(monkeypatch)


def table(found: Summary, by: str = "os") -> VerdictTable:
    (verdicts,) = [verdicts for verdicts in found.verdicts if verdicts.by == by]
    return verdicts


def answers(found: Summary, by: str = "os") -> dict[str, Judgement]:
    judgements = table(found, by).judgements
    return {", ".join((judgement.question.title, *judgement.where)): judgement for judgement in judgements}


def triple(middle: float, step: float) -> list[float]:
    """Three values whose logs are `step` apart: of them the variance is step^2."""
    return [middle * math.exp(-step), middle, middle * math.exp(step)]


def apart(*rows: tuple[Sequence[float], Sequence[float]]) -> list[stats.Row]:
    """Rows that share no repeat."""
    return [
        tuple({(row, side, i): value for i, value in enumerate(values)} for side, values in enumerate(pair))
        for row, pair in enumerate(rows)
    ]


def together(*rows: tuple[Sequence[float], Sequence[float]]) -> list[stats.Row]:
    """Rows whose values at one place were measured in one repeat."""
    return [
        tuple({(side, i): value for i, value in enumerate(values)} for side, values in enumerate(pair))
        for pair in rows
    ]


def test_the_mean_difference_of_four_rows_by_hand() -> None:
    """+10% at 3 repeats that vary by 1%.

    Each side of each row has the variance of the mean v = 0.01^2 / 3, so that of the mean over 4 rows is
    8 v / 16 and its root 0.0040825; 8 equal parts of 2 degrees of freedom have 16; t(0.975, 16) = 2.1199.
    """
    rows = apart(*((triple(base, 0.01), triple(1.1 * base, 0.01)) for base in (1000, 2000, 4000, 8000)))
    found = stats.mean_difference(rows)
    assert found is not None and found.low is not None and found.high is not None
    assert found.low == pytest.approx(1.1 * math.exp(-2.1199 * 0.0040825), rel=1e-6)
    assert found.high == pytest.approx(1.1 * math.exp(2.1199 * 0.0040825), rel=1e-6)
    assert found.p < 1e-12


def test_the_p_of_two_repeats_by_hand() -> None:
    """Two repeats a side of equal variance have 2 degrees of freedom, whose p is 1 - t / sqrt(2 + t^2)."""
    a = 0.02  # logs -a and a: the variance of the mean is a^2 a side
    base, other = [math.exp(-a), math.exp(a)], [1.1 * math.exp(-a), 1.1 * math.exp(a)]
    t = math.log(1.1) / (a * math.sqrt(2))
    found = stats.mean_difference(apart((base, other)))
    assert found is not None and found.p == pytest.approx(1 - t / math.sqrt(2 + t * t))


def test_rows_that_go_opposite_ways_cancel_and_their_noise_does_not() -> None:
    rows = apart((triple(100, 0.01), triple(110, 0.01)), (triple(100, 0.01), triple(100 / 1.1, 0.01)))
    found, alone = stats.mean_difference(rows), stats.mean_difference(rows[:1])
    assert found is not None and found.p == pytest.approx(1)
    assert alone is not None and alone.high is not None and found.high is not None
    assert 1 < found.high < alone.high


def test_rows_of_one_log_count_once() -> None:
    """Reads and writes that rise and fall together say no more than either alone: the same interval."""
    pair = (triple(100, 0.01), triple(110, 0.01))
    alone, twice = stats.mean_difference(apart(pair)), stats.mean_difference(together(pair, pair))
    independent = stats.mean_difference(apart(pair, pair))
    assert alone is not None and twice is not None and independent is not None
    assert (twice.low, twice.high, twice.p) == pytest.approx((alone.low, alone.high, alone.p))
    assert independent.p < twice.p


def test_what_rises_as_the_other_falls_cancels_within_a_repeat() -> None:
    """Then only the other side varies, by 0.001 in 3 repeats: 2 degrees of freedom, t(0.975, 2) = 4.3027."""
    rise, fall = triple(100, 0.01), triple(100, 0.01)[::-1]
    other = triple(110, 0.001)
    found = stats.mean_difference(together((rise, other), (fall, other)))
    assert found is not None
    assert found.low == pytest.approx(1.1 * math.exp(-4.3027 * 0.001 / math.sqrt(3)), rel=1e-6)


def test_unequal_noise_has_satterthwaites_degrees_of_freedom() -> None:
    """A row with a tenth of the noise hardly counts: of the four parts two make the variance, 4 remain."""
    rows = apart((triple(1, 0.1), triple(1, 0.1)), (triple(1, 0.01), triple(1, 0.01)))
    variances = [0.1**2 / 3, 0.1**2 / 3, 0.01**2 / 3, 0.01**2 / 3]
    freedom = sum(variances) ** 2 / sum(v * v / 2 for v in variances)
    assert freedom == pytest.approx(4.08, abs=0.01)
    found = stats.mean_difference(rows)
    margin = 2.755 * math.sqrt(sum(variances)) / 2  # t(0.975, f) is 2.776 at 4 and 2.571 at 5
    assert found is not None and found.high == pytest.approx(math.exp(margin), rel=1e-3)


@pytest.mark.parametrize(
    ("others", "p"),
    [
        ((2.0, 2.0), 2 / (20 * 20)),  # of 20 ways to divide six values a row, one a side is as extreme
        ((2.0, 1.0), 2 / 20),
        ((2.0, 0.5), 1.0),
        ((1.0, 1.0), 1.0),
    ],
)
def test_rows_that_do_not_vary_are_tested_by_permutation(others: tuple[float, ...], p: float) -> None:
    found = stats.mean_difference(apart(*(([1.1] * 3, [1.1 * other] * 3) for other in others)))
    assert found == stats.Difference(None, None, pytest.approx(p))


def test_rows_of_one_log_that_do_not_vary_are_divided_together() -> None:
    found = stats.mean_difference(together(*[([1.1] * 3, [2.0] * 3)] * 2))
    assert found == stats.Difference(None, None, pytest.approx(2 / 20))


@pytest.mark.parametrize(
    "rows",
    [(), (([1.0, 2.0], [1.0, 2.0]), ([1.0], [1.0, 2.0])), (([0.0, 1.0], [1.0] * 2),)],
)
def test_what_cannot_be_tested(rows: tuple[tuple[list[float], list[float]], ...]) -> None:
    assert stats.mean_difference(apart(*rows)) is None


@pytest.mark.parametrize("repeats", [2, 3, 5])
@pytest.mark.parametrize("shared", [0.0, 0.03], ids=["independent", "logs-of-two-rows"])
def test_identical_systems_tie(repeats: int, shared: float) -> None:
    """Over tables of 8 questions of 4 logs, at most one in twenty has a false winner, give or take chance.

    :param shared: how much the two rows of a log vary together.
    """
    rng = np.random.default_rng(repeats)
    count, wrong = 300, 0
    for _ in range(count):
        p_values = []
        for _ in QUESTIONS["os_compare"]:
            own = rng.normal(9, 0.03, (4, 2, 2, repeats))  # log, row, side, repeat
            both = rng.normal(0, shared, (4, 1, 2, repeats))
            draws = np.exp(own + both).tolist()
            found = stats.mean_difference(
                [
                    tuple({(log, side, i): v for i, v in enumerate(row[side])} for side in (0, 1))
                    for log, of_log in enumerate(draws)
                    for row in of_log
                ]
            )
            assert found is not None
            p_values.append(found.p)
        wrong += min(stats.adjust(p_values)) < stats.ALPHA
    assert wrong / count <= 0.075  # two standard errors above 5%


def test_direction_decides_the_winner(tmp_path: Path) -> None:
    points = [
        *cpu("a", noise=0.01, repeats=3, seed=1),
        *cpu("b", 1.1, 1.1, noise=0.01, repeats=3, seed=2),
        *fio("a", "ext4", noise=0.01, repeats=3, seed=3),
        *fio("b", "ext4", 1.0, 0.8, noise=0.01, repeats=3, seed=4),
    ]
    found = answers(summary(tmp_path, points))
    events, spread, read, write = (
        found[title]
        for title in ("CPU events", "CPU spread over threads", "fio read latency", "fio write latency")
    )
    assert events.ratio == pytest.approx(1.1, rel=0.01)
    assert (events.verdict, events.winner) == (Verdict.BETTER, events.column)
    assert spread.ratio == pytest.approx(1.1, rel=0.01)
    assert (spread.verdict, spread.winner) == (Verdict.WORSE, spread.baseline)
    assert write.ratio == pytest.approx(0.8, rel=0.01)
    assert (write.verdict, write.winner) == (Verdict.BETTER, write.column)
    assert read.winner is None
    assert (write.rows, write.planned) == (5, 5)
    assert how_sure(events) == "sure (p<0.001)"


def test_a_certain_trifle_is_a_tie(tmp_path: Path) -> None:
    points = [
        *cpu("a", noise=0.001, repeats=5, seed=1),
        *cpu("b", 1.01, noise=0.001, repeats=5, seed=2),
    ]
    events = answers(summary(tmp_path, points))["CPU events"]
    assert events.p is not None and events.p < 1e-3
    assert (events.verdict, events.winner, how_sure(events)) == (Verdict.SAME, None, "same within 2%")


def test_one_repeat_is_not_tested(tmp_path: Path) -> None:
    events = answers(summary(tmp_path, [*cpu("a"), *cpu("b", 2.0)]))["CPU events"]
    assert (events.ratio, events.p) == (pytest.approx(2), None)
    assert (events.verdict, events.winner, how_sure(events)) == (
        Verdict.TOO_FEW,
        None,
        "one repeat: not tested",
    )


def test_rows_without_repeats_or_partner_are_left_out_and_counted(tmp_path: Path) -> None:
    points = [
        *cpu("a", threads=(1, 2, 4), noise=0.01, repeats=3, seed=1),
        *cpu("b", threads=(1,), noise=0.01, repeats=3, seed=2),
        *cpu("b", 9.0, threads=(2,)),
    ]
    events = answers(summary(tmp_path, points))["CPU events"]
    assert (events.rows, events.planned) == (1, 3)
    assert events.ratio == pytest.approx(1, abs=0.03)


def test_conditions_without_a_common_row_have_no_answer(tmp_path: Path) -> None:
    points = [*cpu("a", threads=(1,), repeats=2), *cpu("b", threads=(2,), repeats=2)]
    found = summary(tmp_path, points)
    events = answers(found)["CPU events"]
    assert (events.ratio, events.verdict, how_sure(events)) == (None, None, "no row has both")
    assert "| no row has both |" in markdown.render(found)


def test_fixed_factors_give_an_answer_a_level_and_others_none(tmp_path: Path) -> None:
    points = [
        p for os in "ab" for fs in ("ext4", "xfs") for p in fio(os, fs, repeats=2, noise=0.01, turbo="on")
    ]
    assert list(answers(summary(tmp_path, points))) == [
        f"{title}, {fs}"
        for title in ("fio IOPS", "fio read latency", "fio write latency")
        for fs in ("ext4", "xfs")
    ]


def test_more_conditions_are_each_against_the_baseline(tmp_path: Path) -> None:
    points = [p for i, os in enumerate("abc") for p in cpu(os, 1 + i / 10, noise=0.01, repeats=3, seed=i)]
    found = table(summary(tmp_path, points, baseline="b"))
    assert [(j.column.level, j.baseline.level) for j in found.judgements[:2]] == [("a", "b"), ("c", "b")]
    assert [line.cells[0] for line in lines(found, UNICODE)][:2] == ["a / b", "c / b"]


def test_p_is_corrected_for_all_answers(tmp_path: Path) -> None:
    points = [
        *cpu("a", noise=0.02, repeats=3, seed=1),
        *cpu("b", 1.02, noise=0.02, repeats=3, seed=2),
    ]
    found = table(summary(tmp_path, points)).judgements
    raw = []
    for judgement in found:
        rows = judgement.comparison.rows
        tested = stats.mean_difference([(row.cells["a"].repeats, row.cells["b"].repeats) for row in rows])
        assert tested is not None
        raw.append(tested.p)
    assert [judgement.p for judgement in found] == pytest.approx(stats.adjust(raw))
    assert [judgement.p for judgement in found] != pytest.approx(raw)


def test_turbo_has_a_table_of_its_own(tmp_path: Path) -> None:
    points = [
        p
        for seed, (os, turbo, by) in enumerate(
            [("a", "off", 0.9), ("a", "on", 1.0), ("b", "off", 1.1), ("b", "on", 1.0)]
        )
        for p in cpu(os, by, noise=0.002, repeats=3, seed=seed, turbo=turbo)
    ]
    found = summary(tmp_path, points)
    assert [verdicts.by for verdicts in found.verdicts] == ["os", "turbo"]
    assert {comparison.by for comparison in found.comparisons} == {"os"}
    by_os = answers(found, "turbo")
    assert list(by_os) == [
        f"{title}, {os}" for title in ("CPU events", "CPU spread over threads") for os in "ab"
    ]
    events = by_os["CPU events, a"]
    assert (events.baseline.level, events.column.level) == ("on", "off")
    assert events.ratio == pytest.approx(0.9, rel=0.01)
    shown = [line.cells[0] for line in lines(table(found, "turbo"), UNICODE)]
    assert shown == ["▼ cost", "▲ gain", "= neither", "= neither"]


def test_turbo_alone_is_told_once(tmp_path: Path) -> None:
    points = [p for turbo in ("off", "on") for p in cpu("a", repeats=2, noise=0.01, turbo=turbo)]
    found = summary(tmp_path, points)
    assert [verdicts.by for verdicts in found.verdicts] == ["turbo"]
    assert found.comparisons[0].columns[0].level == "on"


def test_turbo_is_compared_with_on_even_where_it_was_also_left_as_found(tmp_path: Path) -> None:
    points = [p for os in "ab" for turbo in ("as_found", "on", "off") for p in cpu(os, turbo=turbo)]
    judgements = table(summary(tmp_path, points), "turbo").judgements
    assert {(j.baseline.level, j.column.level) for j in judgements} == {("on", "as_found"), ("on", "off")}


def test_other_tool_versions_are_flagged_in_every_table(tmp_path: Path) -> None:
    points = [p for os in "ab" for turbo in ("on", "off") for p in cpu(os, repeats=2, turbo=turbo)]
    for written in points:
        written.tool_version = {"a": "1.0.20", "b": "1.1"}[written.host]
    found = summary(tmp_path, points)
    said = "tool versions differ: a 1.0.20 and b 1.1"
    text = io.StringIO()
    terminal.render(found, Console(file=text, width=200, highlight=False))
    assert text.getvalue().count(f"! {said}") == len(found.comparisons) == 4
    assert text.getvalue().count(f"! sysbench_cpu: {said}") == 1
    assert markdown.render(found).count(said) == 5


def test_a_single_metric_gives_a_table_and_no_verdict(tmp_path: Path) -> None:
    found = summary(tmp_path, [*cpu("a"), *cpu("b")], metric="events_spread")
    assert ([c.metric.name for c in found.comparisons], found.verdicts) == (["events_spread"], [])


def test_other_studies_have_no_verdicts(tmp_path: Path) -> None:
    found = redis_summary(tmp_path, sweep("as_found", "1GHz"))
    assert found.verdicts == []
    assert "question" not in tidy.to_csv(found)


def test_csv_and_json_have_the_answers_after_the_rows(tmp_path: Path) -> None:
    points = [*cpu("a", noise=0.01, repeats=3, seed=1), *cpu("b", 1.1, noise=0.01, repeats=3, seed=2)]
    found = summary(tmp_path, points)
    records = list(csv.DictReader(io.StringIO(tidy.to_csv(found))))
    plain, asked = [r for r in records if r["test"]], [r for r in records if r["question"]]
    assert (len(plain), len(asked)) == (20, 2)
    assert len(records) == 22
    events = asked[0]
    assert (events["question"], events["metric"], events["winner"], events["verdict"]) == (
        "CPU events",
        "events_per_s",
        "b",
        "better",
    )
    assert (events["rows"], events["rows_planned"], events["baseline"], events["factor_os"]) == (
        "5",
        "5",
        "a",
        "b",
    )
    assert float(events["low"]) < float(events["ratio"]) < float(events["high"])
    objects = json.loads(tidy.to_json(found))
    assert [o["question"] for o in objects if "question" in o] == ["CPU events", "CPU spread over threads"]
    assert not any("question" in o and "test" in o for o in objects)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_narrow_terminal_folds_the_verdicts_and_cuts_nothing(tmp_path: Path, width: int) -> None:
    points = [*cpu("a", noise=0.01, repeats=3, seed=1), *cpu("b", 1.1, noise=0.01, repeats=3, seed=2)]
    text = io.StringIO()
    terminal.render(summary(tmp_path, points), Console(file=text, width=width, highlight=False))
    verdicts = text.getvalue()[text.getvalue().index("which os is better?") :]
    assert max(map(len, verdicts.splitlines())) <= width
    for words in ("▲ b", "b / a", "sure (p<0.001)", "events_per_s", "higher"):
        assert words in verdicts


def test_reads_and_writes_of_one_log_are_not_two_witnesses(tmp_path: Path) -> None:
    """Two repeats whose reads and writes are the same numbers: the answer is that of the reads alone."""
    values = {"a": (100.0, 104.0), "b": (120.0, 126.0)}
    points = [
        point(
            "fio",
            {"os": os},
            {"block_size": "4K", "threads": 1},
            {("read", "iops"): value, ("write", "iops"): value},
            repeat,
            host=os,
        )
        for os, both in values.items()
        for repeat, value in enumerate(both, start=1)
    ]
    iops = answers(summary(tmp_path, points))["fio IOPS"]
    alone = stats.difference(values["a"], values["b"])
    assert alone is not None
    assert (iops.rows, iops.low, iops.p) == (2, pytest.approx(alone.low), pytest.approx(alone.p))


def test_zeros_are_left_out(tmp_path: Path) -> None:
    """One thread has no spread over threads."""
    points = [
        point("sysbench_cpu", {"os": os}, {"threads": t}, {("cpu", "events_spread"): value}, repeat, host=os)
        for os, by in (("a", 1.0), ("b", 2.0))
        for t in (1, 4)
        for repeat in (1, 2)
        for value in [0.0 if t == 1 else by * (1 + repeat / 100)]
    ]
    found = summary(tmp_path, points)
    spread = answers(found)["CPU spread over threads"]
    assert (spread.rows, spread.planned, spread.ratio) == (1, 2, pytest.approx(2))
    assert any("events_spread of 0" in doubt for doubt in table(found).doubts)

"""What a person, a Markdown page and a program get to see of a comparison."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from collector import store
from collector.comparison import Cell
from collector.render import markdown, terminal, tidy
from collector.render.glyphs import UNICODE, formatter
from collector.stats import Verdict
from collector.summary import Summary, summarize
from tests.unit.collector.runs import Written, clock, repeats, write_run

TESTS = {
    "PING_INLINE": 130e3,
    "SET": 132e3,
    "GET": 84e3,
    "LRANGE_100 (first 100 elements)": 4.7e3,
    "SADD": 90e3,
}
LEVELS = {"as_found": 1.0, "2.5GHz": 0.95, "2GHz": 0.7, "1GHz": 0.36}


def summary(folder: Path, points: Sequence[Written], study: str = "freq_sweep") -> Summary:
    return summarize(store.load_runs([write_run(folder / "r1", points, study)]))


def sweep(count: int) -> list[Written]:
    rng = random.Random(5)
    return [
        point
        for level, by in LEVELS.items()
        for point in repeats(
            {"frequency": level},
            *({test: rps * by * rng.gauss(1, 0.01) for test, rps in TESTS.items()} for _ in range(count)),
            observed=clock(2.6, 2.6, 2.6) if level == "as_found" else {},
        )
    ]


def pair() -> list[Written]:
    return [
        Written(
            {"path": "local"}, {"GET": 200e3, "a|b: *c* [red]": 100.0, "LRANGE_500 (first 500 elements)": 9.0}
        ),
        Written({"path": "remote"}, {"GET": 100e3, "LRANGE_500 (first 450 elements)": 3.0}),
    ]


def shown(found: Summary, width: int = 10_000, colour: bool = False) -> str:
    text = io.StringIO()
    terminal.render(found, Console(file=text, width=width, highlight=False, force_terminal=colour))
    return text.getvalue()


def numbers_of(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\d,.]*", text))


def test_the_digits_of_a_column_end_at_the_same_place(tmp_path: Path) -> None:
    lines = shown(summary(tmp_path, sweep(1))).splitlines()
    table = lines[2 : 2 + len(TESTS)]
    assert len({len(line) for line in table}) == 1
    for line in table:
        assert re.search(r" {2,}[\d,]+( {2,}[\d,]+  \d\.\d{3}){3}$", line)
    foot = lines[2 + len(TESTS)]
    assert foot.startswith("mean of ratios, 5 tests")
    assert re.search(r" 0\.36\d$", foot) and len(foot) == len(table[0])


def test_with_repeats_a_ratio_carries_its_interval_and_a_sign(tmp_path: Path) -> None:
    text = shown(summary(tmp_path, sweep(5)))
    assert re.search(r"GET .*  0\.\d{3} ±0\.\d{3} ▼", text)
    assert "rps per GHz ± spread over repeats" in text
    assert re.search(r"GET +[\d,]+ ±\d\.\d%", text)
    assert "▲ better, ▼ worse, = same within 2%, ~ not told apart: Welch's t-test" in text


def test_one_repeat_shows_no_sign_and_says_why(tmp_path: Path) -> None:
    text = shown(summary(tmp_path, sweep(1)))
    assert not set("▲▼±") & set(text)
    assert "! one repeat: differences are not tested against noise" in text


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_a_narrow_terminal_folds_and_cuts_nothing(tmp_path: Path, width: int) -> None:
    found = summary(tmp_path, sweep(5))
    folded = shown(found, width)
    assert max(map(len, folded.splitlines())) <= width
    whole = shown(found)
    assert set(numbers_of(whole)) <= set(numbers_of(folded))
    assert folded.count("rps, higher is better") == {60: 4, 80: 2, 100: 2, 120: 1, 160: 1}[width]


def test_a_table_of_two_has_the_spread_beside_the_values_where_there_is_room(tmp_path: Path) -> None:
    points = [
        *repeats({"platform": "physical"}, {"SET": 100e3}, {"SET": 102e3}, {"SET": 101e3}),
        *repeats({"platform": "virtual"}, {"SET": 90e3}, {"SET": 91e3}, {"SET": 89e3}),
    ]
    found = summary(tmp_path, points, "virt_compare")
    row = r"^SET +101,000 ±1\.0% +90,000 ±1\.1%  0\.891 ±0\.0\d\d ▼  10\.9%$"
    assert re.search(row, shown(found), re.MULTILINE)
    assert "\nspread over repeats" in shown(found, 50)


def test_colour_only_on_a_terminal_and_never_alone(tmp_path: Path) -> None:
    found = summary(tmp_path, sweep(5))
    assert "\x1b[" not in shown(found)
    coloured = shown(found, colour=True)
    assert "\x1b[31m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == shown(found)


def test_a_terminal_without_unicode_gets_ascii(tmp_path: Path) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    terminal.render(summary(tmp_path, sweep(5)), Console(file=file, width=200, highlight=False))
    file.flush()
    assert re.search(rb"GET .* \+-0\.\d{3} v", raw.getvalue())


def test_titles_are_not_taken_for_markup(tmp_path: Path) -> None:
    found = summary(tmp_path, pair(), "net_compare")
    assert "a|b: *c* [red]" in shown(found)
    assert r"| a\|b: \*c\* \[red\] | 100.00 |" in markdown.render(found)


def test_gaps_and_footnotes_show(tmp_path: Path) -> None:
    text = shown(summary(tmp_path, pair(), "net_compare"))
    assert re.search(r"a\|b.* -$", text, re.MULTILINE)
    assert "LRANGE_500 (first 500 elements) [1]" in text
    assert "\n[1] 450 elements at remote, elsewhere as the title says: the work differs" in text
    assert "- unmatched, left out of the means: a|b: *c* [red] has no value at remote" in text


def test_what_is_in_no_table_is_doubted_at_the_end(tmp_path: Path) -> None:
    points = [*sweep(1), *(Written({"frequency": level}, None, host="b") for level in LEVELS)]
    found = summary(tmp_path, points)
    assert shown(found).endswith("! b: no result from 4 points, 4 missing\n")
    assert markdown.render(found).endswith("- ! b: no result from 4 points, 4 missing\n")


def test_markdown_tables_are_regular(tmp_path: Path) -> None:
    text = markdown.render(summary(tmp_path, sweep(5)))
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 2
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "| rps, higher is better | as found | 2.5 GHz | ratio | 2.0 GHz | ratio |" in text
    assert "PING_INLINE" in text


def test_csv_and_json_have_a_row_a_test_condition_and_metric(tmp_path: Path) -> None:
    points = [
        *sweep(3),
        Written({"frequency": "1GHz"}, None, repeat=4),
        Written({"frequency": "0.5GHz"}, None),
    ]
    found = summary(tmp_path, points)
    rows = list(csv.DictReader(io.StringIO(tidy.to_csv(found))))
    assert len(rows) == len(TESTS) * 5
    records = json.loads(tidy.to_json(found))
    assert len(records) == len(rows)
    get = {row["factor_frequency"]: row for row in rows if row["test"] == "GET"}
    assert get["as_found"]["ratio"] == ""
    two = get["2GHz"]
    assert (two["n"], two["verdict"], two["status"], two["baseline"]) == ("3", "worse", "ok", "as_found")
    assert float(two["low"]) < float(two["ratio"]) < float(two["high"])
    assert float(two["mean"]) / 2 == pytest.approx(float(two["per_ghz"]))
    assert (get["1GHz"]["status"], get["1GHz"]["planned"]) == ("partial", "4")
    assert (get["0.5GHz"]["status"], get["0.5GHz"]["n"], get["0.5GHz"]["mean"]) == ("missing", "0", "")
    assert records[1]["factors"] == {"frequency": "2.5GHz"}


def test_csv_and_json_tell_whether_a_frequency_was_achieved(tmp_path: Path) -> None:
    points = [
        Written({"frequency": "as_found"}, {"SET": 26.0}, observed=clock(2.6, 2.6, 2.6)),
        Written({"frequency": "2GHz"}, {"SET": 20.0}, observed=clock(2, 2, 2)),
        Written({"frequency": "1.5GHz"}, {"SET": 15.0}),
        Written({"frequency": "1GHz"}, {"SET": 16.0}, observed=clock(1.6, 1.6, 1.6)),
    ]
    found = summary(tmp_path, points)
    rows = csv.DictReader(io.StringIO(tidy.to_csv(found)))
    assert [(row["observed_ghz"], row["achieved"], row["per_ghz"]) for row in rows] == [
        ("2.6", "", "10.0"),
        ("2.0", "true", "10.0"),
        ("", "", "10.0"),
        ("1.6", "false", "10.0"),
    ]
    assert [record["achieved"] for record in json.loads(tidy.to_json(found))] == [None, True, None, False]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.9, 1.101, "±0.101"), (0.7, 1.6, "(0.700-1.600)"), (None, None, "")],
)
def test_the_margin_is_the_larger_side_or_both_ends(
    low: float | None, high: float | None, expected: str
) -> None:
    cell = Cell({1: 1.0, 2: 1.0}, 1.0, 0.0, None, 1.0, low, high, 0.5, Verdict.UNDECIDED)
    assert UNICODE.margin(cell) == expected


def test_a_comparison_is_one(tmp_path: Path) -> None:
    points = [
        *repeats({"platform": "physical"}, {"SET": 100.0}, {"SET": 101.0}),
        *repeats({"platform": "virtual"}, {"SET": 90.0}, {"SET": 91.0}),
    ]
    assert "corrected for 1 comparison (" in shown(summary(tmp_path, points, "virt_compare"))


def test_a_test_that_a_condition_lacks_is_unmatched_in_csv(tmp_path: Path) -> None:
    rows = csv.DictReader(io.StringIO(tidy.to_csv(summary(tmp_path, pair(), "net_compare"))))
    status = {(row["test"], row["factor_path"]): (row["status"], row["note"]) for row in rows}
    assert status["a|b: *c* [red]", "remote"] == ("unmatched", "")
    assert status["LRANGE_500", "remote"] == ("ok", "450 elements")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([130378.09, 4385.2], "130,378"),
        ([130378.09, 35.2], "130,378.1"),
        ([12.5, 0.0791], "12.500"),
        ([5.0, 0.0], "5.00"),
        ([0.0], "0.00"),
    ],
)
def test_a_column_shows_three_digits_of_its_smallest_number(values: list[float], expected: str) -> None:
    assert formatter(values)(values[0]) == expected

"""Charts: what is drawn, what stands beside it, where it goes."""

from __future__ import annotations

import re
import string
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from collector.cli import cli
from collector.comparison import Comparison
from collector.metrics import METRICS
from collector.questions import QUESTIONS
from collector.render import chart_fonts, charts
from collector.render.chart_words import CHINESE, ENGLISH, WORDS
from collector.summary import Summary
from tests.unit.collector import sweeps
from tests.unit.collector.comparisons import noisy, sweep
from tests.unit.collector.comparisons import summary as redis_summary
from tests.unit.collector.runs import Written, repeats, write_run
from tests.unit.collector.sweeps import THREADS, cpu, fio, summary

EXAMPLES = Path(__file__).parents[3] / "examples"
PNG = b"\x89PNG"


@pytest.fixture(autouse=True)
def workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps.register(monkeypatch)


def drawn(found: Summary, metric: str, lang: str = ENGLISH) -> Figure:
    return charts.draw(chosen(found, metric), found.profiles, WORDS[lang])


def chosen(found: Summary, metric: str) -> Comparison:
    (comparison,) = [c for c in found.comparisons if c.metric.name == metric]
    return comparison


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float], list[float]]]:
    """By condition: x, y, and the upper ends of the error bars that stand upright."""
    found = {}
    for container in axes.containers:
        assert isinstance(container, ErrorbarContainer)
        data, _, bars = container.lines
        assert data is not None
        ends = [float(path[1][1]) for bar in bars for path in bar.get_segments() if len(path)]
        found[str(container.get_label())] = (list(data.get_xdata()), list(data.get_ydata()), ends)
    return found


def texts(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.texts)


def invoke(*args: str | Path) -> Result:
    return CliRunner().invoke(cli, ["plot", *map(str, args)])


def two(repeats: int = 3, noise: float = 0.02) -> list[Written]:
    return [
        p
        for seed, (os, by) in enumerate([("a", 1.0), ("b", 1.2)])
        for p in fio(os, "ext4", by, sizes=("4K", "1M"), noise=noise, repeats=repeats, seed=seed)
    ]


def test_a_panel_a_series_with_a_line_a_condition(tmp_path: Path) -> None:
    found = summary(tmp_path, two())
    figure = drawn(found, "iops")
    assert [axes.get_title() for axes in figure.axes] == ["read 4K", "read 1M", "write 4K", "write 1M"]
    rows = [row for row in chosen(found, "iops").rows if row.series == "read 1M"]
    axes = figure.axes[1]
    x, y, ends = lines(axes)["b"]
    assert x == list(range(len(THREADS)))
    assert y == [row.cells["b"].mean for row in rows]
    assert ends == pytest.approx([row.cells["b"].mean + (row.cells["b"].stddev or 0) for row in rows])
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(count) for count in THREADS]
    assert all(axes.get_ylim()[0] == 0 for axes in figure.axes)
    assert "error bars: standard deviation over the repeats" in texts(figure)
    assert "ext4, higher is better" in texts(figure)
    assert (figure.axes[0].get_ylabel(), figure.axes[2].get_xlabel()) == ("IOPS", "threads")


def test_conditions_differ_by_more_than_colour(tmp_path: Path) -> None:
    points = [p for i in range(7) for p in cpu(f"os{i}", 1 + i, threads=(1, 2))]
    (axes,) = drawn(summary(tmp_path, points), "events_per_s").axes
    looks = [container.lines[0] for container in axes.containers if isinstance(container, ErrorbarContainer)]
    assert len({line.get_marker() for line in looks if line}) == 7
    assert len({line.get_color() for line in looks if line}) == 7


def test_a_gap_breaks_the_line_and_is_told(tmp_path: Path) -> None:
    points = [*cpu("a", threads=(1, 2, 4)), *cpu("b", threads=(1, 2, 4))]
    points[4].rps = None
    figure = drawn(summary(tmp_path, points), "events_per_s")
    _, y, _ = lines(figure.axes[0])["b"]
    assert [value == value for value in y] == [True, False, True]
    assert "! no result from 1 of 6 points" in texts(figure)


def test_one_repeat_has_no_error_bars_and_says_so(tmp_path: Path) -> None:
    figure = drawn(summary(tmp_path, two(repeats=1)), "lat_mean")
    assert all(ends == [] for axes in figure.axes for _, _, ends in lines(axes).values())
    assert "one repeat: no error bars" in texts(figure)


def test_other_versions_stand_in_the_caption(tmp_path: Path) -> None:
    points = two()
    for point in points:
        point.tool_version = {"a": "fio-3.33", "b": "fio-3.39"}[point.host]
    found = summary(tmp_path, points, profiles={"a": {"cpu": {"model": "Kunpeng 920"}}})
    said = texts(drawn(found, "iops"))
    assert "! tool versions differ: a fio-3.33, b fio-3.39" in said
    assert "a: a (Kunpeng 920)" in said


def test_without_a_sweep_the_ratios_are_drawn_with_their_intervals(tmp_path: Path) -> None:
    points = [
        *repeats({"frequency": "2GHz"}, *noisy(1, seed=1)),
        *repeats({"frequency": "1GHz"}, *noisy(0.5, seed=2)),
    ]
    found = redis_summary(tmp_path, points)
    (axes,) = (figure := drawn(found, "rps")).axes
    rows = chosen(found, "rps").rows
    x, y, _ = lines(axes)["1.0 GHz"]
    assert x == [row.cells["1GHz"].ratio for row in rows]
    assert y == list(range(len(rows)))
    assert [label.get_text() for label in axes.get_yticklabels()] == [row.title for row in rows]
    assert axes.get_xlabel() == "ratio to 2.0 GHz"
    assert "error bars: 95% interval of the ratio; dotted: the ratio of the clocks" in texts(figure)


def test_all_that_is_measured_lies_within_the_axes(tmp_path: Path) -> None:
    points = [p for os, by in (("a", 1.0), ("b", 1.01)) for p in cpu(os, by, threads=(4,))]
    (axes,) = drawn(summary(tmp_path, points), "events_per_s").axes
    assert axes.get_ylim() == (0, pytest.approx(4040 * 1.06))


def test_a_very_wide_interval_does_not_squeeze_the_others(tmp_path: Path) -> None:
    points = [
        *repeats({"platform": "physical"}, {"SET": 1.0, "GET": 100.0}, {"SET": 100.0, "GET": 101.0}),
        *repeats({"platform": "virtual"}, {"SET": 10.0, "GET": 90.0}, {"SET": 12.0, "GET": 91.0}),
    ]
    found = redis_summary(tmp_path, points, "virt_compare")
    (axes,) = drawn(found, "rps").axes
    ratios = chosen(found, "rps").ratios("virtual")
    assert axes.get_xlim()[1] == pytest.approx(2 * max(ratios.values()) * 1.06)


def test_a_single_condition_is_drawn_by_its_values(tmp_path: Path) -> None:
    found = redis_summary(tmp_path, sweep("1GHz"))
    (axes,) = drawn(found, "rps").axes
    (x, _, _) = lines(axes)["1.0 GHz"]
    assert x == [row.cells["1GHz"].mean for row in chosen(found, "rps").rows]
    assert axes.get_xlabel() == "requests/s"


def test_chinese_labels(tmp_path: Path) -> None:
    points = [p for turbo in ("on", "off") for p in fio("a", "ext4", turbo=turbo)]
    figure = drawn(summary(tmp_path, points), "lat_mean", CHINESE)
    assert [axes.get_title() for axes in figure.axes] == ["读 4K", "写 4K"]
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("线程数", "毫秒")
    assert set(lines(figure.axes[0])) == {"睿频开", "睿频关"}
    assert "平均延迟" in texts(figure) and "只测一次" in texts(figure)


def test_both_languages_say_the_same_things_of_the_same_facts() -> None:
    english, chinese = WORDS[ENGLISH].messages, WORDS[CHINESE].messages
    fields = {
        lang: {
            name: {field for _, field, _, _ in string.Formatter().parse(messages[name]) if field}
            for name in english
        }
        for lang, messages in ((ENGLISH, english), (CHINESE, chinese))
    }
    assert fields[ENGLISH] == fields[CHINESE]


def test_all_that_studies_ask_about_is_called_by_a_chinese_name() -> None:
    asked = [question.metric for questions in QUESTIONS.values() for question in questions]
    for metric in (METRICS["rps"], *asked):
        assert WORDS[CHINESE].metric(metric) != metric.title


def test_chinese_without_a_font_is_an_error_that_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chart_fonts, "_chinese_family", lambda: None)
    result = invoke(EXAMPLES / "arm-kvm-redis", "--lang", "zh", "--output-dir", tmp_path)
    assert result.exit_code == 2
    assert re.fullmatch(r"collector: error: no font .*fonts-noto-cjk.*\n", result.stderr)
    assert chart_fonts.families(chinese=False) == [chart_fonts.LATIN]


@pytest.mark.skipif(chart_fonts._chinese_family() is None, reason="no font with Chinese characters")
def test_chinese_is_drawn_without_a_missing_character(tmp_path: Path) -> None:
    assert invoke(EXAMPLES / "kunpeng-frequency", "--lang", "zh", "--output-dir", tmp_path).exit_code == 0


def test_files_of_both_formats_are_made_and_named(tmp_path: Path) -> None:
    write_run(
        tmp_path / "r1", [p for fs in ("ext4", "xfs") for os in "ab" for p in fio(os, fs)], "os_compare"
    )
    result = invoke("r1", "--runs-dir", tmp_path)
    assert result.exit_code == 0, result.output
    folder = tmp_path / "r1" / "charts"
    expected = [
        folder / f"fio-{metric}-{fs}.{suffix}"
        for metric in ("iops", "lat_mean")
        for fs in ("ext4", "xfs")
        for suffix in ("png", "svg")
    ]
    assert sorted(result.stdout.split()) == sorted(map(str, expected))
    for file in expected:
        content = file.read_bytes()
        assert content.startswith(PNG) if file.suffix == ".png" else b"<svg" in content


def test_the_same_chart_twice_is_the_same_file(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        assert invoke(EXAMPLES / "arm-kvm-redis", "--output-dir", tmp_path / folder).exit_code == 0
    first, second = ((tmp_path / f / "redis_benchmark-rps.svg").read_bytes() for f in ("first", "second"))
    assert first == second


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--workload", "fioo"], "no result of workload 'fioo' in these runs (did you mean fio?)"),
        (["--metric", "p99"], "no metric 'p99'"),
        (["--output-dir", "/dev/null/charts"], "cannot be made: Not a directory"),
        (["--by", "colour"], "no factor 'colour'"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, args: Sequence[str], message: str) -> None:
    write_run(tmp_path / "r1", [p for os in "ab" for p in fio(os, "ext4")], "os_compare")
    result = invoke("r1", "--runs-dir", tmp_path, *args)
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_a_run_without_a_result_says_so(tmp_path: Path) -> None:
    write_run(tmp_path / "r1", [Written({"frequency": "2GHz"}, None)])
    result = invoke("r1", "--runs-dir", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no result from 1 point" in result.stderr
    assert not (tmp_path / "r1" / "charts").exists()


def test_a_workload_is_drawn_alone(tmp_path: Path) -> None:
    points = [p for os in "ab" for p in (*fio(os, "ext4"), *cpu(os))]
    write_run(tmp_path / "r1", points, "os_compare")
    result = invoke("r1", "--runs-dir", tmp_path, "--workload", "sysbench_cpu", "--metric", "events_spread")
    assert [Path(line).name for line in result.stdout.split()] == [
        "sysbench_cpu-events_spread.png",
        "sysbench_cpu-events_spread.svg",
    ]


def test_only_plot_waits_for_matplotlib() -> None:
    code = "import sys, collector.commands.summarize; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

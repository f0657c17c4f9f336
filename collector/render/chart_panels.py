"""What a chart shows: a metric along a sweep, a line a condition; or the ratios of tests side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from collector.comparison import Cell, Comparison, Row
from collector.render.chart_words import Words

# M. Okabe and K. Ito, Color Universal Design (2008), in an order in which neighbours differ in lightness too;
# without the yellow, which white paper swallows.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
_MARKERS = "os^Dv*PX"
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MOST_UPRIGHT = 10  # numbers along an axis; more are turned
_LONGEST_TITLE = 38
_HEADROOM = 1.06
_MOST_OF_INTERVAL = 2.0  # of the largest ratio


@dataclass(frozen=True)
class Style:
    """How a condition looks wherever it is drawn: colour never alone.

    :param fill: of the marker; every second one is hollow, so that it shows what lies behind it.
    :param cap: half the width of an error bar's end, in points: bars that cover each other differ in it.
    """

    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    fill: str
    cap: float


def style(index: int) -> Style:
    colour = _COLOURS[index % len(_COLOURS)]
    return Style(
        colour=colour,
        marker=_MARKERS[index % len(_MARKERS)],
        line=_LINES[index % len(_LINES)],
        fill="none" if index % 2 else colour,
        cap=2.5 + 1.5 * (index % 3),
    )


def series(comparison: Comparison) -> dict[str, list[Row]]:
    """The rows of a sweep by series, in the order of the table."""
    found: dict[str, list[Row]] = {}
    for row in comparison.rows:
        if row.swept is not None:
            found.setdefault(row.series, []).append(row)
    return found


def draw_sweep(axes: Axes, comparison: Comparison, rows: Sequence[Row], words: Words) -> None:
    """One series: the metric over what is swept, from 0, a line a condition, the standard deviation as bars.

    The numbers stand at equal distances, since sweeps go 1, 2, 4, 6, 12; a gap breaks the line. All
    conditions stand exactly at their number: lines moved aside would seem to lie above each other.
    """
    numbers = sorted({row.swept for row in rows if row.swept is not None})
    places = {number: place for place, number in enumerate(numbers)}
    for index, column in enumerate(comparison.columns):
        cells = {row.swept: row.cells.get(column.level) for row in rows}
        look = style(index)
        axes.errorbar(
            [places[number] for number in numbers],
            [_or_gap(cells[number]) for number in numbers],
            yerr=_bars([_stddev(cells[number]) for number in numbers]),
            label=words.condition(column),
            color=look.colour,
            marker=look.marker,
            markerfacecolor=look.fill,
            linestyle=look.line,
            markersize=5 + index % 2,
            capsize=look.cap,
        )
    axes.set_xticks(list(places.values()), [f"{number:,g}" for number in numbers])
    axes.set_xlim(-0.5, len(numbers) - 0.5)
    axes.set_ylim(0, _room(cell for row in rows for cell in row.cells.values()))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.grid(axis="y", color="0.9")
    if len(numbers) > _MOST_UPRIGHT:
        axes.tick_params(axis="x", labelrotation=90)


def draw_ratios(axes: Axes, comparison: Comparison, words: Words) -> None:
    """A test a line, with each condition's ratio to the baseline and its interval; 1 is the baseline."""
    others = comparison.columns[1:]
    for index, column in enumerate(others, start=1):
        look = style(index)
        rows = [
            (place, cell)
            for place, row in enumerate(comparison.rows)
            if (cell := row.cells.get(column.level)) and cell.ratio is not None
        ]
        _mark(
            axes,
            look,
            words.condition(column),
            [cell.ratio or math.nan for _, cell in rows],
            [place + _dodge(index - 1, len(others), 0.5) for place, _ in rows],
            _bars([_side(cell, cell.low) for _, cell in rows], [_side(cell, cell.high) for _, cell in rows]),
        )
        if comparison.scaling and column.level in comparison.scaling.ratios:
            axes.axvline(comparison.scaling.ratios[column.level], color=look.colour, linestyle=":", zorder=0)
    axes.axvline(
        1, color=style(0).colour, label=words.say("baseline", baseline=words.condition(comparison.columns[0]))
    )
    axes.set_xlabel(words.say("ratio", baseline=words.condition(comparison.columns[0])))
    axes.set_xlim(0, _room_for_ratios(cell for row in comparison.rows for cell in row.cells.values()))
    _name_rows(axes, comparison)


def draw_values(axes: Axes, comparison: Comparison, words: Words) -> None:
    """A test a line, with each condition's mean and standard deviation: for tables that have no ratios."""
    for index, column in enumerate(comparison.columns):
        rows = [(p, cell) for p, row in enumerate(comparison.rows) if (cell := row.cells.get(column.level))]
        _mark(
            axes,
            style(index),
            words.condition(column),
            [cell.mean for _, cell in rows],
            [place + _dodge(index, len(comparison.columns), 0.5) for place, _ in rows],
            _bars([_stddev(cell) for _, cell in rows]),
        )
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))
    axes.set_xlabel(words.of(comparison.metric.unit))
    axes.set_xlim(0, _room(cell for row in comparison.rows for cell in row.cells.values()))
    _name_rows(axes, comparison)


def has_ratios(comparison: Comparison) -> bool:
    return any(comparison.ratios(column.level) for column in comparison.columns[1:])


def _mark(
    axes: Axes,
    look: Style,
    label: str,
    values: Sequence[float],
    places: Sequence[float],
    bars: list[float] | list[list[float]] | None,
) -> None:
    """A condition's values, one a line of the panel, each with its error bar."""
    axes.errorbar(
        values,
        places,
        xerr=bars,
        label=label,
        color=look.colour,
        marker=look.marker,
        markerfacecolor=look.fill,
        linestyle="none",
        markersize=5,
        capsize=2,
    )


def _name_rows(axes: Axes, comparison: Comparison) -> None:
    axes.set_yticks(range(len(comparison.rows)), [_shortened(row.title) for row in comparison.rows])
    axes.set_ylim(len(comparison.rows) - 0.5, -0.5)
    axes.grid(axis="both", color="0.9")
    axes.set_axisbelow(True)


def _room(cells: Iterable[Cell]) -> float:
    """Where an axis from 0 ends, so that all values and error bars have room."""
    return max((cell.mean + (cell.stddev or 0) for cell in cells), default=0) * _HEADROOM or 1


def _room_for_ratios(cells: Iterable[Cell]) -> float:
    """The same for ratios; a very wide interval runs out of the chart, lest it squeeze the others."""
    known = [(cell.ratio, cell.high or cell.ratio) for cell in cells if cell.ratio is not None]
    widest = _MOST_OF_INTERVAL * max(ratio for ratio, _ in known)
    return max(1, min(max(high for _, high in known), widest)) * _HEADROOM


def _dodge(index: int, count: int, width: float) -> float:
    """How far a condition stands beside its place, so that the bars of several do not cover each other."""
    return 0.0 if count == 1 else (index / (count - 1) - 0.5) * width * min(1, count / 4)


def _or_gap(cell: Cell | None) -> float:
    return math.nan if cell is None else cell.mean


def _stddev(cell: Cell | None) -> float:
    return cell.stddev if cell and cell.stddev is not None else math.nan


def _side(cell: Cell, end: float | None) -> float:
    return math.nan if end is None or cell.ratio is None else abs(end - cell.ratio)


def _bars(*sides: list[float]) -> list[float] | list[list[float]] | None:
    """The lengths of error bars, equal or by side; None if there is none, lest the legend show one."""
    if all(math.isnan(length) for side in sides for length in side):
        return None
    return sides[0] if len(sides) == 1 else list(sides)


def _plain(value: float, _place: object) -> str:
    return f"{value:,.10g}"


def _shortened(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"

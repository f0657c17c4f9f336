"""Comparisons as charts: title, panels, legend and a caption that says what a reader must know."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from rich.cells import cell_len

from collector import describe, doubts
from collector.comparison import Comparison
from collector.errors import CollectorError
from collector.frame import points
from collector.models import Status
from collector.render import chart_fonts
from collector.render.chart_panels import draw_ratios, draw_sweep, draw_values, has_ratios, series
from collector.render.chart_words import CHINESE, WORDS, Words
from collector.words import listed

FORMATS = ("png", "svg")
# Sizes in inches.
_LINE = 0.19
_MARGIN = 0.1
_PANEL = (3.9, 2.9)
_SINGLE_PANEL = (7.5, 3.9)
_LONG_PANEL_WIDTH = 8.0
_TEST = 0.26
_CHARACTER = 0.063  # of the small print, on average
_LABEL_CHARACTER = 0.075
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}
_MOST_COLUMNS = 4


def save(comparison: Comparison, profiles: describe.Profiles, lang: str, stem: Path) -> list[Path]:
    """Draw a comparison into files beside each other, one a format.

    :param stem: the files' path without a suffix; its folder must exist.
    :returns: the files.
    :raises CollectorError: no font for the language, or a file that cannot be written.
    """
    settings: dict[Any, Any] = {
        "font.family": chart_fonts.families(chinese=lang == CHINESE),
        "font.size": 9,
        "svg.hashsalt": "perflab",  # the same chart twice is the same file
    }
    with matplotlib.rc_context(settings):
        figure = draw(comparison, profiles, WORDS[lang])
        files = [stem.with_name(f"{stem.name}.{format_}") for format_ in FORMATS]
        for file in files:
            try:
                figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)
            except OSError as error:
                raise CollectorError(f"cannot be written: {error.strerror}", path=file) from error
    return files


def draw(comparison: Comparison, profiles: describe.Profiles, words: Words) -> Figure:
    """The chart of a comparison: along its sweep if it has one, else its ratios, else its values."""
    panels = series(comparison)
    columns = _COLUMNS.get(len(panels), _MOST_COLUMNS) if panels else 1
    rows = math.ceil(len(panels) / columns) if panels else 1
    width, height = _size(comparison, columns, rows)
    caption = [line for text in _caption(comparison, profiles, words) for line in _wrapped(text, width)]
    labels = [words.condition(column) for column in comparison.columns]
    in_row = _legend_columns(labels, width)
    above = _LINE * (3.4 + 1.25 * math.ceil(len(labels) / in_row))
    below = _LINE * (len(caption) + 0.8)
    height += above + below

    layout = ConstrainedLayoutEngine(w_pad=_MARGIN, rect=(0, below / height, 1, 1 - (above + below) / height))
    figure = Figure(figsize=(width, height), layout=layout)
    grid = figure.subplots(rows, columns, squeeze=False)
    axes = [axis for line in grid for axis in line]
    if panels:
        for axis, (name, of_series) in zip(axes, panels.items(), strict=False):
            draw_sweep(axis, comparison, of_series, words)
            axis.set_title(words.series(name), fontsize=10)
        for axis in axes[len(panels) :]:
            axis.remove()
        for axis in axes[max(len(panels) - columns, 0) : len(panels)]:  # those that have none below
            axis.set_xlabel(words.of(comparison.sweep or ""))
        for axis in axes[: len(panels) : columns]:
            axis.set_ylabel(words.of(comparison.metric.unit))
    elif has_ratios(comparison):
        draw_ratios(axes[0], comparison, words)
    else:
        draw_values(axes[0], comparison, words)

    figure.text(0.5, 1 - 0.6 * _LINE / height, _title(comparison, words), ha="center", va="top", fontsize=12)
    subtitle = ", ".join([*words.fixed(comparison), words.direction(comparison.metric)])
    figure.text(0.5, 1 - 2.1 * _LINE / height, subtitle, ha="center", va="top", color="0.3")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 3.0 * _LINE / height),
        ncols=in_row,
        frameon=False,
    )
    figure.text(
        _MARGIN / width,
        0.5 * _LINE / height,
        "\n".join(caption),
        ha="left",
        va="bottom",
        fontsize=8,
        color="0.3",
        linespacing=1.3,
    )
    return figure


def _title(comparison: Comparison, words: Words) -> str:
    return f"{comparison.workload}: {words.metric(comparison.metric)}"


def _size(comparison: Comparison, columns: int, rows: int) -> tuple[float, float]:
    """Width and height of the panels."""
    if not comparison.sweep:
        tests = len(comparison.rows)
        return _LONG_PANEL_WIDTH, 1.0 + tests * _TEST * max(1.0, len(comparison.columns) / 4)
    if (columns, rows) == (1, 1):
        return _SINGLE_PANEL
    return _PANEL[0] * columns, _PANEL[1] * rows


def _caption(comparison: Comparison, profiles: describe.Profiles, words: Words) -> Iterator[str]:
    """What was measured on what, what the bars are, and what to doubt."""
    yield "; ".join([*describe.hosts(comparison, profiles), describe.workload(comparison)])
    yield "; ".join(_measured(comparison, words))
    if versions := doubts.versions(comparison):
        told = ", ".join(f"{words.of(label)} {version or '?'}" for label, version in versions.items())
        yield "! " + words.say("versions", versions=told)
    planned = points(comparison.frame)
    missing = int((planned["status"] != Status.OK).sum())
    if missing:
        yield "! " + words.say("gaps", missing=missing, planned=len(planned))
    left_out = [row.title for row in comparison.rows if row.swept is None]
    if comparison.sweep and left_out:
        yield "! " + words.say("left_out", sweep=words.of(comparison.sweep), rows=listed(left_out))


def _measured(comparison: Comparison, words: Words) -> Iterator[str]:
    few, many = describe.repeats(comparison)
    if many < 2:
        yield words.say("one_repeat")
    else:
        yield words.say("same_repeats" if few == many else "repeats", few=few, many=many)
        yield words.say("stddev" if comparison.sweep or not has_ratios(comparison) else "interval")
    if not comparison.sweep and comparison.scaling and comparison.scaling.ratios and has_ratios(comparison):
        yield words.say("expected")


def _wrapped(text: str, width: float) -> list[str]:
    """The text in lines that fit, Chinese characters counted double."""
    room = int((width - 0.3) / _CHARACTER)
    return textwrap.wrap(text, max(room * len(text) // max(cell_len(text), 1), 20), subsequent_indent="  ")


def _legend_columns(labels: list[str], width: float) -> int:
    """How many labels stand side by side."""
    longest = max(map(cell_len, labels)) + 14  # the line, its marker, "(baseline)" and blanks
    return max(1, min(len(labels), int(width / (longest * _LABEL_CHARACTER))))

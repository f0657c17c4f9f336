"""Comparisons as GitHub-flavoured Markdown, for an issue or a README."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from collector import describe, link_table, overhead
from collector.comparison import Cell, Comparison
from collector.doubts import doubts
from collector.render import split_table, verdicts
from collector.render.glyphs import NONE, UNICODE, cost, formatter, ratio
from collector.summary import Summary
from collector.verdicts import VerdictTable

# An underscore within a word is no emphasis.
_SPECIAL = re.compile(r"([\\|*`<>\[\]~]|(?<!\w)_|_(?!\w))")


def render(summary: Summary) -> str:
    """All tables, each under its header and above its doubts."""
    parts = ["\n".join(_comparison(comparison, summary.profiles)) for comparison in summary.comparisons]
    if summary.splits:
        parts.append("\n".join(_splits(summary.splits)))
    parts += ["\n".join(_verdicts(table)) for table in summary.verdicts]
    if summary.doubts:
        parts.append("\n".join(_list(f"! {doubt}" for doubt in summary.doubts)))
    return "\n\n".join(parts) + "\n"


def _comparison(comparison: Comparison, profiles: describe.Profiles) -> Iterator[str]:
    study, *facts = map(_escape, describe.facts(comparison, profiles))
    yield f"**{study}** {' · '.join(facts)}"
    yield ""
    baseline, *others = comparison.columns
    head = [describe.metric_and_direction(comparison), baseline.head]
    for column in others:
        head += [column.head, "ratio", *(["overhead"] if overhead.is_asked(comparison) else [])]
    yield from _table(head, [*_rows(comparison), *_foot(comparison)])
    if scaling := describe.scaling(comparison):
        yield from ("", _escape(scaling))
    if details := " ± ".join(filter(None, [describe.per_size(comparison), describe.spread(comparison)])):
        yield ""
        yield from _table([details, *(column.head for column in comparison.columns)], _details(comparison))
    if beside := link_table.made_of(comparison):
        yield ""
        heads = [link_table.HEAD, *(column.label for column in comparison.columns)]
        yield from _table(heads, link_table.texts(comparison, beside))
    below = [
        *(
            f"[{number}] {text}"
            for number, text in enumerate(describe.footnotes(comparison).values(), start=1)
        ),
        *describe.remarks(comparison),
        *(beside.remarks if beside else []),
        *UNICODE.legend(comparison),
        *(f"! {doubt}" for doubt in doubts(comparison)),
    ]
    if below:
        yield ""
        yield from _list(below)


def _splits(splits: Sequence[overhead.Split]) -> Iterator[str]:
    yield from _table(split_table.HEADS, split_table.lines(splits))
    yield ""
    yield from _list([*split_table.LEGEND, *(f"! {doubt}" for doubt in split_table.doubts(splits))])


def _verdicts(table: VerdictTable) -> Iterator[str]:
    heads = (verdicts.head(table), *verdicts.columns(table))
    yield from _table(heads, [(line.question, *line.cells) for line in verdicts.lines(table, UNICODE)])
    yield ""
    yield from _list([*verdicts.legend(table, UNICODE), *(f"! {doubt}" for doubt in table.doubts)])


def _rows(comparison: Comparison) -> Iterator[list[str]]:
    value = formatter(cell.mean for row in comparison.rows for cell in row.cells.values())
    marks = {test: f" [{number}]" for number, test in enumerate(describe.footnotes(comparison), start=1)}
    for row in comparison.rows:
        line = [row.title + marks.get(row.test, "")]
        for column in comparison.columns:
            cell = row.cells.get(column.level)
            line.append(value(cell.mean) if cell else NONE)
            if column is not comparison.columns[0]:
                line.append(_joined(ratio(cell), UNICODE.margin(cell), UNICODE.sign(cell)) if cell else "")
                line += [cost(comparison, cell) if cell else ""] if overhead.is_asked(comparison) else []
        yield line


def _foot(comparison: Comparison) -> Iterator[list[str]]:
    for row in describe.foot(comparison):
        line = [row.label, ""]
        for column in comparison.columns[1:]:
            text = row.cells.get(column.level, "")
            line += ["", "" if row.of_overhead else text]
            line += [text if row.of_overhead else ""] if overhead.is_asked(comparison) else []
        yield line


def _details(comparison: Comparison) -> Iterator[list[str]]:
    """Per GHz or CPU, and the spread over repeats, whichever there is."""
    sizes = [cell.per_size for row in comparison.rows for cell in row.cells.values() if cell.per_size]
    value = formatter(sizes)

    def text(cell: Cell | None) -> str:
        per_size = value(cell.per_size) if cell and cell.per_size else NONE if sizes else ""
        return _joined(per_size, UNICODE.spread(cell) if cell else "")

    for row in comparison.rows:
        yield [row.title, *(text(row.cells.get(column.level)) for column in comparison.columns)]


def _joined(*texts: str) -> str:
    return " ".join(filter(None, texts))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _line(head)
    yield f"|---|{'---:|' * (len(head) - 1)}"
    yield from map(_line, rows)


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escape, texts))} |"


def _list(items: Iterable[str]) -> Iterator[str]:
    return (f"- {_escape(item)}" for item in items)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)

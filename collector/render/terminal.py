"""Comparisons for a terminal: digits aligned, folded where it is narrow, coloured where it can be."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from collector import describe, link_table, overhead
from collector.comparison import Cell, Comparison, Row
from collector.doubts import doubts
from collector.render import split_table, verdicts
from collector.render.glyphs import ASCII, NONE, UNICODE, Glyphs, cost, formatter, ratio
from collector.render.layout import Block, Entry, Line
from collector.stats import Verdict
from collector.summary import Summary
from collector.verdicts import VerdictTable

_BETWEEN_FACTS = "   "
_STYLES = {Verdict.BETTER: "green", Verdict.WORSE: "red", Verdict.SAME: "dim", Verdict.UNDECIDED: "dim"}


def render(summary: Summary, console: Console) -> None:
    """Print all tables, each with its doubts, as wide as the console is."""
    for comparison in summary.comparisons:
        _render(comparison, summary.profiles, console)
        console.print()
    if summary.splits:
        _render_splits(summary.splits, console)
        console.print()
    for table in summary.verdicts:
        _render_verdicts(table, console)
        console.print()
    _print_list("!", summary.doubts, console, style="yellow")


def _glyphs(console: Console) -> Glyphs:
    return UNICODE if console.encoding.lower().startswith("utf") else ASCII


def _render_verdicts(table: VerdictTable, console: Console) -> None:
    glyphs = _glyphs(console)
    heads = verdicts.columns(table)
    block = Block(
        head=verdicts.head(table),
        labels={head: head for head in heads},
        rows=[_verdict_line(line, heads) for line in verdicts.lines(table, glyphs)],
        words=frozenset(heads) - {"rows"},
    )
    _print_block(block, console)
    _print_list("-", verdicts.legend(table, glyphs), console, style="dim")
    _print_list("!", table.doubts, console, style="yellow")


def _print_block(block: Block, console: Console) -> None:
    for line in block.lines(console.width):
        console.print(line, soft_wrap=True)
    console.print()


def _verdict_line(line: verdicts.VerdictLine, heads: Sequence[str]) -> Line:
    style = _STYLES.get(line.verdict, "") if line.verdict else ""
    entries = zip(heads, line.cells, strict=True)
    return Line(line.question, {head: Entry((text,), style) for head, text in entries})


def _render_splits(splits: Sequence[overhead.Split], console: Console) -> None:
    head, *heads = split_table.HEADS
    lines = [
        Line(name, {column: Entry((text,)) for column, text in zip(heads, texts, strict=True)})
        for name, *texts in split_table.lines(splits)
    ]
    _print_block(Block(head, {column: column for column in heads}, lines), console)
    _print_list("-", split_table.LEGEND, console, style="dim")
    _print_list("!", split_table.doubts(splits), console, style="yellow")


def _render(comparison: Comparison, profiles: describe.Profiles, console: Console) -> None:
    glyphs = _glyphs(console)
    _print_facts(describe.facts(comparison, profiles), console)
    for block in _blocks(comparison, glyphs, console.width):
        for line in block.lines(console.width):
            console.print(line, soft_wrap=True)
        if block.foot and (scaling := describe.scaling(comparison)):
            _print_list("", [scaling], console)
        console.print()
    beside = link_table.made_of(comparison)
    if beside:
        _print_block(_link_block(comparison, beside), console)
    for number, text in enumerate(describe.footnotes(comparison).values(), start=1):
        _print_list(f"[{number}]", [text], console)
    said = [*describe.remarks(comparison), *(beside.remarks if beside else []), *glyphs.legend(comparison)]
    _print_list("-", said, console, style="dim")
    _print_list("!", doubts(comparison), console, style="yellow")


def _blocks(comparison: Comparison, glyphs: Glyphs, width: int) -> list[Block]:
    """The table, and what does not fit beside its values: per GHz or CPU, and the spread over repeats."""
    per_size, spread = describe.per_size(comparison), describe.spread(comparison)
    whole = _main_block(comparison, glyphs, with_spread=True)
    if not per_size and (not spread or whole.width() <= width):
        return [whole]
    head = f" {glyphs.plus_minus} ".join(filter(None, [per_size, spread]))
    return [
        _main_block(comparison, glyphs, with_spread=False),
        _detail_block(comparison, glyphs, head),
    ]


def _main_block(comparison: Comparison, glyphs: Glyphs, with_spread: bool) -> Block:
    """Each condition's value, with the ratio and what may be claimed of it."""
    value = formatter(cell.mean for row in comparison.rows for cell in row.cells.values())
    marks = {test: f" [{number}]" for number, test in enumerate(describe.footnotes(comparison), start=1)}

    def entry(cell: Cell | None) -> Entry:
        if cell is None:
            return Entry((NONE, "", "", "", "", ""))
        spread = glyphs.spread(cell) if with_spread else ""
        style = _STYLES.get(cell.verdict, "") if cell.verdict else ""
        compared = (ratio(cell), glyphs.margin(cell), glyphs.sign(cell), cost(comparison, cell))
        return Entry((value(cell.mean), spread, *compared), style)

    return Block(
        head=describe.metric_and_direction(comparison),
        labels=_labels(comparison),
        rows=[
            Line(row.title + marks.get(row.test, ""), _by_level(comparison, row, entry))
            for row in comparison.rows
        ],
        foot=[
            Line(
                row.label,
                {level: Entry(_under(row.of_overhead, text), "bold") for level, text in row.cells.items()},
            )
            for row in describe.foot(comparison)
        ],
        gaps=(1, 2, 1, 1, 2),
    )


def _under(of_overhead: bool, text: str) -> tuple[str, ...]:
    """A text of the foot: below the ratios, or below the overheads."""
    return ("", "", "", "", "", text) if of_overhead else ("", "", text, "", "", "")


def _link_block(comparison: Comparison, table: link_table.LinkTable) -> Block:
    rows = [
        Line(row.label, {level: Entry((text,)) for level, text in row.cells.items()}) for row in table.rows
    ]
    return Block(link_table.HEAD, {c.level: c.label for c in comparison.columns}, rows)


def _detail_block(comparison: Comparison, glyphs: Glyphs, head: str) -> Block:
    sizes = [cell.per_size for row in comparison.rows for cell in row.cells.values() if cell.per_size]
    value = formatter(sizes)

    def entry(cell: Cell | None) -> Entry:
        per_size = value(cell.per_size) if cell and cell.per_size else NONE if sizes else ""
        return Entry((per_size, glyphs.spread(cell) if cell else ""))

    rows = [Line(row.title, _by_level(comparison, row, entry)) for row in comparison.rows]
    return Block(head, _labels(comparison), rows, gaps=(1,))


def _by_level(comparison: Comparison, row: Row, entry: Callable[[Cell | None], Entry]) -> dict[str, Entry]:
    return {column.level: entry(row.cells.get(column.level)) for column in comparison.columns}


def _labels(comparison: Comparison) -> dict[str, str]:
    return {column.level: column.head for column in comparison.columns}


def _print_facts(facts: Sequence[str], console: Console) -> None:
    """The header: whole phrases on each line."""
    lines: list[str] = []
    for fact in facts:
        longer = f"{lines[-1]}{_BETWEEN_FACTS}{fact}" if lines else fact
        if lines and cell_len(longer) <= console.width:
            lines[-1] = longer
        else:
            lines.append(fact)
    for line in lines:
        console.print(Text(line, "bold"), soft_wrap=True)


def _print_list(mark: str, items: Iterable[str], console: Console, style: str = "") -> None:
    """Each item from a line of its own, wrapped at the console's width between words."""
    for item in items:
        wrapped = textwrap.fill(
            f"{mark} {item}".lstrip(),
            console.width,
            subsequent_indent=" " * len(f"{mark} ".lstrip()),
            break_long_words=False,
            break_on_hyphens=False,
        )
        console.print(Text(wrapped, style), soft_wrap=True)

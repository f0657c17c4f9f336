"""A table of conditions on a terminal: digits aligned, and folded by condition where it is narrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.text import Text

# Blanks between conditions: as many as there is room for.
_NARROWEST, _WIDEST = 2, 5


@dataclass(frozen=True)
class Entry:
    """What stands at one row and condition.

    :param fields: texts, each aligned to the right with those above and below: a value, a ratio.
    :param style: of the fields from the second on, which say something about the first.
    """

    fields: tuple[str, ...]
    style: str = ""


@dataclass(frozen=True)
class Line:
    """A row, with its entries by condition; a condition that has none is left empty."""

    name: str
    entries: dict[str, Entry]


@dataclass(frozen=True)
class Block:
    """A table.

    :param head: stands above the names.
    :param labels: the heads of the conditions, by condition, in the order of the columns.
    :param foot: lines below the rows, whose names may reach into what the first column leaves blank.
    :param gaps: the number of blanks before each field after the first.
    :param words: the conditions whose texts are words, which begin at the same place rather than end there.
    """

    head: str
    labels: dict[str, str]
    rows: list[Line]
    foot: list[Line] = field(default_factory=list)
    gaps: tuple[int, ...] = ()
    words: frozenset[str] = frozenset()

    def width(self, gap: int = _NARROWEST) -> int:
        """Columns of the terminal that it takes unfolded, with `gap` blanks before each condition."""
        columns = list(self._columns().values())
        return self._left(columns, gap) + _width(columns, gap)

    def lines(self, width: int) -> Iterator[Text]:
        """The table in as many parts as the width asks for, with an empty line between them."""
        gap = next((gap for gap in range(_WIDEST, _NARROWEST, -1) if self.width(gap) <= width), _NARROWEST)
        rest = list(self._columns().values())
        while rest:
            left = self._left(rest, gap)
            fitting = [
                count for count in range(1, len(rest) + 1) if left + _width(rest[:count], gap) <= width
            ]
            count = max(fitting, default=1)
            part, rest = rest[:count], rest[count:]
            yield from self._part(part, left, gap)
            if rest:
                yield Text()

    def _part(self, columns: list[list[Text]], left: int, gap: int) -> Iterator[Text]:
        for row, name in enumerate(self._names()):
            line, edge = Text(name), left
            for column in columns:
                edge += gap + _widest(column)
                text = column[row][_blanks(column[row]) :]
                if text.cell_len:
                    line.append(" " * (edge - line.cell_len - text.cell_len)).append_text(text)
            line.rstrip()
            yield line

    def _names(self) -> list[str]:
        return [self.head, *(line.name for line in self.rows + self.foot)]

    def _columns(self) -> dict[str, list[Text]]:
        """The text of each column: its head, then a text a line."""
        columns = {
            level: [Text(label, "bold"), *self._entries(level)] for level, label in self.labels.items()
        }
        for level in self.words:
            texts = [text[_blanks(text) :] for text in columns[level]]
            for text in texts:
                text.pad_right(_widest(texts) - text.cell_len)
            columns[level] = texts
        return columns

    def _entries(self, level: str) -> list[Text]:
        entries = [line.entries.get(level, Entry(())) for line in self.rows + self.foot]
        gaps = (0, *self.gaps)
        widths = [
            max((cell_len(e.fields[i]) for e in entries if e.fields), default=0) for i in range(len(gaps))
        ]
        texts = []
        for entry in entries:
            text = Text()
            for i, shown in enumerate(entry.fields):
                if widths[i]:
                    text.append(" " * (gaps[i] + widths[i] - cell_len(shown)))
                    text.append(shown, entry.style if i else "")
            texts.append(text)
        return texts

    def _left(self, columns: list[list[Text]], gap: int) -> int:
        """The width of the names beside these columns; those of the foot may reach into blanks."""
        names = self._names()
        first_of_foot = 1 + len(self.rows)
        reach = gap + _widest(columns[0]) - _NARROWEST
        wanted = [cell_len(name) for name in names[:first_of_foot]]
        for row in range(first_of_foot, len(names)):
            text = columns[0][row]
            free = reach - (text.cell_len - _blanks(text)) if text.plain.strip() else reach + _NARROWEST
            wanted.append(cell_len(names[row]) - free)
        return max(wanted)


def _blanks(text: Text) -> int:
    """How many blanks the text begins with."""
    return len(text.plain) - len(text.plain.lstrip())


def _widest(column: list[Text]) -> int:
    return max(text.cell_len for text in column)


def _width(columns: list[list[Text]], gap: int) -> int:
    return sum(gap + _widest(column) for column in columns)

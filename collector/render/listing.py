"""Plain lists of things, for the commands that compare nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

_UNLIMITED = 10_000  # columns: a pipe has no width to fold for


def print_listing(columns: Sequence[str], rows: Iterable[Sequence[str | int | float]]) -> None:
    """Print rows under their columns' names, numbers to the right. Folded for a terminal, not for a pipe."""
    rows = list(rows)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for index, column in enumerate(columns):
        numeric = any(isinstance(row[index], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell if isinstance(cell, str) else f"{cell:.15g}") for cell in row))
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _UNLIMITED)
    console.print(table)

"""Shows how far a run is: a bar that follows on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from collector.models import Status
from collector.progress import Finished, Progress, describe

# Above this many hosts at work the others are only counted.
_HOST_LINES = 8
# Columns of a terminal on which the bar and the only host fit side by side.
_WIDE = 120


class ProgressView:
    """Lines that stay, and on a terminal below them what changes: the bar and what every host is doing.

    :param study: what is measured.
    :param progress: the run, brought up to date by the caller.
    :param console: where to show it.
    """

    def __init__(self, study: str, progress: Progress, console: Console) -> None:
        self._study = study
        self._progress = progress
        self._console = console
        self._started = time.monotonic()
        self._activities: dict[str, str] = {}
        self._roles: set[str] = set()
        self._live = (
            Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def line(self, text: str, style: str = "") -> None:
        """Show a line that stays, unbroken, so that a command in it can be copied."""
        self._console.print(Text(text, style), soft_wrap=True, highlight=False)

    def finished(self, point: Finished) -> None:
        """Tell that a point is over: one that failed in any case, the others where no bar shows them."""
        host, status = point.planned.host, point.status
        if status is not Status.OK:
            goes_on = ", run goes on" if self._progress.missing else ""
            self.line(
                f"{host}: {status}  {describe(point.planned, with_workload=False)}: {point.reason} "
                f"(log: {point.folder})   {self._progress.failed} failed{goes_on}",
                "red",
            )
        elif not self._live:
            self.line(f"{self._study}  {self._numbers()}   {host}: {status}  {describe(point.planned)}")

    def phase(self, role: str, doing: str) -> None:
        """Tell, where no bar shows it, that the first host has come to *role*, *doing* its first task."""
        if not self._live and role not in self._roles:
            self.line(f"{self._study}  {self._numbers()}   {doing}")
        self._roles.add(role)

    def activity(self, host: str, text: str | None) -> None:
        """Say what *host* is doing now; None: nothing more."""
        if text is None:
            self._activities.pop(host, None)
        else:
            self._activities[host] = text

    def refresh(self) -> None:
        """Draw the bar anew; where there is none, do nothing."""
        if self._live:
            self._live.update(self._bar(), refresh=True)

    def _numbers(self) -> str:
        total, done = len(self._progress.planned), len(self._progress.finished)
        left_s = self._progress.left_s(set(self._activities))
        about = f", about {_clock(left_s)} left" if left_s is not None and done < total else ""
        points = f"{done} of {total} points   " if total else ""
        return f"{points}{_clock(time.monotonic() - self._started)}{about}"

    def _bar(self) -> RenderableType:
        total, done = len(self._progress.planned), len(self._progress.finished)
        hosts = [
            Text(f"{host}: {doing}", no_wrap=True, overflow="ellipsis")
            for host, doing in sorted(self._activities.items())
        ]
        wide = self._console.width >= _WIDE
        grid = Table.grid(padding=(0, 2))
        cells: list[RenderableType] = [
            Text(self._study, no_wrap=True),
            # Before the plan is known the bar only says that something is going on.
            ProgressBar(total=total or None, completed=done, width=20 if wide else 10),
            Text(self._numbers(), no_wrap=True),
        ]
        if len(hosts) == 1 and wide:
            cells.append(hosts.pop())
        grid.add_row(*cells)
        more = len(hosts) - _HOST_LINES
        return Group(grid, *hosts[:_HOST_LINES], *([Text(f"and {more} more hosts")] if more > 0 else []))


def _clock(seconds: float) -> str:
    """Seconds as 00:14:05."""
    minutes, whole_seconds = divmod(round(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{whole_seconds:02}"

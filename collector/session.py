"""A study while it runs: from Ansible's events and the run's folder to what the user sees."""

from __future__ import annotations

from typing import TextIO

import click

from collector.events import Listener
from collector.progress import Progress, describe
from collector.progress_view import ProgressView

# A host is measuring from the first task that runs a point until it is put back.
_MEASURES = "perflab.bench.run_point"
_PUTS_BACK = "restore"
# Ansible's own task at the start of a role; it says nothing about what goes on.
_VALIDATION = "Validating arguments against arg spec"


class Echo(Listener):
    """For a playbook whose own output is shown: adds what is said about interruptions."""

    def notice(self, text: str) -> None:
        click.echo(text, err=True)


class Session(Listener):
    """Follows a playbook that measures.

    :param progress: the run's folder.
    :param view: what the user sees.
    :param log: receives Ansible's full output.
    """

    def __init__(self, progress: Progress, view: ProgressView, log: TextIO) -> None:
        self._progress = progress
        self._view = view
        self._log = log
        self._measuring: set[str] = set()
        self._unreachable: set[str] = set()

    def tick(self) -> None:
        self.catch_up()
        self._view.refresh()

    def catch_up(self) -> None:
        """Show the points that finished since the last time, and what every host measures now."""
        for finished in self._progress.poll():
            self._view.finished(finished)
        for host in sorted(self._measuring):
            if planned := self._progress.next_point(host):
                self._view.activity(host, describe(planned))
            else:
                self._measuring.discard(host)

    def output(self, text: str) -> None:
        self._log.write(text.rstrip("\n") + "\n")
        self._log.flush()

    def task_started(self, host: str, role: str, task: str, action: str) -> None:
        if action == _MEASURES:
            self._measuring.add(host)
        elif role == _PUTS_BACK:
            self._measuring.discard(host)
        if task.startswith(_VALIDATION):
            return
        doing = f"{role}: {task}" if role else task
        if host not in self._measuring:
            self._view.activity(host, doing)
        self._view.phase(role, doing)

    def host_failed(self, host: str, task: str, reason: str) -> None:
        self._gone(host)
        self._view.line(f"{host}: failed: {task}: {reason} (log: {self._log.name})", "red")

    def host_unreachable(self, host: str, reason: str) -> None:
        self._gone(host)
        if host not in self._unreachable:
            self._view.line(f"{host}: unreachable: {reason}", "red")
        self._unreachable.add(host)

    def notice(self, text: str) -> None:
        self._view.line(text, "bold")

    def _gone(self, host: str) -> None:
        self._measuring.discard(host)
        self._view.activity(host, None)

"""Translates ansible-runner's events into what the rest of the collector wants to know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# How the lines begin that plugins/callback/restore_on_interrupt.py writes for people.
_NOTICE = "perflab: "
_RESTORE = "perflab.bench.restore"
# How Ansible's own complaints begin, up to 2.18 and later.
_ERROR = re.compile(r" ?(?:ERROR!|\[ERROR\]:) *(.+)")


class Listener:
    """Is told what happens while a playbook runs; what a subclass leaves out is of no interest to it."""

    def tick(self) -> None:
        """Called about twice a second."""

    def output(self, text: str) -> None:
        """Ansible printed *text*, one line or several."""

    def task_started(self, host: str, role: str, task: str, action: str) -> None:
        """A task started on *host*; *role* is empty for a task of the playbook itself."""

    def host_failed(self, host: str, task: str, reason: str) -> None:
        """A task failed on *host*."""

    def host_unreachable(self, host: str, reason: str) -> None:
        """*host* cannot be reached."""

    def notice(self, text: str) -> None:
        """Something that the user must be told: about an interruption, about hosts put back or not."""


@dataclass
class Events:
    """Takes every event of one ansible-playbook.

    :param listener: is told about them.
    :param pid: ansible-playbook's process; None as long as no play has begun.
    :param tasks: how many tasks started, counted by host.
    :param told_how_to_restore: whether the callback plugin has named the command that puts hosts back.
    :param unmatched: the patterns of plays that matched no host.
    :param errors: what Ansible complained about, outside of any host's task.
    """

    listener: Listener
    pid: int | None = None
    tasks: int = 0
    told_how_to_restore: bool = False
    unmatched: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one event as ansible-runner hands it out."""
        text = str(event.get("stdout") or "").replace("\r\n", "\n")
        if text:
            self.listener.output(text)
        for line in text.splitlines():
            if line.startswith(_NOTICE):
                self.told_how_to_restore |= _RESTORE in line
                self.listener.notice(line.removeprefix(_NOTICE))
        data = event.get("event_data") or {}
        match event.get("event"):
            case "playbook_on_start" if self.pid is None:  # a second one is the playbook that restores
                self.pid = event["pid"]
            case "runner_on_start":
                self.tasks += 1
                self.listener.task_started(
                    data["host"], _short(data.get("role")), data["task"], data["task_action"]
                )
            case "runner_on_failed" if not data.get("ignore_errors"):
                self.listener.host_failed(data["host"], data["task"], reason(data.get("res") or {}))
            case "runner_on_unreachable":
                self.listener.host_unreachable(data["host"], reason(data.get("res") or {}))
            case "playbook_on_no_hosts_matched":
                self.unmatched.append(data["play_pattern"])
            case "verbose" | "error":
                self.errors += [found[1] for line in text.splitlines() if (found := _ERROR.match(line))]


def reason(result: Mapping[str, Any]) -> str:
    """Why a task failed, in one line, from its result."""
    items = [item for item in result.get("results") or [] if isinstance(item, dict) and item.get("failed")]
    # Gathering facts runs modules of its own, and says itself only which of them failed.
    items += (result.get("failed_modules") or {}).values()
    if items:
        return reason(items[0])
    message = str(result.get("msg") or result.get("censored") or "no reason given")
    for prefix in ("Task failed: ", "Failed to connect to the host via ssh: "):
        message = message.removeprefix(prefix)
    printed = result.get("module_stderr") or (
        result.get("stderr") if "non-zero return code" in message else ""
    )
    if last := str(printed or "").strip().splitlines()[-1:]:
        message = f"{message.rstrip('.')}: {last[0]}"
    return " ".join(message.split())


def _short(role: str | None) -> str:
    """``redis`` for ``perflab.bench.redis``."""
    return (role or "").rpartition(".")[2]

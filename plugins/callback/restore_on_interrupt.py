# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Puts the hosts back when ansible-playbook ends before its plays do."""

from __future__ import annotations

import atexit
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

from ansible import context
from ansible.cli.playbook import PlaybookCLI
from ansible.plugins.callback import CallbackBase

if TYPE_CHECKING:
    from ansible.executor.stats import AggregateStats
    from ansible.inventory.host import Host
    from ansible.playbook.task import Task

DOCUMENTATION = """
name: restore_on_interrupt
type: notification
short_description: Put the hosts back when a play is interrupted
version_added: 0.1.0
author:
  - perflab authors (@perflab)
description:
  - Ansible skips C(always) when it is interrupted, so that a study stopped by Ctrl-C would leave its hosts at
    the frequency that was just being measured. This callback then runs the playbook C(perflab.bench.restore)
    with the same inventory, limit, connection, privilege escalation, vault and extra variables, before
    ansible-playbook ends.
  - It does so however ansible-playbook ends before its plays do - by Ctrl-C, SIGTERM, a closed terminal
    (SIGHUP) or an error in a playbook - once a task that changes hosts has started.
  - After SIGKILL or a power cut nothing can run on the controller. Run
    C(ansible-playbook perflab.bench.restore) then.
  - A host that can no longer be reached is not put back by C(always) either. Such hosts are named at the end,
    with the command to run when they are back.
  - While the hosts are being put back, a first Ctrl-C is only answered. A second one, or SIGTERM, gives up
    and prints the command to run by hand.
  - Passwords that Ansible asked for at the start are asked for again.
  - It does nothing in check mode.
requirements:
  - enabled in configuration (C(callbacks_enabled = perflab.bench.restore_on_interrupt))
"""

# The actions that leave a host changed until it is restored.
HOST_CHANGING = frozenset(
    f"perflab.bench.{name}"
    for name in ("cpu_frequency", "cpu_quota", "filesystem_under_test", "kernel_setting", "run_point")
)

# The roles that start services, which run until the host is restored.
SERVICE_ROLES = frozenset(f"perflab.bench.{name}" for name in ("mysql", "redis"))

# Set for the restoring ansible-playbook, so that it does not restore in turn when it is interrupted itself.
RESTORING = "PERFLAB_RESTORING"

# A second signal so soon after the first is the same one, and must not disturb the cleaning up.
_NERVOUS_S = 1.0

# The options of ansible-playbook that say which hosts are meant and how they are reached, by key in CLIARGS.
_KEPT_OPTIONS = {
    "inventory": "--inventory",
    "subset": "--limit",
    "connection": "--connection",
    "remote_user": "--user",
    "private_key_file": "--private-key",
    "timeout": "--timeout",
    "ssh_common_args": "--ssh-common-args",
    "ssh_extra_args": "--ssh-extra-args",
    "sftp_extra_args": "--sftp-extra-args",
    "scp_extra_args": "--scp-extra-args",
    "ask_pass": "--ask-pass",
    "connection_password_file": "--connection-password-file",
    "become": "--become",
    "become_method": "--become-method",
    "become_user": "--become-user",
    "become_ask_pass": "--ask-become-pass",
    "become_password_file": "--become-password-file",
    "vault_ids": "--vault-id",
    "ask_vault_pass": "--ask-vault-password",
    "vault_password_files": "--vault-password-file",
    "extra_vars": "--extra-vars",
    "forks": "--forks",
}


class CallbackModule(CallbackBase):
    """Armed from the first task that changes a host until the plays are over."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "perflab.bench.restore_on_interrupt"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._pid = os.getpid()
        self._changed: set[str] = set()
        self._lost: set[str] = set()
        self._interrupted_at = -_NERVOUS_S
        self.disabled = RESTORING in os.environ or bool(context.CLIARGS.get("check"))
        if not self.disabled:
            self._handle_signals()
            atexit.register(self._restore)

    def v2_runner_on_start(self, host: Host, task: Task) -> None:
        role = task.get_name().partition(" : ")[0]
        if task.action in HOST_CHANGING or role in SERVICE_ROLES:
            self._changed.add(host.get_name())

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._lost.add(result._host.get_name())

    def v2_playbook_on_stats(self, stats: AggregateStats) -> None:
        left_changed = sorted(self._changed & self._lost)
        if left_changed:
            command = _restore_command(limit=",".join(left_changed))
            _say(f"not put back, since unreachable: {', '.join(left_changed)}", by_hand=command)
        self._changed.clear()
        self._lost.clear()

    def _handle_signals(self) -> None:
        """Let SIGINT, SIGTERM and SIGHUP end ansible-playbook in good order, with exit hooks.

        ansible-core's own handlers do so for the first SIGINT only, and leave the rest to the default action.
        Its workers are told nevertheless, when it cleans up.
        """
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(signum) is not signal.SIG_IGN:  # as nohup sets it
                signal.signal(signum, self._interrupt)

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        if os.getpid() != self._pid:  # a worker: dies as it would without this callback
            signal.signal(signum, signal.SIG_DFL)
            os.kill(os.getpid(), signum)
            return
        nervous = time.monotonic() < self._interrupted_at + _NERVOUS_S
        if not nervous:
            self._interrupted_at = time.monotonic()
            raise KeyboardInterrupt

    def _restore(self) -> None:
        if not self._changed or os.getpid() != self._pid:
            return
        patience = _Patience()
        command = _restore_command()
        _say("the plays did not end: putting the hosts back as they were found")
        # In a session of its own, so that a Ctrl-C at the terminal comes here only. ansible-core marks its
        # standard streams as not to be inherited; naming them undoes that.
        child = subprocess.Popen(
            [sys.executable, "-m", "ansible", "playbook", *command[1:]],
            env=os.environ | {RESTORING: "1"},
            stdin=0 if _asks_for_passwords() else subprocess.DEVNULL,
            stdout=1,
            stderr=2,
            start_new_session=True,
        )
        patience.listen()
        while child.poll() is None and not patience.lost:
            time.sleep(0.1)
        if patience.lost:
            os.killpg(child.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(5)
            _say("the hosts were NOT put back", by_hand=command)
        elif child.returncode:
            _say("could not put every host back, the output above says why", by_hand=command)
        else:
            _say("the hosts are as they were found")


class _Patience:
    """SIGHUP is ignored, the first SIGINT is answered, the second and SIGTERM lose patience.

    At first SIGINT is ignored, which the restoring ansible-playbook inherits: at its very start, when it is
    not yet in its own session, a Ctrl-C would end it.
    """

    def __init__(self) -> None:
        self.lost = False
        self._asked = False
        signal.signal(signal.SIGTERM, self._lose)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def listen(self) -> None:
        """Heed SIGINT from now on."""
        signal.signal(signal.SIGINT, self._ask)

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        if self._asked:
            self.lost = True
        else:
            self._asked = True
            _say("still putting the hosts back; Ctrl-C once more leaves them as they are")

    def _lose(self, signum: int, frame: FrameType | None) -> None:
        self.lost = True


def _restore_command(limit: str | None = None) -> list[str]:
    """The command that restores the hosts of this ansible-playbook, or those of *limit*."""
    defaults = PlaybookCLI(["ansible-playbook"])
    defaults.init_parser()
    command = ["ansible-playbook", "perflab.bench.restore"]
    for key, option in _KEPT_OPTIONS.items():
        value = limit if limit and key == "subset" else context.CLIARGS.get(key)
        if not value or value == defaults.parser.get_default(key):
            continue
        if value is True:
            command.append(option)
        else:
            for one in value if isinstance(value, list | tuple) else [value]:
                command += [option, str(one)]
    return command


def _asks_for_passwords() -> bool:
    return any(
        context.CLIARGS.get(key) for key in ("ask_pass", "become_ask_pass", "ask_vault_pass", "vault_ids")
    )


def _say(text: str, by_hand: list[str] | None = None) -> None:
    """Write a line to stderr, and one with the command to run *by_hand*.

    Straight to the descriptor, since Ansible's display wraps lines, which breaks commands. If stderr is gone
    (a closed terminal), all that follows writes to nowhere, so that restoring does not fail for that.
    """
    lines = f"perflab: {text}\n"
    if by_hand:
        lines += f"perflab: to put them back, run: {shlex.join(by_hand)}\n"
    try:
        os.write(2, lines.encode())
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)

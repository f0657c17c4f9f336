"""What Ctrl-C does while ansible-playbook runs: the first ends it in good order, the second at once."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What ansible-playbook is given to end by itself after it was told to stop at once.
_STOP_S = 10.0


class Interrupts:
    """While entered, Ctrl-C, SIGTERM and a closed terminal (SIGHUP) end ansible-playbook, not this program.

    ansible-playbook runs on a terminal of its own, where no signal reaches it but those sent by
    :meth:`pass_on`. Its callback plugin (plugins/callback/restore_on_interrupt.py) puts the hosts back at
    SIGINT, and gives that up at SIGTERM.

    :param say: shows the user a line.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.count = 0
        self._passed_on = 0
        self._kill_at: float | None = None
        self._say = say

    def __enter__(self) -> Self:
        self._before = {signum: signal.getsignal(signum) for signum in _SIGNALS}
        for signum, handler in self._before.items():
            if handler is not signal.SIG_IGN:  # as nohup sets it
                signal.signal(signum, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)

    def pass_on(self, pid: int | None) -> bool:
        """Do what the signals ask for; to be called every moment. True: ansible-playbook must be killed.

        Signals that came between two calls count as one: a nervous double Ctrl-C.

        :param pid: ansible-playbook; None as long as no play has begun, when nothing can have been changed.
        """
        if self.count > self._passed_on:
            first = self._passed_on == 0
            self._passed_on = self.count
            if pid is None:
                self._say("interrupted before anything was changed")
                return True
            if first:
                self._say("interrupted: putting the hosts back ... (Ctrl-C again leaves them as they are)")
                send(pid, signal.SIGINT)
            elif self._kill_at is None:
                self._say("stopping at once")
                self._kill_at = time.monotonic() + _STOP_S
        if self._kill_at is None:
            return False
        send(pid, signal.SIGTERM)  # again and again, since it may come too early for the callback plugin
        return time.monotonic() > self._kill_at

    def _take(self, signum: int, frame: FrameType | None) -> None:
        self.count += 1
        if signum == signal.SIGHUP:  # nothing can be written to the terminal any more, and trying would fail
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nowhere, descriptor)


def send(pid: int | None, signum: signal.Signals) -> None:
    """Send a signal to a process that may be gone, or never was."""
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)

# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Run one command in a process group of its own, with a time limit, without disturbing it.

One select loop does everything: it sleeps until there is output, until the command ends, until a reading is
due or until somebody asks to stop. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections
import errno
import fcntl
import os
import select
import signal
import subprocess
import time

EXITED, TIMEOUT, INTERRUPTED, OUTPUT_LOST = "exited", "timeout", "interrupted", "output_lost"

# How long a group may take to end after SIGTERM before SIGKILL, and after SIGKILL before it is given up.
_TERM_GRACE_S = 5.0
_KILL_GRACE_S = 2.0

# Python 2.7 has no time.monotonic; the kernel's ticks since the boot do not jump either, at 10 ms each.
clock = getattr(time, "monotonic", lambda: os.times()[4])

#: *ending* is one of the words above; *rc* None if the command was stopped; *error* tells why output is lost.
Outcome = collections.namedtuple("Outcome", "ending rc duration_s error")


class OutputError(Exception):
    """A sink cannot take more output; the message names its file."""


class Signals:
    """SIGTERM and SIGCHLD as something that select can wait for."""

    def __init__(self):
        self.terminated = False
        self._wakeup, write_end = os.pipe()
        for descriptor in (self._wakeup, write_end):
            flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
            fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        signal.set_wakeup_fd(write_end)
        signal.signal(signal.SIGTERM, self._terminate)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def _terminate(self, number, frame):
        self.terminated = True

    def wait(self, seconds, descriptors=()):
        """Return those of *descriptors* that can be read, after *seconds* or a signal at the latest."""
        try:
            ready = select.select(list(descriptors) + [self._wakeup], [], [], max(0.0, seconds))[0]
        except select.error as error:
            if error.args[0] != errno.EINTR:
                raise
            return []
        if self._wakeup in ready:
            ready.remove(self._wakeup)
            try:
                os.read(self._wakeup, 4096)
            except OSError:
                pass
        return ready

    def sleep(self, seconds):
        """Sleep, or less if asked to stop."""
        end = clock() + seconds
        while not self.terminated and clock() < end:
            self.wait(end - clock())


def execute(argv, env, cwd, sinks, timeout_s, signals, tick=None, interval_s=1.0):
    """Run *argv* to its end and return an :class:`Outcome`.

    :param sinks: (out, err), each with a method write(bytes) that may raise OutputError.
    :param tick: called shortly after the start and then once an interval while the command runs.
    :raises OSError: when the command cannot be started.
    """
    with open(os.devnull, "rb") as nothing:
        process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=nothing,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            close_fds=True,
            preexec_fn=_lead_a_session,
        )
    started = clock()
    deadline = started + timeout_s
    # The first reading comes early, so that a short command has one.
    next_tick = started + min(interval_s, 0.2) if tick else deadline
    pump = _Pump(process, sinks, signals)
    while True:
        now = clock()
        if signals.terminated:
            ending = INTERRUPTED
            break
        if now >= deadline:
            ending = TIMEOUT
            break
        if now >= next_tick:
            tick()
            next_tick += interval_s * (1 + (now - next_tick) // interval_s)
        pump.move(min(deadline, next_tick) - clock())
        if process.poll() is not None:
            ending = EXITED
            break
        if pump.error:
            ending = OUTPUT_LOST
            break
    duration_s = clock() - started
    rc = process.returncode
    _end_group(process, pump)
    pump.drain()
    if pump.error:
        ending = OUTPUT_LOST
    return Outcome(ending, rc if ending in (EXITED, OUTPUT_LOST) else None, duration_s, pump.error)


def _lead_a_session():
    os.setsid()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and 2.7 would hand that on


class _Pump:
    """Moves what the process prints into the sinks."""

    def __init__(self, process, sinks, signals):
        self._sinks = {process.stdout: sinks[0], process.stderr: sinks[1]}
        self._signals = signals
        self.error = None

    def move(self, seconds):
        """Wait for output or a signal, *seconds* at most; return whether there was output."""
        ready = self._signals.wait(seconds, self._sinks)
        for stream in ready:
            data = os.read(stream.fileno(), 65536)
            if not data:
                del self._sinks[stream]
                stream.close()
                continue
            try:
                self._sinks[stream].write(data)
            except OutputError as error:
                self.error = self.error or error
        return bool(ready)

    def drain(self):
        """Take what the pipes still hold; a daemon that kept them open is not waited for."""
        end = clock() + 1.0
        while self.move(0) and clock() < end:
            pass
        for stream in self._sinks:
            stream.close()


def _end_group(process, pump):
    """End what is left of the process group: all of it after a timeout, else what the command left behind."""
    for number, grace_s in ((signal.SIGTERM, _TERM_GRACE_S), (signal.SIGKILL, _KILL_GRACE_S)):
        try:
            os.killpg(process.pid, number)
            end = clock() + grace_s
            while clock() < end:
                pump.move(0.05)  # a process that prints its last words must not block on a full pipe
                process.poll()
                os.killpg(process.pid, 0)
        except OSError:
            return  # no process is left in the group

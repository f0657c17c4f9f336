# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Leave the session: a process that goes on when the connection that started it is gone.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import fcntl
import os


def take_lock(path):
    """Create and lock the file; return its descriptor, or None if another process holds the lock.

    The lock goes with the descriptor through fork and ends with the last process that has it, however that
    process ends: unlike a PID in a file, it can be neither stale nor somebody else's.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (IOError, OSError) as error:
        os.close(descriptor)
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return None
        raise
    return descriptor


def detach(work, lock, title):
    """Run *work* in a process of its own, which holds *lock*, and return its PID at once."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        try:
            return int(os.read(reading, 32))
        finally:
            os.close(reading)
            os.close(writing)
    try:
        os.setsid()
        worker = os.fork()
        if worker:
            os.write(writing, b"%d" % worker)
        else:
            _let_go_of_everything_but(lock)
            _set_title(title)
            work()
    finally:
        os._exit(0)  # neither the caller's clean-up nor its output is ours


def _let_go_of_everything_but(kept):
    """The session ends only when nobody holds its pipes or terminal any more."""
    os.chdir("/")
    os.umask(0o022)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor != kept:
            try:
                os.close(descriptor)
            except OSError:
                pass  # the one that listed the folder


def _set_title(title):
    """Show the supervisor under its own name in ps and top."""
    try:
        with open("/proc/self/comm", "w") as handle:
            handle.write(title)
    except (IOError, OSError):
        pass

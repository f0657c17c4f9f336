# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel settings: single values in files under /proc/sys and /sys, set with read-back, saved and put back.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import re

from ansible_collections.perflab.bench.plugins.module_utils import saved_state
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import REMEDY_NOT_ALLOWED, not_allowed

_FOLDERS = ("/proc/sys/", "/sys/")
_CHOSEN = re.compile(r"\[([^\]]+)\]")


class KernelFileError(Exception):
    """A setting cannot be read or set; the message names the file, the value and what to do."""


def plain(text):
    """Return the value that *text*, the content of a kernel file, stands for.

    A choice file lists all its words and brackets the chosen one: "always [madvise] never" is "madvise".
    Columns are separated by one space: "4096\\t131072" is "4096 131072".
    """
    chosen = _CHOSEN.search(text)
    return chosen.group(1) if chosen else " ".join(text.split())


def apply(files, settings, state_file, check_mode):
    """Set *settings* after saving what they replace; return the values before and after as two dicts."""
    wanted = {path: plain(str(value)) for path, value in settings.items()}
    before = files.read_all(wanted)
    replaced = {path: value for path, value in before.items() if value != wanted[path]}
    if replaced and not check_mode:
        saved_state.extend(state_file, replaced)
        files.set_all(wanted)
    return before, wanted


def restore(files, state_file, check_mode):
    """Put back what was saved; return the values before and after as two dicts."""
    saved = saved_state.load(state_file) or {}
    before = files.read_those_there(saved)
    if not check_mode:
        files.put_back(saved)
        saved_state.discard(state_file)
    return before, saved


class KernelFiles:
    """The kernel files of *tree*, a Sysfs whose root stands for /; paths are given as the kernel has them."""

    def __init__(self, tree):
        self._tree = tree

    def read(self, path):
        """Return the value of *path* as text."""
        return plain(self._text(path))

    def read_all(self, paths):
        """Return the values of *paths* as a dict."""
        return {path: self.read(path) for path in paths}

    def read_those_there(self, paths):
        """Return the values of those of *paths* that can be read."""
        values = {}
        for path in paths:
            try:
                values[path] = self.read(path)
            except KernelFileError:
                continue
        return values

    def set_all(self, values):
        """Set every path of *values* that differs; on a failure put back those already set, then raise."""
        found = self.read_all(values)
        touched = {}
        try:
            for path in sorted(values):
                if found[path] != values[path]:
                    touched[path] = found[path]
                    self._write(path, values[path])
        except KernelFileError as error:
            try:
                self.put_back(touched)
            except KernelFileError as further:
                raise KernelFileError("%s; then %s" % (error, further))
            raise

    def put_back(self, values):
        """Set as many paths of *values* as can be set, then raise what could not."""
        failures = []
        for path in sorted(values):
            try:
                if self.read(path) != values[path]:
                    self._write(path, values[path])
            except KernelFileError as error:
                failures.append(str(error))
        if failures:
            raise KernelFileError("; ".join(failures))

    def _write(self, path, value):
        try:
            self._tree.write(_relative(path), value)
        except (IOError, OSError) as error:
            message = "cannot set %s to '%s': %s" % (path, value, error.strerror)
            if not_allowed(error):
                raise KernelFileError("%s: %s" % (message, REMEDY_NOT_ALLOWED))
            raise KernelFileError("%s; it is %s" % (message, self._described(path)))
        if self.read(path) != value:
            raise KernelFileError("%s did not take '%s': it is %s" % (path, value, self._described(path)))

    def _described(self, path):
        """Return the present value and, for a choice file, what is available."""
        text = self._text(path)
        described = "'%s'" % plain(text)
        if _CHOSEN.search(text):
            described += ", available are %s" % ", ".join(_CHOSEN.sub(r"\1", text).split())
        return described

    def _text(self, path):
        text = self._tree.read(_relative(path))
        if text is None:
            raise KernelFileError(
                "%s has no value to be read: leave it out where the kernel does not have it" % path
            )
        return text


def _relative(path):
    if os.path.normpath(path) != path or not path.startswith(_FOLDERS):
        raise KernelFileError("'%s' is not a path under /proc/sys or /sys: give the full one" % path)
    return path.lstrip("/")

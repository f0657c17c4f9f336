# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The logs of a point: redacted, counted and hashed on their way to the disk.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import hashlib
import io
import os

from ansible_collections.perflab.bench.plugins.module_utils.execute import OutputError
from ansible_collections.perflab.bench.plugins.module_utils.redact import RedactedStream
from ansible_collections.perflab.bench.plugins.module_utils.text import to_native


class LogFile:
    """One log. A log that cannot be written whole is removed: half a log reads like a result."""

    def __init__(self, folder, name, redactor):
        self.path = os.path.join(folder, name)
        self._entry = {"name": name, "bytes": 0}
        self._stream = RedactedStream(redactor)
        self._hash = hashlib.sha256()
        self._lost = None
        try:
            self._file = io.open(self.path, "wb", buffering=0)
        except (IOError, OSError) as error:
            raise OutputError(self._describe(error))

    def write(self, data):
        """Take a piece of output; raises OutputError, naming the file, when the disk does not."""
        self._put(self._stream.feed(data))

    def close(self):
        """Return the log's entry in point.json; raises OutputError when not all of it reached the disk."""
        self._put(self._stream.flush())
        self._guard(lambda: os.fsync(self._file.fileno()))
        self._file.close()
        return dict(self._entry, sha256=self._hash.hexdigest())

    def last_line(self):
        """Return the last line that is not empty, or "" if there is none or the log was lost."""
        if self._lost:
            return ""
        with open(self.path, "rb") as handle:
            handle.seek(max(0, self._entry["bytes"] - 4096))
            lines = handle.read().strip().splitlines() or [b""]
        return to_native(lines[-1])

    def _put(self, data):
        self._hash.update(data)
        self._entry["bytes"] += len(data)
        while data:
            data = data[self._guard(lambda piece=data: self._file.write(piece)) :]

    def _guard(self, action):
        if self._lost is None:
            try:
                return action()
            except (IOError, OSError) as error:
                self._lost = self._describe(error)
                # Closed too, so that its room is free again: the point's record is still to be written.
                self._file.close()
                os.unlink(self.path)
        raise OutputError(self._lost)

    def _describe(self, error):
        return "cannot write %s: %s" % (self.path, error.strerror)


class Captured:
    """What a short command printed, redacted and kept in memory up to a limit."""

    def __init__(self, redactor, limit=65536):
        self._stream = RedactedStream(redactor)
        self._limit = limit
        self._data = b""

    def write(self, data):
        self._put(self._stream.feed(data))

    def text(self):
        """Return all of it, once the command has ended."""
        self._put(self._stream.flush())
        return to_native(self._data)

    def _put(self, data):
        self._data += data[: self._limit - len(self._data)]


class Both:
    """Writes to two sinks."""

    def __init__(self, first, second):
        self._sinks = (first, second)

    def write(self, data):
        for sink in self._sinks:
            sink.write(data)

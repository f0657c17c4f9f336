# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel attributes below a root: one value a file, read and written whole.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import glob
import os

from ansible_collections.perflab.bench.plugins.module_utils.text import to_native

_NOT_ALLOWED = (errno.EACCES, errno.EROFS)
REMEDY_NOT_ALLOWED = "run as root (become: true), and not in a container whose /sys is read-only"


class Sysfs:
    """Attributes below *root*; every path is relative to it."""

    def __init__(self, root="/sys"):
        self.root = root

    def path(self, path):
        return os.path.join(self.root, path)

    def exists(self, path):
        return os.path.exists(self.path(path))

    def names(self, pattern):
        """Return the paths that match the shell *pattern*, in no particular order."""
        return [os.path.relpath(path, self.root) for path in glob.glob(self.path(pattern))]

    def read(self, path):
        """Return the text without its newline, or None where there is no value to be had.

        A missing attribute, one that the driver refuses to read (EBUSY when the CPUs are offline,
        EAGAIN, EIO) and the kernel's own '<unknown>', '<unsupported>' are all "no value".
        """
        text = to_native(self.read_bytes(path) or b"").strip()
        return None if not text or text.startswith("<") else text

    def read_bytes(self, path):
        """Return the bytes as they are, or None where they cannot be read."""
        try:
            with open(self.path(path), "rb") as handle:
                return handle.read()
        except (IOError, OSError):
            return None

    def number(self, path):
        """Return the attribute as an int, or None where it holds no number."""
        text = self.read(path)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def words(self, path):
        return (self.read(path) or "").split()

    def write(self, path, value):
        """Write *value*; an OSError with the kernel's errno says that it refused.

        One write call, without buffering: the error must belong to this value.
        """
        descriptor = os.open(self.path(path), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, ("%s\n" % value).encode("ascii"))
        finally:
            os.close(descriptor)

    def make_folder(self, path):
        """Make a folder, which the kernel fills, as in a cgroup hierarchy."""
        os.mkdir(self.path(path))

    def remove_folder(self, path):
        os.rmdir(self.path(path))


def not_allowed(error):
    """Return whether the OSError is about who writes from where, not about the value."""
    return error.errno in _NOT_ALLOWED

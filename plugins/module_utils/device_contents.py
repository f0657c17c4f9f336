# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a device or file holds: signatures that blkid and wipefs know, or data without one.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections
import fcntl
import os
import re

from ansible_collections.perflab.bench.plugins.module_utils.block_device import DeviceError

#: File systems, RAID, LVM, ZFS keep what they need to be found again at an end of the device.
END_BYTES = 1024 * 1024
# What blkid returns.
_KNOWN, _NOTHING, _CONFLICTING = 0, 2, 8
_REREAD_PARTITIONS = 0x125F  # linux/fs.h
_SIGNATURE = re.compile(r"^(0x[0-9a-f]+),([^,]*),([^,]*),(.+)$", re.MULTILINE)

Identity = collections.namedtuple("Identity", "kind uuid")


class Contents:
    """*run* takes an argv and returns (rc, stdout, stderr)."""

    def __init__(self, run):
        self._run = run

    def identity(self, path):
        """Return the Identity of the file system in *path*: kind and UUID, each None where there is none."""
        found = self._blkid(path)
        return Identity(found.get("TYPE"), found.get("UUID"))

    def found(self, path):
        """Return in words what *path* holds, nothing if it is blank.

        Both programs are asked: wipefs lists every signature, blkid knows those that cannot be wiped. What
        neither knows, such as a database on a raw device, is seen by its bytes.
        """
        said = _SIGNATURE.findall(self._ask(["wipefs", "-p", path], (0,))[1])
        words = [_words(kind, uuid, label) for _at, uuid, label, kind in said]
        listed = {kind for _at, _uuid, _label, kind in said}
        known = self._blkid(path)
        for kind in (known.get("TYPE"), known.get("PTTYPE")):
            if kind and kind not in listed:
                words.append(_words(kind, known.get("UUID"), known.get("LABEL")))
        if not words and not self._is_zero_at_its_ends(path):
            words.append("data without a signature (its first or last MiB is not all zeros)")
        return words

    def erase(self, path):
        """Make *path* blank again: without signatures, partitions and data at its ends."""
        self._ask(["wipefs", "-a", path], (0,))
        descriptor = os.open(path, os.O_WRONLY | os.O_EXCL)
        try:
            for start, length in _ends(descriptor):
                os.lseek(descriptor, start, os.SEEK_SET)
                # A device may take less than it is offered.
                while length:
                    length -= os.write(descriptor, b"\0" * length)
            os.fsync(descriptor)
            _reread_partitions(descriptor)
        finally:
            os.close(descriptor)

    def _blkid(self, path):
        """Return what blkid reads on the device itself, not in its cache."""
        rc, said = self._ask(["blkid", "-p", "-o", "export", path], (_KNOWN, _NOTHING, _CONFLICTING))
        if rc == _CONFLICTING:
            return {"TYPE": "conflicting signatures"}
        return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)

    def _ask(self, argv, expected):
        """Run *argv*, whose short options old versions have, too; return (rc, stdout)."""
        rc, stdout, stderr = self._run(argv)
        if rc not in expected:
            raise DeviceError(
                "may hold anything: %s fails with '%s' (rc %d); next: look at it with blkid -p and wipefs"
                % (" ".join(argv[:2]), " ".join(stderr.split()), rc)
            )
        return rc, stdout

    @staticmethod
    def _is_zero_at_its_ends(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            for start, length in _ends(descriptor):
                os.lseek(descriptor, start, os.SEEK_SET)
                while length:
                    data = os.read(descriptor, length)
                    if not data or data.strip(b"\0"):
                        return not data
                    length -= len(data)
        finally:
            os.close(descriptor)
        return True


def _ends(descriptor):
    """Return (start, length) of the first and the last MiB."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    length = min(END_BYTES, size)
    return ((0, length), (size - length, length))


def _reread_partitions(descriptor):
    """A partition has none, and the kernel says so; whether a disk's are gone is for the caller to see."""
    try:
        fcntl.ioctl(descriptor, _REREAD_PARTITIONS)
    except (IOError, OSError):
        pass


def _words(kind, uuid, label):
    details = ["UUID " + uuid] if uuid else []
    details += ["label " + label] if label else []
    return "%s (%s)" % (kind, ", ".join(details)) if details else kind

# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a host remembers of the file systems that were made on it: one file for each mount point.

A record names the UUID that tells whether what lies on a device is ours. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import re

from ansible_collections.perflab.bench.plugins.module_utils import saved_state
from ansible_collections.perflab.bench.plugins.module_utils.text import to_bytes

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._]")


class Records:
    """The records in *folder*; each is a dict (see filesystem_request.record_of)."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, mount):
        """Return the file that remembers the file system of this mount point."""
        # Escaped as systemd does, so that /a-b and /a/b have files of their own.
        name = _NOT_IN_A_NAME.sub(lambda found: _escaped(found.group()), mount.strip("/"))
        return os.path.join(self.folder, name + ".json")

    def load(self, mount):
        """Return the record of *mount*, or None."""
        return saved_state.load(self.path(mount))

    def save(self, record):
        document = {"schema": saved_state.SCHEMA, "values": record}
        saved_state.write_json(self.path(record["mount"]), document)

    def discard(self, mount):
        saved_state.discard(self.path(mount))

    def all(self):
        """Return every record, in the order of the mount points."""
        try:
            names = [name for name in os.listdir(self.folder) if name.endswith(".json") and name[0] != "."]
        except OSError:
            return []
        records = [saved_state.load(os.path.join(self.folder, name)) for name in names]
        return sorted((record for record in records if record), key=lambda record: record["mount"])


def _escaped(character):
    if character == "/":
        return "-"
    return "".join("\\x%02x" % byte for byte in bytearray(to_bytes(character)))

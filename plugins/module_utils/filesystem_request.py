# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a file system for measuring is asked to be, and what is remembered of one that was made.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections

from ansible_collections.perflab.bench.plugins.module_utils.block_device import DeviceError

#: Either *device* or *loop_file* is None; *size* is the file's, in bytes. *overwrite* is the path of the one
#: device that may be formatted though it holds something.
Request = collections.namedtuple(
    "Request", "kind mount device loop_file size mkfs_options mount_options overwrite"
)

ABSENT = {"state": "absent"}
_SHOWN = ("type", "device", "loop_file", "loop_size", "mkfs_options", "mount_options")


class FilesystemError(Exception):
    """Refused or failed; the message names the device or file, what was found and the next step."""


class Naming:
    """Put the name of the device or file before the message of what is wrong with it."""

    def __init__(self, place):
        self._place = place

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, (DeviceError, EnvironmentError)):
            raise FilesystemError("%s %s" % (self._place, error))


def record_of(request, earlier=None):
    """Return the record of what is asked for, with what *earlier*, if any, says of how it was made."""
    earlier = earlier or {}
    return {
        "mount": request.mount,
        "type": request.kind,
        "device": request.device,
        "loop_file": request.loop_file,
        "loop_size": request.size,
        "mkfs_options": list(request.mkfs_options),
        "mount_options": list(request.mount_options),
        "uuid": earlier.get("uuid"),
        "folders_made": earlier.get("folders_made", []),
        "node_made": earlier.get("node_made", False),
    }


def place_of(record):
    """Return the path whose contents are the file system."""
    return record["loop_file"] or record["device"]


def described(state, record):
    """Return what users see of *record* in before, after and diff."""
    shown = {name: record[name] for name in _SHOWN if record[name]}
    shown["state"] = state
    return shown

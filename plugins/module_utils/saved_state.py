# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A file on the host that holds the values found before the first change.

Written atomically before anything is changed, kept until everything was put back, and never overwritten in
between: the second run after a crash must not save the first run's settings as "found".
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import json
import os
import tempfile

SCHEMA = 1


class SavedStateError(Exception):
    """The state file cannot be read or written; the message names it and the remedy."""


def load(path):
    """Return the saved values (a dict), or None where nothing waits to be restored."""
    try:
        with open(path) as handle:
            document = json.load(handle)
    except (IOError, OSError) as error:
        if error.errno == errno.ENOENT:
            return None
        raise SavedStateError("cannot read the saved state %s: %s" % (path, error.strerror))
    except ValueError as error:
        raise SavedStateError(
            "the saved state %s is not JSON (%s): look at it, put the values back by hand, then remove it"
            % (path, error)
        )
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise SavedStateError(
            "the saved state %s has an unknown schema: it was written by another version" % path
        )
    return document["values"]


def save(path, values):
    """Write *values* unless a state is saved already; return True if written.

    The file appears whole or not at all, and is on disk before this returns, so that no change
    can outlive the record of what was there before.
    """
    if load(path) is not None:
        return False
    write_json(path, {"schema": SCHEMA, "values": values})
    return True


def extend(path, values):
    """Add those of *values* whose key is not saved yet, as durably as `save`."""
    saved = load(path) or {}
    added = {key: value for key, value in values.items() if key not in saved}
    if added:
        saved.update(added)
        write_json(path, {"schema": SCHEMA, "values": saved})


def discard(path):
    """Remove the saved state after everything was put back."""
    try:
        os.unlink(path)
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise SavedStateError("cannot remove the saved state %s: %s" % (path, error.strerror))


def write_json(path, document):
    """Write *document* to *path* atomically and durably, readable by all, creating its folder.

    Raises SavedStateError, naming the file, when the disk is full or the folder is read-only.
    """
    folder = os.path.dirname(path)
    temporary = None
    try:
        if not os.path.isdir(folder):
            os.makedirs(folder, 0o755)
        descriptor, temporary = tempfile.mkstemp(prefix=".", dir=folder)
        with os.fdopen(descriptor, "w") as handle:
            json.dump(document, handle, indent=1, sort_keys=True, separators=(",", ": "))
            handle.write("\n")
            handle.flush()
            os.fchmod(handle.fileno(), 0o644)
            os.fsync(handle.fileno())
        os.rename(temporary, path)
        temporary = None
    except (IOError, OSError) as error:
        raise SavedStateError("cannot write %s: %s" % (path, error.strerror or error))
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)

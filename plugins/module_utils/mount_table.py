# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is mounted, as the kernel lists it for each mount namespace.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections
import os
import re

from ansible_collections.perflab.bench.plugins.module_utils.text import to_native

#: *number* is the device as "major:minor"; btrfs has one of its own there, so *source* counts, too.
Mount = collections.namedtuple("Mount", "number point kind source")

_ESCAPED = re.compile(r"\\([0-7]{3})")


def parse(text):
    """Return the Mounts of a mountinfo file, in the order in which they were mounted."""
    mounts = []
    for line in text.splitlines():
        where, _dash, what = line.partition(" - ")
        fields, (kind, source) = where.split(" "), what.split(" ")[:2]
        mounts.append(Mount(fields[2], unescape(fields[4]), kind, unescape(source)))
    return mounts


def unescape(text):
    """Return a path that the kernel wrote with blanks and the like as octal numbers."""
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 8)), text)


def own(tree):
    """Return the Mounts that this process sees; *tree* is a Sysfs whose root stands for /."""
    return parse(to_native(tree.read_bytes("proc/self/mountinfo") or b""))


def elsewhere(tree):
    """Return (process id, Mounts) of every other mount namespace that can be seen."""
    seen = {_namespace(tree, "self")}
    found = []
    for process in sorted(tree.names("proc/[0-9]*")):
        pid = os.path.basename(process)
        namespace = _namespace(tree, pid)
        if namespace is None or namespace in seen:
            continue
        seen.add(namespace)
        found.append((pid, parse(to_native(tree.read_bytes(process + "/mountinfo") or b""))))
    return found


def _namespace(tree, pid):
    try:
        return os.readlink(tree.path("proc/%s/ns/mnt" % pid))
    except OSError:
        return None  # the process has ended, or is not ours to look at

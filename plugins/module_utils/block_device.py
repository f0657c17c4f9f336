# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Block devices: which one a path names, and everything that uses it now.

A device can be in use under many names: mounted by a link to it, in another mount namespace, through a
mapping above it, through one of its partitions. What the kernel lists is read first, since it says by whom;
that an exclusive open is refused comes last and covers what no list shows.
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections
import errno
import os
import stat
import time

from ansible_collections.perflab.bench.plugins.module_utils import mount_table
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs
from ansible_collections.perflab.bench.plugins.module_utils.text import to_native

_SECTOR = 512  # the unit of /sys/class/block/*/size, whatever the device's own is
# udev and blkid open a device for a moment; whoever still has it open after this means to keep it.
_SECOND_LOOK_S = 0.5

#: *path* as it was given, *name* the kernel's, *number* "major:minor", *size* in bytes.
Device = collections.namedtuple("Device", "path name number size read_only")


class DeviceError(Exception):
    """The device cannot be used; the message says what was found and the next step."""


class BlockDevices:
    """The block devices of the host whose / is *root*."""

    def __init__(self, root="/"):
        self.tree = Sysfs(root)

    def look_up(self, path):
        """Return the Device that *path* names; raise DeviceError where there is none."""
        number = self.number(path)
        if number is None:
            there = os.path.exists(self.tree.path(path.lstrip("/")))
            raise DeviceError(
                "%s; next: name a disk or partition as lsblk -p or /dev/disk/by-id shows it"
                % ("is not a block device" if there else "does not exist")
            )
        folder = self._folder(number)
        size = (self.tree.number(folder + "/size") or 0) * _SECTOR
        if not size:
            raise DeviceError("has no size: no medium is in it; next: name another device")
        return Device(path, os.path.basename(folder), number, size, self.tree.number(folder + "/ro") == 1)

    def number(self, path):
        """Return "major:minor" of the block device that *path* names, or None."""
        try:
            found = os.stat(self.tree.path(path.lstrip("/")))
        except OSError:
            return None
        if not stat.S_ISBLK(found.st_mode):
            return None
        return "%d:%d" % (os.major(found.st_rdev), os.minor(found.st_rdev))

    def partitions(self, device):
        """Return the kernel's names of the partitions on *device*."""
        found = self.tree.names(self._folder(device.number) + "/*/partition")
        return sorted(os.path.basename(os.path.dirname(path)) for path in found)

    def uses(self, device):
        """Return in words everything that uses *device* or a partition of it now; nothing if it is free."""
        names = {device.number: "it"}
        for partition in self.partitions(device):
            names[self.tree.read("sys/class/block/%s/dev" % partition)] = "its partition " + partition
        found = self._mounts(names) + self._swaps(names) + self._holders(device) + self._loops(names)
        found += self._openers(names)
        # It says nothing that the others did not say better.
        return found or self._exclusive(device)

    def at(self, point):
        """Return the Mount that lies uppermost on the folder *point*, or None."""
        found = [mount for mount in mount_table.own(self.tree) if mount.point == point]
        return found[-1] if found else None

    def processes_below(self, folder):
        """Return in words the processes that keep *folder* or something in it open."""
        inside = lambda path: path == folder or path.startswith(folder + "/")  # noqa: E731
        return self._processes(("cwd", "root", "exe", "fd/*"), lambda link, target: inside(target))

    def _mounts(self, names):
        found = []
        for mount in mount_table.own(self.tree):
            number = mount.number if mount.number in names else self._number_of_source(mount)
            if number in names:
                found.append("%s is mounted at %s (as %s)" % (names[number], mount.point, mount.source))
        listed = len(found)
        for pid, mounts in mount_table.elsewhere(self.tree) if not listed else ():
            for mount in mounts:
                if mount.number in names:
                    where = "%s in the mount namespace of process %s" % (mount.point, pid)
                    found.append("%s is mounted at %s" % (names[mount.number], where))
        return found

    def _number_of_source(self, mount):
        return self.number(mount.source) if mount.source.startswith("/") else None

    def _swaps(self, names):
        lines = (self.tree.read("proc/swaps") or "").splitlines()[1:]
        numbers = [self.number(mount_table.unescape(line.split()[0])) for line in lines if line.split()]
        return ["%s is in use as swap" % names[number] for number in numbers if number in names]

    def _holders(self, device):
        """Mappings (LVM, RAID, LUKS, multipath) above the device, its partitions or its own disk."""
        folder = self._folder(device.number)
        folders = [folder] + ["%s/%s" % (folder, name) for name in self.partitions(device)]
        if self.tree.exists(folder + "/partition"):
            folders.append(os.path.dirname(folder))
        found = []
        for one in folders:
            for path in sorted(self.tree.names(one + "/holders/*")):
                holder = os.path.basename(path)
                mapped = self.tree.read("sys/class/block/%s/dm/name" % holder)
                known_as = "%s (%s)" % (holder, mapped) if mapped else holder
                found.append("%s is held by %s" % (os.path.basename(one), known_as))
        return found

    def _loops(self, names):
        found = []
        for path in sorted(self.tree.names("sys/class/block/loop*/loop/backing_file")):
            number = self.number(self.tree.read(path) or "")
            if number in names:
                found.append("%s backs %s" % (names[number], path.split("/")[3]))
        return found

    def _openers(self, names):
        """Processes that have it open unclaimed: databases on raw devices, machines whose disk it is."""

        def opens(link, target):
            return target.startswith("/dev/") and self.number("/" + link) in names

        found = self._processes(("fd/*",), opens)
        if found:
            time.sleep(_SECOND_LOOK_S)
            found = self._processes(("fd/*",), opens)
        return ["it is open in %s" % ", ".join(found)] if found else []

    def _processes(self, links, matches):
        """Return "name (pid)" of the other processes of whose *links* in /proc one matches(link, target)."""
        found = []
        for process in self.tree.names("proc/[0-9]*"):
            pid = os.path.basename(process)
            if pid == str(os.getpid()):
                continue
            for link in (link for pattern in links for link in self.tree.names("%s/%s" % (process, pattern))):
                try:
                    target = os.readlink(self.tree.path(link))
                except OSError:
                    continue  # closed since
                if matches(link, target):
                    found.append("%s (process %s)" % (self.tree.read(process + "/comm") or "?", pid))
                    break
        return sorted(found)

    def _exclusive(self, device):
        try:
            os.close(self.open_exclusively(device.path))
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise DeviceError("cannot be opened (%s); next: look at it with lsblk" % error.strerror)
            return ["it is in use: the kernel refuses to open it exclusively"]
        return []

    def open_exclusively(self, path):
        return os.open(self.tree.path(path.lstrip("/")), os.O_RDONLY | os.O_EXCL)

    def _folder(self, number):
        """Return the device's folder below /sys, a partition's being in that of its disk."""
        path = os.path.realpath(self.tree.path("sys/dev/block/" + number))
        return to_native(os.path.relpath(path, os.path.realpath(self.tree.root)))

# -*- coding: utf-8 -*-
"""A host with fake disks below a folder, for tests that must not need root.

Its programs are fakes, too: a file system is one line at the start of a file. What is real is tested in
tests/integration/test_filesystem.py. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os

from ansible_collections.perflab.bench.plugins.module_utils.block_device import BlockDevices
from ansible_collections.perflab.bench.plugins.module_utils.device_contents import Contents
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_records import Records
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import Request
from ansible_collections.perflab.bench.plugins.module_utils.measured_filesystem import (
    NO_SUCH_PROGRAM,
    MeasuredFilesystem,
)
from fake_sysfs import put

MIB = 1024 * 1024
DISK_BYTES = 4 * MIB


class FakeDevices(BlockDevices):
    """Block devices that are plain files in dev/ below *root*; *numbers* has those of their names."""

    def __init__(self, root):
        BlockDevices.__init__(self, root)
        self.numbers = {}
        self.claimed = set()

    def add(self, name, number, disk=None):
        """Add a blank disk, or the partition *name* of *disk*; return its path."""
        folder = "sys/block/%s" % "/".join(part for part in (disk, name) if part)
        put(self.tree.root, folder + "/size", DISK_BYTES // 512)
        put(self.tree.root, folder + "/dev", number)
        if disk:
            put(self.tree.root, folder + "/partition", 1)
        for link in ("sys/dev/block/" + number, "sys/class/block/" + name):
            self.link(link, folder)
        self.numbers[name] = number
        path = os.path.join(self.tree.root, "dev", name)
        put(self.tree.root, "dev/" + name, "")
        with open(path, "wb") as handle:
            handle.truncate(DISK_BYTES)
        return path

    def link(self, path, target):
        """Link *path* to *target*, both below the root."""
        path = self.tree.path(path)
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        os.symlink(self.tree.path(target), path)

    def number(self, path):
        if not path.startswith(self.tree.root):
            path = self.tree.path(path.lstrip("/"))
        return self.numbers.get(os.path.basename(os.path.realpath(path)))

    def open_exclusively(self, path):
        if os.path.basename(path) in self.claimed:
            raise OSError(errno.EBUSY, "Device or resource busy")
        return os.open(path, os.O_RDONLY)


class FakePrograms:
    """The programs that make, find and mount file systems; *failing* are those that say no."""

    def __init__(self, root):
        self.root = root
        self.failing = set()
        self.called = []
        self.before_mkfs = lambda: None
        put(root, "proc/filesystems", "nodev proc\n ext4\n xfs")
        put(root, "proc/self/mountinfo", "22 1 254:0 / / rw - ext4 /dev/vda rw")

    def __call__(self, argv):
        self.called.append(argv)
        if argv[0] in self.failing:
            return 1, "", "%s: no" % argv[0]
        return getattr(self, "_" + argv[0].split(".")[0])(argv)

    def _wipefs(self, argv):
        kind, identifier = self._held(argv[-1])
        if "-a" in argv:
            self._write(argv[-1], b"\0" * 64)
        return 0, "# offset,uuid,label,type\n0x438,%s,,%s\n" % (identifier, kind) if kind else "", ""

    def _blkid(self, argv):
        kind, identifier = self._held(argv[-1])
        return (
            (0, "DEVNAME=%s\nUUID=%s\nTYPE=%s\n" % (argv[-1], identifier, kind), "") if kind else (2, "", "")
        )

    def _mkfs(self, argv):
        kind = argv[0].split(".")[1]
        if kind not in ("ext4", "xfs", "minix"):
            return NO_SUCH_PROGRAM, "", ""
        if argv[1:] != ["-V"]:
            self.before_mkfs()
            identifier = argv[argv.index("-U") + 1] if "-U" in argv else "made-by-mkfs"
            self._write(argv[-1], ("FAKE %s %s\n" % (kind, identifier)).encode("ascii"))
        return 0, "", ""

    def _mount(self, argv):
        self.set_mounts(self.mounts() + ["%s - %s %s rw" % (argv[-1], argv[2], argv[-2])])
        return 0, "", ""

    def _umount(self, argv):
        self.set_mounts([line for line in self.mounts() if not line.startswith(argv[1] + " ")])
        return 0, "", ""

    def _modprobe(self, argv):
        return 1, "", "modprobe: not found"

    def mounts(self):
        """Return what is mounted beside the root as "point - kind source options"."""
        with open(os.path.join(self.root, "proc/self/mountinfo")) as handle:
            return [line.split(" ", 4)[4].replace(" rw - ", " - ") for line in handle.read().splitlines()[1:]]

    def set_mounts(self, mounts):
        lines = ["30 22 0:9 / %s" % mount.replace(" - ", " rw - ") for mount in mounts]
        put(self.root, "proc/self/mountinfo", "\n".join(["22 1 254:0 / / rw - ext4 /dev/vda rw"] + lines))

    @staticmethod
    def _held(path):
        with open(path, "rb") as handle:
            words = handle.readline(64).decode("ascii", "replace").split()
        return (words[1], words[2]) if words[:1] == ["FAKE"] else (None, None)

    @staticmethod
    def _write(path, data):
        with open(path, "r+b") as handle:
            handle.write(data)


class NoLoops:
    def of(self, path):
        return None


class Host:
    """Fake disks, programs and records below *folder*, and the verbs on them."""

    def __init__(self, folder):
        self.point = os.path.join(folder, "point")
        self.devices = FakeDevices(folder)
        self.programs = FakePrograms(folder)
        self.records = Records(os.path.join(folder, "records"))

    def filesystem(self, check_mode=False):
        return MeasuredFilesystem(
            self.devices, Contents(self.programs), NoLoops(), self.records, self.programs, check_mode
        )

    def mounted(self, device, check_mode=False, **changes):
        request = Request("ext4", self.point, device, None, None, [], [], None)
        return self.filesystem(check_mode).mounted(request._replace(**changes))

# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Make, mount, unmount and remove a file system for measuring, on a device or on a file of its own.

What was made is known by the UUID in its record, whatever the device is called after a reboot. The record is
written before the first change, so that a run that was killed leaves nothing that nobody knows of.
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os
import uuid

from ansible_collections.perflab.bench.plugins.module_utils.block_device import DeviceError
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_checks import Checks
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import (
    ABSENT,
    FilesystemError,
    Naming,
    described,
    place_of,
    record_of,
)

#: What the runner returns for a program that is not there, as a shell does.
NO_SUCH_PROGRAM = 127

# How mkfs is given a UUID, so that it is on record before there is anything to lose track of.
_UUID_OPTION = {
    "ext2": ("-U", "{}"),
    "ext3": ("-U", "{}"),
    "ext4": ("-U", "{}"),
    "xfs": ("-m", "uuid={}"),
    "btrfs": ("-U", "{}"),
}
# What mkfs puts off the kernel writes after the first mount, in the background: during the measurement.
_NOT_LATER = ["-E", "lazy_itable_init=0,lazy_journal_init=0"]
# Once, -F lets mkfs take a whole disk without asking; a device in use it still refuses.
_ALWAYS = {"ext2": ["-F"], "ext3": ["-F"] + _NOT_LATER, "ext4": ["-F"] + _NOT_LATER}


class MeasuredFilesystem:
    """The verbs; each returns (before, after) as dicts.

    With *check_mode* they look and refuse, but change nothing. *devices* is a BlockDevices, *contents* a
    Contents, *loops* a LoopDevices, *records* a Records; *run* takes an argv and returns
    (rc, stdout, stderr).
    """

    def __init__(self, devices, contents, loops, records, run, check_mode=False):
        self._devices = devices
        self._contents = contents
        self._loops = loops
        self._records = records
        self._run = run
        self._check_mode = check_mode
        self._checks = Checks(devices, contents, records)

    def mounted(self, request):
        """Have a file system as requested mounted: the one on record, or else a new one."""
        record = self._records.load(request.mount)
        before = self._described(record)
        place = request.loop_file or request.device
        found = []
        with Naming(place):
            self._checks.refuse_another(request, record)
            device = self._device_of(request)
            mount = self._mount_of(record)
            if mount is None:
                self._checks.refuse_mount_point(request.mount)
                self._checks.refuse_uses(device)
            ours = self._checks.is_ours(place, record)
            if not ours and request.loop_file:
                self._checks.refuse_file(request, record)
            elif not ours:
                found = self._checks.refuse_device(request, device)
        wanted = record_of(request, record)
        after = described("mounted", wanted)
        if self._check_mode or before == after:
            return before, after
        if not ours:
            self._make(wanted, found)
        elif mount is not None:
            self._unmount(wanted)  # to be mounted again with other options
        self._mount(wanted)
        return before, self._described(wanted)

    def unmounted(self, mount):
        """Have the file system of this mount point neither mounted nor attached, with its contents kept."""
        record = self._records.load(mount)
        before = self._described(record)
        if record is None:
            return before, before
        if not self._check_mode:
            self._unmount(record)
        return before, described("unmounted", record)

    def absent(self, mount):
        """Have the file system of this mount point gone: its device blank, its file removed."""
        record = self._records.load(mount)
        before = self._described(record)
        if record is None:
            return before, before
        with Naming(place_of(record)):
            self._checks.refuse_removal(record)
        if not self._check_mode:
            self._unmount(record)
            with Naming(place_of(record)):
                self._take_away(record)
        return before, ABSENT

    def details(self, mount):
        """Return device, UUID and direct I/O of this mount point's file system, None for what it lacks."""
        record = self._records.load(mount)
        found = self._mount_of(record)
        return {
            "device": found.source if found else None,
            "uuid": record["uuid"] if record else None,
            "direct_io": self._loops.direct(found.source) if found and record["loop_file"] else None,
        }

    def _described(self, record):
        if record is None:
            return ABSENT
        return described("mounted" if self._mount_of(record) else "unmounted", record)

    def _mount_of(self, record):
        """Return the Mount of the file system on record, or None; another's on its mount point is not it."""
        mount = record and self._devices.at(record["mount"])
        if not mount or self._devices.number(mount.source) is None:
            return None
        return mount if self._checks.is_ours(mount.source, record) else None

    def _device_of(self, request):
        """Return the Device asked for: for a file its loop device, or None while it is not attached."""
        path = request.device or self._loops.of(request.loop_file)
        return self._devices.look_up(path) if path else None

    def _make(self, record, found):
        """Make the file system that *record* describes, in place of what was *found* there."""
        self._require(record["type"])
        record["uuid"] = str(uuid.uuid4()) if record["type"] in _UUID_OPTION else None
        self._records.save(record)
        try:
            with Naming(place_of(record)):
                device = self._provide_device(record)
                if found:
                    self._contents.erase(device)
                    self._checks.refuse_left_partitions(device)
                self._mkfs(record, device)
        except FilesystemError:
            self._undo(record)
            raise

    def _undo(self, record):
        """Take away what a failed attempt left; where even that fails, its record stays for the next one."""
        try:
            self._detach(record)
            self._take_away(record, half_made=True)
        except (DeviceError, EnvironmentError):
            pass

    def _require(self, kind):
        """Find out what is missing before anything is written."""
        if self._run(["mkfs." + kind, "-V"])[0] == NO_SUCH_PROGRAM:
            raise FilesystemError("there is no mkfs.%s; next: install it, or choose another type" % kind)
        if not self._kernel_has(kind):
            self._run(["modprobe", kind])
        if not self._kernel_has(kind):
            raise FilesystemError(
                "this kernel has no %s (/proc/filesystems); next: load it, or choose another type" % kind
            )

    def _kernel_has(self, kind):
        return kind in self._devices.tree.words("proc/filesystems")

    def _provide_device(self, record):
        """Return the device to work on; a file is made if need be, and attached."""
        path = record["loop_file"]
        if not path:
            return record["device"]
        loop = self._loops.of(path)
        if loop is None:
            if not self._checks.is_ours(path, record):
                self._make_file(path, record["loop_size"])
            loop, record["node_made"] = self._loops.attach(path)
            self._records.save(record)
        return loop

    def _make_file(self, path, size):
        if os.path.exists(path):
            os.unlink(path)  # blank: left by a run that was killed
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self._allocate(path, size)

    def _allocate(self, path, size):
        """Have all blocks of a file allocated: holes would be filled, and spread, during the measurement."""
        self._do(["fallocate", "-l", str(size), path], "cannot be allocated")

    def _mkfs(self, record, device):
        kind = record["type"]
        identifier = [word.format(record["uuid"]) for word in _UUID_OPTION.get(kind, ())]
        argv = ["mkfs." + kind] + _ALWAYS.get(kind, []) + identifier + record["mkfs_options"] + [device]
        self._do(argv, "cannot be formatted")
        if record["loop_file"]:
            self._allocate(record["loop_file"], record["loop_size"])  # mkfs discards, which makes holes
        found = self._contents.identity(device)
        if found.kind != kind or not found.uuid:
            raise DeviceError(
                "was formatted, but blkid finds no %s with a UUID; next: choose another type" % kind
            )
        record["uuid"] = found.uuid
        self._records.save(record)

    def _mount(self, record):
        """Mount what is on record; the folders made for it are remembered, to be removed again."""
        with Naming(place_of(record)):
            device = self._provide_device(record)
            # After a power failure those on record are still there, and still to be removed.
            record["folders_made"] = sorted(set(record["folders_made"] + _missing(record["mount"])))
            self._records.save(record)
            try:
                if not os.path.isdir(record["mount"]):
                    os.makedirs(record["mount"])
                options = ["-o", ",".join(record["mount_options"])] if record["mount_options"] else []
                argv = ["mount", "-t", record["type"]] + options + [device, record["mount"]]
                self._do(argv, "cannot be mounted")
            except (DeviceError, EnvironmentError):
                self._leave(record)
                raise

    def _unmount(self, record):
        with Naming(place_of(record)):
            if self._mount_of(record):
                rc, _stdout, stderr = self._run(["umount", record["mount"]])
                if rc:
                    raise DeviceError(
                        "cannot be unmounted: %s; next: stop what uses it, then try again"
                        % (self._users(record["mount"]) or _line(stderr))
                    )
            self._leave(record)

    def _users(self, point):
        users = self._devices.processes_below(point)
        return "%s is in use by %s" % (point, ", ".join(users)) if users else ""

    def _leave(self, record):
        """Detach what was attached and remove the folders that were made, if nobody put anything there."""
        self._detach(record)
        left = [folder for folder in reversed(record["folders_made"]) if not _is_removed(folder)]
        record["folders_made"] = []
        self._records.save(record)
        if left:
            self._hand_over(left)

    def _hand_over(self, folders):
        """Let other file systems that are mounted below *folders*, or were, remove them when they leave."""
        for other in self._records.all():
            above = {folder for folder in folders if other["mount"].startswith(folder + "/")}
            if above and (other["folders_made"] or self._mount_of(other)):
                other["folders_made"] = sorted(above.union(other["folders_made"]))
                self._records.save(other)

    def _detach(self, record):
        loop = self._loops.of(record["loop_file"]) if record["loop_file"] else None
        if loop:
            self._loops.detach(loop, record["node_made"])
            record["node_made"] = False

    def _take_away(self, record, half_made=False):
        """Remove the file, or make the device blank; of one *half_made* whatever is on it is ours."""
        place = place_of(record)
        if record["loop_file"]:
            if os.path.exists(place):
                os.unlink(place)
        elif half_made or self._checks.is_ours(place, record):
            self._checks.refuse_uses(self._devices.look_up(place))
            self._contents.erase(place)
        self._records.discard(record["mount"])

    def _do(self, argv, failure):
        rc, stdout, stderr = self._run(argv)
        if rc:
            raise DeviceError("%s: %s says '%s'" % (failure, argv[0], _line(stderr) or _line(stdout)))


def _is_removed(folder):
    """Remove *folder* if it is empty; return whether it is gone."""
    try:
        os.rmdir(folder)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY):
            raise
        return error.errno == errno.ENOENT
    return True


def _missing(folder):
    """Return the folders that have to be made for *folder* to exist."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def _line(text):
    return " ".join(text.split())

# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Files as disks: attach one to a loop device and detach it, by the kernel's own calls.

losetup does the same, but fails where a loop device has no node in /dev, as in a container, and old ones
know nothing of direct I/O. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import contextlib
import errno
import fcntl
import os
import stat
import struct
import time

from ansible_collections.perflab.bench.plugins.module_utils.block_device import DeviceError

# linux/loop.h
_SET_FD = 0x4C00
_CLEAR_FD = 0x4C01
_GET_STATUS = 0x4C05
_SET_DIRECT_IO = 0x4C08
_GET_FREE = 0x4C82
_STATUS = struct.Struct("=QQQQQIIII64s64s32sQQ")
_DIRECT_IO_FLAG = 16

_LOOP_MAJOR = 7
_TRIES = 10  # somebody else may take the free one that the kernel named
_DETACH_S = 10.0

_CONTAINER = "in a container, bind /dev/loop-control and allow loop devices, or name a device, not a file"


class LoopDevices:
    """The loop devices of this host; *tree* is a Sysfs whose root stands for /."""

    def __init__(self, tree):
        self._tree = tree

    def of(self, path):
        """Return the loop device that the file *path* is attached to, as its path, or None.

        By the file's inode: the name that /sys shows can be that of a container's file.
        """
        try:
            wanted = os.stat(path)
        except OSError:
            return None
        for attached in self._tree.names("sys/class/block/loop*/loop"):
            number = int(attached.split("/")[-2][len("loop") :])
            status = self._status(number)
            if status and status[:2] == (wanted.st_dev, wanted.st_ino):
                self._provide_node(number)
                return _path(number)
        return None

    def attach(self, path):
        """Attach the file *path* and return (the loop device, whether its node in /dev was made for that)."""
        for _try in range(_TRIES):
            number = self._free()
            made = self._provide_node(number)
            with _opened(path, os.O_RDWR) as backing, _opened(_path(number), os.O_RDWR) as loop:
                try:
                    fcntl.ioctl(loop, _SET_FD, backing)
                except (IOError, OSError) as error:
                    if error.errno == errno.EBUSY:
                        continue
                    raise DeviceError("cannot be attached to %s: %s" % (_path(number), error.strerror))
                _ask_for_direct_io(loop)
            return _path(number), made
        raise DeviceError("cannot be attached: every free loop device is taken at once; next: try again")

    def direct(self, device):
        """Return whether *device* reads and writes its file past the page cache of the host."""
        status = self._status(_number(device))
        return bool(status and status[8] & _DIRECT_IO_FLAG)

    def detach(self, device, node_made):
        """Detach the file of *device*, and remove its node if that was made for it."""
        number = _number(device)
        with _opened(device, os.O_RDONLY) as loop:
            fcntl.ioctl(loop, _CLEAR_FD)
        # The kernel says yes and waits for the last one who has it open: udev for a moment, a mount for ever.
        deadline = time.time() + _DETACH_S
        while self._tree.exists("sys/class/block/loop%d/loop" % number):
            if time.time() > deadline:
                raise DeviceError(
                    "%s stays attached: something still uses it, perhaps a mount in another mount namespace; "
                    "next: end that (lsns -t mnt), then try again" % device
                )
            time.sleep(0.05)
        if node_made:
            os.unlink(device)

    def _status(self, number):
        """Return the fields of the kernel's loop_info64, or None where nothing is attached."""
        made = None
        path = _path(number)
        try:
            if not os.path.exists(path):
                path = made = "/dev/.perflab-loop%d" % number
                _make_node(made, number)
            with _opened(path, os.O_RDONLY) as loop:
                answer = fcntl.ioctl(loop, _GET_STATUS, b"\0" * _STATUS.size)
            return _STATUS.unpack(answer)
        except (IOError, OSError):
            return None
        finally:
            if made and os.path.exists(made):
                os.unlink(made)

    def _free(self):
        try:
            with _opened("/dev/loop-control", os.O_RDWR) as control:
                return fcntl.ioctl(control, _GET_FREE)
        except (IOError, OSError) as error:
            raise DeviceError(
                "cannot be attached: /dev/loop-control says '%s'; next: modprobe loop; %s"
                % (error.strerror, _CONTAINER)
            )

    def _provide_node(self, number):
        """Make the device's node where udev and devtmpfs do not; return whether that was needed."""
        path = _path(number)
        if os.path.exists(path):
            return False
        try:
            _make_node(path, number)
        except OSError as error:
            raise DeviceError("cannot make %s (%s); next: %s" % (path, error.strerror, _CONTAINER))
        return True


@contextlib.contextmanager
def _opened(path, flags):
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _ask_for_direct_io(loop):
    """Not every file system and kernel has it: `direct` tells what came of it."""
    try:
        fcntl.ioctl(loop, _SET_DIRECT_IO, 1)
    except (IOError, OSError):
        pass


def _make_node(path, number):
    os.mknod(path, stat.S_IFBLK | 0o660, os.makedev(_LOOP_MAJOR, number))


def _path(number):
    return "/dev/loop%d" % number


def _number(device):
    return int(device[len("/dev/loop") :])

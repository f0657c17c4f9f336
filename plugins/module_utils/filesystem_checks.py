# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is refused, before anything is written, so that no data is lost and nothing is used twice.

Every refusal is a DeviceError whose message goes on after the name of the device or file.
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os

from ansible_collections.perflab.bench.plugins.module_utils.block_device import DeviceError
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import place_of, record_of

_MADE_WITH = ("type", "mkfs_options", "loop_file", "loop_size")


class Checks:
    """*devices* is a BlockDevices, *contents* a Contents, *records* the Records of this host."""

    def __init__(self, devices, contents, records):
        self._devices = devices
        self._contents = contents
        self._records = records

    def is_ours(self, place, record):
        """Return whether the device or file *place* holds the file system on *record*, by its UUID."""
        if not record or not record["uuid"] or not os.path.exists(place):
            return False
        found = self._contents.identity(place)
        return (found.kind, found.uuid) == (record["type"], record["uuid"])

    def refuse_another(self, request, record):
        """Refuse what would need a file system on record to go first: only `absent` removes one."""
        if record is None:
            for other in self._records.all():
                if self._is_same_place(request, other):
                    raise DeviceError(
                        "has perflab's file system for %s on it; next: remove that first (state absent)"
                        % other["mount"]
                    )
            return
        asked = record_of(request, record)
        names = [name for name in _MADE_WITH if asked[name] != record[name]]
        if request.device and not (
            self._is_same_place(request, record) or self.is_ours(request.device, record)
        ):
            names.append("device")
        if names:
            differences = [
                "%s %s, not %s" % (name, _plain(record[name]), _plain(asked[name])) for name in names
            ]
            raise DeviceError(
                "is not as the file system for %s was made (%s); next: remove that first (state absent)"
                % (request.mount, "; ".join(differences))
            )

    def refuse_mount_point(self, point):
        """Refuse a folder that anything is in or mounted on."""
        mount = self._devices.at(point)
        if mount:
            raise DeviceError(
                "cannot be mounted at %s, where %s (%s) is; next: unmount that, or choose another folder"
                % (point, mount.source, mount.kind)
            )
        try:
            filled = os.path.islink(point) or os.listdir(point)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
            raise DeviceError(
                "cannot be mounted at %s (%s); next: choose another folder" % (point, error.strerror)
            )
        if filled:
            raise DeviceError(
                "cannot be mounted at %s, which is not an empty folder; next: choose another one" % point
            )

    def refuse_uses(self, device):
        """Refuse a device in use, whatever the request says; None is a file that is not attached."""
        uses = self._devices.uses(device) if device else []
        if uses:
            raise DeviceError(
                "is in use: %s; next: unmount or stop what uses it, or name another device" % "; ".join(uses)
            )

    def refuse_device(self, request, device):
        """Refuse a device that holds anything, unless it may be overwritten; return in words what will be."""
        if device.read_only:
            raise DeviceError("is read-only; next: name another device")
        found = self._contents.found(request.device)
        partitions = self._devices.partitions(device)
        if partitions:
            found.append("partitions " + ", ".join(partitions))
        if found and request.overwrite != request.device:
            raise DeviceError(
                "holds %s; next: name another device, or, if nothing on it is needed any more, repeat its "
                "path as overwrite (filesystem_overwrite: %s)" % ("; ".join(found), request.device)
            )
        return found

    def refuse_file(self, request, record):
        """Refuse a file that is not ours, or has no room."""
        path, folder = request.loop_file, os.path.dirname(request.loop_file)
        if os.path.lexists(path):
            if record is None:
                raise DeviceError("exists and is not perflab's; next: name a file that does not exist")
            found = self._contents.found(path)
            if found:
                raise DeviceError(
                    "no longer holds what perflab made there, but %s; next: look at it, then remove it and %s"
                    % ("; ".join(found), self._records.path(request.mount))
                )
        elif not os.path.isdir(folder):
            raise DeviceError("has no folder to lie in; next: make %s, or choose another" % folder)
        else:
            _refuse_too_large(request.size, folder)

    def refuse_removal(self, record):
        """Refuse to erase a device or file that no longer holds what is on record."""
        place, path = place_of(record), self._records.path(record["mount"])
        if record["device"] and self._devices.number(place) is None:
            raise DeviceError(
                "is not there to be made blank; next: connect it, or remove %s to forget it" % path
            )
        if not os.path.exists(place) or self.is_ours(place, record):
            return
        found = self._contents.found(place)
        if found:
            raise DeviceError(
                "no longer holds what perflab made there, but %s; next: look at it, then remove %s "
                "to forget it" % ("; ".join(found), path)
            )

    def refuse_left_partitions(self, path):
        """Refuse a disk whose partitions the kernel keeps although their table was erased."""
        left = self._devices.partitions(self._devices.look_up(path))
        if left:
            raise DeviceError(
                "was erased, but the kernel keeps its partitions %s; next: partx -d %s, then try again"
                % (", ".join(left), path)
            )

    def _is_same_place(self, request, record):
        if request.loop_file:
            return request.loop_file == record["loop_file"]
        if not record["device"]:
            return False
        if request.device == record["device"]:
            return True
        number = self._devices.number(request.device)
        return number is not None and number == self._devices.number(record["device"])


def _refuse_too_large(size, folder):
    space = os.statvfs(folder)
    free = space.f_bavail * space.f_frsize
    if size > free:
        raise DeviceError(
            "would take %d MiB, and %s has %d MiB free; next: make it smaller, or put it elsewhere"
            % (size >> 20, folder, free >> 20)
        )


def _plain(value):
    return "'%s'" % " ".join(value) if isinstance(value, list) else value

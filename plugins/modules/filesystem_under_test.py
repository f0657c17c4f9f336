#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: filesystem_under_test
short_description: Make and mount a file system for measuring, and take it away
version_added: 0.1.0
description:
  - Makes a file system on a device that is named for it, or on a file of its own, and mounts it.
  - Never formats a device that holds anything - a signature of any kind, partitions, or bytes without a
    signature - unless O(overwrite) repeats the path of that very device. One in use is always refused.
  - Remembers on the host what it made, by UUID, and so mounts it again after a reboot with its contents.
options:
  state:
    description:
      - V(mounted) makes the file system unless it is there already, and mounts it.
      - V(unmounted) unmounts it, detaches its file, and keeps its contents.
      - V(absent) also makes its device blank again, or removes its file.
    type: str
    choices: [mounted, unmounted, absent]
    default: mounted
  mount:
    description:
      - Folder to mount it at, by its full path. It must be empty or not exist.
      - If it was made for this, it is removed again when the file system is unmounted.
      - It is also the name by which the file system is found again.
    type: path
  all:
    description: Unmount or remove every file system that this host remembers, instead of one.
    type: bool
    default: false
  type:
    description: Kind of file system, as in C(mkfs.ext4). Required with O(state=mounted).
    type: str
  device:
    description: Whole device or partition, by any path.
    type: path
  loop_file:
    description:
      - File that stands for a device. It is made, with all its blocks allocated, and must not exist before.
    type: path
  loop_size:
    description: Size of O(loop_file), as V(10G); V(K), V(M), V(G) and V(T) are powers of 1024.
    type: str
  mkfs_options:
    description:
      - Further options of mkfs, one word each.
      - Before those of ext3 and ext4 stands what makes mkfs initialise everything at once, instead of the
        kernel in the background after the first mount.
    type: list
    elements: str
    default: []
  mount_options:
    description: Options of mount, as V(noatime).
    type: list
    elements: str
    default: []
  overwrite:
    description:
      - The path in O(device) once more, to have that device formatted though it holds something.
      - Nothing else is accepted, so that no switch that is on for all hosts can do it.
    type: str
  records:
    description: Folder on the host with a file for each file system that was made.
    type: path
    default: /var/lib/perflab/filesystems
attributes:
  check_mode:
    description: Says what would change, or what would be refused, and changes nothing.
    support: full
  diff_mode:
    description: Shows the file systems before and after.
    support: full
author:
  - perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Have ext4 on a blank disk
  perflab.bench.filesystem_under_test:
    type: ext4
    device: /dev/disk/by-id/nvme-eui.0025385b71b0c3f1
    mount: /mnt/under-test
    mount_options: [noatime]

- name: Have XFS on a file
  perflab.bench.filesystem_under_test:
    type: xfs
    loop_file: /var/lib/xfs-under-test.img
    loop_size: 20G
    mount: /mnt/under-test

- name: Unmount it and keep what is on it
  perflab.bench.filesystem_under_test:
    state: unmounted
    mount: /mnt/under-test

- name: Remove all that were made on this host
  perflab.bench.filesystem_under_test:
    state: absent
    all: true
"""

RETURN = r"""
before:
  description: The file systems before, by mount point.
  returned: success
  type: dict
  sample: {"/mnt/under-test": {"state": "absent"}}
after:
  description: The file systems after, by mount point; in check mode as foretold.
  returned: success
  type: dict
  sample: {"/mnt/under-test": {"state": "mounted", "type": "ext4", "device": "/dev/sdb"}}
device:
  description: The device that is mounted, a loop device for a file; null in check mode before it is there.
  returned: with O(state=mounted)
  type: str
  sample: /dev/loop0
uuid:
  description: UUID of the file system; null in check mode before it is there.
  returned: with O(state=mounted)
  type: str
  sample: 41219231-b2c6-4645-ab67-06f34cdfda65
direct_io:
  description: Whether the loop device goes past the host's page cache; null for a device.
  returned: with O(state=mounted)
  type: bool
  sample: true
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.text.formatters import human_to_bytes
from ansible_collections.perflab.bench.plugins.module_utils.block_device import BlockDevices, DeviceError
from ansible_collections.perflab.bench.plugins.module_utils.device_contents import Contents
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_records import Records
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import FilesystemError, Request
from ansible_collections.perflab.bench.plugins.module_utils.loop_device import LoopDevices
from ansible_collections.perflab.bench.plugins.module_utils.measured_filesystem import (
    NO_SUCH_PROGRAM,
    MeasuredFilesystem,
)
from ansible_collections.perflab.bench.plugins.module_utils.saved_state import SavedStateError


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["mounted", "unmounted", "absent"], "default": "mounted"},
            "mount": {"type": "path"},
            "all": {"type": "bool", "default": False},
            "type": {"type": "str"},
            "device": {"type": "path"},
            "loop_file": {"type": "path"},
            "loop_size": {"type": "str"},
            "mkfs_options": {"type": "list", "elements": "str", "default": []},
            "mount_options": {"type": "list", "elements": "str", "default": []},
            "overwrite": {"type": "str"},
            "records": {"type": "path", "default": "/var/lib/perflab/filesystems"},
        },
        mutually_exclusive=[("device", "loop_file"), ("loop_file", "overwrite")],
        required_if=[
            ("state", "mounted", ["mount", "type"]),
            ("state", "mounted", ["device", "loop_file"], True),
            ("all", False, ["mount"]),
        ],
        required_by={"loop_file": ["loop_size"]},
        supports_check_mode=True,
    )
    try:
        module.exit_json(**change(module))
    except (FilesystemError, DeviceError) as error:
        module.fail_json(msg="%s: %s" % (os.uname()[1], error))
    except SavedStateError as error:
        module.fail_json(msg=str(error))


def change(module):
    """Do what the parameters ask for and return the result."""
    params = module.params
    if os.geteuid() != 0:
        raise FilesystemError("file systems are made and mounted by root alone; next: become: true")
    if params["all"] and params["state"] == "mounted":
        raise FilesystemError("all of them can be unmounted or absent; next: choose one of these states")
    run, records, devices = runner(module), Records(params["records"]), BlockDevices()
    filesystem = MeasuredFilesystem(
        devices, Contents(run), LoopDevices(devices.tree), records, run, module.check_mode
    )
    if params["state"] == "mounted":
        wanted = request(params)
        before, after = filesystem.mounted(wanted)
        return dict(result({wanted.mount: before}, {wanted.mount: after}), **filesystem.details(wanted.mount))
    mounts = [record["mount"] for record in records.all()] if params["all"] else [real(params["mount"])]
    return result(*each(getattr(filesystem, params["state"]), mounts))


def request(params):
    """Return the Request that the parameters make; raise FilesystemError where they make none."""
    if params["overwrite"] is not None and params["overwrite"] != params["device"]:
        raise FilesystemError(
            "%s is formatted whatever it holds only if overwrite repeats this path, and it is '%s'; "
            "next: repeat the path word for word, or leave overwrite out"
            % (params["device"], params["overwrite"])
        )
    if not params["type"].isalnum():
        raise FilesystemError("'%s' is no type of file system; next: name one, as ext4" % params["type"])
    for name in ("mount", "device", "loop_file"):
        if params[name] is not None and not os.path.isabs(params[name]):
            raise FilesystemError("%s '%s' is not a full path; next: begin it with /" % (name, params[name]))
    return Request(
        kind=params["type"],
        mount=real(params["mount"]),
        device=params["device"],
        loop_file=real(params["loop_file"]),
        size=size(params["loop_size"]) if params["loop_file"] else None,
        mkfs_options=params["mkfs_options"],
        mount_options=params["mount_options"],
        overwrite=params["overwrite"],
    )


def real(path):
    """Return *path* as the kernel lists it; its last part may be a link, to be refused, or be missing."""
    path = path and path.rstrip("/")
    return path and os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def size(text):
    try:
        return human_to_bytes(text)
    except ValueError:
        raise FilesystemError("'%s' is no size; next: write it as 10G (K, M, G, T: powers of 1024)" % text)


def each(verb, mounts):
    """Apply *verb* to all *mounts*, then raise what failed; return before and after by mount point."""
    before, after, failures = {}, {}, []
    for mount in mounts:
        try:
            before[mount], after[mount] = verb(mount)
        except FilesystemError as error:
            failures.append(str(error))
    if failures:
        raise FilesystemError("; also ".join(failures))
    return before, after


def runner(module):
    """Return a function that runs an argv and returns (rc, stdout, stderr)."""

    def run(argv):
        program = module.get_bin_path(argv[0])
        if program is None:
            return NO_SUCH_PROGRAM, "", "there is no such program"
        return module.run_command([program] + argv[1:], environ_update={"LC_ALL": "C"})

    return run


def result(before, after):
    return {
        "changed": before != after,
        "before": before,
        "after": after,
        "diff": {"before": before, "after": after},
    }


if __name__ == "__main__":
    main()

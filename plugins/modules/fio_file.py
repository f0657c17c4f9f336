#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: fio_file
short_description: Check a folder for fio and lay out the file that it measures in
version_added: 0.1.0
description:
  - Checks that the folder is there, is not in memory where direct I/O is asked for, and has room for the
    file.
  - Runs fio for a moment on a small file with the engine, depth and number of threads of the points, so that
    what a kernel, container or file system forbids is told before anything is measured, with its remedy.
  - Then has fio write the file, C(perflab-fio.data), unless one of the same size is there.
  - Writing takes as long as the disk needs for O(size).
options:
  state:
    description: V(present) checks and lays out; V(absent) removes the file.
    type: str
    choices: [present, absent]
    default: present
  folder:
    description: The folder to measure in.
    type: path
    required: true
  host:
    description: How messages call the host.
    type: str
    default: this host
  fio:
    description: The program. Required with O(state=present).
    type: path
  size:
    description: Size of the file, with K, M, G or T behind it, in whole MiB. Required with O(state=present).
    type: str
  block_sizes:
    description: Block sizes of the points.
    type: list
    elements: str
    default: [4K]
  threads:
    description: Numbers of threads of the points.
    type: list
    elements: int
    default: [1]
  iodepth:
    description: Requests that each thread keeps in flight.
    type: int
    default: 1
  engine:
    description: fio's I/O engine.
    type: str
    default: libaio
  direct:
    description: Whether the page cache is passed by.
    type: bool
    default: true
attributes:
  check_mode:
    description:
      - Says whether the file would be written or removed. fio is not run, and a folder that is not there yet
        is only warned about, since an earlier task may be what makes it.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
author:
  - perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Lay out 100 GiB on the file system under test
  perflab.bench.fio_file:
    folder: /mnt/perflab
    fio: /usr/bin/fio
    size: 100G
    block_sizes: [4K, 16K]
    threads: [1, 48]
    iodepth: 16

- name: Remove it
  perflab.bench.fio_file:
    folder: /mnt/perflab
    state: absent
"""

RETURN = r"""
file:
  description: The file that was laid out, found or removed.
  type: str
  returned: success
  sample: /mnt/perflab/perflab-fio.data
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.perflab.bench.plugins.module_utils.fio_file import (
    FioFileError,
    FioFolder,
    Use,
    to_bytes,
)


def be_present(folder, use, module):
    """Check, and lay the file out unless it is there; return whether something changed."""
    if module.check_mode and not os.path.isdir(module.params["folder"]):
        module.warn("%s is not there: what cannot be done in it is not known yet" % module.params["folder"])
        return True
    folder.check(use)
    missing = not folder.is_laid_out(use)
    if not module.check_mode:
        folder.probe(use, module.params["fio"])
        if missing:
            folder.lay_out(use, module.params["fio"])
    return missing


def be_absent(folder, module):
    """Remove what is ours; return whether something changed."""
    there = folder.leftovers()
    if not module.check_mode:
        folder.remove()
    return bool(there)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "folder": {"type": "path", "required": True},
            "host": {"type": "str", "default": "this host"},
            "fio": {"type": "path"},
            "size": {"type": "str"},
            "block_sizes": {"type": "list", "elements": "str", "default": ["4K"]},
            "threads": {"type": "list", "elements": "int", "default": [1]},
            "iodepth": {"type": "int", "default": 1},
            "engine": {"type": "str", "default": "libaio"},
            "direct": {"type": "bool", "default": True},
        },
        required_if=[("state", "present", ["fio", "size"])],
        supports_check_mode=True,
    )
    params = module.params

    def run(argv):
        rc, out, err = module.run_command(argv, environ_update={"LC_ALL": "C"})
        return rc, out + err

    folder = FioFolder(params["folder"], params["host"], run)
    try:
        if params["state"] == "absent":
            changed = be_absent(folder, module)
        else:
            use = Use(
                size=to_bytes(params["size"]),
                block_sizes=params["block_sizes"],
                threads=max(params["threads"]),
                iodepth=params["iodepth"],
                engine=params["engine"],
                direct=params["direct"],
            )
            changed = be_present(folder, use, module)
    except (FioFileError, ValueError, IOError, OSError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=changed, file=folder.file)


if __name__ == "__main__":
    main()

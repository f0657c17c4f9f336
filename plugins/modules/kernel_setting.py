#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: kernel_setting
short_description: Set kernel settings for a measurement and put them back after
version_added: 0.1.0
description:
  - Sets single values in files under C(/proc/sys) and C(/sys), and reads every value back.
  - Saves the values found to a file on the host before the first change, and restores them from there.
  - Nothing is made permanent; a reboot also brings back what the system sets at boot.
options:
  settings:
    description:
      - The values by the full path of their file.
      - In a file that lists its choices and brackets the chosen one, the value is that one word.
      - Required with O(state=present).
    type: dict
  state:
    description:
      - V(present) saves the values found and sets those given.
      - V(restored) puts back everything that was saved, whatever O(settings) says.
    type: str
    choices: [present, restored]
    default: present
  state_file:
    description:
      - File on the host that keeps the values found.
      - It exists from the first change until everything was put back. A value in it is never overwritten.
    type: path
    default: /var/lib/perflab/kernel_setting.json
  root:
    description: Folder to take for C(/). For tests.
    type: path
    default: /
attributes:
  check_mode:
    description: Says what would change and changes nothing.
    support: full
  diff_mode:
    description: Shows the values before and after.
    support: full
author:
  - perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Turn transparent huge pages off for a measurement
  perflab.bench.kernel_setting:
    settings:
      /sys/kernel/mm/transparent_hugepage/enabled: never
      /proc/sys/vm/overcommit_memory: 1

- name: Put back what was found
  perflab.bench.kernel_setting:
    state: restored
"""

RETURN = r"""
before:
  description: The values found, by path.
  type: dict
  returned: success
  sample: {"/sys/kernel/mm/transparent_hugepage/enabled": "madvise"}
after:
  description: The values after the module ran, by path.
  type: dict
  returned: success
  sample: {"/sys/kernel/mm/transparent_hugepage/enabled": "never"}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.perflab.bench.plugins.module_utils import kernel_files
from ansible_collections.perflab.bench.plugins.module_utils.saved_state import SavedStateError
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs


def main():
    module = AnsibleModule(
        argument_spec={
            "settings": {"type": "dict"},
            "state": {"type": "str", "choices": ["present", "restored"], "default": "present"},
            "state_file": {"type": "path", "default": "/var/lib/perflab/kernel_setting.json"},
            "root": {"type": "path", "default": "/"},
        },
        required_if=[("state", "present", ["settings"])],
        supports_check_mode=True,
    )
    params = module.params
    files = kernel_files.KernelFiles(Sysfs(params["root"]))
    try:
        if params["state"] == "present":
            before, after = kernel_files.apply(
                files, params["settings"], params["state_file"], module.check_mode
            )
        else:
            before, after = kernel_files.restore(files, params["state_file"], module.check_mode)
    except (kernel_files.KernelFileError, SavedStateError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(
        changed=before != after, before=before, after=after, diff={"before": before, "after": after}
    )


if __name__ == "__main__":
    main()

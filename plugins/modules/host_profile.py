#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: host_profile
short_description: Record what a host is made of
version_added: 0.1.0
description:
  - Reads what a reviewer of a measurement asks about its host. This is CPU, caches, NUMA, cpufreq, memory,
    kernel and its command line, mitigations, transparent huge pages, clock source, OS, libc, block devices,
    file systems, virtualisation and firmware.
  - Reads C(/proc), C(/sys) and C(/etc) only and starts no program. What a host does not tell is null.
options:
  host:
    description: Inventory name of the host, as it is to stand in the profile. Known to the task by default.
    type: str
  dest:
    description: File on the controller to write the profile to. One that exists is left alone.
    type: path
  settings:
    description: Settings of the services that are measured, by service, to stand in the profile.
    type: dict
    default: {}
  root:
    description: Where C(proc), C(sys) and C(etc) lie; for tests.
    type: path
    default: /
attributes:
  check_mode:
    description: The host is read, the file is not written.
    support: full
  diff_mode:
    description: The file is new or left alone.
    support: none
author: perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Record what the host is made of
  perflab.bench.host_profile:
    dest: "{{ run_dir }}/{{ inventory_hostname }}/host.json"
"""

RETURN = r"""
profile:
  description: The profile, schema 1. Not there if O(dest) existed.
  type: dict
  returned: when the host was read
"""

import os
import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.perflab.bench.plugins.module_utils import profile_cpu, profile_system
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs

SCHEMA = 1


def collect(host, root="/", settings=None):
    """Return the document of host.json."""
    files = Sysfs(root)
    proc, sys = Sysfs(os.path.join(root, "proc")), Sysfs(os.path.join(root, "sys"))
    return {
        "schema": SCHEMA,
        "host": host,
        "collected_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cpu": profile_cpu.read_cpu(proc, sys, os.uname()[4]),
        "cpufreq": profile_cpu.read_cpufreq(sys),
        "memory": profile_system.read_memory(proc),
        "kernel": profile_system.read_kernel(proc, sys),
        "os": profile_system.read_os(files),
        "machine": profile_system.read_machine(sys),
        "virtualisation": profile_system.read_virtualisation(files, proc, sys),
        "block_devices": profile_system.read_block_devices(sys),
        "file_systems": profile_system.read_file_systems(proc),
        "settings": settings or {},
    }


def main():
    module = AnsibleModule(
        argument_spec={
            "host": {"type": "str"},
            "dest": {"type": "path"},
            "settings": {"type": "dict", "default": {}},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    params = module.params
    module.exit_json(changed=False, profile=collect(params["host"], params["root"], params["settings"]))


if __name__ == "__main__":
    main()

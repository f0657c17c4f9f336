#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: cpu_frequency
short_description: Set CPU frequency, governor, limits and turbo, and put them back
version_added: 0.1.0
description:
  - Sets every cpufreq policy of the host through sysfs. Needs no program on the host but Python.
  - Works with the drivers acpi-cpufreq, cppc_cpufreq, intel_pstate (active and passive), amd-pstate
    (active, guided and passive) and cpufreq-dt. Offline CPUs are listed and left alone.
  - A frequency is pinned with the governor C(userspace) where the driver offers it, else by making
    both limits equal.
  - Each request starts from the values found before the first change, whatever was set in between.
    These are in O(state_file), saved before the first write and kept until O(state=restored).
  - Every write is read back. Where one fails, whatever was already changed is put back.
options:
  frequency:
    description:
      - Frequency to pin, as V(2.5GHz), V(2500 MHz) or V(2500000 kHz), or V(max), V(min), V(as_found).
      - Excludes O(minimum) and O(maximum).
    type: str
    default: as_found
  governor:
    description:
      - Governor to set; that found if left out.
      - With O(frequency), any governor but V(userspace) is held by equal limits.
    type: str
  minimum:
    description: Lower limit, in the forms of O(frequency).
    type: str
    default: as_found
  maximum:
    description: Upper limit, in the forms of O(frequency).
    type: str
    default: as_found
  turbo:
    description:
      - Whether CPUs may run above their nominal frequency (Intel Turbo Boost, AMD Core Performance Boost).
      - Switched before anything else, since it moves the hardware's limits.
        A maximum that stood at the hardware's limit follows it.
    type: str
    choices: ['on', 'off', as_found]
    default: as_found
  nearest:
    description: Take the nearest frequency that the hardware has, and say so, instead of failing.
    type: bool
    default: false
  state:
    description:
      - V(present) sets what the other options ask for.
      - V(restored) puts the values in O(state_file) back and removes the file. If a policy is gone (its CPUs
        are offline), the others are put back, the task fails naming it, and the file stays.
    type: str
    choices: [present, restored]
    default: present
  state_file:
    description: File on the host that holds the values found until they are restored.
    type: path
    default: /var/lib/perflab/cpu_frequency.json
  sysfs:
    description: Where sysfs is mounted.
    type: path
    default: /sys
  proc:
    description: Where proc is mounted; daemons that would change the frequency again are looked for there.
    type: path
    default: /proc
attributes:
  check_mode:
    description: Foretells O(ignore:after) without writing; a note says where only switching turbo would tell.
    support: full
  diff_mode:
    description: Shows the state of every policy and of turbo before and after.
    support: full
author:
  - perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Pin all CPUs at 2 GHz
  perflab.bench.cpu_frequency:
    frequency: 2GHz
  become: true

- name: Measure without turbo, under the performance governor
  perflab.bench.cpu_frequency:
    governor: performance
    turbo: 'off'
  become: true

- name: Put back what was found
  perflab.bench.cpu_frequency:
    state: restored
  become: true
"""

RETURN = r"""
before:
  description:
    - Turbo (on, off, mixed, or null where there is no switch) and each policy's values before the task.
  returned: success
  type: dict
  sample: &state
    turbo: 'off'
    policies:
      policy0:
        governor: ondemand
        hardware_maximum_khz: 2600000
        maximum_khz: 2600000
        minimum_khz: 200000
after:
  description: The same after the task, read back; in check mode as foretold.
  returned: success
  type: dict
  sample: *state
achieved_khz:
  description:
    - Frequency of each policy after the task, as measured if the hardware tells, else as set.
    - Empty in check mode, where nothing was set.
  returned: success
  type: dict
  sample: {policy0: 2000000}
drivers:
  description: The cpufreq drivers of the policies.
  returned: success
  type: list
  elements: str
  sample: [cppc_cpufreq]
offline_cpus:
  description: CPUs that are offline and left alone.
  returned: success
  type: list
  elements: int
  sample: [3]
daemons:
  description: What runs (or starts at boot) on the host and would change the frequency again; also a warning.
  returned: success
  type: list
  elements: str
  sample: [tuned]
notes:
  description: A nearest step taken, a frequency set but not achieved, policies left alone.
  returned: success
  type: list
  elements: str
  sample: ['policy0: 2.4GHz instead of 2.5GHz, the nearest step']
cpufreq:
  description: Whether the host has cpufreq at all; where not, the failure says what else can be done.
  returned: always
  type: bool
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.perflab.bench.plugins.module_utils import cpufreq_change, cpufreq_daemons
from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import CPU, Cpufreq, CpufreqError
from ansible_collections.perflab.bench.plugins.module_utils.cpufreq_plan import Request
from ansible_collections.perflab.bench.plugins.module_utils.frequency import FrequencyError
from ansible_collections.perflab.bench.plugins.module_utils.saved_state import SavedStateError
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs

REQUEST = ("frequency", "governor", "minimum", "maximum", "turbo", "nearest")
NO_CPUFREQ = (
    "this host has no cpufreq (%s/cpufreq holds no policy, as in most virtual machines), so its frequency "
    "cannot be set; next: measure a physical host, or set the frequency on its hypervisor "
    "(cpu_frequency_host: INVENTORY_NAME), or limit CPU bandwidth instead (cpu_frequency_method: quota)"
)


def main():
    module = AnsibleModule(
        argument_spec={
            "frequency": {"type": "str", "default": "as_found"},
            "governor": {"type": "str"},
            "minimum": {"type": "str", "default": "as_found"},
            "maximum": {"type": "str", "default": "as_found"},
            "turbo": {"type": "str", "choices": ["on", "off", "as_found"], "default": "as_found"},
            "nearest": {"type": "bool", "default": False},
            "state": {"type": "str", "choices": ["present", "restored"], "default": "present"},
            "state_file": {"type": "path", "default": "/var/lib/perflab/cpu_frequency.json"},
            "sysfs": {"type": "path", "default": "/sys"},
            "proc": {"type": "path", "default": "/proc"},
        },
        supports_check_mode=True,
    )
    sysfs = Sysfs(module.params["sysfs"])
    cpufreq = Cpufreq(sysfs)
    present = bool(cpufreq.policies)
    try:
        before, after, notes = change(module, cpufreq)
    except (CpufreqError, FrequencyError, SavedStateError) as error:
        module.fail_json(msg=str(error), cpufreq=present)
    daemons = cpufreq_daemons.find(module.params["proc"]) if present else []
    if daemons:
        module.warn(cpufreq_daemons.warning(daemons))
    before, after = cpufreq_change.public(before), cpufreq_change.public(after)
    achieved = (
        {} if module.check_mode else {policy.name: policy.achieved_khz() for policy in cpufreq.policies}
    )
    module.exit_json(
        changed=before != after,
        before=before,
        after=after,
        diff={"before": before, "after": after},
        achieved_khz=achieved,
        drivers=sorted({policy.driver for policy in cpufreq.policies}),
        offline_cpus=cpufreq.offline_cpus,
        daemons=daemons,
        notes=cpufreq_change.sentences(notes),
        cpufreq=present,
    )


def change(module, cpufreq):
    """Do what the parameters ask for; return (before, after, notes)."""
    params = module.params
    if params["state"] == "restored":
        return cpufreq_change.restore(cpufreq, params["state_file"], module.check_mode)
    request = Request(**{name: params[name] for name in REQUEST})
    if not cpufreq.policies:
        raise CpufreqError(NO_CPUFREQ % cpufreq.turbo.sysfs.path(CPU))
    return cpufreq_change.apply(cpufreq, request, params["state_file"], module.check_mode)


if __name__ == "__main__":
    main()

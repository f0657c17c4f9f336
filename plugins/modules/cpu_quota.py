#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: cpu_quota
short_description: Limit the CPU bandwidth of a service, and of a client that shares its host
version_added: 0.1.0
description:
  - Where the CPU frequency cannot be set, a limit on CPU time stands in for a slower clock. It is not a
    frequency - the service runs at full speed until its share of the period is used up, then waits - and
    is called a quota everywhere.
  - Where systemd runs, the unit gets C(CPUQuota) until the next boot, and a client is run in a scope
    with the same limit. Elsewhere both get control groups of their own (v1 or v2), V(perflab/server), into
    which the process is moved, and V(perflab/client).
options:
  quota:
    description: Share of the CPUs' time, as V(77%). Required with O(state=present).
    type: str
  cpus:
    description: Number of CPUs that V(100%) stands for - as many as the service can use.
    type: int
    default: 1
  period_ms:
    description:
      - Length of a period; a short one is nearer to a slow clock, a long one costs less.
      - Made longer where the quota would be below the 1 ms that the kernel asks for.
    type: int
    default: 10
  unit:
    description: The service's unit, where systemd runs.
    type: str
    default: perflab-redis.service
  pid_file:
    description: File that holds the service's process id, where systemd does not run.
    type: path
    default: /run/perflab-redis/redis.pid
  state:
    description: V(absent) lifts the limit and removes the groups.
    type: str
    choices: [present, absent]
    default: present
attributes:
  check_mode:
    description: Foretells O(ignore:after) without writing.
    support: full
  diff_mode:
    description: Shows the limits before and after.
    support: full
author:
  - perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Give Redis 77 per cent of one CPU
  perflab.bench.cpu_quota:
    quota: 77%
  become: true

- name: Lift the limit
  perflab.bench.cpu_quota:
    state: absent
  become: true
"""

RETURN = r"""
method:
  description: What limits - systemd, cgroup, or none where the host has no cpu controller.
  returned: success
  type: str
  sample: cgroup
quota_pct:
  description: The per cent asked for; null without a limit.
  returned: success
  type: float
  sample: 77.0
before:
  description: The limits before the task; the client's and the process ids with method cgroup only.
  returned: success
  type: dict
  sample: {server: null, client: null, pids: []}
after:
  description: The limits after the task, read back; in check mode as foretold.
  returned: success
  type: dict
  sample:
    client: {quota_us: 7700, period_us: 10000}
    server: {quota_us: 7700, period_us: 10000}
    pids: [4711]
client_prefix:
  description: Words to put before a client's own so that it is limited too; empty without a limit.
  returned: success
  type: list
  elements: str
  sample: [systemd-run, --scope, --quiet, -p, CPUQuota=77%, -p, CPUQuotaPeriodSec=10ms, --]
throttle_file:
  description: The service's cpu.stat, which counts the periods in which it waited; empty without a limit.
  returned: success
  type: str
  sample: /sys/fs/cgroup/cpu/perflab/server/cpu.stat
notes:
  description: Where the limit differs from what was asked for.
  returned: success
  type: list
  elements: str
  sample: []
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.perflab.bench.plugins.module_utils import cpu_quota
from ansible_collections.perflab.bench.plugins.module_utils.cgroup_quota import ControlGroups
from ansible_collections.perflab.bench.plugins.module_utils.cpu_quota import QuotaError
from ansible_collections.perflab.bench.plugins.module_utils.frequency import FrequencyError, parse_quota
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs
from ansible_collections.perflab.bench.plugins.module_utils.systemd_quota import Unit

NO_CONTROLLER = (
    "no cgroup hierarchy with the cpu controller is mounted writable (/proc/mounts), so CPU bandwidth cannot "
    "be limited; next: mount one (mount -t cgroup -o cpu cpu /sys/fs/cgroup/cpu), delegate it to this "
    "container, or measure another host"
)
NO_SERVICE = (
    "the service to limit does not run (%s); next: start it, or name it (unit with systemd, else pid_file; "
    "cpu_frequency_quota_unit and cpu_frequency_quota_pid_file in the role)"
)


def main():
    module = AnsibleModule(
        argument_spec={
            "quota": {"type": "str"},
            "cpus": {"type": "int", "default": 1},
            "period_ms": {"type": "int", "default": 10},
            "unit": {"type": "str", "default": "perflab-redis.service"},
            "pid_file": {"type": "path", "default": "/run/perflab-redis/redis.pid"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        required_if=[("state", "present", ["quota"])],
        supports_check_mode=True,
    )
    try:
        module.exit_json(**change(module))
    except (QuotaError, FrequencyError) as error:
        module.fail_json(msg=str(error))


def change(module):
    """Do what the parameters ask for and return the result."""
    params = module.params
    percent = limit = None
    if params["state"] == "present":
        percent = parse_quota(params["quota"])
        limit = cpu_quota.limit(percent, params["cpus"], params["period_ms"])
    hierarchy = cpu_quota.find_hierarchy()
    if hierarchy is None and limit is not None:
        raise QuotaError(NO_CONTROLLER)
    if hierarchy is None:
        return result("none", {}, {})
    method, service, limiter = choose(module, *hierarchy)
    if limit is not None and not module.check_mode and not limiter.service_runs():
        raise QuotaError(NO_SERVICE % service)
    before, after = limiter.read(), limiter.foretell(limit)
    if before != after and not module.check_mode:
        limiter.remove() if limit is None else limiter.apply(limit)
        after = limiter.read()
    if limit is None:
        return result(method, before, after)
    return result(
        method,
        before,
        after,
        quota_pct=percent,
        client_prefix=limiter.client_prefix(limit),
        throttle_file=limiter.throttle_file(),
        notes=limiter.notes,
    )


def choose(module, mount, version):
    """Return (method, the service's name in it, the object that limits)."""
    sysfs = Sysfs(mount)
    unit, pid_file = module.params["unit"], module.params["pid_file"]
    # What sd_booted(3) looks at: a systemctl that is only installed proves nothing.
    if os.path.isdir("/run/systemd/system"):
        return "systemd", unit, Unit(unit, module.run_command, sysfs, version)
    return "cgroup", pid_file, ControlGroups(sysfs, version, pid_file)


def result(method, before, after, quota_pct=None, client_prefix=(), throttle_file="", notes=()):
    return {
        "changed": before != after,
        "method": method,
        "before": before,
        "after": after,
        "diff": {"before": before, "after": after},
        "quota_pct": quota_pct,
        "client_prefix": list(client_prefix),
        "throttle_file": throttle_file,
        "notes": list(notes),
    }


if __name__ == "__main__":
    main()

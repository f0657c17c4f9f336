#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: run_point
short_description: Run one point of a run and record it
version_added: 0.1.0
description:
  - Runs one command under observation and leaves its logs and a C(point.json) in a folder on the host.
  - The command runs under a supervisor that does not belong to the connection, so a dropped connection
    costs nothing. The task waits for it without starting anything on the measured host, and reconnects if it
    has to.
  - A point that is already finished on the host is returned, not run again; one that is running is waited
    for. What a supervisor left that was killed is cleared and run anew.
  - A benchmark that fails does not fail the task; it is warned about. The C(status) of its point is
    C(failed), C(timeout) or C(interrupted), with a C(reason). The task fails when there is no record, because
    the folder cannot be written or the supervisor was killed.
  - While the command runs, the achieved frequency of the busy CPUs, throttle counters, steal and load are
    read once an interval.
  - Needs C(flock) (util-linux) on the host.
options:
  dir:
    description: Folder of the point on the host. It belongs to this point alone.
    type: path
    required: true
  point:
    description: What is being measured, as it is to stand in C(point.json).
    type: dict
    required: true
    suboptions:
      run_id: {description: The run., type: str, required: true}
      study: {description: The study., type: str, required: true}
      point_id: {description: The point., type: str, required: true}
      host: {description: Inventory name of the host., type: str, required: true}
      workload: {description: The workload., type: str, required: true}
      factors: {description: 'The condition, one level a factor.', type: dict, required: true}
      params: {description: The workload's settings., type: dict, required: true}
      repeat: {description: 'Which repeat, from 1.', type: int, required: true}
      order: {description: 'Place in the sequence of its host, from 1.', type: int, required: true}
      tool_version: {description: Version of the tool that is run., type: str}
      setting: {description: 'What set the condition, and what it achieved.', type: dict}
  argv:
    description: The command and its arguments. C({secret:NAME}) stands for a secret.
    type: list
    elements: str
    required: true
  env:
    description: Environment variables for the command. C({secret:NAME}) stands for a secret.
    type: dict
    default: {}
  secrets:
    description:
      - Secrets by name. Wherever a value appears in output, in kept files or in a reason, the placeholder is
        written in its place.
      - A secret in O(argv) can be seen in the host's process list while the command runs; prefer O(env) where
        the command allows it.
    type: dict
    default: {}
  before:
    description: Commands that must succeed before the point may run, in order.
    type: list
    elements: dict
    default: []
    suboptions: &step
      argv: {description: The command and its arguments., type: list, elements: str, required: true}
      env: {description: Environment variables for the command., type: dict, default: {}}
      expect: {description: 'Regular expression that the output must match.', type: str}
      log: {description: 'Name of a log to keep the output in.', type: str}
      timeout_s: {description: 'The command is ended after this many seconds.', type: float, default: 60}
      required: {description: 'Whether the point fails with it.', type: bool, default: true}
  after:
    description:
      - Commands to run after the workload, in order, to measure again what was measured before it.
      - The point does not fail with them.
    type: list
    elements: dict
    default: []
    suboptions: *step
  stdout_name:
    description: Name of the log that holds standard output.
    type: str
    default: stdout.log
  stderr_name:
    description: Name of the log that holds standard error.
    type: str
    default: stderr.log
  timeout_s:
    description: The command's process group is ended after this many seconds, by SIGTERM and then by SIGKILL.
    type: float
    default: 3600
  settle_s:
    description:
      - Seconds to wait before anything is run.
      - Not 0 by default, so that what started the point (Python, SSH, Ansible on the controller) has come to
        rest.
    type: float
    default: 0.3
  sample_interval_s:
    description: Seconds between two readings of the host while the command runs.
    type: float
    default: 1
  cwd:
    description: Folder to run in. By default one that is made for the point and removed after it.
    type: path
  keep:
    description: Files (names or globs, relative to the folder the command runs in) to keep as logs.
    type: list
    elements: str
    default: []
  throttle_file:
    description: The C(cpu.stat) of a cgroup whose throttled periods are to be counted.
    type: path
  root:
    description: Where C(proc) and C(sys) lie; for tests.
    type: path
    default: /
attributes:
  check_mode:
    description: Running is an action. In check mode the task is skipped.
    support: none
  diff_mode:
    description: There is nothing to compare.
    support: none
author: perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Run one point
  perflab.bench.run_point:
    dir: /var/lib/perflab/runs/20261130T101500Z-freq_sweep/001-redis_benchmark-2.5GHz-as_found-r1
    point: "{{ planned | combine({'run_id': run_current_id, 'study': 'freq_sweep'}) }}"
    argv: [redis-benchmark, -p, "16379", -a, "{secret:redis}", --csv]
    secrets:
      redis: "{{ redis_password }}"
    before:
      - argv: [redis-cli, -p, "16379", ping]
        env:
          REDISCLI_AUTH: "{secret:redis}"
        expect: PONG
    stdout_name: redis-benchmark.csv
    settle_s: 5
    timeout_s: 900
  register: measured
"""

RETURN = r"""
point:
  description: The document of C(point.json).
  type: dict
  returned: success
dir:
  description: Folder of the point on the host.
  type: str
  returned: always
state:
  description: What the task found or did - V(started), V(running) or V(finished).
  type: str
  returned: always
"""

import json
import os
import shutil

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.perflab.bench.plugins.module_utils import detach, point_supervisor
from ansible_collections.perflab.bench.plugins.module_utils.redact import fill

POINT_SPEC = {
    "run_id": {"type": "str", "required": True},
    "study": {"type": "str", "required": True},
    "point_id": {"type": "str", "required": True},
    "host": {"type": "str", "required": True},
    "workload": {"type": "str", "required": True},
    "factors": {"type": "dict", "required": True},
    "params": {"type": "dict", "required": True},
    "repeat": {"type": "int", "required": True},
    "order": {"type": "int", "required": True},
    "tool_version": {"type": "str"},
    "setting": {"type": "dict"},
}
STEP_SPEC = {
    "argv": {"type": "list", "elements": "str", "required": True},
    "env": {"type": "dict", "default": {}},
    "expect": {"type": "str"},
    "log": {"type": "str"},
    "timeout_s": {"type": "float", "default": point_supervisor.STEP_TIMEOUT_S},
    "required": {"type": "bool", "default": True},
}
ARGUMENT_SPEC = {
    "dir": {"type": "path", "required": True},
    "point": {"type": "dict", "required": True, "options": POINT_SPEC},
    "argv": {"type": "list", "elements": "str", "required": True},
    "env": {"type": "dict", "default": {}},
    "secrets": {"type": "dict", "default": {}, "no_log": True},
    "before": {"type": "list", "elements": "dict", "default": [], "options": STEP_SPEC},
    "after": {"type": "list", "elements": "dict", "default": [], "options": STEP_SPEC},
    "stdout_name": {"type": "str", "default": "stdout.log"},
    "stderr_name": {"type": "str", "default": "stderr.log"},
    "timeout_s": {"type": "float", "default": 3600},
    "settle_s": {"type": "float", "default": 0.3},
    "sample_interval_s": {"type": "float", "default": 1},
    "cwd": {"type": "path"},
    "keep": {"type": "list", "elements": "str", "default": []},
    "throttle_file": {"type": "path"},
    "root": {"type": "path", "default": "/"},
}


def check(job):
    """Raise ValueError where the arguments cannot be run."""
    steps = job["before"] + job["after"]
    names = [job["stdout_name"], job["stderr_name"]] + [step["log"] for step in steps if step["log"]]
    if len(set(names)) < len(names) or any(os.path.basename(name) != name for name in names):
        raise ValueError(
            "stdout_name, stderr_name and the logs of steps are plain names, each its own, not %s"
            % ", ".join(names)
        )
    if min(job["timeout_s"], job["sample_interval_s"]) <= 0:
        raise ValueError("timeout_s and sample_interval_s are seconds above 0")
    for command in [job] + steps:
        if not command["argv"]:
            raise ValueError("argv needs at least the program's name")
        for word in command["argv"] + list(command["env"].values()):
            fill(word, job["secrets"])


def finished(folder):
    """Whether the folder holds the record of a point that ran to its end."""
    try:
        with open(os.path.join(folder, point_supervisor.POINT_FILE)) as handle:
            return json.load(handle)["status"] != "interrupted"
    except (IOError, OSError, ValueError, KeyError):
        return False


def clear(folder):
    """Remove what an earlier attempt left; the lock stays, since we hold it."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif name != point_supervisor.LOCK_FILE:
            os.unlink(path)


def start(job):
    """Start the supervisor unless the point is running or finished; return which of the three it is."""
    folder = job["dir"]
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o755)
    lock = detach.take_lock(os.path.join(folder, point_supervisor.LOCK_FILE))
    if lock is None:
        return "running"
    if finished(folder):
        return "finished"
    clear(folder)
    pid = detach.detach(lambda: point_supervisor.supervise(job), lock, "perflab-point")
    os.ftruncate(lock, 0)
    os.write(lock, b"%d\n" % pid)
    return "started"


def main():
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=False)
    job = module.params
    try:
        check(job)
    except ValueError as error:
        module.fail_json(msg=str(error), dir=job["dir"])
    try:
        state = start(job)
    except (IOError, OSError) as error:
        module.fail_json(
            msg="cannot use %s on this host: %s; see to it, or set point_host_dir"
            % (job["dir"], error.strerror),
            dir=job["dir"],
        )
    limit_s = job["settle_s"] + job["timeout_s"]
    limit_s += sum(step["timeout_s"] for step in job["before"] + job["after"])
    module.exit_json(changed=state == "started", state=state, dir=job["dir"], limit_s=limit_s)


if __name__ == "__main__":
    main()

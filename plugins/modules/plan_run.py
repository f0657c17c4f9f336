#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plug-in of the same name."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: plan_run
short_description: Plan a run and write its run.json on the controller
version_added: 0.1.0
description:
  - Expands what every host asks for into its points, orders them and writes C(run.json) before any host is
    changed.
  - One repeat of every condition comes before the next repeat of any, each in a shuffled order of its own.
    The seed is recorded and gives the same order again.
  - Given the O(run_id) of a run that exists, resumes it. Points that ran to their end and were fetched are
    not pending any more.
options:
  study:
    description: Name of the study.
    type: str
    required: true
  hosts:
    description:
      - What each host asks for, by inventory name.
      - C(factors) maps a factor to its list of levels; C(repeats) is a number; C(workloads) is a list of
        C(workload) and C(params); C(frequency_host) names the machine whose frequency is set, if it is not
        the host itself.
    type: dict
    required: true
  runs_dir:
    description: Folder on the controller that holds the runs.
    type: path
    required: true
  run_id:
    description: The run to resume, or a name for a new one. By default the start in UTC and the study.
    type: str
  seed:
    description: Seed of the order. Random by default.
    type: int
  profile:
    description: Name of the profile, to be recorded.
    type: str
  playbook:
    description: Name of the playbook, to be recorded.
    type: str
attributes:
  check_mode:
    description: The plan is returned, nothing is written.
    support: full
  diff_mode:
    description: A run is new; there is nothing to compare.
    support: none
author: perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Plan the run
  perflab.bench.plan_run:
    study: freq_sweep
    runs_dir: ./runs
    hosts:
      kunpeng-1:
        factors:
          frequency: [as_found, 2.5GHz, 1.0GHz]
          turbo: [as_found]
        repeats: 3
        workloads:
          - workload: redis_benchmark
            params: {clients: 50, requests: 100000}
  run_once: true
  register: plan
"""

RETURN = r"""
run_id:
  description: The run.
  type: str
  returned: success
run_dir:
  description: Folder of the run on the controller.
  type: str
  returned: success
seed:
  description: Seed that gave the order.
  type: int
  returned: success
points:
  description: The points that each host has still to run, in order.
  type: dict
  returned: success
"""

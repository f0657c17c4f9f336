#!/usr/bin/python
# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plug-in of the same name."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: fetch_point
short_description: Fetch a point's record and logs to the controller
version_added: 0.1.0
description:
  - Brings C(point.json) and the logs it lists in one command, compares every log with its recorded size and
    SHA-256, and only then puts the folder in place. A folder on the controller with a C(point.json) is whole.
  - A finished point that the controller has already is not fetched again.
  - Needs C(tar), C(gzip) and C(base64) on the host; no Python.
options:
  src:
    description: Folder of the point on the host.
    type: path
    required: true
  dest:
    description: Folder of the point on the controller.
    type: path
    required: true
attributes:
  check_mode:
    description: Says whether the point would be fetched; a point that was not run in check mode cannot be.
    support: full
  diff_mode:
    description: Logs are not compared.
    support: none
author: perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Fetch the point
  perflab.bench.fetch_point:
    src: "{{ measured.dir }}"
    dest: "{{ run_dir }}/{{ inventory_hostname }}/{{ planned.point_id }}"
"""

RETURN = r"""
dest:
  description: Folder of the point on the controller.
  type: str
  returned: always
"""

# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From the settings that a role is given to the workloads that it asks a run for. Controller only."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

DOCUMENTATION = r"""
name: sweep
short_description: Make a workload of every combination of settings
version_added: 0.1.0
description:
  - Turns settings, of which some are lists, into the list of workloads that the role
    P(perflab.bench.run#role) takes.
  - A text with commas is a list too, and digits are a number, since that is how C(--extra-vars) hands them
    over.
positional: _input
options:
  _input:
    description: Settings by name. The last one varies fastest.
    type: dict
    required: true
  workload:
    description: Name of the workload.
    type: str
    required: true
author:
  - perflab authors (@perflab)
"""

EXAMPLES = r"""
- name: Ask for four points
  ansible.builtin.include_role:
    name: perflab.bench.run
    tasks_from: request
  vars:
    run_factors: {}
    run_workloads: "{{ {'block_size': ['4K', '16K'], 'threads': [1, 4]} | perflab.bench.sweep('fio') }}"
"""

RETURN = r"""
_value:
  description: One entry for each combination, with C(workload) and C(params).
  type: list
  elements: dict
"""


def sweep(settings: Mapping[str, Any], workload: str) -> list[dict[str, Any]]:
    """Return ``{workload, params}`` for every combination of the settings' levels."""
    levels = [_levels(value) for value in settings.values()]
    return [
        {"workload": workload, "params": dict(zip(settings, combined, strict=True))}
        for combined in itertools.product(*levels)
    ]


def _levels(value: Any) -> list[Any]:
    if isinstance(value, str):
        value = value.split(",")
    elif not isinstance(value, (list, tuple)):
        value = [value]
    return [_plain(level) for level in value]


def _plain(level: Any) -> Any:
    if not isinstance(level, str):
        return level
    text = level.strip()
    return int(text) if text.isdecimal() else text


class FilterModule:
    """The collection's filters, as Ansible looks for them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"sweep": sweep}

"""What a play remembers of the roles that its hosts load again and again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - include_tasks: point.yml
      loop: [1, 2, 3]
    - debug: {msg: "heard {{ shared }} {{ own }} {{ secret | default('nothing') }}"}
"""
POINT = """
- import_role: {name: first}
- import_role: {name: second}
- include_role: {name: private}
"""
DEFAULTS = {
    "first": {"shared": "first", "own": "kept"},
    "second": {"shared": "second"},
    "private": {"secret": "told"},
}
# How many roles the play has in the end; its file is found beside the playbook.
COUNT = """
from ansible.plugins.callback import CallbackBase

class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_NAME = "count"

    def v2_playbook_on_play_start(self, play):
        self._play = play

    def v2_playbook_on_stats(self, stats):
        self._display.display(f"roles: {len(self._play.roles)}")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "play.yml").write_text(PLAY)
    (tmp_path / "point.yml").write_text(POINT)
    for role, defaults in DEFAULTS.items():
        for folder in ("defaults", "tasks"):
            (tmp_path / "roles" / role / folder).mkdir(parents=True)
        (tmp_path / "roles" / role / "defaults/main.yml").write_text(json.dumps(defaults))
        (tmp_path / "roles" / role / "tasks/main.yml").write_text("- debug: {msg: done}\n")
    (tmp_path / "callback_plugins").mkdir()
    (tmp_path / "callback_plugins/count.py").write_text(COUNT)
    return tmp_path


def play(project: Path, enabled: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", str(project / "play.yml"), "-i", "a,b", "-c", "local"],
        cwd=ROOT, env=os.environ | {"ANSIBLE_CALLBACKS_ENABLED": enabled},
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    ("enabled", "roles"), [("perflab.bench.distinct_roles", 3), ("perflab.bench.pace", 9)]
)
def test_a_role_counts_once_and_no_variable_changes(project: Path, enabled: str, roles: int) -> None:
    """With another callback instead, once for each point; what private roles know stays theirs."""
    output = play(project, enabled)
    assert output.count("heard second kept nothing") == 2, output
    assert f"roles: {roles}" in output

# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Lets a play keep a role once, however often its tasks were loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible.plugins.callback import CallbackBase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ansible.playbook.included_file import IncludedFile
    from ansible.playbook.play import Play
    from ansible.playbook.role import Role

DOCUMENTATION = """
name: distinct_roles
type: notification
short_description: Keep a role once in a play, however often its tasks were loaded
version_added: 0.1.0
author:
  - perflab authors (@perflab)
description:
  - Whenever a host includes a file or a role, at every point of a study, Ansible appends the roles that are
    loaded with it to the roles of the play. To put a task's variables together it goes through all of them.
    So a task costs the controller the more, the more hosts there are and the more points they have measured.
  - This callback keeps of equal roles the last, which is the one whose variables count. No variable changes.
requirements:
  - enabled in configuration (C(callbacks_enabled = perflab.bench.distinct_roles))
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "perflab.bench.distinct_roles"
    CALLBACK_NEEDS_ENABLED = True

    _play: Play

    def v2_playbook_on_play_start(self, play: Play) -> None:
        self._play = play

    def v2_playbook_on_include(self, included_file: IncludedFile) -> None:
        self._play.roles = distinct(self._play.roles)


def distinct(roles: Iterable[Role]) -> list[Role]:
    """Return the roles in their order without those that an equal one follows, loaded as public as it is."""
    kept: list[Role] = []
    for role in reversed(list(roles)):
        if not any(role == other and role.public == other.public for other in kept):
            kept.append(role)
    return kept[::-1]

# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Lets Ansible look for work less often the more hosts a play has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible import constants
from ansible.plugins.callback import CallbackBase

if TYPE_CHECKING:
    from ansible.playbook.play import Play

DOCUMENTATION = """
name: pace
type: notification
short_description: Look for work less often the more hosts a play has
version_added: 0.1.0
author:
  - perflab authors (@perflab)
description:
  - Between two rounds of its loop Ansible sleeps for C(internal_poll_interval). In every round the strategies
    look at every host of the play, also at those whose point is being measured. So each host costs the
    controller more the more hosts there are, for as long as points take.
  - This callback makes the interval longer in proportion to the hosts of the play, so that a host costs the
    same however many there are. Up to eight hosts it stays what the configuration says.
requirements:
  - enabled in configuration (C(callbacks_enabled = perflab.bench.pace))
"""

_HOSTS_AT_ONCE = 8  # up to so many the configured interval costs nothing worth saving


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "perflab.bench.pace"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._interval_s = constants.DEFAULT_INTERNAL_POLL_INTERVAL

    def v2_playbook_on_play_start(self, play: Play) -> None:
        hosts = play.get_variable_manager().get_vars(play=play)["ansible_play_hosts_all"]
        constants.DEFAULT_INTERNAL_POLL_INTERVAL = interval_s(self._interval_s, len(hosts))


def interval_s(configured_s: float, hosts: int) -> float:
    """Return the seconds between two rounds for that many hosts."""
    return configured_s * max(1.0, hosts / _HOSTS_AT_ONCE)

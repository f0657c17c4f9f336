# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Run a shell command on the host from an action plugin, and outlast a dropped connection.

A measured point is too dear to lose to one.
"""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleAuthenticationFailure, AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

_LONGEST_PAUSE_S = 30

display = Display()


def run_on_host(action: ActionBase, host: str, command: str, patience_s: float) -> dict[str, Any]:
    """Run *command* in the host's shell, become included; return stdout, stderr and rc.

    When the connection drops, the command is run again over a new one, so it must bear that.

    Something is sent on its standard input, for then ssh allocates no terminal: with one, what sudo or a
    login shell has to say (an unresolvable host name, a banner) would arrive amid the command's output.

    :param patience_s: the seconds after which a connection that stays lost is an error.
    :raises AnsibleConnectionFailure: the host cannot be reached any more; at once, if it refuses the login.
    """
    deadline = time.monotonic() + patience_s
    pause_s = 1.0
    while True:
        try:
            return dict(action._low_level_execute_command(command, in_data=b"\n"))
        except AnsibleAuthenticationFailure:
            raise
        except AnsibleConnectionFailure:
            if time.monotonic() + pause_s > deadline:
                raise
            display.warning(f"{host}: connection lost, next try in {pause_s:g} s")
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            action._connection.reset()

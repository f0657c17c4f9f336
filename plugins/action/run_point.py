# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Start a point on the host and wait for its record, whatever becomes of the connection."""

from __future__ import annotations

import json
import shlex
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.perflab.bench.plugins.module_utils.point_supervisor import LOCK_FILE, POINT_FILE
from ansible_collections.perflab.bench.plugins.plugin_utils.shell import run_on_host

# How much longer than its own time limits a point may take before the controller stops reconnecting: the
# supervisor ends a process group with patience.
_GRACE_S = 60


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        if self._task.check_mode:
            return {**result, "skipped": True, "msg": "running a point is an action: skipped in check mode"}
        started = self._execute_module("perflab.bench.run_point", task_vars=task_vars)
        started.pop("invocation", None)
        if not started.get("failed"):
            host = (task_vars or {}).get("inventory_hostname", "this host")
            point = self._wait(host, started["dir"], started.pop("limit_s") + _GRACE_S)
            started["point"] = point
            if point["status"] != "ok":
                warning = f"{host}: {point['point_id']}: {point['status']}: {point['reason']}"
                started.setdefault("warnings", []).append(warning)
        return {**result, **started}

    def _wait(self, host: str, folder: str, patience_s: float) -> dict[str, Any]:
        """Return the point's record as soon as its supervisor is gone.

        The supervisor holds a lock until it ends, however it ends. Waiting for that lock blocks in the
        kernel: it costs the measured host no CPU time, where polling would start programs again and again.
        """
        lock, record = (shlex.quote(f"{folder}/{name}") for name in (LOCK_FILE, POINT_FILE))
        # If there is no record, the free space tells whether a full disk is the reason.
        command = f"flock -s {lock} cat {record} || {{ df -Pk {shlex.quote(folder)}; exit 1; }}"
        answer = run_on_host(self, host, command, patience_s)
        if answer["rc"] != 0:
            raise AnsibleActionFail(_explain(host, folder, answer))
        try:
            return dict(json.loads(answer["stdout"]))
        except ValueError as error:
            raise AnsibleActionFail(f"{host}: {folder}/{POINT_FILE} is not JSON: {error}") from None


def _explain(host: str, folder: str, answer: dict[str, Any]) -> str:
    """Say why there is no record, in one line."""
    if "flock:" in answer["stderr"] and "not found" in answer["stderr"]:
        return f"{host}: flock is missing there: install util-linux, then resume the run"
    df = answer["stdout"].split()
    free = f" ({df[-3]} kB free there)" if len(df) > 3 else ""
    return (
        f"{host}: the point's supervisor ended without {folder}/{POINT_FILE}: it was killed, the host "
        f"restarted, or the disk is full{free}; see to that, then resume the run with the same run_id"
    )

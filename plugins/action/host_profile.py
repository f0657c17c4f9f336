# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Read a host's profile there and write it here, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.perflab.bench.plugins.module_utils.saved_state import SavedStateError, write_json


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        dest = self._task.args.get("dest")
        if dest and Path(dest).exists():
            return {**result, "changed": False}
        module_args = {"host": (task_vars or {}).get("inventory_hostname"), **self._task.args}
        result.update(
            self._execute_module("perflab.bench.host_profile", module_args=module_args, task_vars=task_vars)
        )
        if dest and not result.get("failed"):
            result["changed"] = True
            if not self._task.check_mode:
                try:
                    write_json(str(Path(dest).resolve()), result["profile"])
                except SavedStateError as error:
                    raise AnsibleActionFail(f"on the controller: {error}") from None
        return result

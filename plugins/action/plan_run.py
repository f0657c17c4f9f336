# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Plan a run and write its run.json, on the controller, before any host is changed."""

from __future__ import annotations

import json
import platform
import re
import secrets
import subprocess
import time
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.action import ActionBase
from ansible.release import __version__ as ansible_version
from ansible_collections.perflab.bench.plugins.module_utils.saved_state import SavedStateError, write_json
from ansible_collections.perflab.bench.plugins.plugin_utils import plan
from ansible_collections.perflab.bench.plugins.plugin_utils.run_tree import is_finished

SCHEMA = 1
_COLLECTION = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "study": {"type": "str", "required": True},
                "hosts": {"type": "dict", "required": True},
                "runs_dir": {"type": "path", "required": True},
                "run_id": {"type": "str"},
                "seed": {"type": "int"},
                "profile": {"type": "str"},
                "playbook": {"type": "str"},
            }
        )
        for name in ("study", "run_id"):
            if args[name] is not None and not _NAME.fullmatch(args[name]):
                raise AnsibleActionFail(
                    f"{name} '{args[name]}' is no folder's name: use A-Z, a-z, 0-9, '.', '_', '-'"
                )
        runs_dir = Path(args["runs_dir"]).resolve()
        run_json = runs_dir / args["run_id"] / "run.json" if args["run_id"] else None
        try:
            if run_json and run_json.exists():
                return self._resume(run_json, args)
            return self._start(runs_dir, args)
        except plan.PlanError as error:
            raise AnsibleActionFail(str(error)) from None
        except (OSError, SavedStateError) as error:
            raise AnsibleActionFail(f"on the controller: {error}; see to it, or set run_runs_dir") from None

    def _start(self, runs_dir: Path, args: dict[str, Any]) -> dict[str, Any]:
        seed = secrets.randbelow(2**31) if args["seed"] is None else args["seed"]
        now = time.gmtime()
        run: dict[str, Any] = {
            "schema": SCHEMA,
            "run_id": args["run_id"] or f"{time.strftime('%Y%m%dT%H%M%SZ', now)}-{args['study']}",
            "study": args["study"],
            "playbook": args["playbook"],
            "revision": _revision(),
            "versions": _versions(),
            "seed": seed,
            "profile": args["profile"],
            "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", now),
            "hosts": list(args["hosts"]),
            "points": plan.expand(args["hosts"], seed),
        }
        if not self._task.check_mode:
            folder = _new_folder(runs_dir, run["run_id"], exact=bool(args["run_id"]))
            run["run_id"] = folder.name
            write_json(str(folder / "run.json"), run)
        return _result(run, runs_dir, changed=True)

    def _resume(self, run_json: Path, args: dict[str, Any]) -> dict[str, Any]:
        try:
            run = json.loads(run_json.read_text())
        except ValueError as error:
            raise plan.PlanError(
                f"{run_json} is not JSON ({error}): start a new run without run_id"
            ) from None
        if run.get("schema") != SCHEMA:
            raise plan.PlanError(f"{run_json} has schema {run.get('schema')!r}, this perflab knows {SCHEMA}")
        if run["study"] != args["study"]:
            raise plan.PlanError(
                f"{run_json} is a run of {run['study']}: resume it with that study's playbook"
            )
        if args["seed"] not in (None, run["seed"]):
            raise plan.PlanError(
                f"{run_json} was planned with seed {run['seed']}: resume it without run_seed"
            )
        # A resumed run may be limited to some of its hosts, but what they do must not differ.
        planned = plan.expand(args["hosts"], run["seed"])
        recorded = [point for point in run["points"] if point["host"] in args["hosts"]]
        differing = plan.differing(planned, recorded)
        for host in differing:
            if (run_json.parent / host).exists():
                raise plan.PlanError(
                    f"{host} asks for other points (factors, params or repeats) than {run_json} planned "
                    "for it: resume with the same variables, leave it out with --limit, or start a new run "
                    "without run_id"
                )
        if differing and not self._task.check_mode:
            # Of these nothing was measured: a host that could not be reached and only now says what it is.
            kept = [point for point in run["points"] if point["host"] not in differing]
            run["points"] = kept + [point for point in planned if point["host"] in differing]
            run["hosts"] = list(dict.fromkeys([*run["hosts"], *differing]))
            write_json(str(run_json), run)
        run["points"] = [point for point in recorded if point["host"] not in differing] + [
            point for point in planned if point["host"] in differing
        ]
        return _result(run, run_json.parents[1], changed=bool(differing))


def _result(run: dict[str, Any], runs_dir: Path, changed: bool) -> dict[str, Any]:
    run_dir = runs_dir / run["run_id"]
    pending: dict[str, list[dict[str, Any]]] = {}
    for point in run["points"]:
        points = pending.setdefault(point["host"], [])
        if not is_finished(run_dir / point["host"] / point["point_id"]):
            points.append(point)
    # Through JSON, so that only plain types leave the plug-in.
    return dict(
        json.loads(
            json.dumps(
                {
                    "changed": changed,
                    "run_id": run["run_id"],
                    "run_dir": str(run_dir),
                    "seed": run["seed"],
                    "points": pending,
                }
            )
        )
    )


def _new_folder(runs_dir: Path, run_id: str, exact: bool) -> Path:
    """Create and return the run's folder; a second run in the same second gets "-2" behind its name."""
    runs_dir.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = runs_dir / (run_id if number == 1 else f"{run_id}-{number}")
        try:
            folder.mkdir(exist_ok=exact)
        except FileExistsError:
            number += 1
        else:
            return folder


def _versions() -> dict[str, str]:
    galaxy, manifest = _COLLECTION / "galaxy.yml", _COLLECTION / "MANIFEST.json"
    if galaxy.exists():
        perflab = yaml_load(galaxy.read_text())["version"]
    else:
        perflab = json.loads(manifest.read_text())["collection_info"]["version"]
    return {"perflab": str(perflab), "ansible_core": ansible_version, "python": platform.python_version()}


def _revision() -> str | None:
    """Return the checkout's git revision; None where the collection is installed or git is missing."""
    if not (_COLLECTION / ".git").exists():
        return None
    try:
        git = subprocess.run(
            ["git", "-C", str(_COLLECTION), "describe", "--always", "--dirty"],
            capture_output=True,
            check=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return git.stdout.strip()

"""A checkout whose collection changes no host and takes seconds; only its callback plugin is the real one.

Its study writes a run tree, its ``run_point`` only sleeps, and restoring leaves a mark.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

_FILES = {
    "ansible.cfg": """
        [defaults]
        collections_path = collections
        callbacks_enabled = perflab.bench.restore_on_interrupt
        """,
    "galaxy.yml": """
        namespace: perflab
        name: bench
        version: 0.1.0
        readme: README.md
        authors: [perflab]
        """,
    "playbooks/sweep.yml": """
        - name: Measure
          hosts: "{{ sweep_hosts | default('all') }}"
          gather_facts: false
          strategy: free
          tasks:
            - name: Plan
              ansible.builtin.copy:
                content: "{{ plan | combine({'run_id': run_id}) | to_json }}"
                dest: "{{ run_runs_dir }}/{{ run_id }}/run.json"
                mode: "0644"
              when: only_points is not defined
            - name: Prepare
              ansible.builtin.command: "{{ prepare | default('true') }}"
              when: only_points is not defined
            - name: Measure every point
              ansible.builtin.include_role:
                name: perflab.bench.point
              loop: "{{ plan.points | selectattr('host', 'eq', inventory_hostname) }}"
              loop_control:
                loop_var: planned
        """,
    "playbooks/restore.yml": """
        - name: Restore
          hosts: all
          gather_facts: false
          tasks:
            - name: Take a while
              ansible.builtin.command: sleep {{ restore_s | default(0) }}
            - name: Leave a mark
              ansible.builtin.file:
                path: "{{ marks }}/restored-{{ inventory_hostname }}"
                state: touch
                mode: "0644"
            - name: Perhaps fail
              ansible.builtin.command: "{{ restore_command | default('true') }}"
        """,
    "roles/point/tasks/main.yml": """
        - name: Run it
          perflab.bench.run_point:
            marks: "{{ marks }}"
            planned: "{{ planned }}"
            run_dir: "{{ run_runs_dir }}/{{ run_id }}"
        """,
    "plugins/modules/run_point.py": """
        import hashlib, json, os, time
        from ansible.module_utils.basic import AnsibleModule

        arguments = {"marks": {}, "planned": {"type": "dict"}, "run_dir": {}}
        module = AnsibleModule(arguments, supports_check_mode=True)
        planned = module.params["planned"]
        open(os.path.join(module.params["marks"], "started-" + planned["host"]), "w").close()
        time.sleep(planned["params"]["seconds"])
        folder = os.path.join(module.params["run_dir"], planned["host"], planned["point_id"])
        os.makedirs(folder)
        name, log = "redis-benchmark.txt", b"PING_INLINE: 1000.00 requests per second\\n"
        with open(os.path.join(folder, name), "wb") as handle:
            handle.write(log)
        point = dict(
            planned, schema=1, run_id=os.path.basename(module.params["run_dir"]), study="sweep",
            argv=["sleep"], tool_version=None, setting=None, observed={}, rc=0, duration_s=10.0,
            started_at="2026-11-30T10:00:00Z", finished_at="2026-11-30T10:00:10Z",
            status=planned["params"]["status"], reason="Redis closed the connection",
            logs=[{"name": name, "bytes": len(log), "sha256": hashlib.sha256(log).hexdigest()}],
        )
        with open(os.path.join(folder, ".point.json"), "w") as handle:
            json.dump(point, handle)
        os.rename(os.path.join(folder, ".point.json"), os.path.join(folder, "point.json"))
        module.exit_json(changed=True)
        """,
}


@dataclass(frozen=True)
class StandIn:
    """The stand-in checkout in *root*; marks of what happened are files in :attr:`marks`."""

    root: Path

    @classmethod
    def build(cls, root: Path) -> StandIn:
        bench = root / "collections" / "ansible_collections" / "perflab" / "bench"
        for name, content in _FILES.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(content))
        (root / "plugins" / "callback").symlink_to(ROOT / "plugins" / "callback")
        bench.mkdir(parents=True)
        for name in ("galaxy.yml", "playbooks", "plugins", "roles"):
            (bench / name).symlink_to(root / name)
        stand_in = cls(root)
        stand_in.marks.mkdir()
        stand_in.runs.mkdir()
        return stand_in

    @property
    def marks(self) -> Path:
        return self.root / "marks"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    def seen(self, what: str) -> set[str]:
        """The hosts that left a mark: ``started`` or ``restored``."""
        return {path.name.removeprefix(f"{what}-") for path in self.marks.glob(f"{what}-*")}

    def inventory(self, *hosts: str, **unreachable: int) -> Path:
        """An inventory of this machine under several names, the *unreachable* ones with a closed port."""
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        remote = {
            name: {"ansible_host": "127.0.0.1", "ansible_port": port} for name, port in unreachable.items()
        }
        file = self.root / f"{'-'.join([*hosts, *unreachable])}.json"
        file.write_text(json.dumps({"all": {"hosts": dict.fromkeys(hosts, local) | remote}}))
        return file

    def plan(self, *points: tuple[str, dict[str, Any]]) -> list[str]:
        """Extra variables with a plan: a host and ``seconds``, ``status`` of every point."""
        planned = [
            {
                "point_id": f"{order:03d}-sleep",
                "host": host,
                "workload": "redis_benchmark",
                "factors": {"frequency": "1GHz"},
                "params": {"seconds": 0, "status": "ok"} | params,
                "repeat": order,
                "order": order,
            }
            for order, (host, params) in enumerate(points, start=1)
        ]
        plan = {
            "schema": 1,
            "study": "sweep",
            "playbook": "sweep",
            "revision": None,
            "versions": {},
            "seed": 1,
            "profile": None,
            "started_at": "2026-11-30T10:00:00Z",
            "hosts": sorted({host for host, _ in points}),
            "points": planned,
        }
        file = self.root / "plan.json"
        file.write_text(json.dumps({"plan": plan, "marks": str(self.marks)}))
        return ["-e", f"@{file}"]

    def playbook(self, *arguments: str) -> list[str]:
        """The command line of a plain ansible-playbook."""
        variables = json.dumps({"run_runs_dir": str(self.runs), "run_id": "plain"})
        (self.runs / "plain").mkdir(exist_ok=True)
        return [str(BIN / "ansible-playbook"), "perflab.bench.sweep", "-e", variables, *arguments]

    def collector(self, *arguments: str) -> list[str]:
        """The command line of ``python -m collector`` as if it stood in this checkout."""
        code = (
            "import pathlib, sys; from collector import cli, runner;"
            f"runner.CHECKOUT = pathlib.Path({str(self.root)!r}); cli.main()"
        )
        return [sys.executable, "-c", code, *arguments]

    def collector_run(self, inventories: Sequence[Path], *arguments: str) -> list[str]:
        sources = [word for inventory in inventories for word in ("-i", str(inventory))]
        return self.collector(
            "run", "sweep", *sources, "--runs-dir", str(self.runs), "--no-summary", *arguments
        )

    def environment(self) -> dict[str, str]:
        """As in a plain terminal, the working folder being anything but a checkout."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "VIRTUAL"))
        }
        return kept | {"PYTHONPATH": str(ROOT)}

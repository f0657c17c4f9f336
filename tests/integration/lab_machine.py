"""A machine of the lab as a test sees it: what its kernel says, told apart from what perflab says."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.integration.conftest import BIN, ROOT, environment
from tests.lab import access
from tests.lab.machines import INVENTORY, Machine

SAVED_STATE = "/var/lib/perflab/cpu_frequency.json"

# All that the module may change, each file with its value.
_KNOBS = """
cd /sys/devices/system/cpu
grep -s '' cpufreq/boost cpufreq/policy*/scaling_governor cpufreq/policy*/scaling_m??_freq \
    cpufreq/policy*/scaling_setspeed cpu*/online
"""


@dataclass(frozen=True)
class LabMachine:
    machine: Machine

    def shell(self, command: str) -> str:
        """Run a command there, over plain SSH, and return what it printed."""
        ended = access.ssh(self.machine, command)
        assert ended.returncode == 0, f"{self.machine.name}: {command}: {ended.stderr}"
        return ended.stdout

    def knobs(self) -> list[str]:
        """Return every governor, limit, speed and switch as the kernel has it."""
        return self.shell(_KNOBS).splitlines()

    def saved(self) -> bool:
        """Whether a saved state lies there, not yet restored."""
        return access.ssh(self.machine, f"test -e {SAVED_STATE}").returncode == 0

    def set_frequency(self, *options: str, **inputs: object) -> dict[str, Any]:
        """Run the module cpu_frequency alone; return its result, with what was printed as `output`."""
        ended = subprocess.run(
            [
                *(str(BIN / "ansible"), self.machine.name, "-i", str(INVENTORY)),
                *("-m", "perflab.bench.cpu_frequency", "-a", json.dumps(inputs), *options),
            ],
            cwd=ROOT, env=environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        status, arrow, rest = ended.stdout.partition(" => ")
        assert arrow, ended.stdout + ended.stderr
        result, _ = json.JSONDecoder().raw_decode(rest)
        return {"failed": status.endswith("FAILED!"), "output": ended.stdout, **result}

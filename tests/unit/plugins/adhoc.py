"""Modules as Ansible runs them: packed, sent, executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def run_module(name: str, *flags: str, **arguments: Any) -> dict[str, Any]:
    """Run a module through ansible's ad hoc command on this machine; return its result and what was shown."""
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "ansible"),
            "localhost",
            "-i",
            "localhost,",
            "-c",
            "local",
            "-e",
            f"ansible_python_interpreter={sys.executable}",
            "-m",
            f"perflab.bench.{name}",
            "-a",
            json.dumps(arguments),
            *flags,
        ],
        cwd=ROOT,
        env=os.environ | {"ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    result: dict[str, Any]
    result, _end = json.JSONDecoder().raw_decode(done.stdout.partition("=> ")[2])
    return result | {"shown": done.stdout + done.stderr}

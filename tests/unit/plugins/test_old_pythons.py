"""The logic that runs on the hosts, under the oldest Pythons that hosts have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.old_interpreters import VERSIONS, find_python

HERE = Path(__file__).parent
# Tests of what runs on the hosts are plain unittest: pytest has left these Pythons behind.
UNITTEST_FILES = sorted(
    path.stem
    for path in HERE.glob("test_*.py")
    if re.search(r"^class \w+Test\(", path.read_text(), re.MULTILINE)
)


@pytest.mark.parametrize("version", VERSIONS)
def test_logic_runs_on_old_pythons(version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    done = subprocess.run(
        [python, str(HERE / "old_python.py"), *UNITTEST_FILES], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "\nOK" in done.stderr

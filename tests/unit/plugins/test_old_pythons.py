"""The logic that runs on the hosts, under the oldest Pythons that hosts have."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Tests of what runs on the hosts are plain unittest: pytest has left these Pythons behind.
UNITTEST_FILES = sorted(
    path.stem
    for path in HERE.glob("test_*.py")
    if re.search(r"^class \w+Test\(", path.read_text(), re.MULTILINE)
)


def find_python(version: str) -> str | None:
    """Return a Python of exactly *version*, from PATH or from pyenv; a shim of pyenv may not run."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python{version}"))
    for candidate in [shutil.which(f"python{version}"), *map(str, pyenv)]:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return candidate
    return None


@pytest.mark.parametrize("version", ["2.7", "3.6"])
def test_logic_runs_on_old_pythons(version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    done = subprocess.run(
        [python, str(HERE / "old_python.py"), *UNITTEST_FILES], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "\nOK" in done.stderr

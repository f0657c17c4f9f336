"""The oldest Pythons that hosts have, where this machine has them too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

VERSIONS = ("2.7", "3.6")


def find_python(version: str) -> str | None:
    """Return a Python of exactly *version*, from PATH or from pyenv; a shim of pyenv may not run."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python{version}"))
    for candidate in [shutil.which(f"python{version}"), *map(str, pyenv)]:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return candidate
    return None

"""What is mounted below a folder: to be taken away before the folder is."""

from __future__ import annotations

import shutil
from pathlib import Path

from .command import run


def remove(folder: Path) -> None:
    """Remove a folder, if it is there, but no file of what is mounted in it."""
    for mount in below(folder):
        run("umount", "--lazy", mount)
    shutil.rmtree(folder, ignore_errors=True)


def below(folder: Path) -> list[str]:
    """Return what is mounted below the folder, innermost first."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted((path for path in mounted if path.startswith(f"{folder}/")), key=len, reverse=True)

"""Disks of an nspawn host that are files: the kernel keeps them attached after the host has died."""

from __future__ import annotations

import os
from pathlib import Path

from .command import run


def detach(root: Path) -> None:
    """Detach every loop device over a file of the file system that is mounted at *root*."""
    number = root.stat().st_dev
    wanted = f"{os.major(number)}:{os.minor(number)}"
    for line in run("losetup", "--list", "--noheadings", "--output", "NAME,BACK-MAJ:MIN").splitlines():
        device, _blank, backing = line.partition(" ")
        if backing.strip() == wanted:
            run("losetup", "--detach", device)

"""What makes a copy of an image this one machine: its name, and who knows and enters it by which keys."""

from __future__ import annotations

from pathlib import Path

from . import access
from .machines import Machine


def install(machine: Machine, root: Path) -> None:
    """Write it into the machine's root file system, or into a folder that is copied there."""
    (root / "etc/hostname").write_text(f"{machine.name}\n")
    # A name that does not resolve costs every sudo seconds.
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {machine.name}\n")
    (root / "etc/resolv.conf").write_text(Path("/etc/resolv.conf").read_text())
    access.install(machine, root)

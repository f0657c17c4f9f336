"""The processes that are a machine of the lab, found by what they run in: no note of a PID can be stale."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from .errors import LabError
from .machines import Machine

# Programs that are a machine; an editor that has one of its files open is not.
_PROGRAMS = ("systemd-nspawn", "qemu-system-")


def find(machine: Machine) -> list[int]:
    """Return the PIDs of the machine's nspawn or QEMU, and of whatever runs in its root file system.

    What runs in an nspawn host outlives a killed nspawn.
    """
    folder = f"{machine.folder}/"
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended since
            if _is_machine(process, folder) or _lives_in(process, folder):
                found.append(int(process.name))
    return found


def kill(machine: Machine) -> None:
    """End the machine's processes at once and wait until they are gone."""
    deadline = time.monotonic() + 20
    while pids := find(machine):
        if time.monotonic() > deadline:
            raise LabError(f"{machine.name} does not end: kill -9 {' '.join(map(str, pids))}")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def hang_up(machine: Machine) -> None:
    """End every SSH connection to an nspawn host at its end, as a broken network would; nothing else ends."""
    for pid in find(machine):
        with contextlib.suppress(OSError):
            title = Path(f"/proc/{pid}/cmdline").read_text()
            if title.startswith(("sshd: ", "sshd-session: ")) and "@" in title:
                os.kill(pid, signal.SIGKILL)


def _is_machine(process: Path, folder: str) -> bool:
    program, *words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    return Path(program).name.startswith(_PROGRAMS) and any(folder in word for word in words)


def _lives_in(process: Path, folder: str) -> bool:
    """Whether the machine's writable layer is part of what the process has mounted on its /."""
    mounts = (line.split() for line in (process / "mountinfo").read_text().splitlines())
    return any(fields[4] == "/" and folder in fields[-1] for fields in mounts)

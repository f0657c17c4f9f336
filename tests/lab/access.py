"""Who may log in, and by which key each machine is known: host keys are checked, as everywhere in perflab."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from . import processes
from .command import run
from .errors import LabError
from .machines import STATE, Machine, load

_SHOWS_AFTER_S = 1

KEY = STATE / "key"
KNOWN_HOSTS = STATE / "known_hosts"


def make_keys() -> None:
    """Make the user's key and every machine's, once a lab."""
    for path in (KEY, *(host_key(machine) for machine in load().values())):
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "perflab-lab", "-f", path)
    KNOWN_HOSTS.write_text(
        "".join(
            f"{machine.address} {host_key(machine).with_suffix('.pub').read_text()}"
            for machine in load().values()
        )
    )


def host_key(machine: Machine) -> Path:
    return machine.folder / "ssh_host_ed25519_key"


def install(machine: Machine, root: Path) -> None:
    """Put the keys into the machine's root file system; ssh as its user works from the first boot on."""
    for old in (root / "etc/ssh").glob("ssh_host_*"):
        old.unlink()
    for name in ("ssh_host_ed25519_key", "ssh_host_ed25519_key.pub"):
        copy = root / "etc/ssh" / name
        copy.write_text((machine.folder / name).read_text())
        copy.chmod(0o600)
    home = "root" if machine.user == "root" else f"home/{machine.user}"
    folder = root / home / ".ssh"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "authorized_keys").write_text(KEY.with_suffix(".pub").read_text())
    if machine.user != "root":
        run("chroot", root, "chown", "-R", f"{machine.user}:", f"/{home}/.ssh")


def ssh(machine: Machine, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the machine, as a person would: apart from Ansible and from what is tested."""
    return subprocess.run(
        [
            "ssh",
            *("-i", KEY, "-o", f"UserKnownHostsFile={KNOWN_HOSTS}", "-o", "IdentitiesOnly=yes"),
            *("-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "LogLevel=ERROR"),
            f"{machine.user}@{machine.address}",
            command,
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def wait_until_up(machine: Machine, patience_s: float) -> None:
    """Return as soon as the machine has started its services and lets its user in."""
    last = "nothing answers"
    began = time.monotonic()
    while time.monotonic() < began + patience_s:
        # A program that has just been started does not show its command line yet.
        if time.monotonic() > began + _SHOWS_AFTER_S and not processes.find(machine):
            raise LabError(f"{machine.name} ended while it started: see {machine.console}")
        if _greets(machine):
            # "degraded" is up too: some unit that no test needs has failed.
            state = ssh(machine, "systemctl is-system-running --wait")
            if state.stdout.strip() in ("running", "degraded"):
                return
            last = (state.stderr or state.stdout).strip()
        time.sleep(0.2)
    raise LabError(f"{machine.name} is not up after {patience_s:.0f} s ({last}): see {machine.console}")


def _greets(machine: Machine) -> bool:
    """Whether an SSH server answers; asking this is much cheaper than a whole ssh that fails."""
    try:
        with socket.create_connection((machine.address, 22), timeout=2) as connection:
            connection.settimeout(5)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False

"""Light hosts: an SSH server each, with namespaces, files and an address of its own; dozens fit here.

For what a controller costs by the host. They have no systemd and share this machine's kernel, which has no
cpufreq: theirs is a fake tree of plain files, enough where nobody looks at the clock.

All that a host is (processes, mounts, what it wrote, its cable) is held by its first process, and that ends
with whoever started it, however that ends: a killed benchmark leaves a folder of keys, which the next one
replaces.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import host_images, images, mounts
from .command import run
from .errors import LabError

STATE = Path("/var/lib/perflab-light")
IMAGE_PACKAGES = ("redis-server", "redis-tools")  # else installing them would be most of what is measured
DRIVER = "acpi-cpufreq"

_ROOT = Path(__file__).parents[2]
_LOCK = Path("/run/lock/perflab-light")
# Clear of the lab's machines. Each host has a cable of its own to the controller: no bridge that could stay.
_CONTROLLER = "10.231.1.254"
_ADDRESS = "10.231.1.{}"
MOST = 253
_UP_S = 30

# In the host's namespaces, with this machine's programs: lay the host out on a tmpfs, become its SSH server.
_INIT = """
set -e
echo unshared
exec >&2
read plugged
ip link set lo up
ip address add "$ADDRESS" peer "$CONTROLLER" dev host0
ip link set host0 up
hostname "$NAME"
mount -t tmpfs -o mode=755 light "$STATE/own"
cd "$STATE/own"
mkdir root written work
cp -r "$STATE/sysfs/devices/system/cpu" cpu
mount -t overlay light -o "lowerdir=$IMAGE,upperdir=written,workdir=work" root
cp -r "$STATE/etc" "$STATE/root" root/
mkdir -p root/run/sshd
echo "127.0.0.1 localhost $NAME" > root/etc/hosts
mount -t proc proc root/proc
mount -t sysfs sysfs root/sys
mount --bind cpu root/sys/devices/system/cpu
mount --rbind /dev root/dev
exec chroot root /usr/sbin/sshd -D -e -o UsePAM=no
"""


@dataclass
class LightHost:
    """A host; *first* is the process that holds it, once it was started."""

    number: int
    first: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return f"light{self.number:03}"

    @property
    def address(self) -> str:
        return _ADDRESS.format(self.number)

    @property
    def cable(self) -> str:
        """This machine's end of it."""
        return f"plight-{self.number}"


def image() -> images.Image:
    options = host_images.debootstrap_options(*IMAGE_PACKAGES)
    suite = host_images.RELEASES["debian12"]

    def build(folder: Path) -> None:
        run("mmdebstrap", *options, suite, folder / "root")

    return images.Image("light", " ".join((suite, *options)), build)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Prepare the keys and files that all light hosts share; one benchmark at a time has them."""
    if os.geteuid() != 0:
        raise LabError("light hosts need namespaces and mounts: run this as root")
    with _LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError("light hosts are up already: one benchmark at a time") from None
        mounts.remove(STATE)  # what a killed run left
        try:
            _prepare()
            yield
        finally:
            mounts.remove(STATE)


def _prepare() -> None:
    (STATE / "own").mkdir(parents=True)
    server, user = STATE / "etc/ssh/ssh_host_ed25519_key", STATE / "key"
    server.parent.mkdir(parents=True)
    (STATE / "root/.ssh").mkdir(mode=0o700, parents=True)
    for key in (server, user):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "perflab-light", "-f", key)
    (STATE / "root/.ssh/authorized_keys").write_text(user.with_suffix(".pub").read_text())
    known = server.with_suffix(".pub").read_text()  # one key for all: they are made and unmade together
    (STATE / "known_hosts").write_text(f"{_ADDRESS.format('*')} {known}")
    build = f"import fake_sysfs; fake_sysfs.build({str(STATE / 'sysfs')!r}, {DRIVER!r})"
    path = f"{_ROOT / 'tests/unit/plugins'}:{_ROOT / 'collections'}"
    run("env", f"PYTHONPATH={path}", sys.executable, "-c", build)


@contextlib.contextmanager
def hosts(count: int) -> Iterator[Path]:
    """Start new hosts, yield an inventory that reaches them, take them away.

    To be used within `alone`, in the main thread: the hosts end with the thread that started them.
    """
    if not 0 < count <= MOST:
        raise LabError(f"{count} light hosts: there are addresses for 1 to {MOST}")
    lower = images.provide(image()) / "root"
    made = [LightHost(number) for number in range(1, count + 1)]
    try:
        for host in made:
            host.first = _start(host, lower)
            _plug(host, host.first)
        for host in made:
            _wait_for(host)
        yield _write_inventory(made)
    finally:
        for host in made:
            _end(host)


def _start(host: LightHost, lower: Path) -> subprocess.Popen[bytes]:
    with (STATE / "console.log").open("ab") as console:
        return subprocess.Popen(
            [
                *("setpriv", "--pdeathsig=KILL"),
                *("unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child=KILL"),
                *("sh", "-c", _INIT),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=console,
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "NAME": host.name,
                "ADDRESS": host.address,
                "CONTROLLER": _CONTROLLER,
                "STATE": str(STATE),
                "IMAGE": str(lower),
            },
            start_new_session=True,  # Ctrl-C is for the controller, which then puts the hosts back
        )


def _plug(host: LightHost, first: subprocess.Popen[bytes]) -> None:
    """Lay the cable and let the host go on; it dies with the namespace at its other end."""
    assert first.stdin and first.stdout
    if not first.stdout.readline():
        raise LabError(f"{host.name} did not start: see {STATE / 'console.log'}")
    _unplug(host)  # the kernel takes a killed run's cables away, but in its own time
    run("ip", "link", "add", host.cable, "type", "veth", "peer", "name", "host0", "netns", str(first.pid))
    run("ip", "address", "add", _CONTROLLER, "peer", host.address, "dev", host.cable)
    run("ip", "link", "set", host.cable, "up")
    first.stdin.write(b"\n")
    first.stdin.close()


def _unplug(host: LightHost) -> None:
    with contextlib.suppress(LabError):
        run("ip", "link", "delete", host.cable)


def _wait_for(host: LightHost) -> None:
    """Return as soon as the host's SSH server answers."""
    deadline = time.monotonic() + _UP_S
    while time.monotonic() < deadline:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((host.address, 22), timeout=1) as connection,
        ):
            if connection.recv(4) == b"SSH-":
                return
        time.sleep(0.05)
    raise LabError(f"{host.name} is not up after {_UP_S} s: see {STATE / 'console.log'}")


def _end(host: LightHost) -> None:
    if host.first is None:
        return
    assert host.first.stdout
    host.first.kill()
    host.first.stdout.read()  # ends when the last of the host's processes has closed it
    host.first.wait()
    _unplug(host)


def _write_inventory(made: list[LightHost]) -> Path:
    variables = {
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(STATE / "key"),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={STATE / 'known_hosts'} -o IdentitiesOnly=yes",
    }
    reached = {host.name: {"ansible_host": host.address} for host in made}
    inventory = STATE / "hosts.json"
    inventory.write_text(json.dumps({"all": {"vars": variables, "hosts": reached}}))
    return inventory

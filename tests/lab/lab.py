"""Test hosts on this machine: nspawn hosts and QEMU guests on a bridge, reached over SSH."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import access, guest_images, guests, hosts, images, mounts, network, packages, processes
from .errors import LabError
from .machines import STATE, Machine, load, select

_KINDS = {"hosts": hosts, "guests": guests}
_LOCK = Path("/run/lock/perflab-lab")


def up(names: Iterable[str]) -> list[Machine]:
    """Start these machines (a group's name stands for its members) and return them; who is up stays up."""
    with _alone():
        chosen = select(names)
        packages.provide({machine.kind for machine in chosen})
        # One after the other: two builds at once take as long, and a failed one is told more clearly.
        for machine in chosen:
            images.provide(_KINDS[machine.kind].image(machine))
        network.up()
        access.make_keys()
        _at_once(up_one, [machine for machine in chosen if not is_up(machine)])
    return chosen


def up_one(machine: Machine) -> None:
    processes.kill(machine)  # one that hangs half way is started anew
    _KINDS[machine.kind].up(machine)


def make_images(names: Iterable[str]) -> None:
    """Make the images of these machines, and the one that guests of theirs start from."""
    with _alone():
        chosen = select(names)
        packages.provide({machine.kind for machine in chosen})
        for machine in chosen:
            images.provide(_KINDS[machine.kind].image(machine))
        if any(machine.carries_guests for machine in chosen):
            images.provide(guest_images.cloud_image())


def kill(machine: Machine) -> None:
    """End the machine as a power failure would; what it wrote stays."""
    _KINDS[machine.kind].down(machine)


def boot(machine: Machine) -> None:
    """Start a machine that was killed, with what it wrote."""
    _KINDS[machine.kind].boot(machine)


def reboot(machine: Machine) -> None:
    """Restart the machine without asking it, as a reset button does."""
    kill(machine)
    boot(machine)


def down(names: Iterable[str] = ()) -> None:
    """Take away these machines and what they wrote; without names the whole lab. Images stay."""
    with _alone():
        for machine in select(names) if names else load().values():
            kill(machine)
            mounts.remove(machine.folder)
        if not names:
            network.down()
            mounts.remove(STATE)


def is_up(machine: Machine) -> bool:
    return bool(processes.find(machine)) and access.ssh(machine, "true").returncode == 0


def _at_once(work: Callable[[Machine], None], machines: list[Machine]) -> None:
    if machines:
        with ThreadPoolExecutor(len(machines)) as pool:
            list(pool.map(work, machines))


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """The lab has one bridge and one set of addresses: whoever changes it does so alone."""
    if os.geteuid() != 0:
        raise LabError("the lab makes network namespaces, mounts and machines: run it as root")
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        STATE.mkdir(mode=0o755, parents=True, exist_ok=True)
        yield

"""nspawn hosts: whole Debian systems with systemd, SSH and an own address, on this machine's kernel."""

from __future__ import annotations

import os
from pathlib import Path

from . import access, host_images, identity, images, loops, network, processes
from .command import run, start
from .machines import Machine

# The unified hierarchy is the only one that Debian 13's systemd boots on.
_ENVIRONMENT = os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
_BOOT_S = 60

# What libvirt needs to run guests: tap devices, and a /proc/sys/net that it may write. No /dev/kvm: these
# guests are emulated, on every machine alike.
_GUEST_OPTIONS = ("--capability=all", "--bind=/dev/net/tun")
_GUEST_ENVIRONMENT = {"SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network"}
# The machine that carries the lab may have cgroups that libvirt cannot use.
_QEMU_SETTINGS = "cgroup_controllers = [ ]\n"


def image(machine: Machine) -> images.Image:
    return host_images.image(machine.image)


def up(machine: Machine) -> None:
    """Start the host from its image; what it wrote when it was up before is still there."""
    root = mount(machine)
    identity.install(machine, root)
    if machine.carries_guests:
        (root / "etc/libvirt").mkdir(exist_ok=True)
        (root / "etc/libvirt/qemu.conf").write_text(_QEMU_SETTINGS)
    boot(machine)


def boot(machine: Machine) -> None:
    """Start the host as it lies there: after `up`, or after it died."""
    namespace = network.plug_namespace(machine)
    start(
        [
            "systemd-nspawn",
            f"--directory={machine.folder / 'root'}",
            f"--machine={machine.name}",
            f"--network-namespace-path={namespace}",
            # This machine may have no systemd to register with.
            *("--register=no", "--keep-unit", "--boot", "--quiet"),
            "--console=pipe",
            "--kill-signal=SIGRTMIN+3",
            # A loop file can then be a disk of the host's.
            *("--bind=/dev/loop-control", "--property=DeviceAllow=block-loop rwm"),
            *(_GUEST_OPTIONS if machine.carries_guests else ()),
        ],
        machine.console,
        env=_ENVIRONMENT | (_GUEST_ENVIRONMENT if machine.carries_guests else {}),
    )
    access.wait_until_up(machine, _BOOT_S)


def mount(machine: Machine) -> Path:
    """Lay a writable layer of the host's own over its image; return the root that comes of it."""
    root = machine.folder / "root"
    if not root.is_mount():
        for name in ("root", "written", "work"):
            (machine.folder / name).mkdir(exist_ok=True)
        lower = images.provide(image(machine)) / "root"
        layers = f"lowerdir={lower},upperdir={machine.folder}/written,workdir={machine.folder}/work"
        run("mount", "-t", "overlay", f"perflab-{machine.name}", "-o", layers, root)
    return root


def down(machine: Machine) -> None:
    """Stop the host at once, as if its power failed; what it wrote stays."""
    processes.kill(machine)
    network.unplug(machine)
    if (machine.folder / "root").is_mount():
        loops.detach(machine.folder / "root")

"""What the lab and the tests need of Debian, installed on this machine when it is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from .command import run
from .errors import LabError

# By a program or file of each package.
_HOSTS = {
    "ip": "iproute2",
    "mmdebstrap": "mmdebstrap",
    "nft": "nftables",
    "qemu-img": "qemu-utils",  # for the image that guests of a host boot
    "ssh": "openssh-client",
    "systemd-nspawn": "systemd-container",
}
_GUESTS = {
    "arch-test": "arch-test",  # mmdebstrap asks it for whether the arm image's programs can run here
    "cpio": "cpio",
    "debugfs": "e2fsprogs",
    "iasl": "acpica-tools",
    "qemu-aarch64-static": "qemu-user-static",
    "qemu-system-aarch64": "qemu-system-arm",
    "qemu-system-x86_64": "qemu-system-x86",
    "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd": "qemu-efi-aarch64",
}


def provide(kinds: Iterable[str]) -> None:
    """Install what machines of these kinds (hosts, guests) need and this machine lacks."""
    install(_HOSTS | (_GUESTS if "guests" in kinds else {}))


def install(needed: Mapping[str, str]) -> None:
    """Install the packages of those programs or files (the keys) that this machine lacks."""
    missing = [package for what, package in needed.items() if not (shutil.which(what) or Path(what).exists())]
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise LabError(f"missing here are Debian's packages {' '.join(missing)}, and here is no apt-get")
    print(f"installing {' '.join(missing)} ...", flush=True)
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-qq", "-y", "--no-install-recommends", *missing)

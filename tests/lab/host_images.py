"""Debian releases as plain root folders, for nspawn hosts."""

from __future__ import annotations

from pathlib import Path

from .command import run
from .images import Image

# The least that a host has before perflab comes: an init, SSH, Python, sudo.
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-apt", "sudo"),
    *("ca-certificates", "iproute2", "kmod", "procps", "util-linux"),
)
RELEASES = {"debian12": "bookworm", "debian13": "trixie"}

# A person's account; what it may do is in every image, and each machine says who logs in.
USER = "bench"


def image(name: str) -> Image:
    suite = RELEASES[name]

    def build(folder: Path) -> None:
        run("mmdebstrap", *debootstrap_options(), suite, folder / "root")

    return Image(name, " ".join((suite, *debootstrap_options())), build)


def debootstrap_options(*extra_packages: str) -> list[str]:
    return [
        "--variant=minbase",
        f"--include={','.join((*PACKAGES, *extra_packages))}",
        # What no test looks at, and what would start or change by itself during one.
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        f'--customize-hook=chroot "$1" useradd --create-home --shell /bin/bash {USER}',
        f'--customize-hook=echo "{USER} ALL=(ALL) NOPASSWD: ALL" > "$1/etc/sudoers.d/{USER}"',
        '--customize-hook=chroot "$1" systemctl mask --quiet apt-daily.timer apt-daily-upgrade.timer '
        "fstrim.timer e2scrub_all.timer systemd-timesyncd.service",
        '--customize-hook=rm "$1/etc/hostname" "$1/etc/resolv.conf"',
    ]

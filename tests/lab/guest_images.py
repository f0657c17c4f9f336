"""Debian disks for QEMU guests, with the kernel and initrd that boot them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from .command import run
from .host_images import debootstrap_options
from .images import Image

_SUITE = "bookworm"
_DISK_SIZE = "2G"

# No guest has the hardware; without these parts of the kernel a build and a boot take half as long.
_ABSENT_DRIVERS = (
    *("accessibility", "ata", "bluetooth", "comedi", "crypto", "firewire", "gpu", "hid", "hwmon", "i2c"),
    *("iio", "infiniband", "input", "isdn", "leds", "md", "media", "message", "mfd", "mmc", "mtd"),
    *("net/can", "net/ethernet", "net/usb", "net/wireless", "nfc", "nvme", "parport", "pcmcia"),
    *("platform/x86", "power", "rtc", "scsi", "spi", "staging", "target", "thunderbolt", "usb", "video"),
)
_ABSENT = (
    *(f"drivers/{name}" for name in _ABSENT_DRIVERS),
    *("arch/x86/kvm", "net/bluetooth", "net/mac80211", "net/wireless", "sound"),
)

# mkinitramfs would guess from the machine that builds; every guest finds its root by these alone.
_INITRD_MODULES = ("virtio_pci", "virtio_blk", "ext4")

_CPB = Path(__file__).with_name("cpb")

# Lets the kernel run arm64 programs by QEMU (F: also in a chroot without it; P: they see their own name).
_BINFMT = Path("/proc/sys/fs/binfmt_misc")
_BINFMT_NAME = "perflab-lab-aarch64"
_BINFMT_RULE = (
    rf":{_BINFMT_NAME}:M::"
    r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:"
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:"
    "/usr/bin/qemu-aarch64-static:FP"
)


def image(name: str) -> Image:
    architecture = name.removeprefix("guest-")

    def build(folder: Path) -> None:
        root = folder / "root"
        with _arm64_programs() if architecture == "arm64" else contextlib.nullcontext():
            run("mmdebstrap", *_options(architecture), _SUITE, root)
        for kind in ("vmlinuz", "initrd.img"):
            (boot_file,) = (root / "boot").glob(f"{kind}-*")
            boot_file.rename(folder / kind.removesuffix(".img"))
        run("mke2fs", "-q", "-t", "ext4", "-d", root, folder / "disk", _DISK_SIZE)
        shutil.rmtree(root)

    sources = [path.read_text() for path in sorted(_CPB.iterdir())]
    recipe = " ".join((_SUITE, _DISK_SIZE, *_options(architecture), *sources))
    # Where this checkout lies changes nothing in the image.
    return Image(name, recipe.replace(str(_CPB), "cpb"), build)


def _options(architecture: str) -> list[str]:
    return [
        f"--architectures={architecture}",
        *(f"--dpkgopt=path-exclude=/lib/modules/*/kernel/{tree}/*" for tree in _ABSENT),
        # Before the kernel, whose installation makes the initrd.
        _write("essential", "MODULES=list", "/etc/initramfs-tools/conf.d/lab"),
        _write("essential", "\n".join(_INITRD_MODULES), "/usr/share/initramfs-tools/modules.d/lab"),
        *(_amd64_options() if architecture == "amd64" else _arm64_options()),
        *debootstrap_options(
            *(f"linux-image-{architecture}", "initramfs-tools", "udev", "linux-cpupower"),
            *("redis-server", "redis-tools"),
        ),
        # perflab starts a Redis of its own on the port; the other looks for LVM at each boot, for seconds.
        '--customize-hook=chroot "$1" systemctl mask --quiet redis-server.service e2scrub_reap.service',
        '--customize-hook=chroot "$1" systemctl enable --quiet systemd-networkd.service',
        # Each guest gets its own; guests.py puts them here.
        '--customize-hook=rm -f "$1"/etc/hosts "$1"/etc/ssh/ssh_host_*',
        '--customize-hook=mkdir -p -m 700 "$1/root/.ssh"',
        '--customize-hook=echo "/dev/vda / ext4 defaults 0 1" > "$1/etc/fstab"',
    ]


def _amd64_options() -> list[str]:
    """Without the module of cpb/ there is no `boost` to set; its compiler does not stay."""
    make = "make -C /lib/modules/*/build M=/tmp/cpb"
    return [
        '--customize-hook=chroot "$1" apt-get install --yes --no-install-recommends linux-headers-amd64 make',
        f"--customize-hook=copy-in {_CPB} /tmp",
        f'--customize-hook=chroot "$1" sh -ec "{make} modules; {make} modules_install; rm -r /tmp/cpb"',
        '--customize-hook=chroot "$1" sh -ec "cd /lib/modules; depmod *"',
        # By name: apt takes the headers of an installed kernel for needed.
        '--customize-hook=chroot "$1" apt-get purge --yes --auto-remove '
        '"linux-headers-*" linux-kbuild-6.1 make',
        _write("customize", "softdep acpi-cpufreq pre: cpb", "/etc/modprobe.d/lab.conf"),
    ]


def _arm64_options() -> list[str]:
    """The CPUs' performance registers lie in what looks like an nvdimm: its driver must leave them alone."""
    return [_write("customize", "blacklist nfit", "/etc/modprobe.d/lab.conf")]


def _write(stage: str, text: str, path: str) -> str:
    """Return the mmdebstrap option that writes a file of the image, in one of its stages."""
    return f'--{stage}-hook=mkdir -p "$1{Path(path).parent}"; echo "{text}" > "$1{path}"'


@contextlib.contextmanager
def _arm64_programs() -> Iterator[None]:
    """Let this machine run arm64 programs; afterwards it is as it was before."""
    mounted = not (_BINFMT / "register").exists()
    if mounted:
        run("mount", "-t", "binfmt_misc", "binfmt_misc", _BINFMT)
    entry = _BINFMT / _BINFMT_NAME
    try:
        if entry.exists():  # a killed build left it
            entry.write_text("-1")
        (_BINFMT / "register").write_text(_BINFMT_RULE)
        yield
    finally:
        if entry.exists():
            entry.write_text("-1")
        if mounted:
            run("umount", _BINFMT)

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

_FIRST_BOOT = (
    '--customize-hook=chroot "$1" systemctl enable --quiet systemd-networkd.service',
    # Each guest gets its own, from guests.py or from cloud-init.
    '--customize-hook=rm -f "$1"/etc/hosts "$1"/etc/ssh/ssh_host_*',
    '--customize-hook=mkdir -p -m 700 "$1/root/.ssh"',
    '--customize-hook=echo "/dev/vda / ext4 defaults 0 1" > "$1/etc/fstab"',
)

# One place to look at.
_CLOUD_INIT = "datasource_list: [NoCloud]"
# No stage after those that make a machine somebody, and nothing else that no test asks for: each unit takes a
# second of an emulated boot, a stage of cloud-init seven.
_NOT_BOOTED = (
    *("cloud-config.service", "cloud-final.service", "redis-server.service", "e2scrub_reap.service"),
    *("dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount"),
    *("systemd-binfmt.service", "systemd-update-utmp.service", "getty@tty1.service"),
)
# What the studies install, for which a package manager would take minutes.
_MEASURING = ("redis-server", "redis-tools", "iperf3", "iputils-ping", "sysbench", "fio")

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
        with _arm64_programs() if architecture == "arm64" else contextlib.nullcontext():
            _make_disk(folder, _options(architecture))

    sources = [path.read_text() for path in sorted(_CPB.iterdir())]
    recipe = " ".join((_SUITE, _DISK_SIZE, *_options(architecture), *sources))
    # Where this checkout lies changes nothing in the image.
    return Image(name, recipe.replace(str(_CPB), "cpb"), build)


def cloud_image() -> Image:
    """Return a machine that is nobody yet, as clouds publish them: cloud-init makes it somebody."""
    options = [
        *_common_options("amd64"),
        # By it systemd hears the power button that a hypervisor presses.
        "--dpkgopt=path-include=/lib/modules/*/kernel/drivers/input/evdev.ko",
        *debootstrap_options(*_kernel_packages("amd64"), "cloud-init", "cloud-guest-utils", *_MEASURING),
        *_FIRST_BOOT,
        f'--customize-hook=chroot "$1" systemctl mask --quiet {" ".join(_NOT_BOOTED)}',
        _write("customize", _CLOUD_INIT, "/etc/cloud/cloud.cfg.d/lab.cfg"),
    ]

    def build(folder: Path) -> None:
        _make_disk(folder, options)
        run("qemu-img", "convert", "-c", "-O", "qcow2", folder / "disk", folder / "disk.qcow2")
        (folder / "disk").unlink()

    return Image("guest-cloud", " ".join((_SUITE, _DISK_SIZE, *options)), build)


def _make_disk(folder: Path, options: list[str]) -> None:
    """Make a disk of what mmdebstrap installs with these options, and the kernel and initrd that boot it."""
    root = folder / "root"
    run("mmdebstrap", *options, _SUITE, root)
    for kind in ("vmlinuz", "initrd.img"):
        (boot_file,) = (root / "boot").glob(f"{kind}-*")
        boot_file.rename(folder / kind.removesuffix(".img"))
    run("mke2fs", "-q", "-t", "ext4", "-d", root, folder / "disk", _DISK_SIZE)
    shutil.rmtree(root)


def _options(architecture: str) -> list[str]:
    return [
        *_common_options(architecture),
        *(_amd64_options() if architecture == "amd64" else _arm64_options()),
        *debootstrap_options(
            *_kernel_packages(architecture),
            *("linux-cpupower", "redis-server", "redis-tools"),
        ),
        # perflab starts a Redis of its own on the port; the other looks for LVM at each boot, for seconds.
        '--customize-hook=chroot "$1" systemctl mask --quiet redis-server.service e2scrub_reap.service',
        *_FIRST_BOOT,
    ]


def _common_options(architecture: str) -> list[str]:
    return [
        f"--architectures={architecture}",
        *(f"--dpkgopt=path-exclude=/lib/modules/*/kernel/{tree}/*" for tree in _ABSENT),
        # Before the kernel, whose installation makes the initrd.
        _write("essential", "MODULES=list", "/etc/initramfs-tools/conf.d/lab"),
        _write("essential", "\n".join(_INITRD_MODULES), "/usr/share/initramfs-tools/modules.d/lab"),
    ]


def _kernel_packages(architecture: str) -> tuple[str, ...]:
    return (f"linux-image-{architecture}", "initramfs-tools", "udev")


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

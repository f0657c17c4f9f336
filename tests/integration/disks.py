"""Loop devices over small files, some of which hold data; and what makes file systems on them."""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from ansible_collections.perflab.bench.plugins.module_utils.block_device import BlockDevices
from ansible_collections.perflab.bench.plugins.module_utils.device_contents import END_BYTES, Contents
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_records import Records
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import FilesystemError, Request
from ansible_collections.perflab.bench.plugins.module_utils.loop_device import LoopDevices
from ansible_collections.perflab.bench.plugins.module_utils.measured_filesystem import (
    NO_SUCH_PROGRAM,
    MeasuredFilesystem,
)

MIB = 1024 * 1024
SMALL = 16 * MIB
# What mkfs.xfs of today needs at the least; that of btrfs needs less.
LARGE = 300 * MIB
SECTOR = 512
# What the disks of the tests are made with, by a program of each package.
PACKAGES = {
    "dmsetup": "dmsetup",
    "mkfs.btrfs": "btrfs-progs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "pvcreate": "lvm2",
}


def command(*argv: object, **options: Any) -> str:
    words = [str(word) for word in argv]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, **options)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def run(argv: Sequence[str]) -> tuple[int, str, str]:
    """What the module runs programs with."""
    if shutil.which(argv[0]) is None:
        return NO_SUCH_PROGRAM, "", ""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Host:
    """This machine, with everything that a test makes in *folder*."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.point = folder / "point"
        self.devices = BlockDevices()
        self.loops = LoopDevices(self.devices.tree)
        self.records = Records(str(folder / "records"))

    def disk(self, size: int = SMALL, *options: str) -> str:
        """Return a new blank loop device."""
        file = self.folder / f"disk{len(list(self.folder.glob('disk*')))}"
        with file.open("wb") as handle:
            handle.truncate(size)
        return command("losetup", "--find", "--show", *options, file).strip()

    def filesystem(self, check_mode: bool = False) -> MeasuredFilesystem:
        return MeasuredFilesystem(
            self.devices, Contents(run), self.loops, self.records, run, check_mode=check_mode
        )

    def request(self, device: str | None = None, **changes: Any) -> Request:
        asked = Request("ext4", str(self.point), device, None, None, [], [], None)
        return asked._replace(**changes)

    def mounted(self, device: str | None = None, check_mode: bool = False, **changes: Any) -> tuple[Any, Any]:
        before, after = self.filesystem(check_mode).mounted(self.request(device, **changes))
        return before, after

    def refusal(self, device: str | None = None, **changes: Any) -> str:
        """The message with which the request is refused, in check mode and without it alike."""
        messages = set()
        for check_mode in (True, False):
            with pytest.raises(FilesystemError) as caught:
                self.mounted(device, check_mode, **changes)
            messages.add(str(caught.value))
        (message,) = messages
        assert "; next: " in message and "\n" not in message
        return message

    def clean(self) -> None:
        """Take away whatever a test left, also a failed one."""
        below = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for point in reversed([point for point in below if point.startswith(f"{self.folder}/")]):
            command("umount", point)
        for _layer in range(2):  # one may lie over another
            for attached in Path("/sys/block").glob("loop*/loop/backing_file"):
                backing = attached.read_text().strip()
                if str(self.folder) in backing or self._is_ours(backing):
                    command("losetup", "--detach", f"/dev/{attached.parts[-3]}")

    def _is_ours(self, backing: str) -> bool:
        """Whether a loop device lies over one that lies over a file of this test."""
        inner = Path(f"/sys/block/{Path(backing).name}/loop/backing_file")
        return inner.exists() and str(self.folder) in inner.read_text()


def write(device: str, position: int, data: bytes) -> None:
    with Path(device).open("r+b") as handle:
        handle.seek(position, os.SEEK_SET if position >= 0 else os.SEEK_END)
        handle.write(data)


def master_boot_record(device: str) -> None:
    """One partition of 8 MiB from the first MiB on."""
    entry = b"\0\0\0\0\x83\0\0\0" + pack("<II", MIB // SECTOR, 8 * MIB // SECTOR)
    write(device, 446, entry + b"\0" * 48 + b"\x55\xaa")


def guid_table(device: str) -> None:
    """A GPT without partitions, but for the copy at the end."""
    last = int(Path(f"/sys/block/{Path(device).name}/size").read_text()) - 1
    write(device, 446, b"\0\0\0\0\xee\0\0\0" + pack("<II", 1, last) + b"\0" * 48 + b"\x55\xaa")
    entries = b"\0" * 128 * 128
    fields = pack(
        "<QQQQ16sQIII", 1, last, 34, last - 33, b"perflab's guid 1", 2, 128, 128, zlib.crc32(entries)
    )
    header = b"EFI PART" + pack("<III", 0x10000, 92, 0) + b"\0\0\0\0" + fields
    header = header[:16] + pack("<I", zlib.crc32(header)) + header[20:]
    write(device, SECTOR, header)


def raid_member(device: str) -> None:
    """The superblock 1.2 of md, for kernels that have none."""
    superblock = bytearray(256)
    superblock[:8] = pack("<II", 0xA92B4EFC, 1)
    superblock[16:32] = b"perflab's array."
    superblock[128:152] = pack("<QQQ", 2048, 8192, 8)
    write(device, 4096, bytes(superblock))


HOLDS: dict[str, tuple[Callable[[str], object], str]] = {
    "ext4": (lambda device: command("mkfs.ext4", "-q", device), "ext4 (UUID "),
    "xfs": (lambda device: command("mkfs.xfs", "-q", device), "xfs (UUID "),
    "btrfs": (lambda device: command("mkfs.btrfs", "-q", device), "btrfs (UUID "),
    "swap": (lambda device: command("mkswap", device), "swap (UUID "),
    "lvm": (lambda device: command("pvcreate", "--quiet", device), "LVM2_member (UUID "),
    "raid": (raid_member, "linux_raid_member"),
    "luks": (lambda device: write(device, 0, b"LUKS\xba\xbe\0\1" + b"\0" * 584), "crypto_LUKS"),
    "mbr": (master_boot_record, "dos"),
    "gpt": (guid_table, "gpt"),
    "ceph": (lambda device: write(device, 0, b"bluestore block device\n"), "ceph_bluestore"),
    "raw": (lambda device: write(device, 8192, b"ORCLDISK"), "data without a signature"),
    "raw_at_the_end": (lambda device: write(device, -8, b"database"), "data without a signature"),
}


def ends(device: str) -> bytes:
    with Path(device).open("rb") as handle:
        first = handle.read(END_BYTES)
        handle.seek(-END_BYTES, os.SEEK_END)
        return first + handle.read()

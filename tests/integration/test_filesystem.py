"""File systems for measuring on real devices: loop devices over small files, some of which hold data."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING, Any

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

from tests.lab import access, lab
from tests.unit.plugins.adhoc import run_module

if TYPE_CHECKING:
    from conftest import Perflab

MIB = 1024 * 1024
SMALL = 16 * MIB
# What mkfs.xfs of today needs at the least; that of btrfs needs less.
LARGE = 300 * MIB
SECTOR = 512

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes loop devices and mounts: run as root")


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


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path)
    try:
        yield host
    finally:
        host.clean()


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


@pytest.mark.parametrize("holds", HOLDS)
def test_a_device_that_holds_anything_is_refused(host: Host, holds: str) -> None:
    put, named = HOLDS[holds]
    device = host.disk(LARGE if holds in ("xfs", "btrfs") else SMALL)
    put(device)
    data = ends(device)
    message = host.refusal(device)
    assert message.startswith(f"{device} holds ")
    assert named in message and f"filesystem_overwrite: {device}" in message
    assert f"{device} holds" in host.refusal(device, overwrite="/dev/disk/by-id/another")
    assert ends(device) == data
    assert not host.point.exists() and host.records.all() == []


def ends(device: str) -> bytes:
    with Path(device).open("rb") as handle:
        first = handle.read(END_BYTES)
        handle.seek(-END_BYTES, os.SEEK_END)
        return first + handle.read()


@pytest.mark.parametrize("holds", ["swap", "lvm", "mbr", "gpt", "raw"])
def test_a_device_is_overwritten_if_its_path_is_repeated(host: Host, holds: str) -> None:
    device = host.disk()
    HOLDS[holds][0](device)
    _before, after = host.mounted(device, overwrite=device)
    assert after["state"] == "mounted"
    host.filesystem().absent(str(host.point))
    assert Contents(run).found(device) == []


def test_in_use_it_is_refused_whatever_is_said(host: Host, tmp_path: Path) -> None:
    device = host.disk()
    elsewhere, another_name = tmp_path / "data", tmp_path / "another-name"
    elsewhere.mkdir()
    os.mknod(another_name, 0o60600, Path(device).stat().st_rdev)
    command("mkfs.ext4", "-q", device)
    command("mount", another_name, elsewhere)
    for path in (device, str(another_name)):
        message = host.refusal(path, overwrite=path)
        assert f"{path} is in use: it is mounted at {elsewhere}" in message and "next: unmount" in message
    assert elsewhere.is_mount()


def test_mounted_in_another_namespace(host: Host) -> None:
    device = host.disk()
    command("mkfs.ext4", "-q", device)
    script = f"mount {device} /mnt && echo && exec cat"
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout and other.stdin and other.stdout.readline() == b"\n"
        message = host.refusal(device, overwrite=device)
        assert f"it is mounted at /mnt in the mount namespace of process {other.pid}" in message
        other.stdin.close()


def test_active_swap(host: Host) -> None:
    device = host.disk()
    command("mkswap", device)
    command("swapon", device)
    try:
        assert "it is in use as swap" in host.refusal(device, overwrite=device)
    finally:
        command("swapoff", device)


def test_a_disk_with_a_mounted_partition(host: Host, tmp_path: Path) -> None:
    device = host.disk()
    master_boot_record(device)
    command("losetup", "--detach", device)
    device = command("losetup", "--find", "--show", "--partscan", tmp_path / "disk0").strip()
    partition = f"{device}p1"
    if not Path(partition).exists():  # a kernel that does not read this kind of table
        command("partx", "--add", device)
    assert f"partitions {Path(partition).name}" in host.refusal(device)
    # A partition that is blank is as good as a disk.
    host.mounted(partition)
    message = host.refusal(device, overwrite=device, mount=str(tmp_path / "other"))
    assert f"its partition {Path(partition).name} is mounted at {host.point}" in message
    host.filesystem().absent(str(host.point))
    host.mounted(device, overwrite=device)
    assert host.devices.partitions(host.devices.look_up(device)) == []


def test_used_by_a_process_or_a_loop_device(host: Host) -> None:
    device = host.disk()
    with Path(device).open("rb") as disk, subprocess.Popen(["sleep", "60"], stdin=disk) as reader:
        assert f"it is open in sleep (process {reader.pid})" in host.refusal(device)
        reader.kill()
    over = command("losetup", "--find", "--show", device).strip()
    assert f"it backs {Path(over).name}" in host.refusal(device)


def test_opened_exclusively(host: Host) -> None:
    device = host.disk()
    descriptor = os.open(device, os.O_RDONLY | os.O_EXCL)
    try:
        assert "the kernel refuses to open it exclusively" in host.refusal(device)
    finally:
        os.close(descriptor)


@pytest.mark.skipif(
    "device-mapper" not in Path("/proc/misc").read_text(), reason="this kernel has no device mapper"
)
def test_held_by_a_mapping(host: Host) -> None:
    device, name = host.disk(), f"perflab-test-{os.getpid()}"
    command("dmsetup", "create", name, "--table", f"0 {MIB // SECTOR} linear {device} 0")
    try:
        assert f"({name})" in host.refusal(device, overwrite=device)
    finally:
        command("dmsetup", "remove", name)


def test_no_device_at_all(host: Host, tmp_path: Path) -> None:
    assert "/dev/nonsense does not exist" in host.refusal("/dev/nonsense")
    (tmp_path / "file").touch()
    assert "is not a block device" in host.refusal(str(tmp_path / "file"))
    read_only = host.disk(SMALL, "--read-only")
    assert "is read-only" in host.refusal(read_only)


def test_the_life_of_one_on_a_device(host: Host) -> None:
    device = host.disk()
    foretold = host.mounted(device, check_mode=True)
    assert not host.point.exists() and host.records.all() == [] and ends(device).strip(b"\0") == b""
    assert host.mounted(device) == foretold
    (host.point / "data").write_text("kept")
    details = host.filesystem().details(str(host.point))
    assert details["device"] == device and details["uuid"] in command("blkid", "-p", device)
    before, after = host.mounted(device)
    assert before == after

    host.mounted(device, mount_options=["noatime"])
    assert "noatime" in command("findmnt", "--noheadings", "--output", "OPTIONS", host.point)
    host.filesystem().unmounted(str(host.point))
    assert not host.point.exists()
    host.mounted(device)  # as after a reboot
    assert (host.point / "data").read_text() == "kept"

    assert "type ext4, not xfs" in host.refusal(device, kind="xfs")
    assert "has perflab's file system for" in host.refusal(device, mount=str(host.folder / "other"))
    host.filesystem(check_mode=True).absent(str(host.point))
    assert (host.point / "data").exists()
    host.filesystem().absent(str(host.point))
    assert not host.point.exists() and host.records.all() == []
    assert Contents(run).found(device) == [] and ends(device).strip(b"\0") == b""
    assert host.filesystem().absent(str(host.point)) == ({"state": "absent"}, {"state": "absent"})


def test_what_somebody_else_made_since_is_not_erased(host: Host) -> None:
    device = host.disk()
    host.mounted(device)
    host.filesystem().unmounted(str(host.point))
    command("mkfs.ext4", "-q", "-F", device)
    assert "holds ext4" in host.refusal(device)
    with pytest.raises(FilesystemError, match="no longer holds what perflab made there"):
        host.filesystem().absent(str(host.point))
    assert "ext4" in command("blkid", "-p", device)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_the_life_of_one_on_a_file(host: Host, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "image"
    asked = {"kind": kind, "loop_file": str(file), "size": SMALL if kind == "ext4" else LARGE}
    host.mounted(**asked)
    assert file.stat().st_blocks * SECTOR >= asked["size"]  # no holes
    (host.point / "data").write_text("kept")
    assert host.filesystem().details(str(host.point))["direct_io"] is True
    host.filesystem().unmounted(str(host.point))
    assert host.loops.of(str(file)) is None and not host.point.exists()
    host.mounted(**asked)
    assert (host.point / "data").read_text() == "kept"
    host.filesystem().absent(str(host.point))
    assert not file.exists() and not host.point.exists() and host.records.all() == []


def test_files_that_are_refused(host: Host, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    assert "mine exists and is not perflab's" in host.refusal(loop_file=str(tmp_path / "mine"), size=SMALL)
    assert (tmp_path / "mine").read_text() == "precious"
    assert "MiB free" in host.refusal(loop_file=str(tmp_path / "new"), size=1 << 60)
    assert "no folder to lie in" in host.refusal(loop_file=str(tmp_path / "no" / "new"), size=SMALL)


def test_mount_points_that_are_refused(host: Host) -> None:
    device = host.disk()
    host.point.mkdir()
    (host.point / "file").touch()
    assert "is not an empty folder" in host.refusal(device)
    assert f"{device} cannot be mounted at /proc, where proc (proc) is" in host.refusal(device, mount="/proc")


def test_a_failed_attempt_leaves_nothing(host: Host, tmp_path: Path) -> None:
    device, file = host.disk(), tmp_path / "image"
    for place in ({"device": device}, {"loop_file": str(file), "size": SMALL}):
        with pytest.raises(FilesystemError, match=r"cannot be formatted: mkfs\.ext4 says"):
            host.mounted(**place, mkfs_options=["-O", "nonsense"])
        assert host.records.all() == [] and not host.point.exists()
    assert not file.exists() and Contents(run).found(device) == []
    with pytest.raises(FilesystemError, match="cannot be mounted: mount says"):
        host.mounted(loop_file=str(file), size=SMALL, mount_options=["nonsense"])
    assert host.loops.of(str(file)) is None and not host.point.exists()


def test_types_that_are_refused(host: Host) -> None:
    device = host.disk()
    with pytest.raises(FilesystemError, match=r"there is no mkfs\.nonsense; next: install it"):
        host.mounted(device, kind="nonsense")
    if "minix" not in Path("/proc/filesystems").read_text().split():
        with pytest.raises(FilesystemError, match="this kernel has no minix"):
            host.mounted(device, kind="minix")
    assert ends(device).strip(b"\0") == b"" and host.records.all() == []


def test_a_folder_in_use_is_not_unmounted(host: Host) -> None:
    device = host.disk()
    host.mounted(device)
    with subprocess.Popen(["sleep", "60"], cwd=host.point) as user:
        with pytest.raises(FilesystemError) as caught:
            host.filesystem().unmounted(str(host.point))
        assert f"{host.point} is in use by sleep (process {user.pid})" in str(caught.value)
        user.kill()


def test_a_folder_that_was_there_stays(host: Host) -> None:
    host.point.mkdir(mode=0o750)
    host.mounted(host.disk())
    host.filesystem().absent(str(host.point))
    assert host.point.stat().st_mode & 0o777 == 0o750


def test_after_a_power_failure(host: Host, tmp_path: Path) -> None:
    """The records say mounted, the folders are there, and nothing is mounted or attached."""
    file, points = tmp_path / "image", [str(tmp_path / "shared" / name) for name in ("one", "two")]
    devices = {points[0]: {"loop_file": str(file), "size": SMALL}, points[1]: {"device": host.disk()}}
    for point, place in devices.items():
        host.mounted(mount=point, **place)
        (Path(point) / "data").write_text(point)
        command("umount", point)
    command("losetup", "--detach", str(host.loops.of(str(file))))
    for point, place in devices.items():
        before, after = host.mounted(mount=point, **place)
        assert (before["state"], after["state"]) == ("unmounted", "mounted")
        assert (Path(point) / "data").read_text() == point
        command("umount", point)
    for point in points:
        host.filesystem().absent(point)
    assert not (tmp_path / "shared").exists() and not file.exists()


def test_a_folder_that_two_share_goes_with_the_last(host: Host, tmp_path: Path) -> None:
    points = [str(tmp_path / "shared" / name) for name in ("one", "two")]
    for point in points:
        host.mounted(host.disk(), mount=point)
    host.filesystem().unmounted(points[0])
    assert not Path(points[0]).exists() and Path(points[1]).is_mount()
    host.filesystem().absent(points[1])
    assert not (tmp_path / "shared").exists()


def test_the_module(host: Host, tmp_path: Path) -> None:
    """As Ansible runs it: check, make, repeat, with diff; all at once away again."""
    host.disk()
    arguments = {
        "type": "ext4",
        "mount": str(host.point),
        "loop_file": str(tmp_path / "image"),
        "loop_size": "16M",
        "records": host.records.folder,
    }
    foretold = run_module("filesystem_under_test", "--check", **arguments)
    assert foretold["changed"] and foretold["device"] is None and not host.point.exists()
    made = run_module("filesystem_under_test", "--diff", **arguments)
    assert made["changed"] and made["after"] == foretold["after"]
    assert '+        "state": "mounted"' in made["shown"]
    assert made["device"].startswith("/dev/loop") and made["uuid"]
    assert not run_module("filesystem_under_test", **arguments)["changed"]
    away = {"all": True, "records": host.records.folder}
    assert run_module("filesystem_under_test", state="unmounted", **away)["changed"]
    assert not run_module("filesystem_under_test", state="unmounted", **away)["changed"]
    assert (tmp_path / "image").exists()
    assert run_module("filesystem_under_test", state="absent", **away)["changed"]
    assert not (tmp_path / "image").exists()


def test_a_boolean_overwrites_nothing(host: Host) -> None:
    device = host.disk()
    command("mkswap", device)
    failed = run_module(
        "filesystem_under_test", type="ext4", mount=str(host.point), device=device, overwrite=True
    )
    assert f"{device} is formatted whatever it holds only if overwrite repeats this path" in failed["msg"]
    assert failed["msg"].startswith(os.uname().nodename) and "'True'" in failed["msg"]


def test_a_device_that_udev_looks_at_is_not_in_use(host: Host) -> None:
    device = host.disk()
    with Path(device).open("rb") as disk, subprocess.Popen(["sleep", "0.2"], stdin=disk):
        disk.close()
        time.sleep(0.05)
        host.mounted(device)


@pytest.mark.slow
@pytest.mark.usefixtures("the_lab")
def test_a_container_that_loses_its_power(perflab: Perflab) -> None:
    """Its /dev has no loop devices, neither before nor after; what was written is there again."""

    def play(name: str) -> None:
        scenario = f"extensions/molecule/filesystem/{name}.yml"
        done = perflab.playbook("-i", "tests/lab/inventory/lab.yml", scenario)
        assert done.returncode == 0, done.stdout + done.stderr

    (machine,) = lab.up(["ordinary"])
    attached = command("losetup", "--all")
    play("converge")
    try:
        assert access.ssh(machine, "echo kept | sudo tee /mnt/perflab/xfs/written; sync").returncode == 0
        lab.reboot(machine)
        assert command("losetup", "--all") == attached
        play("converge")
        assert access.ssh(machine, "cat /mnt/perflab/xfs/written").stdout == "kept\n"
    finally:
        play("cleanup")
    assert command("losetup", "--all") == attached

"""Real devices that hold data or are in use are not formatted, and are left as they are."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from ansible_collections.perflab.bench.plugins.module_utils.device_contents import Contents
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import FilesystemError

from tests.integration.disks import (
    HOLDS,
    LARGE,
    MIB,
    SECTOR,
    SMALL,
    Host,
    command,
    ends,
    master_boot_record,
    run,
)
from tests.unit.plugins.adhoc import run_module

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes loop devices and mounts: run as root")


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


def test_types_that_are_refused(host: Host) -> None:
    device = host.disk()
    with pytest.raises(FilesystemError, match=r"there is no mkfs\.nonsense; next: install it"):
        host.mounted(device, kind="nonsense")
    if "minix" not in Path("/proc/filesystems").read_text().split():
        with pytest.raises(FilesystemError, match="this kernel has no minix"):
            host.mounted(device, kind="minix")
    assert ends(device).strip(b"\0") == b"" and host.records.all() == []


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

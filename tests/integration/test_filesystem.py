"""The life of a file system for measuring, on real loop devices and files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ansible_collections.perflab.bench.plugins.module_utils.device_contents import Contents
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import FilesystemError

from tests.lab import access, lab
from tests.unit.plugins.adhoc import run_module

if TYPE_CHECKING:
    from conftest import Perflab

from tests.integration.disks import LARGE, SECTOR, SMALL, Host, command, ends, run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes loop devices and mounts: run as root")


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

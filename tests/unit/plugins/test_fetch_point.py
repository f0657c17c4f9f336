"""A point reaches the controller whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from ansible_collections.perflab.bench.plugins.action import fetch_point

LOG = b"PING_INLINE: 100000.00 requests per second\n"


def archive(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def record(status: str = "ok", log: bytes = LOG) -> bytes:
    entry = {"name": "stdout.log", "bytes": len(log), "sha256": hashlib.sha256(log).hexdigest()}
    return json.dumps({"status": status, "logs": [entry]}).encode()


def point(**files: bytes) -> bytes:
    return archive({"./point.json": record(), "./stdout.log": LOG, **files})


def unpack(data: bytes, dest: Path) -> None:
    fetch_point.unpack(data, dest, "kunpeng-1: /var/lib/perflab/runs/x/001")


def test_a_point_arrives_with_the_logs_that_it_lists(tmp_path: Path) -> None:
    unpack(point(**{"./scratch": b"not listed"}), tmp_path / "kunpeng-1" / "001")
    assert sorted(path.name for path in (tmp_path / "kunpeng-1" / "001").iterdir()) == [
        "point.json",
        "stdout.log",
    ]
    assert (tmp_path / "kunpeng-1" / "001" / "stdout.log").read_bytes() == LOG
    assert [path.name for path in (tmp_path / "kunpeng-1").iterdir()] == ["001"]


def test_an_interrupted_attempt_gives_way(tmp_path: Path) -> None:
    dest = tmp_path / "001"
    dest.mkdir()
    (dest / "leftover.log").write_text("half")
    unpack(point(), dest)
    assert not (dest / "leftover.log").exists()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (point()[:-30], "arrived damaged"),
        (b"no archive", "arrived damaged"),
        (archive({"./stdout.log": LOG}), "has no readable point.json"),
        (archive({"./point.json": b"{"}), "has no readable point.json"),
        (archive({"./point.json": record()}), "stdout.log is not the log that point.json recorded"),
        (archive({"./point.json": record(), "./stdout.log": LOG[:-9]}), "stdout.log is not the log"),
        (archive({"./point.json": record(), "../stdout.log": LOG}), "stdout.log is not the log"),
    ],
)
def test_what_is_not_the_point_is_refused(tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(
        fetch_point.PointBrokenError, match=f"^kunpeng-1: /var/lib/perflab/runs/x/001.*{says}"
    ):
        unpack(data, tmp_path / "001")
    assert list(tmp_path.iterdir()) == []


def run_action(dest: Path, answer: dict[str, Any], check_mode: bool = False) -> tuple[dict[str, Any], Mock]:
    task = Mock(args={"src": "/host/001", "dest": str(dest)}, check_mode=check_mode, async_val=0)
    action = fetch_point.ActionModule(task, Mock(), None, None, None, None)
    command = Mock(return_value=answer)
    action._low_level_execute_command = command
    return action.run(task_vars={"inventory_hostname": "kunpeng-1"}), command


def answer(data: bytes = b"", rc: int = 0, stderr: str = "") -> dict[str, Any]:
    return {"rc": rc, "stdout": base64.encodebytes(data).decode(), "stderr": stderr}


def test_a_finished_point_is_fetched_once(tmp_path: Path) -> None:
    result, command = run_action(tmp_path / "001", answer(point()))
    assert result["changed"]
    assert command.call_count == 1
    result, command = run_action(tmp_path / "001", answer(point()))
    assert not result["changed"]
    assert command.call_count == 0


def test_check_mode_fetches_nothing(tmp_path: Path) -> None:
    result, command = run_action(tmp_path / "001", answer(), check_mode=True)
    assert result["changed"]
    assert command.call_count == 0


def test_a_folder_that_the_host_does_not_have(tmp_path: Path) -> None:
    stderr = "tar: /host/001: Cannot open: No such file or directory"
    with pytest.raises(
        fetch_point.AnsibleActionFail, match=f"kunpeng-1: /host/001 could not be read: {stderr}"
    ):
        run_action(tmp_path / "001", answer(stderr=stderr))


def test_a_full_disk_on_the_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_bytes(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    with pytest.raises(fetch_point.AnsibleActionFail) as caught:
        run_action(tmp_path / "001", answer(point()))
    assert "No space left on device" in str(caught.value)
    assert "the point is safe on kunpeng-1 in /host/001" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_record_on_the_controller_that_is_broken_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "001").mkdir()
    (tmp_path / "001" / "point.json").write_text("")
    result, _ = run_action(tmp_path / "001", answer(point()))
    assert result["changed"]
    assert (tmp_path / "001" / "point.json").read_bytes() == record()

# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Bring a point's folder to the controller, whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shlex
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.perflab.bench.plugins.module_utils.point_supervisor import LOCK_FILE, POINT_FILE
from ansible_collections.perflab.bench.plugins.plugin_utils.run_tree import is_finished
from ansible_collections.perflab.bench.plugins.plugin_utils.shell import run_on_host

# How long to reconnect to a host whose connection drops while a point is fetched.
_PATIENCE_S = 120


class ActionModule(ActionBase):
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {"src": {"type": "path", "required": True}, "dest": {"type": "path", "required": True}}
        )
        src, dest = args["src"], Path(args["dest"])
        host = (task_vars or {}).get("inventory_hostname", "this host")
        result.update(dest=str(dest), changed=False)
        try:
            if is_finished(dest):
                return result
            result["changed"] = True
            if not self._task.check_mode:
                unpack(self._read(host, src), dest, f"{host}: {src}")
        except PointBrokenError as error:
            raise AnsibleActionFail(f"{error}; look at it there, remove it, then resume the run") from None
        except OSError as error:
            raise AnsibleActionFail(
                f"cannot write {dest} on the controller: {error}; the point is safe on {host} in {src}: "
                "make room, then resume the run with the same run_id"
            ) from None
        return result

    def _read(self, host: str, src: str) -> bytes:
        """Return the folder as a compressed archive, through the connection as text."""
        command = f"tar -C {shlex.quote(src)} --exclude={shlex.quote(LOCK_FILE)} -czf - . | base64"
        answer = run_on_host(self, host, command, _PATIENCE_S)
        try:
            archive = base64.b64decode("".join(answer["stdout"].split()), validate=True)
        except ValueError:
            archive = b""
        if answer["rc"] != 0 or not archive:
            reason = " ".join((answer["stderr"] or answer["stdout"]).split())[:300]
            raise PointBrokenError(f"{host}: {src} could not be read: {reason}")
        return archive


class PointBrokenError(Exception):
    """The point on the host is not what its record says; the message names it."""


def unpack(archive: bytes, dest: Path, source: str) -> None:
    """Write the point in *archive* to the folder *dest*, which appears complete or stays as it was.

    :param source: what to call the point in errors.
    :raises PointBrokenError: when the record or a log is missing, or a log is not the one that was recorded.
    :raises OSError: when the controller cannot write.
    """
    files = _files(archive, source)
    try:
        logs = {log["name"]: log for log in json.loads(files[POINT_FILE])["logs"]}
    except (KeyError, ValueError, TypeError) as error:
        raise PointBrokenError(f"{source} has no readable {POINT_FILE} ({error})") from None
    for name, log in logs.items():
        data = files.get(name)
        if data is None or len(data) != log["bytes"] or hashlib.sha256(data).hexdigest() != log["sha256"]:
            raise PointBrokenError(f"{source}/{name} is not the log that {POINT_FILE} recorded")
    dest.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{dest.name}.", dir=dest.parent))
    try:
        partial.chmod(0o755)
        for name in [*logs, POINT_FILE]:
            (partial / name).write_bytes(files[name])
        if dest.exists():
            shutil.rmtree(dest)  # an interrupted attempt at the same point
        partial.rename(dest)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _files(archive: bytes, source: str) -> dict[str, bytes]:
    """Return the archive's plain files at its top by name; nothing of an archive is ever unpacked by path."""
    files = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            for member in tar:
                name = member.name.removeprefix("./")
                content = tar.extractfile(member) if member.isfile() and "/" not in name else None
                if content:
                    files[name] = content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise PointBrokenError(f"{source} arrived damaged ({error})") from None
    return files

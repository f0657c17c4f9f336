"""The module run_point with its action plug-in, alone and through the role point with real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from ansible.errors import AnsibleAuthenticationFailure, AnsibleConnectionFailure
from ansible_collections.perflab.bench.plugins.action import run_point as action_plugin
from ansible_collections.perflab.bench.plugins.modules import run_point as module
from ansible_collections.perflab.bench.plugins.plugin_utils import shell

from collector.models import Point, Status

ROOT = Path(__file__).parents[3]
PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: perflab.bench.point
        tasks_from: "{{ tasks }}"
"""


class Lab:
    """Runs the role point against this machine, in folders of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "play.yml").write_text(PLAY)
        self.variables: dict[str, Any] = {
            "tasks": "main",
            "run_dir": str(folder / "runs" / "my-run"),
            "run_current_id": "my-run",
            "run_current_study": "freq_sweep",
            "point_host_dir": str(folder / "host"),
            "point_planned": {
                "point_id": "001-sleep-as_found-r1",
                "host": "localhost",
                "workload": "sleep",
                "factors": {"frequency": "as_found"},
                "params": {"seconds": 1},
                "repeat": 1,
                "order": 1,
            },
            "point_secrets": {"db": "s3same"},
        }
        self.on_host = folder / "host" / "runs" / "localhost" / "my-run" / "001-sleep-as_found-r1"
        self.fetched = folder / "runs" / "my-run" / "localhost" / "001-sleep-as_found-r1"

    def command(self, **variables: Any) -> list[str]:
        extra = json.dumps({**self.variables, "ansible_python_interpreter": sys.executable, **variables})
        playbook = Path(sys.executable).with_name("ansible-playbook")
        return [
            str(playbook),
            str(self.folder / "play.yml"),
            "-i",
            "localhost,",
            "-c",
            "local",
            "-v",
            "-e",
            extra,
        ]

    def play(self, *options: str, **variables: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command(**variables), *options], cwd=ROOT, capture_output=True, text=True
        )

    @property
    def pid_file(self) -> Path:
        return self.folder / "workload.pid"

    def start(self, script: str) -> subprocess.Popen[str]:
        """Start a play and return once its workload really runs."""
        play = subprocess.Popen(
            self.command(point_argv=["sh", "-c", f"echo $$ > {self.pid_file}; {script}"]),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.pid_file.exists() and self.pid_file.read_text():
                return play
            time.sleep(0.05)
        raise AssertionError(play.communicate()[0])

    def supervisor(self) -> int:
        return int((self.on_host / "supervisor.lock").read_text())

    def point(self) -> Point:
        return Point.model_validate_json((self.fetched / "point.json").read_text())


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_a_point_is_run_once_and_fetched(lab: Lab) -> None:
    argv = ["sh", "-c", 'echo run >> "$1"; echo "password {secret:db}"', "-", str(lab.folder / "runs.txt")]
    for _ in range(2):
        done = lab.play(point_argv=argv)
        assert done.returncode == 0, done.stdout
        assert "s3same" not in done.stdout + done.stderr
    assert lab.point().status is Status.OK
    assert (lab.fetched / "stdout.log").read_text() == "password {secret:db}\n"
    assert (lab.folder / "runs.txt").read_text() == "run\n"
    assert "changed=0" in done.stdout


def test_a_failed_benchmark_is_a_warning_not_a_failed_play(lab: Lab) -> None:
    done = lab.play(point_argv=["sh", "-c", "echo no route to host >&2; exit 1"])
    assert done.returncode == 0, done.stdout
    assert "001-sleep-as_found-r1: failed: sh ended with status 1: no route to host" in " ".join(
        done.stderr.split()
    )
    assert lab.point().status is Status.FAILED


def test_check_mode_runs_nothing(lab: Lab) -> None:
    done = lab.play("--check", point_argv=["sh", "-c", f"touch {lab.folder}/ran"])
    assert done.returncode == 0, done.stdout
    assert not (lab.folder / "ran").exists()
    assert not lab.on_host.exists()


def test_a_killed_supervisor_fails_the_task_and_a_second_run_starts_anew(lab: Lab) -> None:
    play = lab.start("exec sleep 60")
    os.kill(lab.supervisor(), signal.SIGKILL)
    output = " ".join(play.communicate(timeout=60)[0].split())
    assert play.returncode != 0
    assert (
        f"localhost: the point's supervisor ended without {lab.on_host}/point.json: it was killed" in output
    )
    os.kill(int(lab.pid_file.read_text()), signal.SIGKILL)
    assert lab.play(point_argv=["echo", "again"]).returncode == 0
    assert (lab.fetched / "stdout.log").read_text() == "again\n"


def test_stop_interrupts_a_point_that_a_second_run_repeats(lab: Lab) -> None:
    play = lab.start("sleep 60")
    stopped = lab.play(tasks="stop")
    assert stopped.returncode == 0, stopped.stdout
    assert "changed=1" in stopped.stdout
    play.communicate(timeout=60)
    assert lab.point().status is Status.INTERRUPTED
    assert lab.play(point_argv=["echo", "again"]).returncode == 0
    assert lab.point().status is Status.OK
    assert "changed=0" in lab.play(tasks="stop").stdout


def test_a_point_goes_on_without_its_play_and_is_waited_for(lab: Lab) -> None:
    play = lab.start("sleep 4; echo done")
    play.kill()
    play.communicate()
    done = lab.play(point_argv=["echo", "a second run"])
    assert done.returncode == 0, done.stdout
    assert (lab.fetched / "stdout.log").read_text() == "done\n"


def test_clean_waits_until_everything_is_fetched(lab: Lab) -> None:
    planned = lab.variables["point_planned"]
    lab.play(point_argv=["true"])
    lab.play(tasks="clean", run_points=[planned, {**planned, "point_id": "002-sleep-as_found-r2"}])
    assert lab.on_host.exists()
    lab.play(tasks="clean", run_points=[planned])
    assert not lab.on_host.exists()


def test_a_host_folder_that_cannot_be_written(lab: Lab) -> None:
    (lab.folder / "host").write_text("a file")
    done = lab.play(point_argv=["true"])
    assert done.returncode != 0
    assert f"cannot use {lab.on_host} on this host: Not a directory" in done.stdout


class Connection(action_plugin.ActionModule):
    """The plug-in with a connection that gives these answers in turn."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(Mock(), Mock(), None, None, None, None)
        self._low_level_execute_command = Mock(side_effect=answers)

    def wait(self, patience_s: float = 60) -> Any:
        return self._wait("kunpeng-1", "/host/001", patience_s)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []
    monkeypatch.setattr(shell.time, "sleep", taken.append)
    return taken


def test_a_dropped_connection_is_taken_up_again(pauses: list[float]) -> None:
    lost = AnsibleConnectionFailure("Connection reset by peer")
    action = Connection(lost, lost, {"rc": 0, "stdout": '{"status": "ok"}', "stderr": ""})
    assert action.wait() == {"status": "ok"}
    assert pauses == [1.0, 2.0]


def test_a_connection_that_stays_lost_is_given_up(pauses: list[float]) -> None:
    with pytest.raises(AnsibleConnectionFailure):
        Connection(*[AnsibleConnectionFailure("No route to host")] * 3).wait(patience_s=0)


def test_a_refused_key_is_not_tried_again(pauses: list[float]) -> None:
    with pytest.raises(AnsibleAuthenticationFailure):
        Connection(AnsibleAuthenticationFailure("Permission denied")).wait()
    assert pauses == []


def test_flock_missing_on_the_host() -> None:
    answer = {
        "rc": 1,
        "stdout": "Filesystem 1024-blocks Used Available",
        "stderr": "/bin/sh: 1: flock: not found",
    }
    with pytest.raises(
        action_plugin.AnsibleActionFail, match="kunpeng-1: flock is missing there: install util-linux"
    ):
        Connection(answer).wait()


def test_a_full_disk_shows_in_the_error() -> None:
    df = "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda 100 100 0 100% /var/lib"
    answer = {"rc": 1, "stdout": df, "stderr": "cat: point.json: No such file or directory"}
    with pytest.raises(action_plugin.AnsibleActionFail, match=r"the disk is full \(0 kB free there\)"):
        Connection(answer).wait()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"argv": []}, "argv needs at least the program's name"),
        ({"argv": ["x", "{secret:typo}"]}, r"\{secret:typo\} is not in secrets, which has \['db'\]"),
        ({"env": {"P": "{secret:typo}"}}, "is not in secrets"),
        ({"before": [{"argv": ["{secret:typo}"], "env": {}, "log": None}]}, "is not in secrets"),
        ({"stdout_name": "../out"}, "are plain names, each its own"),
        ({"stdout_name": "stderr.log"}, "are plain names, each its own"),
        ({"after": [{"argv": ["x"], "env": {}, "log": "stderr.log"}]}, "are plain names, each its own"),
        ({"timeout_s": 0}, "are seconds above 0"),
    ],
)
def test_arguments_that_cannot_be_run(changes: dict[str, Any], says: str) -> None:
    job = {
        "argv": ["x"],
        "env": {},
        "secrets": {"db": "s3same"},
        "before": [],
        "after": [],
        "timeout_s": 1,
        "sample_interval_s": 1,
    }
    job.update({"stdout_name": "stdout.log", "stderr_name": "stderr.log"}, **changes)
    with pytest.raises(ValueError, match=says):
        module.check(job)

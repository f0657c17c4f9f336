"""Playbooks really run by ansible-runner, in a checkout whose collection changes nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from collector import runner
from collector.errors import CollectorError
from collector.events import Listener, reason
from collector.runner import Playbook
from tests.stand_in import ROOT, StandIn


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn.build(tmp_path)
    monkeypatch.setattr(runner, "CHECKOUT", stand_in.root)
    return stand_in


class Recorder(Listener):
    def __init__(self) -> None:
        self.ticks = 0
        self.log = ""
        self.told: list[tuple[str, ...]] = []

    def tick(self) -> None:
        self.ticks += 1

    def output(self, text: str) -> None:
        self.log += text + "\n"

    def task_started(self, host: str, role: str, task: str, action: str) -> None:
        self.told.append(("task", host, role, task, action))

    def host_failed(self, host: str, task: str, reason: str) -> None:
        self.told.append(("failed", host, task, reason))

    def host_unreachable(self, host: str, reason: str) -> None:
        self.told.append(("unreachable", host, reason))


def _variables(stand_in: StandIn) -> dict[str, str]:
    (stand_in.runs / "test").mkdir()
    return {"run_id": "test", "run_runs_dir": str(stand_in.runs)}


def _extra_vars(stand_in: StandIn, *hosts: str, **more: str) -> list[str]:
    plan = stand_in.plan(*((host, {}) for host in hosts))[1]
    return [plan, *(f"{name}={value!r}" for name, value in more.items())]


def test_a_listener_is_told_what_happens(stand_in: StandIn) -> None:
    listener = Recorder()
    playbook = Playbook("sweep", [str(stand_in.inventory("a"))], extra_vars=_extra_vars(stand_in, "a"))
    outcome = playbook.run(listener, _variables(stand_in))
    assert (outcome.rc, outcome.interrupted, outcome.exit_status) == (0, False, 0)
    assert ("task", "a", "", "Plan", "ansible.builtin.copy") in listener.told
    assert ("task", "a", "point", "Run it", "perflab.bench.run_point") in listener.told
    assert "PLAY RECAP" in listener.log
    assert "\x1b" not in listener.log
    assert listener.ticks > 2
    assert (stand_in.runs / "test" / "a" / "001-sleep" / "point.json").exists()


def test_failed_and_unreachable_hosts_are_told(stand_in: StandIn) -> None:
    listener = Recorder()
    playbook = Playbook(
        "sweep",
        [str(stand_in.inventory("a", gone=1))],
        extra_vars=_extra_vars(stand_in, "a", "gone", prepare="sh -c 'echo no disk >&2; exit 3'"),
    )
    outcome = playbook.run(listener, _variables(stand_in))
    assert outcome.exit_status == 1
    (failed,) = [entry for entry in listener.told if entry[0] == "failed"]
    (unreachable,) = [entry for entry in listener.told if entry[0] == "unreachable"]
    assert failed[:3] == ("failed", "a", "Prepare")
    assert failed[3].endswith("non-zero return code: no disk")
    assert unreachable[:2] == ("unreachable", "gone")
    assert unreachable[2].startswith("ssh: connect to host 127.0.0.1 port 1")


def test_several_inventories_limit_and_precedence(stand_in: StandIn) -> None:
    listener = Recorder()
    playbook = Playbook(
        "sweep",
        [str(stand_in.inventory("a", "c")), str(stand_in.inventory("b"))],
        limit="a,b",
        extra_vars=[*_extra_vars(stand_in, "a", "b", "c"), "run_id=the_users"],
    )
    assert playbook.run(listener, _variables(stand_in)).rc == 0
    assert stand_in.seen("started") == {"a", "b"}
    assert {path.name for path in stand_in.runs.iterdir()} == {"test"}


def test_the_become_password_is_passed_in_a_file_that_goes_away(stand_in: StandIn) -> None:
    look = "sh -c 'stat -c %a $ANSIBLE_BECOME_PASSWORD_FILE; cat $ANSIBLE_BECOME_PASSWORD_FILE >&2; exit 1'"
    playbook = Playbook(
        "sweep", [str(stand_in.inventory("a"))], extra_vars=_extra_vars(stand_in, "a", prepare=look),
        become_password="s3cret",
    )  # fmt: skip
    listener = Recorder()
    before = set(Path(os.environ.get("TMPDIR", "/tmp")).glob("perflab-*"))
    playbook.run(listener, _variables(stand_in))
    (failed,) = [entry for entry in listener.told if entry[0] == "failed"]
    assert failed[3].endswith(": s3cret")
    assert "600" in listener.log
    assert set(Path(os.environ.get("TMPDIR", "/tmp")).glob("perflab-*")) <= before


@pytest.mark.parametrize(
    ("limit", "extra_vars", "words"),
    [
        ("nobody", [], "no hosts matched --limit nobody in"),
        (None, ["sweep_hosts=nobody"], "no hosts matched nobody in"),
    ],
)
def test_no_host_is_an_error(stand_in: StandIn, limit: str | None, extra_vars: list[str], words: str) -> None:
    inventory = stand_in.inventory("a")
    with pytest.raises(CollectorError, match=words) as caught:
        Playbook("sweep", [str(inventory)], limit=limit, extra_vars=extra_vars).run(Recorder())
    assert str(inventory) in str(caught.value)


def test_what_ansible_refuses_is_an_error(stand_in: StandIn) -> None:
    (stand_in.root / "playbooks" / "sweep.yml").write_text("- hosts: all\n  tsks: []\n")
    with pytest.raises(CollectorError, match="tsks"):
        Playbook("sweep", [str(stand_in.inventory("a"))]).run(Recorder())


def test_a_missing_inventory_is_an_error(stand_in: StandIn) -> None:
    with pytest.raises(CollectorError, match="inventory/nowhere: no such inventory"):
        Playbook("sweep", ["inventory/nowhere"])
    Playbook("sweep", ["host1,host2"])


def test_a_missing_ansible_is_an_error(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _name: "/nonexistent")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(CollectorError, match="ansible-playbook is not installed"):
        Playbook("sweep", ["a,"])


def test_a_collector_without_its_checkout_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "CHECKOUT", tmp_path)
    with pytest.raises(CollectorError, match=r"ansible\.cfg"):
        Playbook("sweep", ["a,"])


def test_studies_are_the_playbooks_that_measure(stand_in: StandIn) -> None:
    assert runner.studies() == ["sweep"]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (
            {"msg": "Task failed: Failed to connect to the host via ssh: no route\nto host"},
            "no route to host",
        ),
        ({"msg": "non-zero return code", "stderr": "a\nb: refused\n"}, "non-zero return code: b: refused"),
        ({"msg": "fine", "stderr": "noise"}, "fine"),
        (
            {"msg": "MODULE FAILURE.", "module_stderr": "python: not found"},
            "MODULE FAILURE: python: not found",
        ),
        ({"msg": "All items completed", "results": [{"msg": "x"}, {"failed": True, "msg": "bad"}]}, "bad"),
        (
            {
                "msg": "The following modules failed to execute: ansible.legacy.setup.",
                "failed_modules": {"ansible.legacy.setup": {"msg": "no json", "module_stderr": "no python3"}},
            },
            "no json: no python3",
        ),
        ({"censored": "hidden by no_log"}, "hidden by no_log"),
        ({}, "no reason given"),
    ],
)
def test_a_reason_is_one_line(result: dict[str, object], words: str) -> None:
    assert reason(result) == words


def _collector(stand_in: StandIn, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments, cwd=stand_in.root / "marks", env=stand_in.environment(), capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


def test_collector_run_counts_a_failed_point_and_resumes(stand_in: StandIn) -> None:
    inventory = stand_in.inventory("a", gone=1)
    plan = stand_in.plan(("a", {}), ("a", {"status": "failed"}), ("gone", {}))
    done = _collector(stand_in, *stand_in.collector_run([inventory], *plan))
    assert done.returncode == 1, done.stderr
    lines = done.stderr.splitlines()
    assert len([line for line in lines if line.startswith("gone: unreachable: ssh: connect")]) == 1
    assert any("a: ok  1.0 GHz, repeat 1, redis_benchmark" in line for line in lines)
    assert any(
        line.startswith("a: failed  1.0 GHz, repeat 2: Redis closed the connection (log: ") for line in lines
    )
    (run_dir,) = stand_in.runs.iterdir()
    assert lines[-1] == f"run {run_dir}: 1 of 3 points ok, 1 failed, 1 missing"
    assert done.stdout == ""
    assert "PLAY RECAP" in (run_dir / "ansible.log").read_text()

    # The host is back, under the same name; what is there already is no news, and stays.
    back = stand_in.inventory("gone")
    again = _collector(stand_in, *stand_in.collector_run([back], *plan, "--resume", run_dir.name))
    assert again.stderr.splitlines()[-1] == f"run {run_dir}: 2 of 3 points ok, 1 failed, 0 missing"
    assert not any(line.startswith("a: ") for line in again.stderr.splitlines())
    assert again.returncode == 1  # a point of the run has failed

    done = _collector(stand_in, *stand_in.collector_run([back], *plan, "--resume", str(run_dir)))
    assert done.returncode == 2
    assert "nothing to resume: every point is finished" in done.stderr


def test_collector_run_in_check_mode_leaves_no_run(stand_in: StandIn) -> None:
    argv = stand_in.collector_run([stand_in.inventory("a")], "--check", *stand_in.plan())
    done = _collector(stand_in, *argv, "-e", f"run_runs_dir={stand_in.root}", "-e", "run_id=marks")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PLAY RECAP" in done.stdout
    assert not list(stand_in.runs.iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "swep", "-i", "a,"], "no study 'swep' (did you mean sweep?)"),
        (["run", "sweep", "-i", "a,", "--resume", "20261130"], "20261130: no such folder"),
        (["restore", "-i", "nowhere"], "nowhere: no such inventory"),
    ],
)
def test_bad_usage_is_one_line(stand_in: StandIn, arguments: list[str], words: str) -> None:
    done = _collector(stand_in, *stand_in.collector(*arguments))
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_collector_restore(stand_in: StandIn) -> None:
    argv = stand_in.collector("restore", "-i", str(stand_in.inventory("a")), "-e", f"marks={stand_in.marks}")
    done = _collector(stand_in, *argv)
    assert done.returncode == 0, done.stderr
    assert "PLAY RECAP" in done.stdout
    assert stand_in.seen("restored") == {"a"}


def test_the_checkout_is_where_ansible_cfg_is() -> None:
    assert ROOT == runner.CHECKOUT

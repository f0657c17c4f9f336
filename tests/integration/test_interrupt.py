"""Ctrl-C and its relatives, really sent to a really running ansible-playbook, plain and by the collector."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pexpect
import pytest

from tests.stand_in import StandIn

_LONG = {"seconds": 60}


class Start(Protocol):
    def __call__(self, argv: list[str], hosts: str = "a b") -> pexpect.spawn: ...


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn.build(tmp_path)


@pytest.fixture
def start(stand_in: StandIn) -> Start:
    """Starts a command on a terminal of its own and waits until every host is in its first point."""

    def start(argv: list[str], hosts: str = "a b") -> pexpect.spawn:
        child = pexpect.spawn(
            argv[0], argv[1:], cwd=stand_in.root, env=stand_in.environment(), encoding="utf-8",
            timeout=60, dimensions=(50, 400), preexec_fn=_heed_signals,
        )  # fmt: skip
        _until(lambda: stand_in.seen("started") == set(hosts.split()), child)
        return child

    return start


def _heed_signals() -> None:
    """As on a terminal, even if these tests run in the background or under nohup."""
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)


def _until(condition: Callable[[], bool], child: pexpect.spawn, timeout_s: float = 60) -> None:
    """Wait for a condition while taking what the child prints, which would block otherwise."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, child.before
        child.expect([pexpect.TIMEOUT, pexpect.EOF], timeout=0.1)


def _end(child: pexpect.spawn) -> str:
    """What the child still prints until it ends."""
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before)


def _two_hosts(stand_in: StandIn, *arguments: str) -> list[str]:
    """A plain ansible-playbook on host a of one inventory and host b of another; c is left out by --limit."""
    return stand_in.playbook(
        "-i", str(stand_in.inventory("a", "c")), "-i", str(stand_in.inventory("b")), "--limit", "a,b",
        *stand_in.plan(("a", _LONG), ("b", _LONG), ("c", _LONG)), *arguments,
    )  # fmt: skip


def test_ctrl_c_restores_the_same_hosts(stand_in: StandIn, start: Start) -> None:
    child = start(_two_hosts(stand_in))
    child.sendintr()
    output = _end(child)
    assert "perflab: the hosts are as they were found" in output
    assert child.exitstatus == 99
    assert stand_in.seen("restored") == {"a", "b"}


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_restore_too(stand_in: StandIn, start: Start, signum: signal.Signals) -> None:
    child = start(_two_hosts(stand_in))
    os.kill(child.pid, signum)
    _end(child)
    assert stand_in.seen("restored") == {"a", "b"}


def test_a_closed_terminal_restores(stand_in: StandIn, start: Start) -> None:
    child = start(_two_hosts(stand_in))
    os.close(child.child_fd)
    deadline = time.monotonic() + 60
    while stand_in.seen("restored") != {"a", "b"}:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.waitpid(child.pid, 0)


def test_an_impatient_ctrl_c_does_not_leave_hosts_changed(stand_in: StandIn, start: Start) -> None:
    child = start(_two_hosts(stand_in, "-e", "restore_s=2"))
    child.sendintr()
    child.sendintr()
    _end(child)
    assert stand_in.seen("restored") == {"a", "b"}


def test_giving_up_tells_the_command_to_run(stand_in: StandIn, start: Start) -> None:
    child = start(_two_hosts(stand_in, "-e", "restore_s=30"))
    child.sendintr()
    child.expect("putting the hosts back as they were found")
    while True:  # at its very start, restoring ignores Ctrl-C
        child.sendintr()
        if child.expect(["still putting the hosts back", pexpect.TIMEOUT], timeout=1) == 0:
            break
    child.sendintr()
    output = _end(child)
    assert "the hosts were NOT put back" in output
    command = _command(output)
    assert re.search(r"--inventory \S+/a-c.json --inventory \S+/b.json --limit a,b", command)
    assert "--extra-vars restore_s=30" in command
    assert "--forks" not in command  # what was not asked for is not repeated
    assert not stand_in.seen("restored")


def test_failing_to_restore_tells_the_command_to_run(stand_in: StandIn, start: Start) -> None:
    child = start(_two_hosts(stand_in, "-e", "restore_command=false"))
    child.sendintr()
    output = _end(child)
    assert "could not put every host back" in output
    assert "--limit a,b" in _command(output)


def test_nothing_is_restored_before_anything_was_changed(stand_in: StandIn) -> None:
    child = pexpect.spawn(
        "env", _two_hosts(stand_in, "-e", "prepare='sleep 60'"), cwd=stand_in.root,
        env=stand_in.environment(), encoding="utf-8", timeout=60, preexec_fn=_heed_signals,
    )  # fmt: skip
    child.expect("PLAY")
    time.sleep(2)
    child.sendintr()
    assert "perflab:" not in _end(child)
    assert not stand_in.seen("restored")


def test_check_mode_restores_nothing(stand_in: StandIn, start: Start) -> None:
    child = start(_two_hosts(stand_in, "--check"))
    child.sendintr()
    assert "perflab:" not in _end(child)
    assert not stand_in.seen("restored")


def test_a_host_lost_while_changed_is_named(stand_in: StandIn) -> None:
    """The only task that changes host ``gone`` is the one at which it turns out to be unreachable."""
    plan = stand_in.plan(("a", {}), ("gone", {}))
    argv = stand_in.playbook("-i", str(stand_in.inventory("a", gone=1)), *plan, "-e", "only_points=1")
    done = subprocess.run(
        argv, cwd=stand_in.root, env=stand_in.environment(), capture_output=True, text=True, check=False
    )
    output = done.stderr
    assert "perflab: not put back, since unreachable: gone" in output
    assert "--limit gone" in _command(output)


def test_collector_restores_at_ctrl_c(stand_in: StandIn, start: Start) -> None:
    inventories = [stand_in.inventory("a", "c"), stand_in.inventory("b")]
    plan = stand_in.plan(("a", _LONG), ("b", _LONG), ("c", _LONG))
    child = start(stand_in.collector_run(inventories, "--limit", "a,b", *plan))
    child.sendintr()
    output = _end(child)
    assert "interrupted: putting the hosts back" in output
    assert "the hosts are as they were found" in output
    assert "0 of 3 points ok, 0 failed, 3 missing" in output
    assert child.exitstatus == 130
    assert stand_in.seen("restored") == {"a", "b"}
    (log,) = stand_in.runs.glob("*/ansible.log")
    assert "Leave a mark" in log.read_text()


def test_collector_stops_at_the_second_ctrl_c(stand_in: StandIn, start: Start) -> None:
    plan = stand_in.plan(("a", _LONG), ("b", _LONG))
    child = start(stand_in.collector_run([stand_in.inventory("a", "b")], *plan, "-e", "restore_s=30"))
    child.sendintr()
    child.expect("the plays did not end")
    child.sendintr()
    output = _end(child)
    assert "the hosts were NOT put back" in output
    assert output.count("ansible-playbook perflab.bench.restore") == 1
    assert child.exitstatus == 130


def test_collector_names_the_command_when_ansible_was_killed(stand_in: StandIn, start: Start) -> None:
    child = start(stand_in.collector_run([stand_in.inventory("a")], *stand_in.plan(("a", _LONG))), "a")
    os.kill(_ansible_playbook(child.pid), signal.SIGKILL)
    output = _end(child)
    assert re.search(r"ansible-playbook was killed; .* perflab.bench.restore -i \S+/a.json", output)
    assert child.exitstatus == 1


def test_hosts_are_restored_when_the_collector_was_killed(stand_in: StandIn, start: Start) -> None:
    child = start(
        stand_in.collector_run([stand_in.inventory("a")], *stand_in.plan(("a", {"seconds": 3}))), "a"
    )
    child.kill(signal.SIGKILL)
    _until(lambda: stand_in.seen("restored") == {"a"}, child)


def _command(output: str) -> str:
    found = re.search(r"perflab: to put them back, run: (ansible-playbook perflab.bench.restore .*)", output)
    assert found, output
    return found[1]


def _ansible_playbook(collector: int) -> int:
    """The only child of the collector."""
    (pid,) = Path(f"/proc/{collector}/task/{collector}/children").read_text().split()
    return int(pid)

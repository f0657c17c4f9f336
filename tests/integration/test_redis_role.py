"""Roles redis and redis_benchmark on this machine, with a real Redis."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Perflab

TIMEOUT_S = 300
CONFIG = Path("/etc/perflab-redis.conf")
RUNTIME = Path("/run/perflab-redis")
BACKLOG = Path("/proc/sys/net/core/somaxconn")
BOTH_ROLES = "perflab.bench.redis, perflab.bench.redis_benchmark"
SMOKE = ("-e", "redis_benchmark_profile=smoke")
PLAY = """
- hosts: all
  become: true
  gather_facts: false
  roles: [{roles}]
"""


def as_root(*argv: str) -> str:
    """Run a command as root; return its output, which is empty if it failed."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    return subprocess.run([*sudo, *argv], capture_output=True, text=True, check=False).stdout


class RedisHost:
    """This machine as the host that the roles work on."""

    def __init__(self, perflab: Perflab, folder: Path) -> None:
        self._perflab = perflab
        self._folder = folder

    def play(self, *arguments: str, roles: str = "perflab.bench.redis") -> subprocess.CompletedProcess[str]:
        playbook = self._folder / "play.yml"
        playbook.write_text(PLAY.format(roles=roles))
        here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        return self._perflab.playbook(
            str(playbook), "-i", "thishost,", "-e", json.dumps(here), *arguments, timeout_s=TIMEOUT_S
        )

    def changed(self, *arguments: str) -> int:
        """Run the role redis, which must succeed; return how many tasks changed something."""
        done = self.play(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        (changed,) = re.findall(r"changed=(\d+)", done.stdout)
        return int(changed)

    def pid(self) -> str:
        """The server's process, or nothing where none runs."""
        pid = as_root("cat", str(RUNTIME / "redis.pid")).strip()
        return pid if pid and as_root("cat", f"/proc/{pid}/cmdline") else ""

    def password(self) -> str:
        return as_root("cat", str(RUNTIME / "auth.conf")).split()[1]


@pytest.fixture
def host(perflab: Perflab, tmp_path: Path) -> Iterator[RedisHost]:
    """A machine without our Redis, before and after; the programs may be installed."""
    host = RedisHost(perflab, tmp_path)
    if CONFIG.exists():
        host.changed("-e", "redis_state=absent")
    yield host
    host.changed("-e", "redis_state=absent")


@contextmanager
def another_redis(port: int) -> Iterator[None]:
    """Somebody else's server."""
    argv = ["redis-server", "--port", str(port), "--save", ""]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert any("Ready to accept connections" in line for line in server.stdout)
        try:
            yield
        finally:
            server.terminate()


def test_provisioning_a_second_time_changes_nothing(host: RedisHost) -> None:
    assert host.changed() > 0
    pid, password = host.pid(), host.password()
    assert pid
    assert host.changed() == 0
    assert host.changed("--check", "--diff") == 0
    assert (host.pid(), host.password()) == (pid, password)


def test_other_settings_restart_it_and_stopping_deletes_the_password(host: RedisHost) -> None:
    host.changed()
    pid, password = host.pid(), host.password()
    assert host.changed("--check", "-e", "redis_maxmemory=64mb") == 1
    assert host.pid() == pid
    host.changed("-e", "redis_maxmemory=64mb", "-e", "redis_cpus=0")
    assert host.pid() not in ("", pid)
    assert host.password() == password
    assert "list: 0\n" in as_root("taskset", "-pc", host.pid())
    assert host.changed("-e", "redis_state=stopped") > 0
    assert not host.pid()
    assert not RUNTIME.exists()
    assert host.changed("-e", "redis_state=stopped") == 0
    host.changed()
    assert host.password() != password


def test_check_mode_says_what_it_would_do_and_does_nothing(host: RedisHost) -> None:
    done = host.play("--check", "--diff")
    assert done.returncode == 0, done.stdout
    assert "+port 16379" in done.stdout
    assert not CONFIG.exists()
    assert not RUNTIME.exists()


def test_password_is_in_no_output_and_no_record(host: RedisHost, perflab: Perflab) -> None:
    done = host.play("-vvv", "--diff", *SMOKE, roles=BOTH_ROLES)
    assert done.returncode == 0, done.stdout
    password = host.password()
    assert password not in done.stdout + done.stderr
    files = [path for path in perflab.only_run().rglob("*") if path.is_file()]
    assert "redis-benchmark.csv" in {path.name for path in files}
    assert not [path for path in files if password in path.read_text()]
    assert not as_root("grep", "-rs", password, "/var/lib/perflab", "/var/lib/perflab-redis", str(CONFIG))


def test_an_old_version_gets_only_options_that_it_knows(host: RedisHost, perflab: Perflab) -> None:
    done = host.play(*SMOKE, "-e", "redis_version_found=3.2.12", roles=BOTH_ROLES)
    assert done.returncode == 0, done.stdout
    (record,) = perflab.only_run().rglob("point.json")
    point = json.loads(record.read_text())
    assert point["argv"][-3:] == ["-t", "set,get", "-q"]
    assert "redis-benchmark.txt" in {log["name"] for log in point["logs"]}


def test_a_redis_that_was_there_is_left_alone(host: RedisHost) -> None:
    host.changed()  # for its programs
    with another_redis(6379):
        as_root("redis-cli", "set", "key", "theirs")
        host.changed("-e", "redis_maxmemory=64mb")
        assert host.play(*SMOKE, roles=BOTH_ROLES).returncode == 0
        host.changed("-e", "redis_state=absent")
        assert as_root("redis-cli", "get", "key") == "theirs\n"


def test_kernel_settings_are_set_and_put_back(host: RedisHost) -> None:
    found = BACKLOG.read_text()
    if not as_root("sysctl", "-w", f"net.core.somaxconn={found}"):
        pytest.skip("/proc/sys is read-only in this container")
    tuned = ["-e", '{"redis_tune_host": {"somaxconn": 711}}']
    host.changed(*tuned)
    assert BACKLOG.read_text() == "711\n"
    assert host.changed(*tuned) == 0
    host.changed("-e", "redis_state=stopped")
    assert BACKLOG.read_text() == found


def test_unknown_test_is_refused_before_anything_is_done(host: RedisHost) -> None:
    done = host.play("-e", "redis_benchmark_tests=gett", roles="perflab.bench.redis_benchmark")
    assert done.returncode != 0
    assert "value of redis_benchmark_tests must be one or more of" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_port_that_is_taken_is_named(host: RedisHost) -> None:
    host.changed()
    with another_redis(16380):
        done = host.play("-e", "redis_port=16380")
    assert done.returncode != 0
    assert "does not answer on thishost (127.0.0.1 port 16380)" in done.stdout + done.stderr
    assert "Address already in use" in done.stdout + done.stderr

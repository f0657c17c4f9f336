"""The study over SSH on several hosts: what goes well; hosts, connections and controllers that are lost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collector.models import Point, Status
from tests.integration.conftest import ROOT, environment
from tests.integration.lab_machine import LabMachine
from tests.lab import lab, processes, told
from tests.lab.machines import load

if TYPE_CHECKING:
    from conftest import Perflab

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("the_lab")]

KUNPENG = ("-i", "inventory/kunpeng", "-i", "tests/lab/inventory/kunpeng.yml")
# nspawn hosts, whose frequency is set on guests.
HOSTS = ("-i", "tests/lab/inventory/lab.yml", "-i", "tests/lab/inventory/hypervisors.yml")
TIMEOUT_S = 1200
# A host that is gone is noticed after seconds, not after the two minutes that a measurement is given.
IMPATIENT_SSH = {"ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=60s -o ServerAliveInterval=3"}


@pytest.fixture(scope="module", autouse=True)
def guests(the_lab: None) -> dict[str, LabMachine]:
    """Both guests; a machine that a test lost is up again for the next one."""
    return {machine.name: LabMachine(machine) for machine in lab.up(["x86", "arm"])}


@pytest.fixture
def x86(guests: dict[str, LabMachine]) -> Iterator[LabMachine]:
    """A guest whose limits are its owner's, not the kernel's: putting back must find just these again."""
    guest = guests["x86"]
    own = "cd /sys/devices/system/cpu/cpufreq; for p in policy*; do echo {} > $p/scaling_max_freq; done"
    guest.shell(own.format(2000000))
    yield guest
    guest.shell(own.format(2600000))


def points(run: Path) -> list[Point]:
    found = [Point.model_validate_json(path.read_text()) for path in run.glob("*/*/point.json")]
    return sorted(found, key=lambda point: (point.host, point.order))


def sweep(perflab: Perflab, *arguments: str, **inputs: object) -> subprocess.CompletedProcess[str]:
    return perflab.playbook("freq_sweep.yml", *arguments, "-e", _smoke(inputs), timeout_s=TIMEOUT_S)


def start_sweep(perflab: Perflab, *arguments: str, **inputs: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        perflab.playbook_argv("freq_sweep.yml", *arguments, "-e", _smoke(inputs)),
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=environment() | IMPATIENT_SSH,
    )  # fmt: skip


def _smoke(inputs: dict[str, object]) -> str:
    return json.dumps({"freq_sweep_profile": "smoke", **inputs})


def wait_for_benchmark(host: LabMachine, sweep: subprocess.Popen[str]) -> None:
    """Return once a point runs on the host."""
    deadline = time.monotonic() + 400
    while "redis-benchmark" not in host.shell("cat /proc/[0-9]*/comm 2>/dev/null || true"):
        assert time.monotonic() < deadline
        assert sweep.poll() is None, sweep.communicate()[0]
        time.sleep(0.5)


def test_the_literal_command(perflab: Perflab, guests: dict[str, LabMachine]) -> None:
    """As in the README, on an arm host whose driver takes any step and an x86 host with a table of steps."""
    before = {name: guest.knobs() for name, guest in guests.items()}
    done = sweep(perflab, *KUNPENG, cpu_frequency_nearest=True)
    assert done.returncode == 0, done.stdout + done.stderr

    measured = {
        host: [p for p in points(perflab.only_run()) if p.host == host] for host in ("kunpeng1", "kunpeng2")
    }
    for host, steps in (
        ("kunpeng1", {"as_found": None, "2.5GHz": 2500000, "2GHz": 2000000, "1GHz": 1000000}),
        ("kunpeng2", {"as_found": None, "2.5GHz": 2400000, "2GHz": 2000000, "1GHz": 800000}),
    ):
        assert all(point.status is Status.OK for point in measured[host]), measured[host]
        achieved = {p.factors["frequency"]: p.setting["achieved_khz"] for p in measured[host] if p.setting}
        assert set(achieved) == set(steps)
        for name, expected in steps.items():
            # As found, the governor moves each CPU as it likes.
            assert expected is None or set(achieved[name].values()) == {expected}, name
    # The x86 hardware keeps all that it was told: every step that a point claims is among it.
    for told_states in told.pstates(guests["x86"].machine):
        assert {1, 2, 5} <= set(told_states)
    assert {name: guest.knobs() for name, guest in guests.items()} == before
    assert not any(guest.saved() for guest in guests.values())

    table = perflab.collector("summarize", str(perflab.only_run()))
    assert table.returncode == 0, table.stderr
    assert "cppc_cpufreq" in table.stdout
    assert "acpi-cpufreq" in table.stdout


def test_a_step_that_the_hardware_lacks_ends_the_sweep_before_anything_is_changed(
    perflab: Perflab, x86: LabMachine
) -> None:
    before = x86.knobs()
    done = sweep(perflab, *KUNPENG, "--limit", "kunpeng2")
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert re.search(r"2[.]5 ?GHz|2500000", said), said
    assert "nearest" in said
    assert x86.knobs() == before
    assert not x86.saved()
    assert "Write the configuration" not in said  # Redis was not provisioned for nothing


def test_check_mode_changes_nothing(perflab: Perflab, x86: LabMachine) -> None:
    """Also on a host that has nothing yet, not even package lists."""
    lab.down(["ordinary"])
    (machine,) = lab.up(["ordinary"])
    host, before = LabMachine(machine), x86.knobs()
    files = "sudo find /etc /opt /usr /var/lib/perflab* -newer /etc/hostname -type f 2>/dev/null || true"
    found = host.shell(files)
    asked = ["as_found", "2GHz"]
    done = sweep(perflab, *HOSTS, "--limit", "ordinary", "--check", "--diff", freq_sweep_frequencies=asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert x86.knobs() == before
    assert not x86.saved()
    assert host.shell(files) == found
    assert not perflab.runs.exists()


def test_a_failing_benchmark(perflab: Perflab, x86: LabMachine) -> None:
    """Measured on one host while the frequency is set on another, its hypervisor."""
    lab.up(["ordinary"])
    before = x86.knobs()
    done = sweep(
        perflab, *HOSTS, "--limit", "ordinary",
        freq_sweep_frequencies=["min"], redis_benchmark_requests=5000000, redis_benchmark_timeout_s=2,
    )  # fmt: skip
    assert [point.status for point in points(perflab.only_run())] == [Status.TIMEOUT], done.stdout
    assert x86.knobs() == before
    assert not x86.saved()


def test_a_killed_controller_then_restore(perflab: Perflab, x86: LabMachine) -> None:
    """What was found lies on the host, so that it outlives the controller."""
    (machine,) = lab.up(["ordinary"])
    host, before = LabMachine(machine), x86.knobs()
    killed = start_sweep(
        perflab, *HOSTS, "--limit", "ordinary",
        freq_sweep_frequencies=["min"], redis_benchmark_requests=5000000,
    )  # fmt: skip
    wait_for_benchmark(host, killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert x86.knobs() != before
    assert x86.saved()
    assert told.frequencies_khz(x86.machine) == [800000, 800000]

    restored = perflab.playbook("restore.yml", *HOSTS, "--limit", "ordinary")
    assert restored.returncode == 0, restored.stdout
    assert x86.knobs() == before
    assert not x86.saved()
    assert "redis" not in host.shell("cat /proc/[0-9]*/comm 2>/dev/null || true")


def test_a_host_that_reboots_in_the_middle(perflab: Perflab, x86: LabMachine) -> None:
    before = x86.knobs()
    running = start_sweep(
        perflab, *KUNPENG, "--limit", "kunpeng2",
        freq_sweep_frequencies=["min"], redis_benchmark_requests=5000000, redis_benchmark_timeout_s=300,
    )  # fmt: skip
    wait_for_benchmark(x86, running)
    x86.shell("sync")  # a power failure a moment after the change is the disk's to survive, not perflab's
    lab.reboot(x86.machine)
    said = running.communicate(timeout=TIMEOUT_S)[0]
    assert running.returncode != 0
    assert "restarted" in said or "unreachable" in said.lower(), said
    assert perflab.playbook("restore.yml", *KUNPENG, "--limit", "kunpeng2").returncode == 0
    assert x86.knobs() == before
    assert not x86.saved()


def test_two_hosts_at_once_of_which_one_dies_then_resumed(perflab: Perflab) -> None:
    first, second = (LabMachine(machine) for machine in lab.up(["debian12", "debian12b"]))
    inputs = {
        "run_id": "20261130T101500Z-freq_sweep",
        "freq_sweep_frequencies": ["as_found", "2GHz"],
        "redis_benchmark_requests": 400000,
        "redis_benchmark_timeout_s": 30,
    }
    only = ("--limit", "debian12,debian12b")
    running = start_sweep(perflab, *HOSTS, *only, **inputs)
    wait_for_benchmark(second, running)
    lab.kill(second.machine)
    said = running.communicate(timeout=TIMEOUT_S)[0]
    assert running.returncode != 0
    assert "debian12b" in said
    run = perflab.only_run()
    assert [(p.host, p.status) for p in points(run)] == [("debian12", Status.OK)] * 2, said
    table = perflab.collector("summarize", str(run))
    assert re.search(r"debian12b: no result from 2 points", table.stdout), table.stdout

    lab.boot(second.machine)
    finished = {path: path.stat().st_mtime_ns for path in run.glob("debian12/*/point.json")}
    resumed = sweep(perflab, *HOSTS, *only, **inputs)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert [(p.host, p.status) for p in points(run)] == (
        [("debian12", Status.OK)] * 2 + [("debian12b", Status.OK)] * 2
    )
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert not first.shell("ls /var/lib/perflab/*.json 2>/dev/null || true")


def test_a_dropped_connection_does_not_cost_the_point(perflab: Perflab) -> None:
    """As a user with sudo, whose connections all end while a point runs."""
    lab.up(["ordinary"])
    host = LabMachine(load()["ordinary"])
    running = start_sweep(
        perflab, *HOSTS, "--limit", "ordinary",
        freq_sweep_frequencies=["as_found"], redis_benchmark_requests=1000000,
    )  # fmt: skip
    wait_for_benchmark(host, running)
    processes.hang_up(host.machine)
    said = running.communicate(timeout=TIMEOUT_S)[0]
    assert running.returncode == 0, said
    assert "connection lost" in said, said
    (point,) = points(perflab.only_run())
    assert point.status is Status.OK
    assert point.duration_s is not None
    assert point.duration_s > 2

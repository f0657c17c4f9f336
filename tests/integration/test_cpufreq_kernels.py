"""Frequency and turbo on real kernels: QEMU guests with acpi-cpufreq and cppc_cpufreq (tests/lab).

What the module says is held against what the kernel says, and against what the kernel told its hardware.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.lab_machine import LabMachine
from tests.lab import lab, told

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("the_lab")]


@pytest.fixture(params=["x86", "arm"])
def guest(request: pytest.FixtureRequest) -> Iterator[LabMachine]:
    yield from _as_found(request.param)


@pytest.fixture
def x86() -> Iterator[LabMachine]:
    yield from _as_found("x86")


@pytest.fixture
def arm() -> Iterator[LabMachine]:
    yield from _as_found("arm")


def _as_found(name: str) -> Iterator[LabMachine]:
    """A guest that is put back after the test, whatever the test did; putting back must work, too."""
    (machine,) = lab.up([name])
    guest = LabMachine(machine)
    before = guest.knobs()
    yield guest
    assert not guest.set_frequency(state="restored")["failed"]
    assert guest.knobs() == before
    assert not guest.saved()


@pytest.mark.parametrize(("asked", "khz"), [("2GHz", 2000000), ("min", {"x86": 800000, "arm": 200000})])
def test_what_is_reported_is_what_the_hardware_was_told(guest: LabMachine, asked: str, khz: Any) -> None:
    expected = khz[guest.machine.name] if isinstance(khz, dict) else khz
    result = guest.set_frequency(frequency=asked)
    assert result["changed"]
    assert set(result["achieved_khz"].values()) == {expected}
    assert told.frequencies_khz(guest.machine) == [expected, expected]
    assert not guest.set_frequency(frequency=asked)["changed"]


def test_a_step_that_the_table_lacks(x86: LabMachine) -> None:
    before = x86.knobs()
    refused = x86.set_frequency(frequency="2.5GHz")
    assert refused["failed"]
    assert "2400" in refused["msg"] or "2.4" in refused["msg"], refused["msg"]
    assert "nearest" in refused["msg"]
    assert x86.knobs() == before
    nearest = x86.set_frequency(frequency="2.5GHz", nearest=True)
    assert set(nearest["achieved_khz"].values()) == set(told.frequencies_khz(x86.machine))
    assert set(nearest["achieved_khz"].values()) <= {2400000, 2600000}
    assert nearest["notes"]


def test_any_multiple_of_a_step_where_there_is_no_table(arm: LabMachine) -> None:
    assert set(arm.set_frequency(frequency="2.5GHz")["achieved_khz"].values()) == {2500000}
    assert told.frequencies_khz(arm.machine) == [2500000, 2500000]


def test_turbo_off_and_on(x86: LabMachine) -> None:
    switch = "cat /sys/devices/system/cpu/cpufreq/boost"
    found = x86.shell(switch)
    for turbo, value in (("off", "0\n"), ("on", "1\n")):
        result = x86.set_frequency(turbo=turbo)
        assert result["after"]["turbo"] == turbo
        assert x86.shell(switch) == value
    assert not x86.set_frequency(turbo="on")["changed"]
    assert x86.set_frequency(state="restored", turbo="as_found")["after"]["turbo"] == (
        "on" if found == "1\n" else "off"
    )


def test_turbo_where_there_is_none(arm: LabMachine) -> None:
    before = arm.knobs()
    refused = arm.set_frequency(turbo="on")
    assert refused["failed"]
    assert "turbo" in refused["msg"]
    assert arm.knobs() == before


def test_turbo_raises_the_limit() -> None:
    """On the guest whose hardware has it: 3.00 GHz with turbo, 2.60 GHz without."""
    lab.down(["arm"])  # two guests at once are enough for a small machine
    (machine,) = lab.up(["arm-turbo"])
    try:
        guest = LabMachine(machine)
        before = guest.knobs()
        result = guest.set_frequency(turbo="on", frequency="3GHz")
        assert set(result["achieved_khz"].values()) == {3000000}, result
        assert told.frequencies_khz(machine) == [3000000, 3000000]
        refused = guest.set_frequency(turbo="off", frequency="3GHz")
        assert refused["failed"]
        assert "2600" in refused["msg"] or "2.6" in refused["msg"], refused["msg"]
        assert set(guest.set_frequency(turbo="off", frequency="max")["achieved_khz"].values()) == {2600000}
        guest.set_frequency(state="restored")
        assert guest.knobs() == before
    finally:
        lab.down(["arm-turbo"])
        lab.up(["arm"])


def test_a_cpu_that_is_offline_is_listed_and_left_alone(guest: LabMachine) -> None:
    guest.shell("echo 0 > /sys/devices/system/cpu/cpu1/online")
    try:
        result = guest.set_frequency(frequency="2GHz")
        assert result["offline_cpus"] == [1]
        assert set(result["achieved_khz"].values()) == {2000000}
        assert told.frequencies_khz(guest.machine)[0] == 2000000
        assert not guest.set_frequency(state="restored")["failed"]
        assert guest.shell("cat /sys/devices/system/cpu/cpu1/online") == "0\n"
    finally:
        guest.shell("echo 1 > /sys/devices/system/cpu/cpu1/online")


def test_check_mode_tells_what_would_change_and_changes_nothing(guest: LabMachine) -> None:
    before = guest.knobs()
    result = guest.set_frequency("--check", "--diff", frequency="2GHz")
    assert result["changed"]
    assert re.search(r"^\+.*2000000", result["output"], re.MULTILINE), result["output"]
    assert guest.knobs() == before
    assert not guest.saved()

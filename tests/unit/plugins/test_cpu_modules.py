"""The modules as Ansible runs them: packed, sent, executed; on trees of plain files."""

from __future__ import annotations

from pathlib import Path

import pytest
from adhoc import run_module
from fake_sysfs import CPU, build, put


@pytest.fixture()
def host(tmp_path: Path) -> dict[str, str]:
    """Arguments that point the module at a Kunpeng's tree of plain files, without daemons."""
    build(str(tmp_path / "sysfs"), "cppc_cpufreq")
    (tmp_path / "proc").mkdir()
    return {name: str(tmp_path / name) for name in ("sysfs", "proc", "state_file")}


def files(host: dict[str, str]) -> dict[str, str]:
    return {str(path): path.read_text() for path in Path(host["sysfs"]).rglob("*") if path.is_file()}


def test_check_apply_repeat_restore(host: dict[str, str]) -> None:
    found = files(host)
    foretold = run_module("cpu_frequency", "--check", frequency="2.0 GHz", **host)
    assert files(host) == found and not Path(host["state_file"]).exists()

    done = run_module("cpu_frequency", frequency="2.0 GHz", **host)
    assert done["changed"] and foretold["changed"]
    assert done["after"] == foretold["after"]
    assert done["before"]["policies"]["policy0"]["governor"] == "schedutil"
    assert done["after"]["policies"]["policy1"] == {
        "governor": "userspace",
        "hardware_maximum_khz": 2600000,
        "maximum_khz": 2600000,
        "minimum_khz": 200000,
        "setspeed_khz": 2000000,
    }
    assert done["drivers"] == ["cppc_cpufreq"]
    assert done["offline_cpus"] == [] and done["daemons"] == []
    assert set(done["achieved_khz"]) == {"policy0", "policy1"}
    assert not run_module("cpu_frequency", frequency="2GHz", **host)["changed"]

    back = run_module("cpu_frequency", state="restored", **host)
    assert back["changed"] and back["after"] == done["before"]
    assert not Path(host["state_file"]).exists()
    assert not run_module("cpu_frequency", state="restored", **host)["changed"]


def test_yaml_makes_booleans_of_on_and_off(host: dict[str, str]) -> None:
    assert run_module("cpu_frequency", turbo=True, **host)["after"]["turbo"] == "on"
    assert run_module("cpu_frequency", turbo=False, **host)["after"]["turbo"] == "off"


def test_errors_are_one_line(host: dict[str, str]) -> None:
    for arguments, words in (
        ({"frequency": "2500"}, "write it with its unit"),
        ({"frequency": "5GHz"}, "policy0: cppc_cpufreq has no 5GHz; available: 0.2GHz to 2.6GHz"),
        ({"governor": "turtle"}, "available: conservative, ondemand, userspace"),
    ):
        failed = run_module("cpu_frequency", **arguments, **host)
        assert words in failed["msg"] and "\n" not in failed["msg"]


def test_daemons_are_named_in_a_warning(host: dict[str, str]) -> None:
    put(host["proc"], "7/cmdline", "/usr/sbin/thermald\0--systemd\0")
    done = run_module("cpu_frequency", **host)
    assert done["daemons"] == ["thermald"]
    assert "thermald may change the frequency" in " ".join(done["shown"].split())


def test_without_cpufreq_the_ways_out_are_named(host: dict[str, str], tmp_path: Path) -> None:
    nothing = host | {"sysfs": str(tmp_path / "proc")}
    failed = run_module("cpu_frequency", frequency="2GHz", **nothing)
    assert failed["cpufreq"] is False
    for way in ("physical host", "cpu_frequency_host: INVENTORY_NAME", "cpu_frequency_method: quota"):
        assert way in failed["msg"]
    assert not run_module("cpu_frequency", state="restored", **nothing)["changed"]


def test_a_corrupt_saved_state_is_named(host: dict[str, str]) -> None:
    Path(host["state_file"]).write_text("{")
    assert host["state_file"] in run_module("cpu_frequency", frequency="2GHz", **host)["msg"]
    assert files(host)[f"{host['sysfs']}/{CPU}/cpufreq/policy0/scaling_governor"] == "schedutil\n"


def test_a_bad_quota_is_one_line() -> None:
    assert "77%" in run_module("cpu_quota", quota="2GHz")["msg"]
    assert "quota" in run_module("cpu_quota")["msg"]

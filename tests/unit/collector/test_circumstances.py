"""What was measured beside a workload, as columns of the frame."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from collector import circumstances, frame, store
from collector.models import HostProfile
from tests.unit.collector.links import info, iperf3, linked, step_logs
from tests.unit.collector.runs import STARTED, Written, write_run

RPS = {"SET": 100.0}


def first(run: Path) -> pd.Series:
    return frame.tidy(store.load_runs([run])).iloc[0]


def test_the_link_the_server_and_the_client_stand_beside_the_point(tmp_path: Path) -> None:
    logs = step_logs((0.4, 0.2), (0.3, 0.5), up=900, down=700, cpus=0.6)
    logs["iperf3-up-after.json"] = iperf3(1000)
    row = first(write_run(tmp_path / "r1", [linked({"path": "remote"}, RPS, logs)]))
    assert (row["rtt_min_ms"], row["rtt_median_ms"]) == (0.2, pytest.approx(0.35))
    assert (row["rtt_before_ms"], row["rtt_after_ms"]) == (pytest.approx(0.3), pytest.approx(0.4))
    assert row["rtt_p99_ms"] == pytest.approx(0.497)  # of 0.2 0.3 0.4 0.5: 97% of the way from 0.4 to 0.5
    assert (row["ping_lost"], row["up_mbit_s"], row["down_mbit_s"]) == (0, 950, 700)
    assert (row["client_cpus"], row["client_threads"]) == (0.4, 1)
    assert (row["server_cpus"], row["server_main_thread_cpus"]) == (pytest.approx(0.7), pytest.approx(0.6))
    told = (row["server_version"], row["server_mode"], row["server_system"])
    assert told == ("7.0.15", "standalone", "Linux 6.1")
    assert row["server_settings"] == '{"appendonly": "no", "io-threads": "1", "save": "3600 1"}'
    assert (row["link_troubles"], row["emulated"]) == ("", "")


def test_processor_time_is_set_in_relation_to_the_duration(tmp_path: Path) -> None:
    point = linked({"path": "remote"}, RPS, step_logs(cpus=3.0), duration_s=4.0)
    assert first(write_run(tmp_path / "r1", [point]))["server_main_thread_cpus"] == pytest.approx(0.75)


def test_an_old_server_tells_only_the_total(tmp_path: Path) -> None:
    logs = {"redis-info-before.log": info(total_s=5.0), "redis-info-after.log": info(total_s=5.25)}
    row = first(write_run(tmp_path / "r1", [linked({"path": "remote"}, RPS, logs)]))
    assert row["server_cpus"] == pytest.approx(0.25)
    assert pd.isna(row["server_main_thread_cpus"])


@pytest.mark.parametrize("damage", ["edited", "lost"])
def test_a_damaged_log_hides_neither_its_point_nor_the_other_logs(tmp_path: Path, damage: str) -> None:
    run = write_run(tmp_path / "r1", [linked({"path": "remote"}, RPS, step_logs((0.4,), (0.2,)))])
    log = next(run.glob("*/*/ping-after.log"))
    if damage == "edited":
        log.write_text(log.read_text().replace("0.2", "0.1"))
    else:
        log.unlink()
    row = first(run)
    assert (row["status"], row["value"]) == ("ok", 100.0)
    assert (row["rtt_median_ms"], row["up_mbit_s"]) == (0.4, 900)
    assert "ping-after.log" in row["link_troubles"]
    assert ("sha256" if damage == "edited" else "cannot be read") in row["link_troubles"]


def test_nothing_is_known_of_imported_logs(tmp_path: Path) -> None:
    row = first(write_run(tmp_path / "r1", [Written({"path": "remote"}, RPS)]))
    assert row[list(circumstances.NUMBERS)].isna().all()
    assert row[["server_version", "server_settings"]].isna().all()


def test_what_a_tool_without_a_server_keeps_busy_is_no_clients(tmp_path: Path) -> None:
    points = [Written({"a": "b"}, RPS, params={"threads": 4}, observed={"command_cpus": 4.0})]
    assert pd.isna(first(write_run(tmp_path / "r1", points))["client_cpus"])


def test_which_hosts_are_emulated() -> None:
    def profile(host: str, vm: str | None) -> HostProfile:
        document = {"schema": 1, "host": host, "collected_at": STARTED, "virtualisation": {"vm": vm}}
        return HostProfile.model_validate(document)

    profiles = {host: profile(host, vm) for host, vm in (("a", "qemu"), ("b", "kvm"), ("c", None))}
    assert circumstances.emulated_hosts("net_compare", "a", profiles) == "a"
    assert circumstances.emulated_hosts("net_compare", "b", profiles) == ""
    assert circumstances.emulated_hosts("net_compare", "unknown", profiles) == ""
    assert circumstances.emulated_hosts("virt_compare", "c", profiles) == "a"


@pytest.mark.parametrize("virtualisation", [None, "qemu", {}])
def test_a_profile_that_does_not_tell_is_not_emulated(virtualisation: object) -> None:
    document = {"schema": 1, "host": "a", "collected_at": STARTED, "virtualisation": virtualisation}
    assert not HostProfile.model_validate(document).emulated

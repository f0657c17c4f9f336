"""What to doubt about client, link and server."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.doubts import doubts
from collector.link_doubts import busy_servers
from tests.unit.collector.comparisons import one, summary
from tests.unit.collector.links import SETTINGS, linked, ping, step_logs
from tests.unit.collector.runs import Written

LOCAL, REMOTE = {"path": "local"}, {"path": "remote"}
RPS = {"SET": 100e3}


def said(folder: Path, *points: Written) -> list[str]:
    """The doubts that are not about repeats."""
    return [doubt for doubt in doubts(one(folder, points, "net_compare")) if "repeat" not in doubt]


def busy(*cpus: float, threads: int = 0) -> list[Written]:
    params = {"clients": 50, "threads": threads}
    return [
        linked(REMOTE, RPS, {}, repeat=repeat, params=params, observed={"command_cpus": value})
        for repeat, value in enumerate(cpus, start=1)
    ]


def test_nothing_is_doubted_where_all_is_well(tmp_path: Path) -> None:
    assert said(tmp_path, linked(LOCAL, RPS, step_logs()), linked(REMOTE, RPS, step_logs())) == []


def test_a_client_that_is_itself_the_limit(tmp_path: Path) -> None:
    assert said(tmp_path, *busy(0.90, 0.96, 0.99)) == [
        "the client was itself the limit at remote: it kept 0.96 CPUs busy with 1 thread (median), so the "
        "server may be faster than this"
    ]
    assert said(tmp_path / "not", *busy(0.90, 0.94, 0.99)) == []


def test_a_client_with_threads_has_more_to_give(tmp_path: Path) -> None:
    assert said(tmp_path, *busy(3.7, threads=4)) == []
    (doubt,) = said(tmp_path / "busy", *busy(3.9, threads=4))
    assert "it kept 3.90 CPUs busy with 4 threads" in doubt


@pytest.mark.parametrize(
    ("before", "after", "doubted"),
    [(0.5, 0.61, True), (0.5, 0.39, True), (0.5, 0.59, False), (0.03, 0.045, False)],
)
def test_a_round_trip_that_changed(tmp_path: Path, before: float, after: float, doubted: bool) -> None:
    points = [
        linked(REMOTE, RPS, step_logs((0.5,)), repeat=1),
        linked(REMOTE, RPS, step_logs((before,), (after,)), repeat=2),
    ]
    expected = (
        "the round-trip time changed by more than 20% while measuring: "
        f"remote ({before:.3f} to {after:.3f} ms, in 1 of 2 points)"
    )
    assert said(tmp_path, *points) == ([expected] if doubted else [])


def test_lost_pings(tmp_path: Path) -> None:
    logs = step_logs() | {"ping-after.log": ping(0.2, 0.2, 0.2, sent=4)}  # with the one before: 1 of 5
    points = [linked(REMOTE, RPS, logs), linked(REMOTE, RPS, step_logs(), repeat=2)]
    assert said(tmp_path, *points) == ["pings were lost: remote (up to 20.0%, in 1 of 2 points)"]


def test_troubles_are_told_once(tmp_path: Path) -> None:
    refused = step_logs() | {"iperf3-up-before.json": '{"error": "Connection refused"}'}
    points = [linked(REMOTE, RPS, refused, repeat=repeat) for repeat in (1, 2)]
    assert said(tmp_path, *points, linked(REMOTE, RPS, step_logs(), repeat=3)) == [
        "remote: iperf3, up before: Connection refused (in 2 of 3 points)"
    ]


def test_servers_that_differ(tmp_path: Path) -> None:
    other = step_logs(
        redis_version="3.2.100", redis_mode="cluster", settings={"save": "", "appendonly": "no", "hz": "10"}
    )
    assert said(tmp_path, linked(LOCAL, RPS, step_logs()), linked(REMOTE, RPS, other)) == [
        "server versions differ: local 7.0.15 and remote 3.2.100",
        "server modes differ: local standalone and remote cluster",
        'the server\'s save differs: local 3600 1 and remote ""',
    ]


def test_a_server_that_changed_within_a_condition(tmp_path: Path) -> None:
    other = step_logs(settings=SETTINGS | {"appendonly": "yes"})
    points = [
        linked(LOCAL, RPS, step_logs()),
        linked(REMOTE, RPS, step_logs()),
        linked(REMOTE, RPS, other, repeat=2),
    ]
    assert "the server's appendonly differs: local no and remote no and yes" in said(tmp_path, *points)


def test_a_busy_main_thread_is_the_servers_limit_and_no_fault(tmp_path: Path) -> None:
    points = [linked(LOCAL, RPS, step_logs(cpus=0.94)), linked(REMOTE, RPS, step_logs(cpus=0.96))]
    comparison = one(tmp_path, points, "net_compare")
    assert busy_servers(comparison.measured) == {"remote": pytest.approx(0.96)}
    assert said(tmp_path / "again", *points) == []


def test_emulation_is_told_in_every_table(tmp_path: Path) -> None:
    points = [
        Written({"platform": platform, "path": path}, RPS, host=host)
        for path, hosts in (("local", ("metal", "guest")), ("remote", ("client", "client")))
        for platform, host in zip(("physical", "virtual"), hosts, strict=True)
    ]

    def tables(folder: Path, vm: str) -> list[bool]:
        run = {"guest": {"virtualisation": {"vm": vm}}}
        found = summary(folder, points, "virt_compare", profiles=run)
        return [
            any("guest is emulated in software (QEMU without KVM)" in text for text in doubts(table))
            for table in found.comparisons
        ]

    assert tables(tmp_path / "plain", "qemu") == [True, True]
    assert tables(tmp_path / "kvm", "kvm") == [False, False]


def test_a_server_without_points_of_its_own_is_told_to_be_emulated(tmp_path: Path) -> None:
    points = [Written({"platform": platform}, RPS, host="client") for platform in ("physical", "virtual")]
    profiles = {"guest": {"virtualisation": {"vm": "qemu"}}}
    (table,) = summary(tmp_path, points, "virt_compare", profiles=profiles).comparisons
    assert [text for text in doubts(table) if text.startswith("guest is emulated")]


def test_a_hypervisor_differs_because_the_platform_does(tmp_path: Path) -> None:
    points = [
        Written({"platform": "physical", "hypervisor": "none"}, RPS, host="metal"),
        Written({"platform": "virtual", "hypervisor": "metal"}, RPS, host="guest"),
    ]
    assert not [text for text in doubts(one(tmp_path, points, "virt_compare")) if "hypervisor" in text]

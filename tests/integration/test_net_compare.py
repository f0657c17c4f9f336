"""The study of paths to one Redis: taking turns, the link beside the rates, servers that are not managed."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collector.models import Point, Status
from tests.integration import nat
from tests.integration.conftest import ROOT, environment
from tests.integration.lab_machine import LabMachine
from tests.lab import lab

if TYPE_CHECKING:
    from conftest import Perflab

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("the_lab")]

LAB = ("-i", "tests/lab/inventory/lab.yml")
SERVER, CLIENT = "debian12", "debian13"
TIMEOUT_S = 600
SERVICES = (16379, 15201)  # Redis' and iperf3's, as perflab starts them
CLIENTS = 20
LINK_PINGS = 10
# A Redis that perflab did not make, as somebody's appliance: another port, a password, nothing of Ansible's.
PORT, PASSWORD = 6400, "not-ours-8c1f"
FOREIGN = f"redis-server --port {PORT} --bind 0.0.0.0 --requirepass {PASSWORD} --save '' --daemonize yes"


@pytest.fixture(scope="module")
def machines(the_lab: None) -> dict[str, LabMachine]:
    return {machine.name: LabMachine(machine) for machine in lab.up([SERVER, CLIENT])}


@pytest.fixture
def foreign(machines: dict[str, LabMachine]) -> Iterator[LabMachine]:
    server = machines[SERVER]
    server.shell(
        "command -v redis-server > /dev/null || { apt-get -q update; apt-get -qy install redis-server; }"
    )
    server.shell(FOREIGN)
    yield server
    server.shell(f"REDISCLI_AUTH={PASSWORD} redis-cli -p {PORT} shutdown nosave 2> /dev/null || true")


def inputs(**more: object) -> str:
    given = {
        "net_compare_profile": "smoke",
        "redis_benchmark_tests": ["set", "get"],
        "redis_benchmark_clients": CLIENTS,
        "link_pings": LINK_PINGS,
    }
    return json.dumps(given | more)


def points(run: Path) -> list[Point]:
    found = [Point.model_validate_json(path.read_text()) for path in run.glob("*/*/point.json")]
    return sorted((p for p in found if p.started_at), key=lambda p: p.started_at or 0)


def endpoint(server: LabMachine, further: dict[str, str] | None = None, **more: object) -> str:
    """A server that Ansible does not manage, and the ways to it."""
    address = server.machine.address
    return inputs(
        net_compare_server=address,
        net_compare_paths={"direct": address, **(further or {})},
        redis_benchmark_port=PORT,
        **{"redis_benchmark_password": PASSWORD, **more},
    )


def test_paths_take_turns_and_the_link_stands_beside_the_rates(
    perflab: Perflab, machines: dict[str, LabMachine], tmp_path: Path
) -> None:
    """From the server itself, from a client, and from that client through a NAT."""
    server = machines[SERVER].machine
    ways = {"remote": server.address, "nat": nat.ADDRESS}
    own = tmp_path / "own.yml"
    group = {"hosts": {CLIENT: {"net_compare_paths": ways}}}
    own.write_text(json.dumps({"all": {"children": {"hosts": group}}}))  # lab.yml's group, and its order
    with nat.nat(server, *SERVICES) as router:
        done = perflab.collector(
            "run", "net_compare", *LAB, "-i", str(own), "--limit", f"{SERVER},{CLIENT}",
            "--runs-dir", str(perflab.runs), "-e", inputs(net_compare_server=SERVER, net_compare_repeats=2),
            timeout_s=TIMEOUT_S,
        )  # fmt: skip
        forwarded = router.forwarded()
    assert done.returncode == 0, done.stdout + done.stderr
    run = perflab.only_run()
    measured = points(run)
    assert [(p.host, p.factors["path"], p.repeat, p.status) for p in measured] == [
        (SERVER, "local", 1, Status.OK),
        (CLIENT, "remote", 1, Status.OK),
        (SERVER, "local", 2, Status.OK),
        (CLIENT, "nat", 1, Status.OK),
        (CLIENT, "remote", 2, Status.OK),
        (CLIENT, "nat", 2, Status.OK),
    ]
    for earlier, later in pairwise(measured):  # never two at a time
        assert earlier.finished_at
        assert later.started_at
        assert earlier.finished_at <= later.started_at
    for point in measured:
        steps = {log.name: log.step for log in point.logs if log.step}
        assert steps == {
            **dict.fromkeys(
                ("ping-before.log", "iperf3-up-before.json", "iperf3-down-before.json"), "before"
            ),
            **{f"tcp-rtt-{when}.log": when for when in ("before", "after")},
            **dict.fromkeys(("redis-settings-before.log", "redis-info-before.log"), "before"),
            **dict.fromkeys(
                ("redis-info-after.log", "iperf3-up-after.json", "iperf3-down-after.json"), "after"
            ),
            "ping-after.log": "after",
        }
        assert point.observed.command_cpus
    for said in ("RTT median", "TCP to the server", "client CPUs", "server CPUs", "the link's share"):
        assert said in done.stdout, done.stdout
    # What was timed went all the way: two points connect before and after, and their tools beside that.
    assert forwarded[SERVICES[0]] >= 2 * (2 * LINK_PINGS + 2 * CLIENTS), forwarded  # two tests' clients
    assert forwarded[SERVICES[1]] >= 2 * 4, forwarded  # each way, before and after
    table = perflab.collector("summarize", str(run), "--format", "json")
    rows = json.loads(table.stdout)
    assert {row["factors"]["path"] for row in rows} == {"local", "remote", "nat"}
    for row in rows:
        for number in ("rtt_median_ms", "tcp_rtt_median_ms", "up_mbit_s", "down_mbit_s", "latency_ms"):
            assert row[number] > 0, row
        assert row["link_share"] == pytest.approx(row["tcp_rtt_median_ms"] / row["latency_ms"])

    # Nothing is left: neither server answers, and no password lies in the run.
    for machine in machines.values():
        assert machine.shell("cat /proc/[0-9]*/comm | grep -E '^(redis|iperf3)' || true") == ""
    assert not [
        path for path in run.rglob("redis-settings-before.log") if b"requirepass" in path.read_bytes()
    ]


def test_a_server_that_is_not_managed_and_a_way_that_is_closed(
    perflab: Perflab, foreign: LabMachine, machines: dict[str, LabMachine]
) -> None:
    """The open way is measured, the closed one is a failed point with its reason."""
    closed = machines[CLIENT].machine.address  # nothing listens there
    done = perflab.playbook(
        "net_compare.yml", *LAB, "--limit", CLIENT, "-e", endpoint(foreign, further={"closed": closed}),
        timeout_s=TIMEOUT_S,
    )  # fmt: skip
    assert done.returncode != 0
    assert "1 of 2 points of debian13 gave no result" in done.stdout
    by_path = {p.factors["path"]: p for p in _all(perflab.only_run())}
    assert by_path["direct"].status is Status.OK, by_path["direct"].reason
    assert by_path["closed"].status is Status.FAILED
    assert "Connection refused" in (by_path["closed"].reason or "")
    table = perflab.collector("summarize", str(perflab.only_run()))
    assert "Connection refused" in table.stdout
    assert "7.0." in table.stdout  # the server's own version, read over its protocol
    stored = b"".join(path.read_bytes() for path in perflab.only_run().rglob("*") if path.is_file())
    assert PASSWORD.encode() not in stored


def test_a_wrong_password(perflab: Perflab, foreign: LabMachine) -> None:
    done = perflab.playbook(
        "net_compare.yml", *LAB, "--limit", CLIENT, "-e", endpoint(foreign, redis_benchmark_password="guess"),
        timeout_s=TIMEOUT_S,
    )  # fmt: skip
    assert done.returncode != 0
    (point,) = _all(perflab.only_run())
    assert point.status is Status.FAILED
    assert "WRONGPASS" in (point.reason or ""), point.reason


def test_a_server_that_goes_away(
    perflab: Perflab, foreign: LabMachine, machines: dict[str, LabMachine]
) -> None:
    """In the middle of a point, and it stays away."""
    running = subprocess.Popen(
        perflab.playbook_argv(
            "net_compare.yml", *LAB, "--limit", CLIENT,
            "-e", endpoint(foreign, net_compare_repeats=2, redis_benchmark_requests=20_000_000),
        ),
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(),
    )  # fmt: skip
    deadline = time.monotonic() + TIMEOUT_S
    while "redis-benchmark" not in machines[CLIENT].shell("cat /proc/[0-9]*/comm 2> /dev/null || true"):
        assert time.monotonic() < deadline
        assert running.poll() is None, running.communicate()[0]
        time.sleep(0.5)
    foreign.shell(f"kill -9 $(grep -ls '[r]edis-server.*:{PORT}' /proc/[0-9]*/cmdline | cut -d/ -f3)")
    said = running.communicate(timeout=TIMEOUT_S)[0]
    assert running.returncode != 0
    first, second = sorted(_all(perflab.only_run()), key=lambda point: point.order)
    assert [first.status, second.status] == [Status.FAILED] * 2, said
    assert first.reason
    assert "Connection refused" in (second.reason or "")


def _all(run: Path) -> list[Point]:
    return [Point.model_validate_json(path.read_text()) for path in run.glob("*/*/point.json")]

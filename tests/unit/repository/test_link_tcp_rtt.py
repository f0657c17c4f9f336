"""The script that tells TCP's round trip, under this Python and the oldest that hosts have."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.parsers import tcp_rtt
from tests.old_interpreters import VERSIONS, find_python

SCRIPT = Path(__file__).parents[3] / "roles/link/files/tcp_rtt.py"


@pytest.fixture(params=["this", *VERSIONS])
def python(request: pytest.FixtureRequest) -> str:
    found = sys.executable if request.param == "this" else find_python(request.param)
    if found is None:
        pytest.skip(f"this machine has no Python {request.param}")
    return found


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        yield server


def run(python: str, port: int, count: int) -> subprocess.CompletedProcess[str]:
    # As the role calls it: nothing of perflab's lies on the host.
    argv = [python, "-c", SCRIPT.read_text(), "127.0.0.1", str(port), str(count), "0.001"]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)


def test_every_connect_tells_its_round_trip_though_nobody_accepts_it(
    python: str, listening: socket.socket
) -> None:
    done = run(python, listening.getsockname()[1], 5)
    assert (done.returncode, done.stderr) == (0, "")
    times = tcp_rtt.round_trips_ms(done.stdout)
    assert len(times) == 5
    assert all(0 < time < 1000 for time in times)
    listening.settimeout(0)
    for _ in range(5):
        listening.accept()[0].close()
    with pytest.raises(BlockingIOError):
        listening.accept()


def test_a_closed_port_is_said_in_one_line(python: str, listening: socket.socket) -> None:
    port = listening.getsockname()[1]
    listening.close()
    done = run(python, port, 5)
    assert done.returncode == 1
    assert tcp_rtt.round_trips_ms(done.stdout) == []
    assert done.stderr.startswith(f"no connect to 127.0.0.1 port {port}: ")
    assert done.stderr.strip().endswith("Connection refused")

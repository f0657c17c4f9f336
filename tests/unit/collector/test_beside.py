"""What ping, iperf3 and a Redis server say beside a workload."""

from __future__ import annotations

import json

import pytest

from collector import beside
from collector.parsers import iperf3, ping, redis_info

PING = """\
PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.
64 bytes from 192.0.2.7: icmp_seq=1 ttl=64 time=0.400 ms
64 bytes from 192.0.2.7: icmp_seq=2 ttl=64 time=0.200 ms
64 bytes from 192.0.2.7: icmp_seq=4 ttl=64 time=0.300 ms

--- 192.0.2.7 ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 30ms
rtt min/avg/max/mdev = 0.200/0.300/0.400/0.081 ms
"""
NO_ANSWER = """\
PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.

--- 192.0.2.9 ping statistics ---
5 packets transmitted, 0 received, 100% packet loss, time 405ms
"""
INFO = """\
# Server\r
redis_version:3.2.100\r
redis_mode:standalone\r
os:Windows\r
# CPU\r
used_cpu_sys:{sys}\r
used_cpu_user:{user}\r
"""


def iperf(mbit_s: float) -> str:
    return json.dumps({"end": {"sum_received": {"bits_per_second": mbit_s * 1e6}}})


def test_round_trips() -> None:
    assert ping.round_trips_ms(PING) == [0.4, 0.2, 0.3]
    assert ping.sent(PING) == 4
    assert ping.sent("ping: unknown host nowhere\n") is None


def test_a_throughput_is_what_was_received() -> None:
    assert iperf3.throughput("warning: old kernel\n" + iperf(941.5)).mbit_s == pytest.approx(941.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"end": {}, "error": "unable to connect to server: Connection refused"}', "Connection refused"),
        ("iperf3: command not found", "command not found"),
        ("", "printed nothing"),
        ('{"end": {}}', "no sum"),
        ("[]", "[]"),
    ],
)
def test_a_throughput_that_was_not_measured_has_a_reason(text: str, says: str) -> None:
    found = iperf3.throughput(text)
    assert found.mbit_s is None
    assert found.error
    assert says in found.error


def test_a_link_is_before_and_after_together() -> None:
    link = beside.link(
        {
            "ping-before.log": PING,
            "ping-after.log": PING.replace("0.400", "1.000"),
            "iperf3-up-before.json": iperf(900),
            "iperf3-up-after.json": iperf(940),
            "iperf3-down-before.json": '{"error": "the server is busy"}',
        }
    )
    assert link
    assert link.rtt_min_ms == 0.2
    assert link.rtt_median_ms == pytest.approx(0.3)
    assert link.rtt_p99_ms == pytest.approx(0.97)  # of 0.2 0.2 0.3 0.3 0.4 1.0: 5% of the way from 0.4 to 1
    assert link.lost == pytest.approx(0.25)
    assert (link.up_mbit_s, link.down_mbit_s) == (pytest.approx(920), None)
    assert link.troubles == ("iperf3, down before: the server is busy",)


def test_a_link_without_an_answer() -> None:
    link = beside.link({"ping-before.log": NO_ANSWER})
    assert link
    assert link.rtt_median_ms is None
    assert link.lost == 1
    assert link.troubles[0].startswith("ping got no answer: 5 packets transmitted, 0 received")


def test_round_trips_of_tcp_are_before_and_after_together() -> None:
    link = beside.link(
        {
            "ping-before.log": PING,
            "tcp-rtt-before.log": "rtt=0.500 ms\nrtt=0.700 ms\n",
            "tcp-rtt-after.log": "rtt=1000.900 ms\nno connect to 192.0.2.7 port 6379: timed out\n",
        }
    )
    assert link
    assert link.tcp_rtt_ms == (0.5, 0.7, 1000.9)
    assert link.tcp_rtt_median_ms == 0.7
    assert link.troubles == ()
    assert link.rtt_median_ms == 0.3


def test_a_port_that_takes_no_connect() -> None:
    refused = "no connect to 192.0.2.7 port 6379: [Errno 111] Connection refused"
    link = beside.link({"ping-before.log": PING, "tcp-rtt-before.log": refused + "\n"})
    assert link
    assert link.tcp_rtt_median_ms is None
    assert link.troubles == (f"no round trip of TCP is known: {refused}",)


def test_no_link_was_measured() -> None:
    assert beside.link({"redis-info-before.log": "redis_version:7.0.15"}) is None


def test_a_server_tells_its_version_and_how_busy_it_was() -> None:
    logs = {
        "redis-info-before.log": INFO.format(sys="10.5", user="20.00"),
        "redis-info-after.log": INFO.format(sys="12.5", user="25.00"),
        "redis-settings-before.log": "save\n3600 1\nappendonly\nno\nmaxmemory\n0\n\n",
    }
    server = beside.server(logs, duration_s=10)
    assert server
    assert (server.version, server.mode, server.system) == ("3.2.100", "standalone", "Windows")
    assert server.cpus == pytest.approx(0.7)  # 2 s in the kernel and 5 s outside it, of 10 s
    assert server.main_thread_cpus is None
    assert server.settings == {"save": "3600 1", "appendonly": "no", "maxmemory": "0"}


def test_a_main_thread() -> None:
    text = "used_cpu_sys_main_thread:1.5\nused_cpu_user_main_thread:2.5\n"
    assert redis_info.used_cpu_main_thread_s(redis_info.fields(text)) == 4


def test_a_server_that_refuses_to_tell() -> None:
    assert beside.server({"redis-info-before.log": "NOAUTH Authentication required.\n"}, 10) is None

"""What was measured beside a point's workload, before and after it: the link to the server, and the server.

The logs are those of a point's steps, by the names that the roles link and redis_benchmark give them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from collector.parsers import iperf3, ping, redis_info, tcp_rtt

BEFORE, AFTER = "before", "after"
_PING = "ping-{}.log"
_TCP_RTT = "tcp-rtt-{}.log"
_IPERF3 = "iperf3-{}-{}.json"
_INFO = "redis-info-{}.log"
_SETTINGS = "redis-settings-before.log"
# The settings that the role asks for: those that change what a benchmark measures.
SETTINGS = (
    "save",
    "appendonly",
    "appendfsync",
    "maxmemory",
    "maxmemory-policy",
    "io-threads",
    "hz",
    "tcp-backlog",
)


@dataclass(frozen=True)
class Link:
    """The way from the client to the server, before and after the workload together.

    :param rtt_before_ms: round-trip times of ping before the workload, in ms.
    :param rtt_after_ms: those after it.
    :param tcp_rtt_ms: round-trip times of TCP to the server's port, which no NAT on the way answers itself.
    :param lost: the share of pings without an answer; None if none was sent.
    :param up_mbit_s: TCP throughput from client to server, the mean of before and after; None where unknown.
    :param down_mbit_s: the same from server to client.
    :param troubles: why something is not known, each in a line.
    """

    rtt_before_ms: tuple[float, ...]
    rtt_after_ms: tuple[float, ...]
    tcp_rtt_ms: tuple[float, ...]
    lost: float | None
    up_mbit_s: float | None
    down_mbit_s: float | None
    troubles: tuple[str, ...]

    @property
    def rtt_ms(self) -> tuple[float, ...]:
        return self.rtt_before_ms + self.rtt_after_ms

    @property
    def rtt_min_ms(self) -> float | None:
        return min(self.rtt_ms, default=None)

    @property
    def rtt_median_ms(self) -> float | None:
        return statistics.median(self.rtt_ms) if self.rtt_ms else None

    @property
    def rtt_p99_ms(self) -> float | None:
        if len(self.rtt_ms) < 2:
            return self.rtt_min_ms
        return statistics.quantiles(self.rtt_ms, n=100, method="inclusive")[-1]

    @property
    def tcp_rtt_median_ms(self) -> float | None:
        return statistics.median(self.tcp_rtt_ms) if self.tcp_rtt_ms else None


@dataclass(frozen=True)
class Server:
    """What the server said of itself.

    :param version: of the server, which need not be that of the tool.
    :param mode: standalone, cluster, sentinel.
    :param cpus: CPUs that it kept busy while the workload ran (1.0: one, all the time).
    :param main_thread_cpus: of these, its main thread, which runs all commands.
    """

    version: str | None
    mode: str | None
    system: str | None
    cpus: float | None
    main_thread_cpus: float | None
    settings: dict[str, str] = field(default_factory=dict)


def link(logs: Mapping[str, str]) -> Link | None:
    """The link, from the texts of a point's step logs by name; None if it was not measured."""
    pings = {when: logs[_PING.format(when)] for when in (BEFORE, AFTER) if _PING.format(when) in logs}
    tcp = [logs[_TCP_RTT.format(when)] for when in (BEFORE, AFTER) if _TCP_RTT.format(when) in logs]
    calls = {
        (way, when): iperf3.throughput(logs[name])
        for way in ("up", "down")
        for when in (BEFORE, AFTER)
        if (name := _IPERF3.format(way, when)) in logs
    }
    if not pings and not tcp and not calls:
        return None
    times = {when: tuple(ping.round_trips_ms(text)) for when, text in pings.items()}
    answers = sum(map(len, times.values()))
    sent = sum(ping.sent(text) or 0 for text in pings.values())
    troubles = [f"iperf3, {way} {when}: {call.error}" for (way, when), call in calls.items() if call.error]
    if not answers:
        troubles.append(f"ping got no answer: {_last_words(pings.values())}")
    tcp_rtt_ms = tuple(time for text in tcp for time in tcp_rtt.round_trips_ms(text))
    if tcp and not tcp_rtt_ms:
        troubles.append(f"no round trip of TCP is known: {_last_words(tcp)}")
    return Link(
        rtt_before_ms=times.get(BEFORE, ()),
        rtt_after_ms=times.get(AFTER, ()),
        tcp_rtt_ms=tcp_rtt_ms,
        lost=1 - answers / sent if sent else None,
        up_mbit_s=_mean(calls, "up"),
        down_mbit_s=_mean(calls, "down"),
        troubles=tuple(troubles),
    )


def server(logs: Mapping[str, str], duration_s: float | None) -> Server | None:
    """The server, from the texts of a point's step logs by name; None if it was not asked.

    :param duration_s: of the workload, to which the server's processor time is set in relation.
    """
    before, after = (redis_info.fields(logs.get(_INFO.format(when), "")) for when in (BEFORE, AFTER))
    known = before or after
    if not known:
        return None

    def busy(first: float | None, last: float | None) -> float | None:
        return (last - first) / duration_s if first is not None and last is not None and duration_s else None

    return Server(
        version=known.get("redis_version"),
        mode=known.get("redis_mode"),
        system=known.get("os"),
        cpus=busy(redis_info.used_cpu_s(before), redis_info.used_cpu_s(after)),
        main_thread_cpus=busy(
            redis_info.used_cpu_main_thread_s(before), redis_info.used_cpu_main_thread_s(after)
        ),
        settings=redis_info.settings(logs.get(_SETTINGS, ""), SETTINGS),
    )


def _last_words(texts: Iterable[str]) -> str:
    return next((text.strip().splitlines()[-1] for text in texts if text.strip()), "nothing")


def _mean(calls: Mapping[tuple[str, str], iperf3.Throughput], way: str) -> float | None:
    values = [call.mbit_s for (of, _), call in calls.items() if of == way and call.mbit_s is not None]
    return statistics.fmean(values) if values else None

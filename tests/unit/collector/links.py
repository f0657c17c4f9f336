"""Points with what is measured beside them: the link, the server, and how busy both sides were."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.unit.collector.runs import Written

SETTINGS = {"save": "3600 1", "appendonly": "no", "io-threads": "1"}


def ping(*times_ms: float, sent: int | None = None) -> str:
    answers = (f"64 bytes from 192.0.2.7: icmp_seq=1 ttl=64 time={time} ms\n" for time in times_ms)
    return "".join(answers) + f"\n{sent or len(times_ms)} packets transmitted, {len(times_ms)} received\n"


def iperf3(mbit_s: float) -> str:
    return json.dumps({"end": {"sum_received": {"bits_per_second": mbit_s * 1e6}}})


def info(main_thread_s: float | None = None, total_s: float = 0.0, **fields: str) -> str:
    """What INFO says, with all processor time as that of the kernel."""
    told = {"redis_version": "7.0.15", "redis_mode": "standalone", "os": "Linux 6.1", **fields}
    told |= {"used_cpu_sys": str(total_s), "used_cpu_user": "0"}
    if main_thread_s is not None:
        told |= {"used_cpu_sys_main_thread": str(main_thread_s), "used_cpu_user_main_thread": "0"}
    return "".join(f"{name}:{value}\r\n" for name, value in told.items())


def step_logs(
    before_ms: Sequence[float] = (0.2,),
    after_ms: Sequence[float] | None = None,
    tcp_rtt_ms: Sequence[float] = (),
    up: float = 900.0,
    down: float = 800.0,
    cpus: float = 0.5,
    settings: Mapping[str, str] = SETTINGS,
    **fields: str,
) -> dict[str, str]:
    """The logs beside a workload of 1 s; `cpus` is how busy the server's main thread was."""
    connects = "".join(f"rtt={time:.3f} ms\n" for time in tcp_rtt_ms)
    return ({"tcp-rtt-before.log": connects} if tcp_rtt_ms else {}) | {
        "ping-before.log": ping(*before_ms),
        "ping-after.log": ping(*(before_ms if after_ms is None else after_ms)),
        "iperf3-up-before.json": iperf3(up),
        "iperf3-down-before.json": iperf3(down),
        "redis-settings-before.log": "".join(f"{name}\n{value}\n" for name, value in settings.items()),
        "redis-info-before.log": info(10.0, 20.0, **fields),
        "redis-info-after.log": info(10.0 + cpus, 20.0 + cpus + 0.1, **fields),
    }


def csv(tests: Mapping[str, tuple[float, float]]) -> str:
    """A log of redis-benchmark from 6.2 on: rate and mean latency in ms by test."""
    lines = ['"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95","p99","max"']
    lines += [f'"{test}","{rps}","{avg}","0.1","0.2","0.3","0.4","0.5"' for test, (rps, avg) in tests.items()]
    return "\n".join(lines) + "\n"


def linked(
    factors: Mapping[str, str], rps: Mapping[str, float], logs: Mapping[str, str], **others: Any
) -> Written:
    """A point of 50 clients whose tool kept 0.4 CPUs busy."""
    given = {
        "params": {"clients": 50, "threads": 0, "pipeline": 1},
        "observed": {"command_cpus": 0.4},
        **others,
    }
    return Written(factors, rps, step_logs=logs, **given)

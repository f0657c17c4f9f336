"""What was recorded beside a point's workload, as columns of the frame: the link, the server, the client.

All is empty where nothing of it was recorded, as in imported logs.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from typing import Any

from collector import beside
from collector.beside import Link, Server
from collector.models import HostProfile, Point
from collector.store import LoadedPoint

NUMBERS = (
    "rtt_min_ms",
    "rtt_median_ms",
    "rtt_p99_ms",
    "rtt_before_ms",  # the median before the workload
    "rtt_after_ms",
    "tcp_rtt_median_ms",  # of TCP, to the server's port
    "ping_lost",  # share of pings without an answer
    "up_mbit_s",  # TCP, client to server
    "down_mbit_s",
    "client_cpus",  # CPUs that the tool kept busy
    "client_threads",  # that it runs on
    "server_cpus",
    "server_main_thread_cpus",
)
COLUMNS = (
    *NUMBERS,
    "link_troubles",  # why something of the link or server is not known, a line each
    "server_version",
    "server_mode",
    "server_system",
    "server_settings",  # JSON
    "emulated",  # hosts of the comparison whose machine is emulated in software, joined with +
)


def of(loaded: LoadedPoint) -> dict[str, Any]:
    """The point's circumstances; only those that are known."""
    logs = loaded.step_logs
    link, server = beside.link(logs.texts), beside.server(logs.texts, loaded.point.duration_s)
    return {
        "link_troubles": "\n".join((*logs.damage, *(link.troubles if link else ()))),
        **(_link(link) if link else {}),
        **(_server(server) if server else {}),
        **_client(loaded.point),
    }


def emulated_hosts(study: str, host: str, profiles: Mapping[str, HostProfile]) -> str:
    """The hosts behind a point that are emulated in software.

    A point that was measured from a client does not name its server: in a comparison of platforms all hosts
    of the run are behind every point.
    """
    behind = profiles if study == "virt_compare" else {host: profiles[host]} if host in profiles else {}
    return "+".join(name for name in behind if profiles[name].emulated)


def _link(link: Link) -> dict[str, Any]:
    return {
        "rtt_min_ms": link.rtt_min_ms,
        "rtt_median_ms": link.rtt_median_ms,
        "rtt_p99_ms": link.rtt_p99_ms,
        "rtt_before_ms": statistics.median(link.rtt_before_ms) if link.rtt_before_ms else None,
        "rtt_after_ms": statistics.median(link.rtt_after_ms) if link.rtt_after_ms else None,
        "tcp_rtt_median_ms": link.tcp_rtt_median_ms,
        "ping_lost": link.lost,
        "up_mbit_s": link.up_mbit_s,
        "down_mbit_s": link.down_mbit_s,
    }


def _server(server: Server) -> dict[str, Any]:
    return {
        "server_cpus": server.cpus,
        "server_main_thread_cpus": server.main_thread_cpus,
        "server_version": server.version,
        "server_mode": server.mode,
        "server_system": server.system,
        "server_settings": json.dumps(server.settings, sort_keys=True) if server.settings else None,
    }


def _client(point: Point) -> dict[str, Any]:
    """Of a tool that has a server: what others keep busy is what they measure, and no limit of theirs."""
    if "clients" not in point.params or point.observed.command_cpus is None:
        return {}
    threads = point.params.get("threads")
    return {
        "client_cpus": point.observed.command_cpus,
        "client_threads": max(1, threads) if isinstance(threads, int) else 1,
    }

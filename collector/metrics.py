"""The one registry of metrics: unit and direction, declared once and never guessed from a name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    """Which direction is an improvement."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"  # a setting that the log repeats, such as the number of clients: never compared


@dataclass(frozen=True)
class Metric:
    """What a number in a log means."""

    name: str
    unit: str
    better: Better
    title: str


# The most telling first: a table shows the first one that a log has, if nothing else is asked for.
_METRICS = (
    Metric("rps", "requests/s", Better.HIGHER, "requests per second"),
    Metric("tpmC", "tpmC", Better.HIGHER, "new-order transactions per minute"),
    Metric("tps", "transactions/s", Better.HIGHER, "transactions per second"),
    Metric("iops", "IOPS", Better.HIGHER, "I/O operations per second"),
    Metric("bandwidth", "MiB/s", Better.HIGHER, "throughput"),
    Metric("ops_per_s", "operations/s", Better.HIGHER, "operations per second"),
    Metric("events_per_s", "events/s", Better.HIGHER, "events per second"),
    Metric("events_spread", "%", Better.LOWER, "spread of events over threads, of their mean"),
    Metric("lat_mean", "ms", Better.LOWER, "mean latency"),
    Metric("avg", "ms", Better.LOWER, "mean latency"),
    Metric("avg_rt", "ms", Better.LOWER, "mean response time"),
    Metric("min", "ms", Better.LOWER, "lowest latency"),
    Metric("p50", "ms", Better.LOWER, "median latency"),
    Metric("p95", "ms", Better.LOWER, "95th percentile latency"),
    Metric("p99", "ms", Better.LOWER, "99th percentile latency"),
    Metric("max", "ms", Better.LOWER, "highest latency"),
    Metric("max_le", "ms", Better.LOWER, "upper bound of the highest latency"),
    Metric("duration", "s", Better.NONE, "duration of the test"),
    Metric("requests", "requests", Better.NONE, "requests completed"),
    Metric("clients", "clients", Better.NONE, "parallel clients"),
    Metric("threads", "threads", Better.NONE, "threads"),
    Metric("connections", "connections", Better.NONE, "database connections"),
    Metric("payload", "bytes", Better.NONE, "size of a value"),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _METRICS}

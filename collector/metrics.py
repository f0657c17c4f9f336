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


_METRICS = (
    Metric("rps", "requests/s", Better.HIGHER, "requests per second"),
    Metric("avg", "ms", Better.LOWER, "mean latency"),
    Metric("min", "ms", Better.LOWER, "lowest latency"),
    Metric("p50", "ms", Better.LOWER, "median latency"),
    Metric("p95", "ms", Better.LOWER, "95th percentile latency"),
    Metric("p99", "ms", Better.LOWER, "99th percentile latency"),
    Metric("max", "ms", Better.LOWER, "highest latency"),
    Metric("max_le", "ms", Better.LOWER, "upper bound of the highest latency"),
    Metric("duration", "s", Better.NONE, "duration of the test"),
    Metric("requests", "requests", Better.NONE, "requests completed"),
    Metric("clients", "clients", Better.NONE, "parallel clients"),
    Metric("payload", "bytes", Better.NONE, "size of a value"),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _METRICS}

"""The one registry of metrics: unit and direction, declared once and never guessed from a name."""

from __future__ import annotations

from collections.abc import Iterator
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


_FIO_LATENCIES = {
    "lat": "total latency",
    "clat": "completion latency",
    "slat": "submission latency",
    "sync": "latency of a sync",
}
_FIO_PERCENTILES = (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


def _fio_latencies() -> Iterator[Metric]:
    """Mean, spread, extremes and percentiles of every kind of latency; all but the mean latency itself."""
    for kind, title in _FIO_LATENCIES.items():
        parts = {"mean": "mean", "stddev": "standard deviation of", "min": "lowest", "max": "highest"}
        parts |= {
            f"p{percent:g}".replace(".", "_"): f"{percent:g}th percentile" for percent in _FIO_PERCENTILES
        }
        for part, words in parts.items():
            if (kind, part) != ("lat", "mean"):
                yield Metric(f"{kind}_{part}", "ms", Better.LOWER, f"{words} {title}")


def _tpcc_counts() -> Iterator[Metric]:
    """What tpcc-mysql counts beside its result, from its threads and once more as a sum."""
    counts = {"sc": "in time", "lt": "late", "rt": "tried again", "fl": "failed"}
    for name, words in counts.items():
        yield Metric(name, "transactions", Better.NONE, f"transactions {words}")
        yield Metric(f"{name}_sum", "transactions", Better.NONE, f"transactions {words}, summed up")
    yield Metric("trx", "transactions", Better.NONE, "new-order transactions of an interval")
    yield Metric("mix", "%", Better.NONE, "share of all transactions")
    yield Metric("in_time", "%", Better.NONE, "share of transactions within the time limit")


# The most telling first: a table shows the first one that a log has, if nothing else is asked for.
_METRICS = (
    Metric("rps", "requests/s", Better.HIGHER, "requests per second"),
    Metric("tpmC", "tpmC", Better.HIGHER, "new-order transactions per minute"),
    Metric("tps", "transactions/s", Better.HIGHER, "transactions per second"),
    Metric("iops", "IOPS", Better.HIGHER, "I/O operations per second"),
    Metric("bandwidth", "MiB/s", Better.HIGHER, "throughput"),
    Metric("ops_per_s", "operations/s", Better.HIGHER, "operations per second"),
    Metric("events_per_s", "events/s", Better.HIGHER, "events per second"),
    Metric("total_time", "s", Better.LOWER, "time for a fixed number of events"),
    Metric("reads_per_s", "reads/s", Better.HIGHER, "reads per second"),
    Metric("writes_per_s", "writes/s", Better.HIGHER, "writes per second"),
    Metric("fsyncs_per_s", "fsyncs/s", Better.HIGHER, "fsyncs per second"),
    Metric("read_bandwidth", "MiB/s", Better.HIGHER, "throughput of reads"),
    Metric("write_bandwidth", "MiB/s", Better.HIGHER, "throughput of writes"),
    Metric("qps", "queries/s", Better.HIGHER, "queries per second"),
    Metric("rw_requests_per_s", "requests/s", Better.HIGHER, "reads and writes per second"),
    Metric("eps", "events/s", Better.HIGHER, "events per second, as sysbench 1.1 sums up every test"),
    Metric("events_spread", "%", Better.LOWER, "spread of events over threads, of their mean"),
    Metric("lat_mean", "ms", Better.LOWER, "mean latency"),
    Metric("avg", "ms", Better.LOWER, "mean latency"),
    Metric("avg_rt", "ms", Better.LOWER, "mean response time"),
    Metric("min", "ms", Better.LOWER, "lowest latency"),
    Metric("p50", "ms", Better.LOWER, "median latency"),
    Metric("p90", "ms", Better.LOWER, "90th percentile latency"),
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
    *_tpcc_counts(),
    *_fio_latencies(),
    Metric("io", "bytes", Better.NONE, "bytes read, written or trimmed"),
    Metric("err", "errno", Better.NONE, "error number"),
    Metric("error_lines", "lines", Better.NONE, "lines that report errors"),
    Metric("events", "events", Better.NONE, "events done"),
    Metric("event_time", "s", Better.NONE, "time spent in events, over all threads"),
    Metric("events_avg", "events", Better.NONE, "mean events of a thread"),
    Metric("events_stddev", "events", Better.NONE, "standard deviation of events over threads"),
    Metric("time_avg", "s", Better.NONE, "mean time that a thread spent in events"),
    Metric("time_stddev", "s", Better.NONE, "standard deviation of that time over threads"),
    Metric("lat_sum", "ms", Better.NONE, "sum of all latencies"),
    Metric("intervals", "lines", Better.NONE, "intermediate reports"),
    Metric("operations", "operations", Better.NONE, "operations done"),
    Metric("reads", "reads", Better.NONE, "reads done"),
    Metric("writes", "writes", Better.NONE, "writes done"),
    Metric("read_total", "MiB", Better.NONE, "data read"),
    Metric("written_total", "MiB", Better.NONE, "data written"),
    Metric("transferred", "MiB", Better.NONE, "data read and written"),
    Metric("transactions", "transactions", Better.NONE, "transactions done"),
    Metric("queries", "queries", Better.NONE, "queries done"),
    Metric("rw_requests", "requests", Better.NONE, "read and write requests done"),
    Metric("other_operations", "operations", Better.NONE, "operations that neither read nor write"),
    Metric("other_operations_per_s", "operations/s", Better.NONE, "those operations per second"),
    Metric("deadlocks", "deadlocks", Better.NONE, "deadlocks"),
    Metric("deadlocks_per_s", "deadlocks/s", Better.NONE, "deadlocks per second"),
    Metric("ignored_errors", "errors", Better.NONE, "errors after which a transaction was done again"),
    Metric("ignored_errors_per_s", "errors/s", Better.NONE, "those errors per second"),
    Metric("reconnects", "reconnects", Better.NONE, "reconnects"),
    Metric("reconnects_per_s", "reconnects/s", Better.NONE, "reconnects per second"),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _METRICS}
for _percent in range(1, 101):  # sysbench prints any whole percentile that it is asked for
    METRICS.setdefault(
        f"p{_percent}", Metric(f"p{_percent}", "ms", Better.LOWER, f"percentile {_percent} of the latency")
    )

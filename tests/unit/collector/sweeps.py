"""Runs of os_compare, whose logs are lines of test, metric and value, read by parsers of their own.

The registry's row settings are those of the real workloads; only the logs are simpler, so that a test says in
numbers what was measured.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from collector import parsers, store
from collector.parsers import Workload
from collector.parsers.identity import TestIdentity
from collector.samples import Parsed, Sample
from collector.summary import Summary, summarize
from tests.unit.collector.runs import Written, write_run

THREADS = (1, 2, 4, 6, 12)
ROWS = {
    "sysbench_cpu": ("threads",),
    "sysbench_memory": ("operation", "block_size", "threads"),
    "fio": ("block_size", "threads"),
    "tpcc_mysql": ("connections",),
}
ORDERS = {"fio": ("read", "write", "trim")}


def parse(text: str) -> Parsed:
    """Lines of test, metric, value and, if there are several, the number of the run."""
    samples = []
    for line, words in enumerate(map(str.split, text.splitlines()), start=1):
        test, metric, value, *run = words
        samples.append(Sample(test, metric, float(value), line, int(run[0]) if run else 1))
    return Parsed(samples)


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in ROWS.items():
        workload = Workload(parse, lambda test: TestIdentity(test, test), ORDERS.get(name, ()), rows)
        monkeypatch.setitem(parsers.WORKLOADS, name, workload)


def log(values: Mapping[tuple[str, str], float]) -> str:
    return "".join(f"{test} {metric} {value!r}\n" for (test, metric), value in values.items())


def point(
    workload: str,
    factors: Mapping[str, str],
    params: Mapping[str, Any],
    values: Mapping[tuple[str, str], float] | None,
    repeat: int = 1,
    **others: Any,
) -> Written:
    """A point; `values` None is one that was planned and not run."""
    rates = None if values is None else {}
    text = None if values is None else log(values)
    return Written(factors, rates, repeat, params=params, workload=workload, log=text, **others)


def cpu(
    os: str,
    by: float = 1.0,
    spread: float = 1.0,
    *,
    threads: Sequence[int] = THREADS,
    noise: float = 0.0,
    repeats: int = 1,
    seed: int = 1,
    **factors: str,
) -> Iterator[Written]:
    """sysbench_cpu over threads: 1000 events/s a thread, and a spread that grows with the threads."""
    rng = random.Random(seed)
    for count in threads:
        for repeat in range(1, repeats + 1):
            values = {
                ("cpu", "events_per_s"): 1000 * count * by * rng.gauss(1, noise),
                ("cpu", "events_spread"): 0.5 * (1 + count / 4) * spread * rng.gauss(1, noise),
            }
            params = {"threads": count, "max_prime": 20000, "time_s": 60}
            yield point("sysbench_cpu", {"os": os, **factors}, params, values, repeat, host=os)


def fio(
    os: str,
    filesystem: str,
    by: float = 1.0,
    latency: float = 1.0,
    *,
    sizes: Sequence[str] = ("4K",),
    threads: Sequence[int] = THREADS,
    noise: float = 0.0,
    repeats: int = 1,
    seed: int = 1,
    **factors: str,
) -> Iterator[Written]:
    """fio over block sizes and threads, reads and writes in one log; `latency` is of the writes."""
    rng = random.Random(seed)
    for size in sizes:
        for count in threads:
            for repeat in range(1, repeats + 1):
                rate = 4000 * count**0.5 / (1 if size == "4K" else 4) * by
                values = {
                    ("read", "iops"): rate * rng.gauss(1, noise),
                    ("write", "iops"): rate / 3 * rng.gauss(1, noise),
                    ("read", "lat_mean"): count / rate * 1000 * rng.gauss(1, noise),
                    ("write", "lat_mean"): count / rate * 2000 * latency * rng.gauss(1, noise),
                }
                params = {"block_size": size, "threads": count, "pattern": "randrw", "iodepth": 32}
                labels = {"os": os, "filesystem": filesystem, **factors}
                yield point("fio", labels, params, values, repeat, host=os)


def summary(folder: Path, points: Sequence[Written], **options: Any) -> Summary:
    run = write_run(folder / "r1", points, "os_compare", options.pop("profiles", None))
    return summarize(store.load_runs([run]), **options)

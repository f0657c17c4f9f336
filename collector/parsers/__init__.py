"""The registry of parsers: which function reads which workload's logs, and which tests are the same test.

A new tool is one module here, its test inputs, and one line in :data:`WORKLOADS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from collector.errors import CollectorError
from collector.nearest import did_you_mean
from collector.parsers import fio, redis_benchmark, sysbench, tpcc_mysql
from collector.parsers.identity import TestIdentity
from collector.samples import Parsed


@dataclass(frozen=True)
class Workload:
    """How one tool's logs are read.

    :param parse: pure function from the text of a log to its samples and issues.
    :param identity: which row of a table a test's title belongs to.
    :param order: the keys of the tests in the order in which the tool runs them.
    :param rows: the settings whose values are rows of one table rather than tables of their own; the last is
        the one that is swept (threads), which a chart draws along.
    """

    parse: Callable[[str], Parsed]
    identity: Callable[[str], TestIdentity]
    order: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def _sysbench(parse: Callable[[str], Parsed], *rows: str) -> Workload:
    return Workload(parse, sysbench.identity, sysbench.ORDER, rows)


WORKLOADS: dict[str, Workload] = {
    "redis_benchmark": Workload(redis_benchmark.parse, redis_benchmark.identity, redis_benchmark.ORDER),
    "fio": Workload(fio.parse, fio.identity, fio.ORDER, rows=("block_size", "threads")),
    "tpcc_mysql": Workload(tpcc_mysql.parse, tpcc_mysql.identity, tpcc_mysql.ORDER, rows=("connections",)),
    "sysbench_cpu": _sysbench(sysbench.parse, "threads"),
    "sysbench_memory": _sysbench(sysbench.parse, "operation", "block_size", "threads"),
    # From 1.0 on these two do not print which of them they are.
    "sysbench_threads": _sysbench(partial(sysbench.parse, unnamed="threads"), "threads"),
    "sysbench_mutex": _sysbench(partial(sysbench.parse, unnamed="mutex"), "threads"),
    "sysbench_fileio": _sysbench(sysbench.parse, "threads"),
    "sysbench_oltp": _sysbench(sysbench.parse, "threads"),
}


def workload(name: str) -> Workload:
    """The registry's entry.

    :raises CollectorError: an unknown workload; the message names the nearest one.
    """
    if name not in WORKLOADS:
        raise CollectorError(f"unknown workload {name!r}", remedy=did_you_mean(name, WORKLOADS))
    return WORKLOADS[name]


def parse(name: str, text: str) -> Parsed:
    """All that a log of workload *name* says; never raises on any text."""
    return workload(name).parse(text)


def identity(name: str, test: str) -> TestIdentity:
    """Which test the title *test* means, across the tool's versions."""
    return workload(name).identity(test)


def order(name: str) -> tuple[str, ...]:
    """Keys of the tests in the tool's own order; keys that are not in it come after, as they appear."""
    return workload(name).order

"""The lines of sysbench's output: which figures each has, in all versions from 0.4 to 1.1."""

from __future__ import annotations

import math
import re

from collector.metrics import METRICS
from collector.parsers.text import NUMBER, VALUE, number

# Last lines of a run have their decimals counted: a log that is cut off in the middle of one has fewer.
_FOUR, _TWO = (rf"(?:\d+\.\d{{{digits}}}|[-+]?(?:nan|inf))" for digits in (4, 2))


def _size(metric: str) -> str:
    return rf"(?P<{metric}>{VALUE})(?P<in_{metric}>[KMGT]?b)"


def _counted(label: str, count: str, rate: str) -> str:
    return rf"{label}:\s*(?P<{count}>{NUMBER})\s*\(\s*(?P<{rate}>{VALUE}) per sec\.\)"


# A group is named by its metric; in_x is the unit that x is printed in, per_x the one that x is a rate of.
_PATTERNS = (
    # cpu; a patched build counts by milliseconds
    rf"events per (?P<per_events_per_s>second|ms):\s*(?P<events_per_s>{VALUE})",
    # memory: 1.x, 0.x; 0.x writes MB for MiB
    rf"Total operations: (?P<operations>{NUMBER}) \(\s*(?P<ops_per_s>{VALUE}) per second\)",
    rf"Operations performed: (?P<operations>{NUMBER}) \(\s*(?P<ops_per_s>{VALUE}) ops/sec\)",
    rf"(?P<transferred>{VALUE}) Mi?B transferred \((?P<bandwidth>{VALUE}) Mi?B/sec\)",
    # fileio of 0.x, which writes Gb, Mb, Kb for GiB, MiB, KiB
    rf"Operations performed:\s*(?P<reads>{NUMBER}) [Rr]eads?, (?P<writes>{NUMBER}) [Ww]rites?,"
    rf" (?P<other_operations>{NUMBER}) Other = (?P<operations>{NUMBER}) Total",
    rf"Read {_size('read_total')}\s+Written {_size('written_total')}"
    rf"\s+Total transferred {_size('transferred')}\s+\({_size('bandwidth')}/sec\)",
    rf"(?P<iops>{VALUE}) Requests/sec executed",
    # fileio of 1.0
    rf"reads/s:\s*(?P<reads_per_s>{VALUE})",
    rf"writes/s:\s*(?P<writes_per_s>{VALUE})",
    rf"fsyncs/s:\s*(?P<fsyncs_per_s>{VALUE})",
    rf"read, MiB/s:\s*(?P<read_bandwidth>{VALUE})",
    rf"written, MiB/s:\s*(?P<write_bandwidth>{VALUE})",
    # fileio of 1.1
    rf"read:\s*IOPS=(?P<reads_per_s>{VALUE}) (?P<read_bandwidth>{VALUE}) MiB/s \({VALUE} MB/s\)",
    rf"write:\s*IOPS=(?P<writes_per_s>{VALUE}) (?P<write_bandwidth>{VALUE}) MiB/s \({VALUE} MB/s\)",
    rf"fsync:\s*IOPS=(?P<fsyncs_per_s>{VALUE})",
    # oltp
    _counted("transactions", "transactions", "tps"),
    _counted("queries", "queries", "qps"),
    _counted("deadlocks", "deadlocks", "deadlocks_per_s"),
    _counted("read/write requests", "rw_requests", "rw_requests_per_s"),
    _counted("other operations", "other_operations", "other_operations_per_s"),
    _counted("ignored errors", "ignored_errors", "ignored_errors_per_s"),
    _counted("reconnects", "reconnects", "reconnects_per_s"),
    # every test
    rf"events/(?P<per_eps>s|ms) \(epm?s\):\s*(?P<eps>{VALUE})",
    rf"(?:total time|time elapsed):\s*(?P<duration>{VALUE})(?P<in_duration>s|ms)",
    rf"total number of events:\s*(?P<events>{VALUE})",
    rf"total time taken by event execution:\s*(?P<event_time>{VALUE})s?",
    rf"min:\s*(?P<min>{VALUE})(?:ms)?",
    rf"avg:\s*(?P<avg>{VALUE})(?:ms)?",
    rf"max:\s*(?P<max>{VALUE})(?:ms)?",
    rf"(?P<percent>\d+)(?:th)? percentile:\s*(?P<percentile>{VALUE})(?:ms)?",
    rf"sum:\s*(?P<lat_sum>{_TWO})",
    rf"events \(avg/stddev\):\s*(?P<events_avg>{VALUE})/(?P<events_stddev>{VALUE})",
    rf"execution time \(avg/stddev\):\s*(?P<time_avg>{_FOUR})/(?P<time_stddev>{_TWO})",
)
_FIGURES = tuple(re.compile(rf"(?<!\S){pattern}(?!\S)") for pattern in _PATTERNS)
_HAS_FIGURES = re.compile(r"[:)=] *\S|Requests/sec|transferred")

# How many of the unit make one of the metric's: seconds and MiB.
_UNITS = {
    "s": 1,
    "second": 1,
    "ms": 1000,
    **{f"{prefix}b": 1024.0 ** (2 - power) for power, prefix in enumerate(("", "K", "M", "G", "T"))},
}


def figures(text: str) -> dict[str, float | None]:
    """The figures of a line by metric, in the metric's unit; None for what is no number (nan, inf)."""
    if _HAS_FIGURES.search(text):
        for pattern in _FIGURES:
            if found := pattern.search(text):
                return _named(found.groupdict())
    return {}


def _named(groups: dict[str, str]) -> dict[str, float | None]:
    if percent := groups.get("percent"):
        name = f"p{int(percent[:4])}"
        return {name: number(groups["percentile"])} if name in METRICS else {}
    return {
        name: _scaled(number(text), groups.get(f"in_{name}"), groups.get(f"per_{name}"))
        for name, text in groups.items()
        if name in METRICS
    }


def _scaled(value: float | None, unit: str | None, per: str | None) -> float | None:
    if value is None:
        return None
    value *= _UNITS[per or "s"] / _UNITS[unit or "s"]
    return value if math.isfinite(value) else None

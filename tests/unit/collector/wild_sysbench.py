"""Sidecars of sysbench logs: rows by section (general, latency, fairness), units as the log prints them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import Any

from tests.unit.collector.wild import Adapter, Row

_SUMMARY = ("general", "latency", "fairness", "throughput", "intervals", "errors")  # sections of any test
# Sidecar's metric: ours with its unit. Those that are not here have the same name and unit.
_METRICS = {
    "events_per_second": ("events_per_s", "events/s"),
    "events_per_ms": ("events_per_s", "events/s"),
    "total_time": ("duration", "s"),
    "time_elapsed": ("duration", "s"),
    "event_execution_time": ("event_time", "s"),
    "sum": ("lat_sum", "ms"),
    "count": ("intervals", "lines"),
    "operations": ("operations", "operations"),
    "ops_per_s": ("ops_per_s", "operations/s"),
    "transferred": ("transferred", "MiB"),
    "bandwidth": ("bandwidth", "MiB/s"),
    "reads": ("reads", "reads"),
    "writes": ("writes", "writes"),
    "others": ("other_operations", "operations"),
    "total": ("operations", "operations"),
    "read_total": ("read_total", "MiB"),
    "written_total": ("written_total", "MiB"),
    "requests_per_s": ("iops", "IOPS"),
    "reads_per_s": ("reads_per_s", "reads/s"),
    "writes_per_s": ("writes_per_s", "writes/s"),
    "fsyncs_per_s": ("fsyncs_per_s", "fsyncs/s"),
    "read": ("read_bandwidth", "MiB/s"),
    "written": ("write_bandwidth", "MiB/s"),
    "transactions": ("transactions", "transactions"),
    "tps": ("tps", "transactions/s"),
    "queries": ("queries", "queries"),
    "qps": ("qps", "queries/s"),
    "deadlocks": ("deadlocks", "deadlocks"),
    "deadlocks_per_s": ("deadlocks_per_s", "deadlocks/s"),
    "read_write_requests": ("rw_requests", "requests"),
    "read_write_requests_per_s": ("rw_requests_per_s", "requests/s"),
    "other_operations": ("other_operations", "operations"),
    "other_operations_per_s": ("other_operations_per_s", "operations/s"),
    "ignored_errors": ("ignored_errors", "errors"),
    "ignored_errors_per_s": ("ignored_errors_per_s", "errors/s"),
    "reconnects": ("reconnects", "reconnects"),
    "reconnects_per_s": ("reconnects_per_s", "reconnects/s"),
}
# How many of our units one of the log's is. MB, Mb, Gb and b of 0.4 are MiB, MiB, GiB and bytes.
_FACTORS = {"events/ms": 1000, "Gb": 1024, "Kb": 1 / 1024, "b": 1 / 1024**2}
_RATES = ("tps", "qps", "iops")


def rows(document: dict[str, Any]) -> list[Row]:
    runs: dict[str | None, list[dict[str, Any]]] = defaultdict(list)
    for row in document["rows"]:
        runs[row.get("run")].append(row)
    return [row for run, of_run in runs.items() for row in _rows_of(run, of_run, document["version_guess"])]


def _rows_of(run: str | None, of_run: list[dict[str, Any]], version_guess: str) -> list[Row]:
    values = {(row["test"], row["metric"]): float(row["value"]) for row in of_run}
    test = _test(run, of_run)
    title = _title(test, run, version_guess)
    if values.get(("general", "events")) == 0:  # nothing was measured, and the line of the events says so
        line = next(row["line"] for row in of_run if row["metric"] == "events")
        return [Row(title, "events", math.nan, "events", line, run)]
    found = []
    for row in of_run:
        if row["test"] == "errors":
            continue
        metric, unit = _METRICS.get(row["metric"], (row["metric"], row["unit"]))
        if row["test"] == "throughput":
            metric = "eps"
        elif metric == "duration" and _takes_its_time(title):
            metric = "total_time"
        value = float(row["value"]) * (
            1 / 1000 if row["metric"] == "time_elapsed" else _FACTORS.get(row["unit"], 1)
        )
        if metric in _RATES and value == 0:
            value = math.nan
        found.append(Row(title, metric, value, unit, row.get("line"), run))
    return found + _derived(found)


def _test(run: str | None, of_run: list[dict[str, Any]]) -> str:
    """The test of a run: its own section, or the name of the run; cpu of some versions has neither."""
    own = [row["test"] for row in of_run if row["test"] not in _SUMMARY]
    return own[0] if own else run if run in ("mutex", "threads") else "cpu"


def _title(test: str, run: str | None, version_guess: str) -> str:
    version = run if run and run[0].isdigit() else version_guess  # where a file has several versions
    old = re.match(r"0\.\d", version)
    title = f"{test} (sysbench {old[0]})" if old else test
    return f"{title}, {run}" if run and run.startswith("checkpoint") else title


def _takes_its_time(title: str) -> bool:
    """Whether a run does a given number of events: 10000 by all cpu logs of 0.x here."""
    return title.startswith(("cpu (sysbench 0.", "mutex"))


def _derived(rows: list[Row]) -> list[Row]:
    """What we calculate: the spread over threads, and the rate of a test that prints none."""
    of = {row.metric: row for row in rows}
    mean, stddev = of.get("events_avg"), of.get("events_stddev")
    derived = []
    if mean and stddev:
        spread = stddev.value / mean.value * 100
        derived.append(stddev._replace(metric="events_spread", value=spread, unit="%"))
    if "events_per_s" not in of and "duration" in of and of["events"].test in ("cpu", "threads"):
        rate = of["events"].value / of["duration"].value
        derived.append(of["events"]._replace(metric="events_per_s", value=rate, unit="events/s"))
    return derived


def fatal(document: dict[str, Any]) -> int | None:
    """A fatal issue a FATAL line, and one a run that finished without an event."""
    lines = [row["value"] for row in document["rows"] if row["metric"] == "fatal_lines"]
    idle = [row for row in document["rows"] if row["metric"] == "events" and row["value"] == 0]
    return sum(lines) + len(idle) if lines else None


ADAPTER = Adapter("sysbench_cpu", rows, unasked=frozenset({"threads"}), fatal=fatal)

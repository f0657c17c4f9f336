"""Sidecars of fio logs: a job's name and its direction apart, times in ns, bandwidth in bytes/s."""

from __future__ import annotations

from collections import Counter
from typing import Any

from collector.samples import Sample
from tests.unit.collector.wild import Adapter, Row

# Sidecar's metric: ours, its unit, and how many of ours one of the sidecar's is.
_METRICS = {
    "err": ("err", "errno", 1),
    "jobs": ("threads", "threads", 1),
    "iops": ("iops", "IOPS", 1),
    "bw": ("bandwidth", "MiB/s", 1 / 2**20),
    "io": ("io", "bytes", 1),
    "runtime": ("duration", "s", 1 / 1000),
    "verify_lines": ("error_lines", "lines", 1),
    "error_lines": ("error_lines", "lines", 1),
}
_MS_PER_NS = 1e-6


def rows(document: dict[str, Any]) -> list[Row]:
    jobs: Counter[tuple[str | None, str]] = Counter()
    found = []
    for row in document["rows"]:
        job = row["test"]
        if "host" in row and job != "All clients":
            job = f"{job} on {row['host']}"
        run = row.get("run")
        if row["metric"] == "err":  # the first row of a job
            jobs[run, job] += 1
        title = f"{job} #{jobs[run, job]}" if jobs[run, job] > 1 else job
        metric, unit, factor = _METRICS.get(row["metric"]) or (row["metric"], "ms", _MS_PER_NS)
        directions = _directions(document, run) if metric == "threads" else [row.get("dir")]
        found += [
            Row(
                f"{title}: {direction}" if direction else title,
                metric,
                row["value"] * factor,
                unit,
                row.get("line"),
                run,
            )
            for direction in directions
        ]
    return found


def _directions(document: dict[str, Any], run: str | None) -> list[str]:
    """Those of a run's job: we say of each with how many threads it was done."""
    return sorted({row["dir"] for row in document["rows"] if row.get("run") == run and "dir" in row})


def _asks_for(sample: Sample, rows: list[Row]) -> bool:
    """Some list no lowest and highest latency, some few percentiles: a metric is listed always or never."""
    return any(row.metric == sample.metric for row in rows)


ADAPTER = Adapter("fio", rows, asks_for=_asks_for, tolerance=3e-6)

"""Sidecars of tpcc-mysql logs: the program's own names; of the intervals only the first and the last."""

from __future__ import annotations

from typing import Any

from collector.samples import Sample
from tests.unit.collector.wild import Adapter, Row

_TESTS = {"total": "tpcc", "intervals": "tpcc"}
# Sidecar's metric: ours with its unit. Those that are not here have the same name and unit.
_METRICS = {
    "measured": ("duration", "s"),
    "check_pct": ("mix", "%"),
    "check_rt": ("in_time", "%"),
    "tpmc": ("tpmC", "tpmC"),
    "count": ("intervals", "lines"),
    "rt90": ("p90", "ms"),
    "max_rt": ("max", "ms"),
}
_MS_PER_S = 1000


def rows(document: dict[str, Any]) -> list[Row]:
    found = []
    for row in document["rows"]:
        test = _TESTS.get(row["test"], row["test"])
        metric, unit = _METRICS.get(row["metric"]) or (row["metric"], row["unit"])
        factor = _MS_PER_S if (row["unit"], unit) == ("s", "ms") else 1
        found.append(Row(test, metric, row["value"] * factor, unit, row.get("line"), row.get("run")))
    return found


def _asks_for(sample: Sample, rows: list[Row]) -> bool:
    return any((row.test, row.metric) == (sample.test, sample.metric) for row in rows)


ADAPTER = Adapter("tpcc_mysql", rows, asks_for=_asks_for, tolerance=1e-12)

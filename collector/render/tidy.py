"""Comparisons for other programs: one row a test, condition and metric, as CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from collector.comparison import Cell, Column, Comparison, Row
from collector.frame import FACTOR
from collector.models import Status
from collector.summary import Summary

_PARTIAL = "partial"  # some of a condition's points have a value
_UNMATCHED = "unmatched"  # the condition has results, but not of this test


def to_csv(summary: Summary) -> str:
    """CSV with a header; a factor is a column ``factor_<name>``, what is unknown is empty."""
    rows = []
    for row in _rows(summary):
        factors = row.pop("factors")
        row["params"] = json.dumps(row["params"])
        row["achieved"] = None if row["achieved"] is None else json.dumps(row["achieved"])
        rows.append(row | {FACTOR + name: level for name, level in factors.items()})
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def to_json(summary: Summary) -> str:
    """A list of objects; what is unknown is null."""
    return json.dumps(list(_rows(summary)), indent=2, ensure_ascii=False) + "\n"


def _rows(summary: Summary) -> Iterator[dict[str, Any]]:
    for comparison in summary.comparisons:
        for row in comparison.rows:
            for column in comparison.columns:
                yield _row(comparison, row, column, row.cells.get(column.level))


def _row(comparison: Comparison, row: Row, column: Column, cell: Cell | None) -> dict[str, Any]:
    per = comparison.scaling.unit if comparison.scaling else None
    return {
        "study": comparison.study,
        "run_id": "+".join(column.runs),
        "host": "+".join(column.hosts),
        "workload": comparison.workload,
        "params": column.params,
        "factors": column.factors,
        "baseline": comparison.columns[0].level,
        "test": row.test,
        "note": row.notes.get(column.level),
        "metric": comparison.metric.name,
        "unit": comparison.metric.unit,
        "better": comparison.metric.better.value,
        "observed_ghz": column.observed_ghz,
        "achieved": column.achieved,
        "status": _status(column, cell),
        "planned": column.planned,
        "n": cell.n if cell else 0,
        "mean": cell.mean if cell else None,
        "stddev": cell.stddev if cell else None,
        "per_ghz": cell.per_size if cell and per == "GHz" else None,
        "per_cpu": cell.per_size if cell and per == "CPU" else None,
        "ratio": cell.ratio if cell else None,
        "low": cell.low if cell else None,
        "high": cell.high if cell else None,
        "p": cell.p if cell else None,
        "verdict": cell.verdict.value if cell and cell.verdict else None,
    }


def _status(column: Column, cell: Cell | None) -> str:
    if column.status != Status.OK:
        return column.status
    if cell is None:
        return _UNMATCHED
    return column.status if cell.n == column.planned else _PARTIAL

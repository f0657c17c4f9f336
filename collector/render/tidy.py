"""Comparisons for other programs: one row a test, condition and metric, as CSV or JSON.

Answers of a verdict table follow as rows that have a ``question`` and no ``test``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from collector import link_and_load, overhead
from collector.comparison import Cell, Column, Comparison, Outcome, Row
from collector.frame import FACTOR
from collector.link_doubts import emulated_hosts
from collector.models import Status
from collector.rows import Settings
from collector.summary import Summary
from collector.verdicts import Judgement

_PARTIAL = "partial"  # some of a condition's points have a value
_UNMATCHED = "unmatched"  # the condition has results, but not of this test


def to_csv(summary: Summary) -> str:
    """CSV with a header; a factor is a column ``factor_<name>``, what is unknown is empty."""
    rows = []
    for row in _records(summary):
        factors = row.pop("factors")
        row["params"] = json.dumps(row["params"])
        if row.get("achieved") is not None:
            row["achieved"] = json.dumps(row["achieved"])
        rows.append(row | {FACTOR + name: level for name, level in factors.items()})
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def to_json(summary: Summary) -> str:
    """A list of objects; what is unknown is null."""
    return json.dumps(list(_records(summary)), indent=2, ensure_ascii=False) + "\n"


def _records(summary: Summary) -> Iterator[dict[str, Any]]:
    for comparison in summary.comparisons:
        beside = link_and_load.conditions(comparison)
        for row in comparison.rows:
            for column in comparison.columns:
                record = _row(comparison, row, column, row.cells.get(column.level))
                yield record | (_beside(beside, row, column) if beside else {})
    for table in summary.verdicts:
        yield from map(_answer, table.judgements)


def _condition(comparison: Comparison, column: Column, settings: Settings) -> dict[str, Any]:
    return {
        "study": comparison.study,
        "run_id": "+".join(column.runs),
        "host": "+".join(column.hosts),
        "workload": comparison.workload,
        "params": column.params | settings,
        "factors": column.factors,
        "baseline": comparison.columns[0].level,
    }


def _metric(comparison: Comparison) -> dict[str, Any]:
    metric = comparison.metric
    return {"metric": metric.name, "unit": metric.unit, "better": metric.better.value}


def _answer(judgement: Judgement) -> dict[str, Any]:
    return {
        **_condition(judgement.comparison, judgement.column, {}),
        "question": judgement.question.title,
        **_metric(judgement.comparison),
        "rows": judgement.rows,
        "rows_planned": judgement.planned,
        "ratio": judgement.ratio,
        "low": judgement.low,
        "high": judgement.high,
        "p": judgement.p,
        "verdict": judgement.verdict.value if judgement.verdict else None,
        "winner": judgement.winner.level if judgement.winner else None,
    }


def _row(comparison: Comparison, row: Row, column: Column, cell: Cell | None) -> dict[str, Any]:
    per = comparison.scaling.unit if comparison.scaling else None
    return {
        **_condition(comparison, column, row.settings),
        "test": row.test,
        "note": row.notes.get(column.level),
        **_metric(comparison),
        "observed_ghz": column.observed_ghz,
        "achieved": column.achieved,
        "status": _status(row.outcomes[column.level], cell),
        "planned": row.outcomes[column.level].planned,
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
        **_overhead(comparison, cell),
    }


def _overhead(comparison: Comparison, cell: Cell | None) -> dict[str, Any]:
    if not overhead.is_asked(comparison):
        return {}
    ratio = cell.ratio if cell else None
    emulated = emulated_hosts(comparison.measured)
    return {
        "overhead": None if ratio is None else overhead.of(comparison, ratio),
        **({"emulated": "+".join(emulated)} if emulated else {}),
    }


def _beside(found: link_and_load.Conditions, row: Row, column: Column) -> dict[str, Any]:
    """Link, load and server of the condition, and how much of the test's latency the link explains."""
    known = found.numbers.get(column.level, {}) | found.servers.get(column.level, {})
    latency = found.latencies.get(column.level, {}).get(row.test)
    return {
        **{name: known.get(name) for name in (*link_and_load.NUMBERS, *link_and_load.SERVER)},
        "latency_ms": latency.ms if latency else None,
        "link_share": latency.link_share if latency else None,
        "added_share": latency.added_share if latency else None,
    }


def _status(outcome: Outcome, cell: Cell | None) -> str:
    if outcome.status != Status.OK:
        return outcome.status
    if cell is None:
        return _UNMATCHED
    return outcome.status if cell.n == outcome.planned else _PARTIAL

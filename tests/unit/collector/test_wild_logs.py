"""Logs written by strangers, each with what a person reads in it. They are not part of the repository.

PERFLAB_WILD_LOGS names a folder of them: ``<tool>/<log>`` beside ``<tool>/<log>.expected.json``, whose
``rows`` have test, metric, value, unit, and where it applies line and run. Sidecars are written in the words
of each tool: an adapter turns their rows into the samples that they should be.
"""

from __future__ import annotations

import json
import math
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from collector import parsers
from collector.parsers.text import decode
from tests.unit.collector import wild_fio, wild_sysbench, wild_tpcc_mysql
from tests.unit.collector.wild import Adapter, Row

_ADAPTERS = {
    "redis": Adapter("redis_benchmark"),
    "sysbench": wild_sysbench.ADAPTER,
    "fio": wild_fio.ADAPTER,
    "tpcc-mysql": wild_tpcc_mysql.ADAPTER,
}
_SUFFIX = ".expected.json"
_FOLDER = os.environ.get("PERFLAB_WILD_LOGS")
_SIDECARS = (
    [file for tool in _ADAPTERS for file in sorted(Path(_FOLDER, tool).glob(f"*{_SUFFIX}"))]
    if _FOLDER
    else [pytest.param(None, marks=pytest.mark.skip("PERFLAB_WILD_LOGS names no folder of wild logs"))]
)


@pytest.mark.parametrize(
    "sidecar", _SIDECARS, ids=lambda file: file.name.removesuffix(_SUFFIX) if file else ""
)
def test_reads_what_a_person_reads(sidecar: Path) -> None:
    expected: dict[str, Any] = json.loads(sidecar.read_text(encoding="utf-8"))
    log = sidecar.with_name(sidecar.name.removesuffix(_SUFFIX))
    adapter = _ADAPTERS[sidecar.parent.name]
    parsed = parsers.parse(adapter.workload, decode(log.read_bytes()))

    wanted = adapter.rows(expected)
    values = [row for row in wanted if math.isfinite(row.value)]
    anywhere = {(row.test, row.metric) for row in values if row.line is None}
    rows = [
        Row(
            sample.test,
            sample.metric,
            sample.value,
            sample.unit,
            None if (sample.test, sample.metric) in anywhere else sample.line,
            str(sample.run),
        )
        for sample in parsed.samples
        if sample.metric not in adapter.unasked and adapter.asks_for(sample, wanted)
    ]
    assert _places(rows) == _places(values)
    close = pytest.approx([row.value for row in _sorted(values)], rel=adapter.tolerance, abs=0)
    assert [row.value for row in _sorted(rows)] == close
    assert _partition(rows) == _partition(values)

    no_values = {row.line for row in wanted if not math.isfinite(row.value)}
    assert no_values <= {issue.line for issue in parsed.issues}
    assert (parsed.failure is not None) == ("expect" in expected)
    assert adapter.fatal(expected) in (None, sum(issue.fatal for issue in parsed.issues))


def _sorted(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.test, row.metric, row.line or 0, row.value))


def _places(rows: Iterable[Row]) -> list[tuple[str, str, str, int | None]]:
    """What stands where, without the values."""
    return [(row.test, row.metric, row.unit, row.line) for row in _sorted(rows)]


def _partition(rows: Iterable[Row]) -> set[frozenset[int]]:
    """Which lines belong together, whatever their runs are called."""
    lines: dict[str | None, set[int]] = defaultdict(set)
    for row in rows:
        if row.line is not None:
            lines[row.run].add(row.line)
    return {frozenset(together) for together in lines.values()}

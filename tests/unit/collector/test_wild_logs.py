"""Logs written by strangers, each with what a person reads in it. They are not part of the repository.

PERFLAB_WILD_LOGS names a folder of them: ``<tool>/<log>`` beside ``<tool>/<log>.expected.json``, whose
``rows`` have test, metric, value, unit, and where it applies line and run.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import pytest

from collector import parsers
from collector.parsers.text import decode

_WORKLOADS = {"redis": "redis_benchmark"}
_SUFFIX = ".expected.json"
_FOLDER = os.environ.get("PERFLAB_WILD_LOGS")
_SIDECARS = (
    [file for tool in _WORKLOADS for file in sorted(Path(_FOLDER, tool).glob(f"*{_SUFFIX}"))]
    if _FOLDER
    else [pytest.param(None, marks=pytest.mark.skip("PERFLAB_WILD_LOGS names no folder of wild logs"))]
)


@pytest.mark.parametrize(
    "sidecar", _SIDECARS, ids=lambda file: file.name.removesuffix(_SUFFIX) if file else ""
)
def test_reads_what_a_person_reads(sidecar: Path) -> None:
    expected: dict[str, Any] = json.loads(sidecar.read_text(encoding="utf-8"))
    log = sidecar.with_name(sidecar.name.removesuffix(_SUFFIX))
    parsed = parsers.parse(_WORKLOADS[sidecar.parent.name], decode(log.read_bytes()))

    values = [row for row in expected["rows"] if math.isfinite(float(row["value"]))]
    rows: list[dict[str, Any]] = [
        {
            "test": sample.test,
            "metric": sample.metric,
            "value": sample.value,
            "unit": sample.unit,
            "line": sample.line,
        }
        for sample in parsed.samples
    ]
    keys = ("test", "metric", "value", "unit", "line")
    assert _count(rows, keys) == _count(values, keys)

    read = _partition((row["line"], sample.run) for row, sample in zip(rows, parsed.samples, strict=True))
    assert read == _partition((row["line"], row.get("run")) for row in values)

    no_values = {row["line"] for row in expected["rows"] if not math.isfinite(float(row["value"]))}
    assert no_values <= {issue.line for issue in parsed.issues}
    assert (parsed.failure is not None) == ("expect" in expected)


def _count(rows: Iterable[dict[str, Any]], keys: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[key] for key in keys) for row in rows)


def _partition(pairs: Iterable[tuple[int, Hashable]]) -> set[frozenset[int]]:
    """Which lines belong together, whatever their runs are called."""
    lines: dict[Hashable, set[int]] = defaultdict(set)
    for line, run in pairs:
        lines[run].add(line)
    return {frozenset(together) for together in lines.values()}

"""Small runs with known ratios, and the comparisons that are made of them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collector import store
from collector.comparison import Comparison
from collector.summary import Summary, summarize
from tests.unit.collector.runs import Written, write_run

BASE = {"SET": 100e3, "GET": 120e3, "INCR": 110e3, "LPUSH": 90e3, "RPUSH": 95e3, "SADD": 105e3}


def scaled(by: float, **other: float) -> dict[str, float]:
    return {test: rps * by for test, rps in BASE.items()} | other


def noisy(by: float, seed: int, noise: float = 0.01, count: int = 5) -> list[dict[str, float]]:
    rng = random.Random(seed)
    return [{test: rps * by * rng.gauss(1, noise) for test, rps in BASE.items()} for _ in range(count)]


def summary(folder: Path, points: Sequence[Written], study: str = "freq_sweep", **options: Any) -> Summary:
    run = write_run(folder / "r1", points, study, options.pop("profiles", None))
    return summarize(store.load_runs([run]), **options)


def one(folder: Path, points: Sequence[Written], study: str = "freq_sweep", **options: Any) -> Comparison:
    (comparison,) = summary(folder, points, study, **options).comparisons
    return comparison


def sweep(*levels: str, **others: Any) -> list[Written]:
    by = {"as_found": 1.0, "2.5GHz": 2.5 / 2.6, "2GHz": 2 / 2.6, "1GHz": 1 / 2.6}
    return [Written({"frequency": level}, scaled(by[level]), **others) for level in levels]


def row(comparison: Comparison, test: str) -> Mapping[str, Any]:
    (found,) = [row for row in comparison.rows if row.test == test]
    return found.cells

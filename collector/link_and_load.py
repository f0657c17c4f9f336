"""The link and the load on both sides by condition, and how much of a latency the link explains.

All of it is the median over a condition's points that have a result.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import pandas as pd

from collector.comparison import Comparison
from collector.frame import POINT_KEY
from collector.models import Status
from collector.words import listed

# Columns of the frame.
NUMBERS = (
    "rtt_min_ms",
    "rtt_median_ms",
    "rtt_p99_ms",
    "tcp_rtt_median_ms",
    "up_mbit_s",
    "down_mbit_s",
    "client_cpus",
    "server_cpus",
    "server_main_thread_cpus",
)
TCP, PING = "tcp_rtt_median_ms", "rtt_median_ms"
SERVER = ("server_version", "server_mode", "server_system")
# A latency that grew by less says nothing about what it grew by.
_GREW = 0.05


@dataclass(frozen=True)
class Latency:
    """The mean latency of a test under one condition.

    :param ms: from sending a request to having its reply.
    :param link_share: of that, the median round trip; None where no link was measured.
    :param added_share: of what the latency has more than at the baseline, what the round trip has more; None
        at the baseline, and where the latency did not grow by more than 5%.
    """

    ms: float
    link_share: float | None
    added_share: float | None


@dataclass(frozen=True)
class Conditions:
    """What was measured beside the workload.

    :param numbers: by level, then by the frame's column; only what is known.
    :param servers: what the servers say that they are, by level, then by the frame's column.
    :param latencies: by level, then by test.
    :param derived: the tests whose latency is not in the logs: see :func:`_latencies`.
    :param trip: the frame's column that shares are told by: see :func:`_trip`.
    """

    numbers: dict[str, dict[str, float]]
    servers: dict[str, dict[str, str]]
    latencies: dict[str, dict[str, Latency]]
    derived: frozenset[str]
    trip: str

    def known(self, name: str) -> dict[str, float]:
        """One column by level."""
        return {level: numbers[name] for level, numbers in self.numbers.items() if name in numbers}

    def typical(self, name: str) -> dict[str, float]:
        """One field of :class:`Latency` by level: the median over tests."""
        found = {
            level: [value for latency in of.values() if (value := getattr(latency, name)) is not None]
            for level, of in self.latencies.items()
        }
        return {level: statistics.median(values) for level, values in found.items() if values}


def conditions(comparison: Comparison) -> Conditions | None:
    """None if nothing was measured beside the workload."""
    measured = comparison.measured
    numbers = {
        column.level: {name: float(value) for name in NUMBERS if not math.isnan(value := ok[name].median())}
        for column, ok in measured
    }
    servers = {
        column.level: {
            name: listed(values) for name in SERVER if (values := sorted(ok[name].dropna().unique()))
        }
        for column, ok in measured
    }
    if not any(numbers.values()) and not any(servers.values()):
        return None
    ms, derived = _latencies(comparison)
    base, *_ = comparison.columns
    trip = _trip(numbers)
    latencies: dict[str, dict[str, Latency]] = {}
    for column in comparison.columns:
        there, there_base = (numbers.get(c.level, {}).get(trip) for c in (column, base))
        for test in (row.test for row in comparison.rows):
            if (here := ms.get((test, column.level))) is None:
                continue
            added = here - ms.get((test, base.level), math.nan)
            grew = column is not base and added > _GREW * (here - added)
            latencies.setdefault(column.level, {})[test] = Latency(
                ms=here,
                link_share=None if there is None else there / here,
                added_share=(there - there_base) / added
                if grew and there is not None and there_base is not None
                else None,
            )
    return Conditions(numbers, servers, latencies, derived, trip)


def _trip(numbers: Mapping[str, Mapping[str, float]]) -> str:
    """The round trip that shares are told by, of one kind for all conditions: like is compared with like.

    TCP's is answered by the machine that serves the workload. A ping may be answered before that, by a NAT;
    it counts where TCP's is not known everywhere.
    """
    linked = [of for of in numbers.values() if of.keys() & {TCP, PING}]
    return TCP if linked and all(TCP in of for of in linked) else PING


def pipelines(comparison: Comparison) -> set[int]:
    """How many requests are sent together, over all points."""
    return {_number(params, "pipeline") or 1 for params in _params(comparison.frame["params"].unique())}


def _latencies(comparison: Comparison) -> tuple[dict[tuple[str, str], float], frozenset[str]]:
    """Mean latencies in ms by test and level, and the tests where they are derived.

    The logs' own means (``avg``) count for a test if all conditions have them, so that like is compared with
    like. Else it is Little's law (J. D. C. Little, "A Proof for the Queuing Formula: L = λW", Operations
    Research 9(3), 1961): as many requests are under way as there are clients times pipeline, and each stays
    for that number over the rate.
    """
    frame = comparison.frame[comparison.frame["status"] == Status.OK]
    told = _by_condition(frame[frame["metric"] == "avg"])
    rates = frame[frame["metric"] == "rps"].groupby([*POINT_KEY, "level", "params", "test"], sort=False)[
        "value"
    ]
    means = rates.mean().reset_index()
    logged = frame[frame["metric"] == "clients"].groupby(POINT_KEY)["value"].first()
    under_way = [
        (_number(params, "clients") or logged.get(tuple(key), math.nan)) * (_number(params, "pipeline") or 1)
        for params, key in zip(_params(means["params"]), means[POINT_KEY].to_numpy().tolist(), strict=True)
    ]
    means["value"] = [
        number / rate * 1000 if rate > 0 else math.nan
        for number, rate in zip(under_way, means["value"], strict=True)
    ]
    by_law = _by_condition(means.dropna(subset="value"))
    derived = frozenset(test for test, level in by_law if (test, level) not in told)
    taken = {here: value for here, value in told.items() if here[0] not in derived}
    return taken | {here: value for here, value in by_law.items() if here[0] in derived}, derived


def _by_condition(samples: pd.DataFrame) -> dict[tuple[str, str], float]:
    means = samples.groupby(["test", "level"], sort=False)["value"].mean()
    return {cast(tuple[str, str], here): float(value) for here, value in means.items()}


def _params(texts: Iterable[str]) -> list[dict[str, object]]:
    return [json.loads(text) for text in texts]


def _number(params: dict[str, object], name: str) -> int | None:
    value = params.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

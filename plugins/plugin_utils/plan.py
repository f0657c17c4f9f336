# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From what a study asks of its hosts to the ordered points of a run. Pure functions; controller only."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.perflab.bench.plugins.module_utils import frequency

AS_FOUND = "as_found"
TURBO_LEVELS = (AS_FOUND, "on", "off")

# What a planned point is, apart from its place in the sequence.
_WHAT = ("workload", "factors", "params", "repeat")


class PlanError(ValueError):
    """The request cannot be planned; the message names the host, the value and the remedy."""


def expand(hosts: Mapping[str, Any], seed: int) -> list[dict[str, Any]]:
    """Return every host's points in the order they are to run.

    One repeat of every condition and workload comes before the next repeat of any, each repeat in a shuffled
    order of its own, so that a slow drift (heat, a neighbour) spreads over all conditions. The
    same seed gives the same order.

    :param hosts: host -> {factors: {name: [level]}, repeats, workloads: [{workload, params}], frequency_host}
    """
    if not hosts:
        raise PlanError("no host asks for anything: check the play's hosts and --limit")
    for host, request in hosts.items():
        for key in ("factors", "repeats", "workloads"):
            if key not in request:
                raise PlanError(f"{host}: the request lacks '{key}'")
    _refuse_shared_frequency(hosts)
    return [point for host, request in hosts.items() for point in _expand_host(host, request, seed)]


def _expand_host(host: str, request: Mapping[str, Any], seed: int) -> list[dict[str, Any]]:
    factors = {name: _levels(host, name, levels) for name, levels in request["factors"].items()}
    conditions = [dict(zip(factors, levels, strict=True)) for levels in itertools.product(*factors.values())]
    repeats = int(request["repeats"])
    workloads = request["workloads"]
    if repeats < 1 or not workloads:
        raise PlanError(
            f"{host}: {repeats} repeats of {len(workloads)} workloads is nothing to run: ask for 1 or more"
        )
    points: list[dict[str, Any]] = []
    for repeat in range(1, repeats + 1):
        block = list(itertools.product(conditions, workloads))
        random.Random(f"{seed}:{host}:{repeat}").shuffle(block)  # noqa: S311 - an order, not a secret
        for condition, workload in block:
            order = len(points) + 1
            name = workload["workload"]
            levels = [_slug(level) for level in condition.values()]
            points.append(
                {
                    "point_id": "-".join([f"{order:03d}", name, *levels, f"r{repeat}"]),
                    "host": host,
                    "workload": name,
                    "factors": dict(condition),
                    "params": dict(workload.get("params") or {}),
                    "repeat": repeat,
                    "order": order,
                }
            )
    return points


def _levels(host: str, factor: str, levels: Any) -> list[str]:
    """Return a factor's levels in their one form, each once, in the order asked for."""
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
        raise PlanError(f"{host}: {factor} must be a list of at least one level, not {levels!r}")
    to_canonical = _CANONICAL.get(factor, str)
    try:
        return list(dict.fromkeys(to_canonical(level) for level in levels))
    except frequency.FrequencyError as error:
        raise PlanError(f"{host}: {factor}: {error}") from None


def _turbo(level: Any) -> str:
    text = str(level).strip().lower()
    text = {"true": "on", "false": "off"}.get(text, text)  # YAML reads a bare `on` or `off` as a boolean
    if text not in TURBO_LEVELS:
        raise frequency.FrequencyError(f"'{level}' is not a turbo setting: write {', '.join(TURBO_LEVELS)}")
    return text


_CANONICAL: dict[str, Callable[[Any], str]] = {
    "frequency": frequency.canonical,
    "quota": frequency.canonical_quota,
    "turbo": _turbo,
}


def _refuse_shared_frequency(hosts: Mapping[str, Any]) -> None:
    """Two hosts that set the frequency of one machine would measure each other's setting."""
    setter_of: dict[str, str] = {}
    for host, request in hosts.items():
        levels = [level for name in ("frequency", "turbo") for level in request["factors"].get(name, [])]
        if all(level == AS_FOUND for level in levels):
            continue
        machine = request.get("frequency_host") or host
        if machine in setter_of:
            raise PlanError(
                f"{setter_of[machine]} and {host} both set the frequency of {machine}: "
                f"run them one at a time, with --limit {setter_of[machine]} and --limit {host}"
            )
        setter_of[machine] = host


def _slug(level: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", level.replace("%", "pct"))


def differing(planned: Sequence[Mapping[str, Any]], recorded: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the hosts that do not have the same points in both plans, whatever their order."""

    def work(points: Sequence[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
        return Counter(
            (point["host"], json.dumps([point[key] for key in _WHAT], sort_keys=True)) for point in points
        )

    ours, theirs = work(planned), work(recorded)
    return sorted({host for host, _ in (ours - theirs) + (theirs - ours)})

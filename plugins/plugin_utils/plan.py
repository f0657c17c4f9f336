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
AS_GIVEN = "as_given"

# What a planned point is, apart from its place in the sequence.
_WHAT = ("workload", "factors", "params", "repeat")


class PlanError(ValueError):
    """The request cannot be planned; the message names the host, the value and the remedy."""


def expand(hosts: Mapping[str, Any], seed: int) -> list[dict[str, Any]]:
    """Return every host's points in the order they are to run.

    One repeat of every condition and workload comes before the next repeat of any, each repeat in a shuffled
    order of its own, so that a slow drift (heat, a neighbour) spreads over all conditions. The
    same seed gives the same order.

    :param hosts: host -> {factors: {name: [level]}, conditions: [{name: level}], repeats, order,
        workloads: [{workload, params, factors}], frequency_host}. The conditions are levels that belong
        together, each of which is combined with all factors; a workload's own factors are varied for it
        alone; the order may be `shuffled` (the default) or `as_given`.
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
    repeats = int(request["repeats"])
    workloads = request["workloads"]
    if repeats < 1 or not workloads:
        raise PlanError(
            f"{host}: {repeats} repeats of {len(workloads)} workloads is nothing to run: ask for 1 or more"
        )
    block = [
        (condition, workload)
        for workload in workloads
        for given in request.get("conditions") or [{}]
        for condition in _conditions(host, {**_alone(given), **request["factors"], **_own(workload)})
    ]
    swept = _swept(workloads)
    points: list[dict[str, Any]] = []
    for repeat in range(1, repeats + 1):
        shuffled = block.copy()
        if request.get("order") != AS_GIVEN:
            random.Random(f"{seed}:{host}:{repeat}").shuffle(shuffled)  # noqa: S311 - no secret
        for condition, workload in shuffled:
            order = len(points) + 1
            name = workload["workload"]
            params = dict(workload.get("params") or {})
            settings = [f"{setting}{params[setting]}" for setting in swept[name] if setting in params]
            words = [name, *settings, *condition.values()]
            points.append(
                {
                    "point_id": "-".join([f"{order:03d}", *map(_slug, words), f"r{repeat}"]),
                    "host": host,
                    "workload": name,
                    "factors": condition,
                    "params": params,
                    "repeat": repeat,
                    "order": order,
                }
            )
    return points


def _conditions(host: str, factors: Mapping[str, Any]) -> list[dict[str, str]]:
    levels = {name: _levels(host, name, asked) for name, asked in factors.items()}
    return [dict(zip(levels, combined, strict=True)) for combined in itertools.product(*levels.values())]


def _alone(condition: Mapping[str, Any]) -> dict[str, list[Any]]:
    """A condition as factors of one level each."""
    return {name: [level] for name, level in condition.items()}


def _own(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    return workload.get("factors") or {}


def _swept(workloads: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The settings in which the requests of one workload differ, which so tell its points apart."""
    params: dict[str, list[Mapping[str, Any]]] = {}
    for workload in workloads:
        params.setdefault(workload["workload"], []).append(workload.get("params") or {})
    return {
        name: [key for key in asked[0] if any(other.get(key) != asked[0][key] for other in asked)]
        for name, asked in params.items()
    }


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
        asked = [request["factors"], *map(_own, request["workloads"])]
        levels = [
            level for factors in asked for name in ("frequency", "turbo") for level in factors.get(name, [])
        ]
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

# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Decide the state of a policy from what the user asks for. Nothing is written here.

Every request starts from the values found before perflab's first change, so that a condition means the
same whatever condition came before it.
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import CpufreqError
from ansible_collections.perflab.bench.plugins.module_utils.frequency import (
    FrequencyError,
    canonical,
    format_khz,
    parse_khz,
)

AS_FOUND = "as_found"


class Request:
    """What the user asks for; raises FrequencyError where it makes no sense by itself."""

    def __init__(
        self,
        frequency=AS_FOUND,
        governor=None,
        minimum=AS_FOUND,
        maximum=AS_FOUND,
        turbo=AS_FOUND,
        nearest=False,
    ):
        self.frequency = canonical(frequency)
        self.minimum = canonical(minimum)
        self.maximum = canonical(maximum)
        self.governor = governor
        self.turbo = turbo
        self.nearest = nearest
        if self.frequency != AS_FOUND and (self.minimum, self.maximum) != (AS_FOUND, AS_FOUND):
            raise FrequencyError("frequency pins both limits: give either frequency, or minimum and maximum")


def plan(policy, found, request, turbo_on):
    """Return (state, notes): what *policy* should be set to, starting from the state *found* on it.

    A note is (policy, text). Raises CpufreqError where the hardware has no such frequency or governor.
    """
    _refuse_unreadable(policy, found)
    notes = []  # type: list[tuple[str, str]]

    def resolve(text):
        khz, instead = _resolve(policy, text, steps, request.nearest, turbo_on)
        notes.extend(instead)
        return khz

    steps = policy.steps + policy.turbo_steps if turbo_on and policy.steps else policy.steps
    governor = request.governor or found["governor"]
    maximum = _follow_turbo(policy, found, steps)
    minimum = min(found["minimum_khz"], maximum)
    setspeed = found.get("setspeed_khz")

    if request.frequency != AS_FOUND:
        khz = resolve(request.frequency)
        if request.governor is None and "userspace" in policy.governors:
            governor = "userspace"
        if governor == "userspace":
            minimum, maximum, setspeed = min(minimum, khz), max(maximum, khz), khz
        else:
            minimum = maximum = khz
    if request.minimum != AS_FOUND:
        minimum = resolve(request.minimum)
    if request.maximum != AS_FOUND:
        maximum = resolve(request.maximum)
    _refuse_crossed(policy, minimum, maximum)

    if governor not in policy.governors:
        raise CpufreqError(policy.explain_governor(governor))
    state = {"governor": governor, "minimum_khz": minimum, "maximum_khz": maximum}
    if governor == "userspace" and setspeed is not None:
        state["setspeed_khz"] = setspeed
    if governor == found["governor"] and "preference" in found:
        state["preference"] = found["preference"]
    return state, notes


def _follow_turbo(policy, found, steps):
    """Return the maximum found; if turbo moved the hardware's limit and it stood there, the new limit."""
    then = found.get("hardware_maximum_khz", policy.highest_khz)
    if then == policy.highest_khz:
        return found["maximum_khz"]
    # Kernels round the maximum down to a step, so the highest step is what can be read back.
    now = steps[-1] if steps else policy.highest_khz
    return now if found["maximum_khz"] >= then else min(found["maximum_khz"], now)


def _resolve(policy, text, steps, nearest_will_do, turbo_on):
    """Return (kHz, notes) of the frequency *text*: one of *steps*, or within the limits if there are none."""
    lowest, highest = (steps[0], steps[-1]) if steps else (policy.lowest_khz, policy.highest_khz)
    if text in ("min", "max"):
        return (lowest if text == "min" else highest), []
    khz = parse_khz(text)
    if steps:
        nearest = min(steps, key=lambda step: abs(step - khz))
    else:
        unit = policy.unit_khz or 1
        nearest = min(max((khz + unit // 2) // unit * unit, lowest), highest)
    if nearest == khz:
        return khz, []
    if nearest_will_do:
        return nearest, [(policy.name, "%s instead of %s, the nearest step" % (format_khz(nearest), text))]
    offer = ", ".join(format_khz(step) for step in steps)
    if not steps:
        offer = "%s to %s" % (format_khz(lowest), format_khz(highest))
        if policy.unit_khz:
            offer += " in steps of %s" % format_khz(policy.unit_khz)
    raise CpufreqError(
        "%s: %s has no %s; available: %s; next: take what is available%s, or nearest: true for %s"
        % (
            policy.name,
            policy.driver,
            text,
            offer,
            ", turbo: 'on' (it is off)" if khz > highest and turbo_on is False else "",
            format_khz(nearest),
        )
    )


def _refuse_unreadable(policy, found):
    for key in ("governor", "minimum_khz", "maximum_khz"):
        if key not in found:
            raise CpufreqError(
                "%s: %s cannot be read in %s, so it could not be put back and nothing is changed; "
                "available: %s; next: read the files there on the host"
                % (policy.name, key, policy.sysfs.path(policy.folder), ", ".join(sorted(found)))
            )


def _refuse_crossed(policy, minimum, maximum):
    if minimum > maximum:
        raise CpufreqError(
            "%s: minimum %s lies above maximum %s; available: %s to %s; next: give both minimum and maximum"
            % (
                (policy.name,)
                + tuple(format_khz(khz) for khz in (minimum, maximum, policy.lowest_khz, policy.highest_khz))
            )
        )

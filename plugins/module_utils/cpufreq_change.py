# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Change the frequency setting of a whole host, or none of it, and put back what was found.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections
import copy
import time

from ansible_collections.perflab.bench.plugins.module_utils import saved_state
from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import SETTLE_S, CpufreqError, turbo_word
from ansible_collections.perflab.bench.plugins.module_utils.cpufreq_plan import AS_FOUND, plan
from ansible_collections.perflab.bench.plugins.module_utils.frequency import format_khz

# An idle CPU's counters are rough; more than this off is worth a note.
TOLERANCE = 0.05


def apply(cpufreq, request, state_file, check=False):
    """Bring every policy to *request*; return (before, after, notes), states as Cpufreq.read() gives them.

    Notes are (policy, text). The values found are saved before the first write. Raises CpufreqError after
    putting back whatever was already changed; with *check* nothing is written and `after` is foretold.
    """
    before = cpufreq.read()
    found = saved_state.load(state_file) or before
    notes = _absent(cpufreq, found)
    _refuse_newcomers(cpufreq, found, state_file)
    if request.turbo == AS_FOUND:
        turbo = cpufreq.turbo.reachable(found["turbo"])
    else:
        turbo = cpufreq.turbo.wanted(request.turbo)
    if check:
        after, foretold = _foretell(cpufreq, before, found, request, turbo)
        return before, after, notes + foretold

    saved_here = False
    try:
        if turbo != before["turbo"]:
            saved_here = saved_state.save(state_file, before)
            cpufreq.switch_turbo(turbo)
        wanted, planned = _plan_all(cpufreq, found, request, turbo)
        notes += planned
        if _differs(cpufreq.read(), wanted):
            saved_here = saved_state.save(state_file, before) or saved_here
            for policy in cpufreq.policies:
                notes += policy.write(wanted[policy.name], request.nearest)
    except CpufreqError as error:
        _roll_back(cpufreq, before, error, state_file, saved_here)
    after = cpufreq.read()
    if after != before:
        time.sleep(SETTLE_S)
    if request.frequency != AS_FOUND:
        notes += _missed(cpufreq, wanted)
    return before, after, notes


def restore(cpufreq, state_file, check=False):
    """Put the saved values back and discard them; return (before, after, notes).

    Raises CpufreqError, naming what could not be put back, once everything else was; the saved
    state then stays for another try.
    """
    before = cpufreq.read()
    saved = saved_state.load(state_file)
    if saved is None:
        return before, before, []
    absent = _absent(cpufreq, saved)
    if check:
        after, problems = _overlaid(before, saved["turbo"], saved["policies"]), []
    else:
        problems = _put_back(cpufreq, saved)
        after = cpufreq.read()
    if absent or problems:
        raise CpufreqError(
            "not everything could be put back, so %s keeps the values: %s; next: bring the CPUs online or "
            "solve the above, then restore again; or remove the file to give these values up"
            % (state_file, "; ".join(sentences(absent) + problems))
        )
    if not check:
        saved_state.discard(state_file)
    return before, after, []


def public(state):
    """Return *state* as users see it: turbo as one word."""
    return {"turbo": turbo_word(state["turbo"]), "policies": state["policies"]}


def sentences(notes):
    """Return the notes with the policies of equal ones joined: hosts have a hundred policies."""
    policies = collections.OrderedDict()  # type: collections.OrderedDict[str, list[str]]
    for name, text in notes:
        policies.setdefault(text, []).append(name)
    return ["%s: %s" % (_some(names), text) for text, names in policies.items()]


def _plan_all(cpufreq, found, request, turbo):
    wanted, notes = {}, []
    for policy in cpufreq.policies:
        turbo_on = cpufreq.turbo.on_for(policy, turbo)
        wanted[policy.name], planned = plan(policy, found["policies"][policy.name], request, turbo_on)
        notes += planned
    return wanted, notes


def _foretell(cpufreq, before, found, request, turbo):
    """Return (after, notes) without writing; where only switching turbo would tell, a note says so."""
    unknown = []
    if turbo != before["turbo"]:
        for policy in cpufreq.policies:
            turbo_on = cpufreq.turbo.on_for(policy, turbo)
            expected = policy.expected_highest_khz(turbo_on)
            policy.highest_khz = expected or policy.highest_khz
            if expected is None:
                unknown.append((policy.name, "the limits after switching turbo cannot be foretold"))
    try:
        wanted, notes = _plan_all(cpufreq, found, request, turbo)
    except CpufreqError as error:
        if not unknown:
            raise
        return _overlaid(before, turbo, {}), unknown + [("before switching turbo", str(error))]
    return _overlaid(before, turbo, wanted, cpufreq.policies), unknown + notes


def _overlaid(before, turbo, wanted, policies=()):
    after = copy.deepcopy(before)
    after["turbo"] = turbo
    for name in set(after["policies"]) & set(wanted):
        state = after["policies"][name]
        state.update(wanted[name])
        if state["governor"] != "userspace":
            state.pop("setspeed_khz", None)
    for policy in policies:
        after["policies"][policy.name]["hardware_maximum_khz"] = policy.highest_khz
    return after


def _differs(now, wanted):
    return any(
        now["policies"][name].get(key) != value
        for name, state in wanted.items()
        for key, value in state.items()
    )


def _put_back(cpufreq, state):
    """Write *state* as far as it goes; return what could not be written."""
    problems = []
    try:
        cpufreq.switch_turbo(state["turbo"])
    except CpufreqError as error:
        problems.append(str(error))
    for policy in cpufreq.policies:
        try:
            policy.write(state["policies"].get(policy.name, {}))
        except CpufreqError as error:
            problems.append(str(error))
    return problems


def _roll_back(cpufreq, before, error, state_file, saved_here):
    time.sleep(SETTLE_S)  # limits still on their way would look as if nothing had to be put back
    problems = _put_back(cpufreq, before)
    if problems:
        raise CpufreqError(
            "%s. Putting back failed too (%s); next: state: restored, %s has the values"
            % (error, "; ".join(problems), state_file)
        )
    if saved_here:
        saved_state.discard(state_file)
    raise CpufreqError("%s. Nothing is left changed" % error)


def _absent(cpufreq, found):
    names = set(found["policies"]) - {policy.name for policy in cpufreq.policies}
    return [(name, "its CPUs are offline or gone, left alone") for name in sorted(names)]


def _refuse_newcomers(cpufreq, found, state_file):
    """A policy that the saved state does not know has no found values to start from or to go back to."""
    for policy in cpufreq.policies:
        if policy.name not in found["policies"]:
            raise CpufreqError(
                "%s came online after %s was saved, so its own values are not in it; available: %s; "
                "next: restore (state: restored), then set again"
                % (policy.name, state_file, _some(sorted(found["policies"])))
            )


def _missed(cpufreq, wanted):
    """Return notes on policies that do not run at the frequency to which they are pinned."""
    notes = []
    for policy in cpufreq.policies:
        state = wanted[policy.name]
        target, achieved = state.get("setspeed_khz", state["maximum_khz"]), policy.achieved_khz()
        if achieved is not None and abs(achieved - target) > TOLERANCE * target:
            notes.append((policy.name, "set to %s, but it reads otherwise now" % format_khz(target)))
    return notes


def _some(names):
    return ", ".join(names) if len(names) <= 4 else "%s and %d more" % (", ".join(names[:3]), len(names) - 3)

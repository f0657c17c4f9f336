# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kernel's cpufreq interface: policies and turbo, read and written with every write read back.

What the values should be is decided in cpufreq_plan.py; when, and what is saved, in cpufreq_change.py.
The interface: https://docs.kernel.org/admin-guide/pm/cpufreq.html
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import re
import time

from ansible_collections.perflab.bench.plugins.module_utils.frequency import format_khz
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import REMEDY_NOT_ALLOWED, not_allowed

CPU = "devices/system/cpu"

# intel_cpufreq is intel_pstate in passive mode; both share its no_turbo.
_INTEL = ("intel_pstate", "intel_cpufreq")
# These drivers set the frequency themselves between the limits: no governor can be added to them.
_SELF_GOVERNED = {
    "intel_pstate": "echo passive > /sys/devices/system/cpu/intel_pstate/status",
    "amd-pstate-epp": "echo passive > /sys/devices/system/cpu/amd_pstate/status",
}
# cpuinfo_cur_freq is measured from counters that an idle CPU may stop: this far outside the hardware's
# limits it is garbage (cppc_cpufreq reads 0 or absurd values then).
_SANE = 0.1
# The kernel applies new limits in a worker, some time after the write has returned.
_LIMITS_TAKE_S = 1.0
# Switching turbo resets limits by the same worker, and frequency counters look back some 10 ms.
SETTLE_S = 0.05


class CpufreqError(Exception):
    """What cannot be set; the message names the policy, the value, what is available and the next step."""


class Policy:
    """CPUs that change their frequency together.

    ``read()`` and ``write()`` speak of a state: governor, minimum_khz, maximum_khz, and, where they
    mean something, setspeed_khz (the userspace governor's) and preference (energy against performance).
    A key that is missing has no value that could be read, or is not to be written.
    """

    def __init__(self, sysfs, name, folder):
        self.sysfs = sysfs
        self.name = name
        self.folder = folder
        self.cpus = [int(cpu) for cpu in self._words("affected_cpus")]
        self.driver = self._text("scaling_driver") or "unknown driver"
        self.governors = self._words("scaling_available_governors")
        self.refresh()

    def refresh(self):
        """Read what the hardware allows; switching turbo changes it."""
        self.lowest_khz = self._number("cpuinfo_min_freq")
        self.highest_khz = self._number("cpuinfo_max_freq")
        self.steps = sorted(int(step) for step in self._words("scaling_available_frequencies"))
        self.turbo_steps = sorted(int(step) for step in self._words("scaling_boost_frequencies"))
        self.unit_khz = self._cppc_unit_khz() if self.driver == "cppc_cpufreq" else None

    def read(self):
        governor = self._text("scaling_governor")
        state = {
            "governor": governor,
            "minimum_khz": self._number("scaling_min_freq"),
            "maximum_khz": self._number("scaling_max_freq"),
            "hardware_maximum_khz": self.highest_khz,
            "preference": self._text("energy_performance_preference"),
        }
        if governor == "userspace":
            state["setspeed_khz"] = self._number("scaling_setspeed")
        return {key: value for key, value in state.items() if value is not None}

    def write(self, wanted, nearest=False):
        """Bring the policy to *wanted* in the order that the kernel accepts; return notes.

        Governor first, since setspeed exists only under userspace; limits before the speed, since
        they clamp it. With *nearest* a value that the driver rounds is noted as (policy, text), else
        it is an error.
        """
        notes = []
        if "governor" in wanted:
            self._put("scaling_governor", wanted["governor"])
        if "minimum_khz" in wanted and "maximum_khz" in wanted:
            notes += self._put_limits(wanted["minimum_khz"], wanted["maximum_khz"], nearest)
        # Under the performance governor the driver keeps the preference to itself (EBUSY).
        if "preference" in wanted and wanted.get("governor") != "performance":
            self._put("energy_performance_preference", wanted["preference"])
        if "setspeed_khz" in wanted:
            notes += self._put("scaling_setspeed", wanted["setspeed_khz"], nearest)
        return notes

    def achieved_khz(self):
        """Return the frequency now: measured where the hardware tells a sane one, else the driver's word."""
        # acpi-cpufreq only repeats its P-state there, which knows no turbo; x86 measures scaling_cur_freq.
        measured = None if self.driver == "acpi-cpufreq" else self._number("cpuinfo_cur_freq")
        low, high = (1 - _SANE) * (self.lowest_khz or 0), (1 + _SANE) * (self.highest_khz or 0)
        if measured is not None and low <= measured <= high:
            return measured
        return self._number("scaling_cur_freq")

    def expected_highest_khz(self, turbo_on):
        """Return the highest frequency once turbo is switched, or None where only switching tells."""
        if self.steps:
            steps = self.turbo_steps if turbo_on else self.steps
            return steps[-1] if steps else None
        if self.driver != "cppc_cpufreq":
            return None
        nominal_mhz, nominal, highest = self._cppc("nominal_freq", "nominal_perf", "highest_perf")
        if not (nominal_mhz and nominal and highest):
            return None
        return nominal_mhz * 1000 * (highest if turbo_on else nominal) // nominal

    def _cppc_unit_khz(self):
        """Return the frequency of one unit of performance: what lies between is rounded, and not said.

        None where the firmware does not tell, or where frequency is not proportional to performance.
        """
        nominal_mhz, nominal, lowest_mhz, lowest = self._cppc(
            "nominal_freq", "nominal_perf", "lowest_freq", "lowest_perf"
        )
        if not (nominal_mhz and nominal and lowest_mhz and lowest):
            return None
        proportional = nominal_mhz * lowest == lowest_mhz * nominal
        return nominal_mhz * 1000 // nominal if proportional and nominal_mhz * 1000 % nominal == 0 else None

    def _cppc(self, *names):
        return [self.sysfs.number("%s/cpu%d/acpi_cppc/%s" % (CPU, self.cpus[0], name)) for name in names]

    def explain_governor(self, governor):
        """Return why *governor* cannot be had and what to try next."""
        advice = "modprobe cpufreq_%s, if the kernel has it as a module" % governor
        if self.driver in _SELF_GOVERNED:
            advice = "switch %s to passive mode (%s)" % (self.driver, _SELF_GOVERNED[self.driver])
        return "%s: %s has no governor '%s'; available: %s; next: %s" % (
            self.name,
            self.driver,
            governor,
            ", ".join(self.governors),
            advice,
        )

    def _put_limits(self, minimum, maximum, nearest):
        # The minimum may never pass the maximum on the way: whichever makes room goes first.
        limits = [("scaling_min_freq", minimum), ("scaling_max_freq", maximum)]
        if maximum >= (self._number("scaling_min_freq") or 0):
            limits.reverse()
        for attribute, khz in limits:
            self._send(attribute, khz)
        # Read back only now: the kernel may clamp one limit by the other until both are written.
        deadline = time.time() + _LIMITS_TAKE_S
        while time.time() < deadline and any(self._number(attribute) != khz for attribute, khz in limits):
            time.sleep(0.001)
        return [note for attribute, khz in limits for note in self._check(attribute, khz, nearest)]

    def _put(self, attribute, value, nearest=False):
        self._send(attribute, value)
        return self._check(attribute, value, nearest)

    def _send(self, attribute, value):
        if self._text(attribute) == str(value):
            return
        try:
            self.sysfs.write(self._path(attribute), value)
        except (IOError, OSError) as error:
            raise CpufreqError(self._refused(attribute, value, error.strerror, not_allowed(error)))

    def _check(self, attribute, value, nearest):
        found = self._text(attribute)
        if found == str(value):
            return []
        if nearest and found is not None and found.isdigit():
            return [(self.name, "%s took %s for %s" % (self.driver, _human(found), _human(value)))]
        raise CpufreqError(self._refused(attribute, value, "it reads %s" % _human(found or "nothing"), False))

    def _refused(self, attribute, value, why, access):
        advice = REMEDY_NOT_ALLOWED if access else "nearest: true takes what the driver makes of it"
        if attribute == "scaling_governor" and not access:
            return "%s (%s)" % (self.explain_governor(value), why)
        return "%s: %s did not take %s for %s (%s); hardware limits: %s to %s; next: %s" % (
            self.name,
            self.driver,
            _human(value),
            attribute,
            why,
            format_khz(self.lowest_khz or 0),
            format_khz(self.highest_khz or 0),
            advice,
        )

    def _path(self, attribute):
        return "%s/%s" % (self.folder, attribute)

    def _text(self, attribute):
        return self.sysfs.read(self._path(attribute))

    def _number(self, attribute):
        return self.sysfs.number(self._path(attribute))

    def _words(self, attribute):
        return self.sysfs.words(self._path(attribute))


class Turbo:
    """The switches above the nominal frequency: one for all, one a policy, or intel_pstate's inverted one.

    Its state maps each switch's path to True (turbo on) or False. The policies' switches count only
    while the common one is on: the kernel refuses to write them otherwise.
    """

    def __init__(self, sysfs, policies):
        self.sysfs = sysfs
        self.inverted = bool(policies) and policies[0].driver in _INTEL
        self.common = CPU + ("/intel_pstate/no_turbo" if self.inverted else "/cpufreq/boost")
        local = [] if self.inverted else [policy.folder + "/boost" for policy in policies]
        self.switches = [path for path in [self.common] + local if sysfs.number(path) is not None]

    def read(self):
        state = {path: self._is_on(path) for path in self.switches}
        return state if state.get(self.common, True) else {self.common: False}

    def wanted(self, word):
        """Return the state that *word* ("on" or "off") means here."""
        if not self.switches:
            raise CpufreqError(
                "turbo: there is no switch to set it %s (neither %s nor one in a policy); next: set it in "
                "the firmware's setup and leave turbo: as_found" % (word, self.sysfs.path(self.common))
            )
        if word == "off" and self.common in self.switches:
            return {self.common: False}
        return dict.fromkeys(self.switches, word == "on")

    def on_for(self, policy, state):
        """Return whether *state* lets *policy* go above its nominal frequency; None where nothing tells."""
        return state.get(policy.folder + "/boost", state.get(self.common))

    def reachable(self, state):
        """Return *state* without the switches of policies whose CPUs are offline."""
        return {path: on for path, on in state.items() if path == self.common or path in self.switches}

    def write(self, wanted):
        """Bring the switches to the state *wanted*, the common one first, and read each back."""
        for path in sorted(self.reachable(wanted), key=lambda path: path != self.common):
            if self._is_on(path) == wanted[path]:
                continue
            value = int(wanted[path] != self.inverted)
            why = "it still reads %d" % (not value)
            try:
                self.sysfs.write(path, value)
            except (IOError, OSError) as error:
                why = REMEDY_NOT_ALLOWED if not_allowed(error) else str(error.strerror)
            if self._is_on(path) != wanted[path]:
                raise CpufreqError(
                    "turbo: %s did not take %d, turbo %s (%s); available: turbo %s; next: change it in "
                    "the firmware's setup, which can lock it, or leave turbo: as_found"
                    % (self.sysfs.path(path), value, _on_off(wanted[path]), why, _on_off(not wanted[path]))
                )

    def _is_on(self, path):
        value = self.sysfs.number(path)
        return None if value is None else bool(value) != self.inverted


class Cpufreq:
    """All policies of a host with their turbo."""

    def __init__(self, sysfs):
        policies = [Policy(sysfs, name, folder) for name, folder in _folders(sysfs)]
        # A policy whose CPUs are all offline keeps its folder, but answers nothing.
        self.policies = [policy for policy in policies if policy.cpus]
        self.turbo = Turbo(sysfs, self.policies)
        present = _cpu_list(sysfs.read(CPU + "/present"))
        self.offline_cpus = sorted(present - _cpu_list(sysfs.read(CPU + "/online")))

    def read(self):
        """Return {"turbo": {switch: on}, "policies": {name: state}}."""
        return {
            "turbo": self.turbo.read(),
            "policies": {policy.name: policy.read() for policy in self.policies},
        }

    def switch_turbo(self, wanted):
        """Bring turbo to the state *wanted* and see what that makes of the policies."""
        if self.turbo.read() == wanted:
            return
        self.turbo.write(wanted)
        time.sleep(SETTLE_S)
        for policy in self.policies:
            policy.refresh()


def turbo_word(state):
    """Return "on", "off", "mixed" (policies differ) or None (no switch) for a turbo state."""
    words = {_on_off(on) for on in state.values()}
    return "mixed" if len(words) > 1 else words.pop() if words else None


def _folders(sysfs):
    """Return (name, folder) of each policy, in the order of their first CPU."""
    folders = sysfs.names(CPU + "/cpufreq/policy[0-9]*")
    if not folders:
        # Kernels before 4.4 (CentOS 7): the folder of a policy's first CPU, links to it in the others'.
        folders = sysfs.names(CPU + "/cpu[0-9]*/cpufreq")
        folders = [folder for folder in folders if not os.path.islink(sysfs.path(folder))]
    numbered = sorted((int(re.findall("[0-9]+", folder)[-1]), folder) for folder in folders)
    return [("policy%d" % number, folder) for number, folder in numbered]


def _cpu_list(text):
    """Return the numbers in the kernel's list format, as in 0-3,8."""
    cpus = set()  # type: set[int]
    for part in (text or "").split(","):
        first, _dash, last = part.partition("-")
        if first:
            cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def _human(value):
    return format_khz(value) if str(value).isdigit() else value


def _on_off(on):
    return "on" if on else "off"

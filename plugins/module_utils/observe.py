# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the kernel tells about a host while a workload runs: achieved frequency, throttling, steal, load.

A reading is a handful of small files; nothing is started. What a host does not tell is None.
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import re

from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import CPU, Cpufreq, turbo_word
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs

# A CPU that worked for less of an interval than this is idle: its clock says nothing about the workload.
_BUSY = 0.5


class Observer:
    """Reads the host from now on: :meth:`sample` at intervals, :meth:`result` at the end."""

    def __init__(self, root="/", throttle_file=None):
        self._proc = Sysfs(os.path.join(root, "proc"))
        self._sys = Sysfs(os.path.join(root, "sys"))
        self._throttle_file = throttle_file
        self._cpufreq = Cpufreq(self._sys)
        self._governors = self._read_governors()
        self._throttled = self._read_throttled()
        self._first_times = self._times = self._read_times()
        self._frequencies = []
        self._loads = []

    def sample(self):
        """Take one reading."""
        load = self._proc.words("loadavg")
        if load:
            self._loads.append(float(load[0]))
        busy = self._busy_cpus()
        policies = [policy for policy in self._cpufreq.policies if busy.intersection(policy.cpus)]
        # Where no CPU is busy for long (a workload that waits for a disk), all of them count.
        khz = [policy.achieved_khz() for policy in policies or self._cpufreq.policies]
        khz = [value for value in khz if value]
        if khz:
            self._frequencies.append((min(khz), median(khz), max(khz)))

    def result(self):
        """Return the part `observed` of point.json."""
        turbo = turbo_word(self._cpufreq.turbo.read())
        return {
            "frequency_khz": self._frequency(),
            # Two, if somebody changed it meanwhile.
            "governor": ", ".join(sorted(self._governors | self._read_governors())) or None,
            "turbo": turbo if turbo in ("on", "off") else None,
            "throttled": _increase(self._throttled, self._read_throttled()),
            "steal_pct": self._steal_pct(),
            "load1": median(self._loads) if self._loads else None,
        }

    def _frequency(self):
        if not self._frequencies:
            return None
        return {
            "min": min(reading[0] for reading in self._frequencies),
            "median": median([reading[1] for reading in self._frequencies]),
            "max": max(reading[2] for reading in self._frequencies),
            "samples": len(self._frequencies),
        }

    def _read_governors(self):
        folders = [policy.folder for policy in self._cpufreq.policies]
        return {self._sys.read(folder + "/scaling_governor") for folder in folders} - {None}

    def _read_times(self):
        """Return {cpu: (worked, stolen, total)} in clock ticks since boot; cpu None is all of them."""
        times = {}
        for line in (self._proc.read("stat") or "").splitlines():
            match = re.match(r"cpu(\d*) +(.*)", line)
            if match:
                # user nice system idle iowait irq softirq steal; a guest's time is in user already
                ticks = [int(field) for field in match.group(2).split()[:8]]
                cpu = int(match.group(1)) if match.group(1) else None
                times[cpu] = (sum(ticks) - sum(ticks[3:5]), sum(ticks[7:]), sum(ticks))
        return times

    def _busy_cpus(self):
        before, self._times = self._times, self._read_times()
        return {
            cpu
            for cpu, (worked, _stolen, total) in self._times.items()
            if cpu in before and worked - before[cpu][0] >= _BUSY * (total - before[cpu][2]) > 0
        }

    def _steal_pct(self):
        first, last = self._first_times.get(None), self._read_times().get(None)
        if not first or not last or last[2] <= first[2]:
            return None
        return round(100.0 * (last[1] - first[1]) / (last[2] - first[2]), 2)

    def _read_throttled(self):
        """Return the thermal throttle events of all cores plus the periods that the quota throttled."""
        files = self._sys.names(CPU + "/cpu[0-9]*/thermal_throttle/core_throttle_count")
        counts = [self._sys.number(path) for path in files]
        if self._throttle_file:
            cpu_stat = Sysfs("/").read(self._throttle_file) or ""
            counts += [int(count) for count in re.findall(r"^nr_throttled (\d+)", cpu_stat, re.MULTILINE)]
        counts = [count for count in counts if count is not None]
        return sum(counts) if counts else None


def median(values):
    """Return the median of a sequence that is not empty."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2.0


def _increase(before, after):
    return None if before is None or after is None else max(0, after - before)

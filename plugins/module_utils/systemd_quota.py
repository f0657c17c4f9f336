# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Limit the CPU bandwidth of a systemd unit until the next boot, and of a client in a scope of its own.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import re

from ansible_collections.perflab.bench.plugins.module_utils.cpu_quota import (
    Limit,
    QuotaError,
    describe,
    read_limit,
)

# CPUQuotaPeriodSec came with this version, about when fractions of a per cent did.
_WITH_PERIOD = 242
_DEFAULT_PERIOD_US = 100000
_US = {"us": 1, "ms": 1000, "s": 1000000, "min": 60000000}
_PROPERTIES = "ControlGroup,CPUQuotaPerSecUSec,CPUQuotaPeriodUSec"


class Unit:
    """The unit *name*. *run* takes an argv and returns (rc, stdout, stderr).

    *sysfs* has the cgroup hierarchy of *version* as its root: what the kernel says there is what counts.
    """

    def __init__(self, name, run, sysfs, version):
        self.name = name
        self.notes = []
        self._run = run
        self._sysfs = sysfs
        self._version = version
        version_found = re.findall(r"^systemd (\d+)", self._systemctl("--version"))
        self._has_period = bool(version_found) and int(version_found[0]) >= _WITH_PERIOD

    def read(self):
        """Return {"server": limit or None}; a client's limit lives and dies with its scope."""
        properties = self._show()
        a_second = _parse_us(properties.get("CPUQuotaPerSecUSec"))
        period = _parse_us(properties.get("CPUQuotaPeriodUSec")) or _DEFAULT_PERIOD_US
        limit = a_second and Limit((a_second * period + 500000) // 1000000, period)
        return {"server": describe(limit)}

    def service_runs(self):
        return bool(self._group())

    def foretell(self, limit):
        """Return what read() will say after apply(limit), or after remove() where *limit* is None."""
        return {"server": describe(limit and self._feasible(limit))}

    def apply(self, limit):
        self._set(self._settings(limit))
        found = read_limit(self._sysfs, self._group(), self._version)
        if found != self._feasible(limit):
            self.remove()
            raise QuotaError(
                "systemd took CPUQuota for %s, but the kernel's limit reads %s; next: give this host's "
                "systemd the cpu controller (in a container: delegate it)" % (self.name, describe(found))
            )

    def remove(self):
        self._set(["CPUQuota="] + (["CPUQuotaPeriodSec="] if self._has_period else []))

    def client_prefix(self, limit):
        """Return the words before a client's own that run it in a scope with the same limit."""
        settings = [word for setting in self._settings(limit) for word in ("-p", setting)]
        return ["systemd-run", "--scope", "--quiet"] + settings + ["--"]

    def throttle_file(self):
        return self._sysfs.path(self._group() + "/cpu.stat")

    def _feasible(self, limit):
        """Return the limit as this systemd can express it, with a note where that differs."""
        if self._has_period:
            return limit
        percent = max(1, (100 * limit.quota_us + limit.period_us // 2) // limit.period_us)
        feasible = Limit(percent * _DEFAULT_PERIOD_US // 100, _DEFAULT_PERIOD_US)
        if feasible != limit and not self.notes:
            self.notes.append(
                "systemd before %d takes whole per cent and periods of 100 ms: the limit is %d%%"
                % (_WITH_PERIOD, percent)
            )
        return feasible

    def _settings(self, limit):
        limit = self._feasible(limit)
        percent = "%.1f" % (100.0 * limit.quota_us / limit.period_us)
        quota = "CPUQuota=%s%%" % (percent[:-2] if percent.endswith(".0") else percent)
        if not self._has_period:
            return [quota]
        return [quota, "CPUQuotaPeriodSec=%dms" % (limit.period_us // 1000)]

    def _group(self):
        return self._show().get("ControlGroup", "").lstrip("/")

    def _show(self):
        lines = self._systemctl("show", self.name, "--property=" + _PROPERTIES).splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def _set(self, settings):
        self._systemctl("set-property", "--runtime", self.name, *settings)

    def _systemctl(self, *words):
        rc, stdout, stderr = self._run(["systemctl"] + list(words))
        if rc != 0:
            raise QuotaError(
                "systemctl %s failed: %s; next: run as root (become: true)"
                % (" ".join(words), stderr.strip() or "rc %d" % rc)
            )
        return stdout


def _parse_us(text):
    """Return the microseconds of a time span as systemd writes it, as in '1s 540ms', or None for infinity."""
    parts = re.findall(r"([0-9.]+)(us|ms|s|min)\b", text or "")
    return int(sum(float(number) * _US[unit] for number, unit in parts) + 0.5) or None

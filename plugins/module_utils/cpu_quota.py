# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a CPU bandwidth limit is: so many microseconds of CPU time in each period, over all CPUs.

How it is imposed is in cgroup_quota.py and systemd_quota.py.
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections
import os

# The kernel takes quotas from 1 ms and periods up to 1 s.
_SMALLEST_QUOTA_US = 1000
_LONGEST_PERIOD_MS = 1000

Limit = collections.namedtuple("Limit", "quota_us period_us")


class QuotaError(Exception):
    """The limit cannot be imposed or lifted; the message names what refused and the next step."""


def limit(percent, cpus, period_ms):
    """Return the Limit to *percent* of *cpus* CPUs; the period is made longer where the quota needs it."""
    per_mille = max(1, int(percent * cpus * 10 + 0.5))  # of one CPU: as finely as systemd takes it
    period_ms = max(period_ms, -(-_SMALLEST_QUOTA_US // per_mille))
    if period_ms > _LONGEST_PERIOD_MS:
        raise QuotaError(
            "%g%% of %d CPU with a period of %d ms is no limit that the kernel has; available: quotas from "
            "1 ms in periods up to 1000 ms; next: ask for more, or for a shorter period"
            % (percent, cpus, period_ms)
        )
    return Limit(per_mille * period_ms, period_ms * 1000)


def describe(one):
    """Return a Limit (or None) as users see it in before, after and diff."""
    return None if one is None else dict(one._asdict())


def find_hierarchy(proc="/proc"):
    """Return (mount point, cgroup version) of the hierarchy that limits CPU bandwidth, or None.

    On mixed systems the controller is in one of both: v1 if it is mounted there. One that is mounted
    read-only, as in many containers, limits nothing: systemd takes a quota there and drops it.
    """
    for mount, kind, options in _mounts(proc):
        if "ro" in options:
            continue
        if kind == "cgroup" and "cpu" in options:
            return mount, 1
        if kind == "cgroup2" and "cpu" in _read(os.path.join(mount, "cgroup.controllers")).split():
            return mount, 2
    return None


def read_limit(sysfs, group, version):
    """Return the Limit of *group* in the hierarchy *sysfs*, or None where it has none."""
    if version == 2:
        quota, period = (sysfs.words(group + "/cpu.max") + ["max", "0"])[:2]
    else:
        quota, period = (sysfs.read(group + "/cpu.cfs_%s_us" % name) or "-1" for name in ("quota", "period"))
    return None if quota in ("max", "-1") else Limit(int(quota), int(period))


def _mounts(proc):
    for line in _read(os.path.join(proc, "mounts")).splitlines():
        _device, mount, kind, options = line.split()[:4]
        yield mount, kind, options.split(",")


def _read(path):
    try:
        with open(path) as handle:
            return handle.read()
    except (IOError, OSError):
        return ""

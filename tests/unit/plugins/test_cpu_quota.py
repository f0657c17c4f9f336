# -*- coding: utf-8 -*-
"""CPU bandwidth limits by cgroup v1, v2 and systemd. Runs on Python 2.7 and 3.6 upwards.

The hierarchies here are fakes; tests/integration/test_quota_share.py measures a real one.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os
import shutil
import tempfile
import unittest

from ansible_collections.perflab.bench.plugins.module_utils.cgroup_quota import ControlGroups
from ansible_collections.perflab.bench.plugins.module_utils.cpu_quota import (
    Limit,
    QuotaError,
    find_hierarchy,
    limit,
    read_limit,
)
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs
from ansible_collections.perflab.bench.plugins.module_utils.systemd_quota import Unit
from fake_sysfs import put

PID = os.getpid()


class FakeHierarchy(Sysfs):
    """A cgroup hierarchy on disk with the kernel's rules: the files of a group, moves, who may be removed."""

    def __init__(self, root, version):
        Sysfs.__init__(self, root)
        self.version = version
        put(root, "cgroup.procs", PID)
        if version == 2:
            put(root, "cgroup.controllers", "cpu memory")
            put(root, "cgroup.subtree_control", "")

    def make_folder(self, path):
        Sysfs.make_folder(self, path)
        files = {"cgroup.procs": "", "cpu.stat": "nr_throttled 0"}
        parent = os.path.dirname(path)
        if self.version == 1:
            files.update({"cpu.cfs_quota_us": -1, "cpu.cfs_period_us": 100000})
        elif "cpu" in self.words(os.path.join(parent, "cgroup.subtree_control")):
            files.update({"cpu.max": "max 100000", "cgroup.subtree_control": ""})
        for name, value in files.items():
            put(self.root, os.path.join(path, name), value)

    def remove_folder(self, path):
        if self.words(path + "/cgroup.procs") or any(
            os.path.isdir(self.path(name)) for name in self.names(path + "/*")
        ):
            raise OSError(errno.EBUSY, "Device or resource busy")
        shutil.rmtree(self.path(path))

    def write(self, path, value):
        text = str(value)
        if path.endswith("cgroup.procs"):
            for procs in (
                self.names("cgroup.procs") + self.names("*/cgroup.procs") + self.names("*/*/cgroup.procs")
            ):
                put(self.root, procs, " ".join(pid for pid in self.words(procs) if pid != text))
        if path.endswith("cgroup.subtree_control"):
            text = text.lstrip("+")
        if path.endswith("cpu.max") and text == "max":
            text = "max 100000"
        if path.endswith("cpu.cfs_quota_us") and 0 <= int(text) < 1000:
            raise OSError(errno.EINVAL, "Invalid argument")
        Sysfs.write(self, path, text)


class QuotaTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)


class LimitTest(unittest.TestCase):
    def test_share_of_a_period(self):
        self.assertEqual(limit(77, 1, 10), Limit(7700, 10000))
        self.assertEqual(limit(77, 2, 10), Limit(15400, 10000))
        self.assertEqual(limit(38.5, 1, 10), Limit(3850, 10000))

    def test_the_period_is_made_longer_for_the_smallest_quota(self):
        self.assertEqual(limit(5, 1, 10), Limit(1000, 20000))
        for percent in (0.1, 0.7, 3.7, 9.9):
            quota_us, period_us = limit(percent, 1, 10)
            self.assertGreaterEqual(quota_us, 1000)
            self.assertAlmostEqual(100.0 * quota_us / period_us, percent)

    def test_what_the_kernel_has_not(self):
        with self.assertRaises(QuotaError) as caught:
            limit(50, 1, 2000)
        self.assertIn("periods up to 1000 ms", str(caught.exception))


class HierarchyTest(QuotaTest):
    def find(self, *mounts):
        put(self.folder, "mounts", "\n".join(mounts))
        return find_hierarchy(self.folder)

    def test_the_one_that_has_the_cpu_controller(self):
        unified = "cgroup2 %s/unified cgroup2 rw,relatime 0 0" % self.folder
        mixed = "cgroup %s/cpu cgroup rw,relatime,cpu,cpuacct 0 0" % self.folder
        cpuset = "cgroup %s/cpuset cgroup rw,relatime,cpuset 0 0" % self.folder
        put(self.folder, "unified/cgroup.controllers", "memory pids")
        self.assertIsNone(self.find(unified, cpuset))
        self.assertEqual(self.find(unified, cpuset, mixed), (self.folder + "/cpu", 1))
        put(self.folder, "unified/cgroup.controllers", "cpuset cpu memory pids")
        self.assertEqual(self.find(cpuset, unified), (self.folder + "/unified", 2))
        self.assertIsNone(self.find(cpuset, unified.replace(" rw,", " ro,"), mixed.replace(" rw,", " ro,")))


class ControlGroupsTest(QuotaTest):
    def groups(self, version):
        pid_file = os.path.join(self.folder, "redis.pid")
        put(self.folder, "redis.pid", PID)
        root = os.path.join(self.folder, "v%d" % version)
        return ControlGroups(FakeHierarchy(root, version), version, pid_file)

    def test_applied_changed_and_removed(self):
        for version in (1, 2):
            groups = self.groups(version)
            found = groups.read()
            for one in (Limit(7700, 10000), Limit(3800, 10000), Limit(1000, 20000)):
                foretold = groups.foretell(one)
                groups.apply(one)
                self.assertEqual(groups.read(), foretold)
                self.assertEqual(groups.foretell(one), foretold)
                self.assertEqual(foretold["server"], {"quota_us": one.quota_us, "period_us": one.period_us})
                self.assertEqual((foretold["client"], foretold["pids"]), (foretold["server"], [PID]))
            self.assertEqual(groups.foretell(None), found)
            groups.remove()
            self.assertEqual(groups.read(), found)
            self.assertEqual(groups.sysfs.words("cgroup.procs"), [str(PID)])
            self.assertFalse(groups.sysfs.exists("perflab"))
            groups.remove()

    def test_a_process_that_the_pid_file_does_not_name(self):
        groups = self.groups(1)
        self.assertTrue(groups.service_runs())
        for content in ("", "nonsense", "999999999"):
            put(self.folder, "redis.pid", content)
            self.assertFalse(groups.service_runs())
        self.assertEqual(groups.foretell(Limit(7700, 10000))["pids"], [])

    def test_a_read_only_hierarchy(self):
        groups = self.groups(1)

        def refuse(path):
            raise OSError(errno.EROFS, "Read-only file system")

        groups.sysfs.make_folder = refuse
        with self.assertRaises(QuotaError) as caught:
            groups.apply(Limit(7700, 10000))
        self.assertIn("v1/perflab (Read-only file system)", str(caught.exception))

    def test_the_client_enters_its_own_group(self):
        groups = self.groups(1)
        words = groups.client_prefix(Limit(7700, 10000))
        self.assertEqual(words[:2], ["sh", "-c"])
        self.assertIn("v1/perflab/client/cgroup.procs", words[2])
        self.assertTrue(groups.throttle_file().endswith("v1/perflab/server/cpu.stat"))


class FakeSystemd:
    """systemctl for one unit; as *run* it takes an argv. *delegated*: its limits reach the kernel's files."""

    def __init__(self, sysfs, version, delegated=True):
        self.sysfs = sysfs
        self.version = version
        self.delegated = delegated
        self.percent = None
        self.period_ms = 100
        self.group = "/system.slice/redis.service"
        put(sysfs.root, self.group.lstrip("/") + "/cpu.max", "max 100000")

    def __call__(self, argv):
        if argv[1] == "--version":
            return 0, "systemd %d (%d-1)\n+PAM\n" % (self.version, self.version), ""
        if argv[1] == "show":
            return 0, self._show(), ""
        for setting in argv[4:]:
            name, _equals, value = setting.partition("=")
            if name == "CPUQuota":
                self.percent = float(value[:-1]) if value else None
            elif name == "CPUQuotaPeriodSec" and self.version >= 242:
                self.period_ms = int(value[:-2]) if value else 100
            else:
                return 1, "", "Unknown assignment: %s\n" % setting
        if self.delegated:
            quota = "max" if self.percent is None else "%d" % round(self.percent * self.period_ms * 10)
            put(self.sysfs.root, self.group[1:] + "/cpu.max", "%s %d" % (quota, self.period_ms * 1000))
        return 0, "", ""

    def _show(self):
        a_second = "infinity" if self.percent is None else "%gms" % (self.percent * 10)
        if self.percent and self.percent > 100:
            a_second = "%ds %gms" % divmod(self.percent * 10, 1000)
        period = "infinity" if self.period_ms == 100 else "%dms" % self.period_ms
        lines = ["ControlGroup=" + self.group, "CPUQuotaPerSecUSec=" + a_second]
        return "\n".join(lines + (["CPUQuotaPeriodUSec=" + period] if self.version >= 242 else []))


class UnitTest(QuotaTest):
    def unit(self, version, **systemd):
        sysfs = Sysfs(self.folder)
        self.systemd = FakeSystemd(sysfs, version, **systemd)
        return Unit("redis.service", self.systemd, sysfs, 2)

    def test_applied_changed_and_removed(self):
        unit = self.unit(252)
        for one in (limit(77, 1, 10), limit(38.5, 1, 10), limit(77, 2, 10), limit(3, 1, 10)):
            foretold = unit.foretell(one)
            unit.apply(one)
            self.assertEqual(unit.read(), foretold)
            self.assertEqual(foretold, {"server": {"quota_us": one.quota_us, "period_us": one.period_us}})
            self.assertEqual(read_limit(unit._sysfs, self.systemd.group[1:], 2), one)
        self.assertEqual(unit.notes, [])
        unit.remove()
        self.assertEqual(unit.read(), {"server": None})
        self.assertEqual(unit.foretell(None), {"server": None})

    def test_a_systemd_without_periods_takes_its_own_and_a_note_says_so(self):
        unit = self.unit(219)
        unit.apply(limit(38.5, 1, 10))
        self.assertEqual(unit.read(), {"server": {"quota_us": 39000, "period_us": 100000}})
        self.assertEqual(unit.read(), unit.foretell(limit(38.5, 1, 10)))
        self.assertEqual(len(unit.notes), 1)
        self.assertIn("39%", unit.notes[0])
        unit.remove()
        self.assertEqual(unit.read(), {"server": None})

    def test_the_client_gets_a_scope_with_the_same_limit(self):
        self.assertEqual(
            self.unit(252).client_prefix(limit(77, 1, 10)),
            ["systemd-run", "--scope", "--quiet", "-p", "CPUQuota=77%", "-p", "CPUQuotaPeriodSec=10ms", "--"],
        )
        self.assertEqual(
            self.unit(219).client_prefix(limit(77, 2, 10)),
            ["systemd-run", "--scope", "--quiet", "-p", "CPUQuota=154%", "--"],
        )

    def test_a_limit_that_does_not_reach_the_kernel_is_an_error_and_taken_back(self):
        unit = self.unit(252, delegated=False)
        with self.assertRaises(QuotaError) as caught:
            unit.apply(limit(77, 1, 10))
        self.assertIn("redis.service", str(caught.exception))
        self.assertIn("delegate", str(caught.exception))
        self.assertEqual(unit.read(), {"server": None})

    def test_what_systemctl_says_is_shown(self):
        unit = self.unit(252)
        unit._run = lambda argv: (1, "", "Access denied\n")
        with self.assertRaises(QuotaError) as caught:
            unit.remove()
        self.assertIn("Access denied", str(caught.exception))

    def test_a_unit_that_does_not_run(self):
        unit = self.unit(252)
        self.assertTrue(unit.service_runs())
        self.systemd.group = ""
        self.assertFalse(unit.service_runs())


if __name__ == "__main__":
    unittest.main()

# -*- coding: utf-8 -*-
"""What is read while a workload runs, below a fake root. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import shutil
import tempfile
import unittest

import fake_sysfs
from ansible_collections.perflab.bench.plugins.module_utils.observe import Observer, median

POLICY = "devices/system/cpu/cpufreq/policy%d/"


class ObserverTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.put("proc/loadavg", "0.50 0.20 0.10 1/100 4242")
        self.ticks(0, 0, steal=0)

    def put(self, path, value):
        fake_sysfs.put(self.root, path, value)

    def khz(self, policy, khz):
        self.put("sys/" + POLICY % policy + "scaling_cur_freq", khz)

    def ticks(self, cpu0, cpu1, steal):
        """Let the CPUs have worked for these ticks of 1000 each since boot."""
        rows = [("", cpu0 + cpu1, 2000), (0, cpu0, 1000), (1, cpu1, 1000)]
        lines = [
            "cpu%s  %d 0 0 %d 0 0 0 %d 0 0" % (cpu, busy, total - busy, steal) for cpu, busy, total in rows
        ]
        self.put("proc/stat", "\n".join(lines) + "\nintr 1 2 3")

    def test_only_busy_cpus_count(self):
        fake_sysfs.build(os.path.join(self.root, "sys"), "acpi-cpufreq")
        self.put("proc/stat", "cpu  0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0")
        observer = Observer(self.root)
        self.khz(0, 2600000)
        self.khz(1, 800000)
        self.ticks(900, 10, steal=0)
        observer.sample()
        self.assertEqual(
            {"min": 2600000, "median": 2600000.0, "max": 2600000, "samples": 1},
            observer.result()["frequency_khz"],
        )

    def test_all_cpus_count_where_none_is_busy(self):
        fake_sysfs.build(os.path.join(self.root, "sys"), "acpi-cpufreq")
        observer = Observer(self.root)
        self.khz(0, 2600000)
        self.khz(1, 800000)
        observer.sample()
        self.khz(1, 1000000)
        observer.sample()
        self.assertEqual(
            {"min": 800000, "median": 1750000.0, "max": 2600000, "samples": 2},
            observer.result()["frequency_khz"],
        )

    def test_governor_and_turbo(self):
        fake_sysfs.build(os.path.join(self.root, "sys"), "acpi-cpufreq")
        observer = Observer(self.root)
        self.assertEqual("ondemand", observer.result()["governor"])
        self.assertEqual("off", observer.result()["turbo"])
        self.put("sys/" + POLICY % 1 + "scaling_governor", "performance")
        self.put("sys/devices/system/cpu/cpufreq/boost", "1")
        self.assertEqual("ondemand, performance", observer.result()["governor"])
        self.assertEqual("on", observer.result()["turbo"])

    def test_steal_and_load(self):
        self.put("proc/stat", "cpu  100 0 0 100 0 0 0 0")
        observer = Observer(self.root)
        observer.sample()
        self.put("proc/stat", "cpu  150 0 0 130 0 0 0 20")
        self.assertEqual(20.0, observer.result()["steal_pct"])
        self.assertEqual(0.5, observer.result()["load1"])

    def test_throttling(self):
        throttle = "sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count"
        self.put(throttle % 0, 5)
        self.put(throttle % 1, 7)
        self.put("cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 1")
        observer = Observer(self.root, os.path.join(self.root, "cpu.stat"))
        self.put(throttle % 1, 9)
        self.put("cpu.stat", "nr_periods 20\nnr_throttled 7\nthrottled_time 2")
        self.assertEqual(6, observer.result()["throttled"])

    def test_a_host_that_tells_nothing(self):
        shutil.rmtree(os.path.join(self.root, "proc"))
        observer = Observer(self.root, "/nowhere/cpu.stat")
        observer.sample()
        self.assertEqual({None}, set(observer.result().values()))

    def test_median(self):
        self.assertEqual([2.0, 2.5], [median([3, 1, 2]), median([4, 1, 2, 3])])

# -*- coding: utf-8 -*-
"""What was found is saved, comes back, and survives failures half way. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os

from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import Cpufreq, CpufreqError
from fake_host import CpuFrequencyTest
from fake_sysfs import CPU, take_offline


class PreferenceTest(CpuFrequencyTest):
    def test_the_preference_that_the_performance_governor_overwrites_comes_back(self):
        for driver in ("intel_pstate", "amd-pstate-epp"):
            host = self.host(driver)
            found = host.state()
            host.apply(governor="performance", frequency="2GHz")
            self.assertEqual(host.state()["policies"]["policy0"]["preference"], "performance")
            self.assertEqual(host.restore(), (True, found), driver)


class SavedStateTest(CpuFrequencyTest):
    def test_saved_before_the_first_write(self):
        host = self.host("cppc_cpufreq")
        seen = []
        write = host.kernel.write

        def watched(path, value):
            seen.append(host.saved() is not None)
            write(path, value)

        host.kernel.write = watched
        host.apply(turbo="on", frequency="2.8GHz")
        self.assertTrue(seen and all(seen))

    def test_a_second_run_does_not_overwrite_it(self):
        host = self.host("cppc_cpufreq")
        host.apply(frequency="2GHz")
        saved = host.saved()
        host.apply(frequency="1GHz", turbo="on")
        self.assertEqual(host.saved(), saved)

    def test_nothing_is_saved_where_nothing_changes(self):
        host = self.host("cppc_cpufreq")
        self.assertFalse(host.apply(turbo="off", governor="schedutil")[0])
        self.assertIsNone(host.saved())

    def test_userspace_speed_comes_back(self):
        host = self.host("acpi-cpufreq")
        host.kernel.write(CPU + "/cpufreq/policy0/scaling_governor", "userspace")
        host.kernel.write(CPU + "/cpufreq/policy0/scaling_setspeed", 1200000)
        found = host.state()
        host.apply(governor="performance")
        self.assertNotIn("setspeed_khz", host.state()["policies"]["policy0"])
        self.assertEqual(host.restore(), (True, found))


class RollBackTest(CpuFrequencyTest):
    def test_a_failure_half_way_puts_back_everything_with_turbo(self):
        for driver in ("cppc_cpufreq", "intel_cpufreq", "amd-pstate"):
            host = self.host(driver)
            found = host.state()
            host.kernel.failures[("policy1/scaling_setspeed", "2400000")] = errno.EIO
            self.error(
                "policy1",
                "2.4GHz",
                "Input/output error",
                "Nothing is left changed",
                host=host,
                frequency="2.4GHz",
                turbo="on",
            )
            self.assertEqual(host.state(), found, driver)
            self.assertIsNone(host.saved(), driver)

    def test_it_goes_back_to_the_condition_before_and_keeps_the_saved_state(self):
        host = self.host("cppc_cpufreq")
        host.apply(frequency="1GHz")
        before, saved = host.state(), host.saved()
        host.kernel.failures[("policy1/scaling_setspeed", "2000000")] = errno.EIO
        self.error("Nothing is left changed", host=host, frequency="2GHz")
        self.assertEqual((host.state(), host.saved()), (before, saved))

    def test_where_putting_back_fails_too_the_saved_state_stays(self):
        host = self.host("cppc_cpufreq")
        host.kernel.failures[("policy1/scaling_setspeed", "2000000")] = errno.EIO
        host.kernel.failures[("policy1/scaling_governor", "schedutil")] = errno.EIO
        self.error("Putting back failed too", "schedutil", host.state_file, host=host, frequency="2GHz")
        self.assertEqual(host.state()["policies"]["policy0"]["governor"], "schedutil")
        self.assertIsNotNone(host.saved())

    def test_a_read_only_sys_is_named_as_such(self):
        host = self.host("cppc_cpufreq")
        host.kernel.failures[("policy0/scaling_governor", "userspace")] = errno.EROFS
        self.error("Read-only file system", "become: true", host=host, frequency="2GHz")


class OfflineTest(CpuFrequencyTest):
    def test_offline_cpus_are_listed_and_left_alone(self):
        host = self.host("cppc_cpufreq")
        take_offline(host.kernel.root, "policy1")
        self.assertEqual(Cpufreq(host.kernel).offline_cpus, [1])
        _changed, after, _notes = host.apply(frequency="2GHz")
        self.assertEqual(list(after["policies"]), ["policy0"])

    def test_a_policy_that_vanished_is_named_and_the_saved_state_stays(self):
        host = self.host("cppc_cpufreq")
        host.apply(frequency="2GHz")
        take_offline(host.kernel.root, "policy1")
        _changed, _after, notes = host.apply(frequency="1GHz")
        self.assertEqual(notes, ["policy1: its CPUs are offline or gone, left alone"])
        with self.assertRaises(CpufreqError) as caught:
            host.restore()
        self.assertIn("policy1", str(caught.exception))
        self.assertIn(host.state_file, str(caught.exception))
        self.assertEqual(host.state()["policies"]["policy0"]["governor"], "schedutil")
        self.assertIsNotNone(host.saved())

    def test_the_turbo_switch_of_an_offline_policy_is_left_alone(self):
        host = self.host("amd-pstate-policy")
        host.apply(turbo="on")
        take_offline(host.kernel.root, "policy1")
        self.assertEqual(host.apply()[1]["turbo"], "off")
        host.apply(turbo="on")
        with self.assertRaises(CpufreqError) as caught:
            host.restore()
        self.assertNotIn("boost", str(caught.exception))
        self.assertEqual(host.state()["turbo"], "off")

    def test_a_policy_that_came_online_after_saving_is_refused(self):
        host = self.host("cppc_cpufreq")
        folder = os.path.join(host.kernel.root, CPU, "cpufreq")
        os.rename(folder + "/policy1", folder + "/later")
        host.apply(frequency="2GHz")
        os.rename(folder + "/later", folder + "/policy1")
        self.error("policy1 came online", "state: restored", host=host, frequency="1GHz")

# -*- coding: utf-8 -*-
"""Frequency, limits and turbo, on every driver. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import shutil

from ansible_collections.perflab.bench.plugins.module_utils import (
    saved_state,
)
from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import Cpufreq, CpufreqError
from fake_host import CpuFrequencyTest
from fake_sysfs import CPU, DRIVERS, put


class PinTest(CpuFrequencyTest):
    def test_every_driver_is_pinned_seen_as_unchanged_and_put_back(self):
        for driver in sorted(DRIVERS):
            host = self.host(driver)
            found = host.state()
            frequency = "1008MHz" if driver == "cpufreq-dt" else "2 GHz"
            khz = 1008000 if driver == "cpufreq-dt" else 2000000

            foretold = host.apply(frequency=frequency, check=True)
            self.assertEqual(host.state(), found, driver)
            done = host.apply(frequency=frequency)
            self.assertEqual(foretold, done, driver)
            self.assertTrue(done[0], driver)
            for policy in Cpufreq(host.kernel).policies:
                self.assertEqual(policy.achieved_khz(), khz, driver)
            self.assertFalse(host.apply(frequency=frequency)[0], driver)

            self.assertTrue(host.restore(check=True)[0], driver)
            self.assertEqual(host.restore(), (True, found), driver)
            self.assertEqual(host.state(), found, driver)
            self.assertIsNone(host.saved())
            self.assertEqual(host.restore(), (False, found), driver)

    def test_userspace_and_setspeed_where_there_is_one(self):
        state = self.pinned("acpi-cpufreq", frequency="1.6GHz")
        self.assertEqual((state["governor"], state["setspeed_khz"]), ("userspace", 1600000))
        self.assertEqual((state["minimum_khz"], state["maximum_khz"]), (800000, 2600000))

    def test_equal_limits_where_there_is_no_userspace(self):
        state = self.pinned("intel_pstate", frequency="1.6GHz")
        self.assertEqual(state["governor"], "powersave")
        self.assertEqual((state["minimum_khz"], state["maximum_khz"]), (1600000, 1600000))

    def test_equal_limits_under_the_governor_asked_for(self):
        state = self.pinned("acpi-cpufreq", frequency="1.6GHz", governor="performance")
        self.assertEqual(state["governor"], "performance")
        self.assertEqual((state["minimum_khz"], state["maximum_khz"]), (1600000, 1600000))

    def test_limits_found_narrower_than_the_frequency_make_room(self):
        host = self.host("acpi-cpufreq")
        host.policy("scaling_max_freq", 1600000)
        host.apply(frequency="2.4GHz")
        state = host.state()["policies"]["policy0"]
        self.assertEqual((state["maximum_khz"], state["setspeed_khz"]), (2400000, 2400000))

    def test_max_and_min(self):
        self.assertEqual(self.pinned("cppc_cpufreq", frequency="max")["setspeed_khz"], 2600000)
        self.assertEqual(self.pinned("cppc_cpufreq", frequency="min")["setspeed_khz"], 200000)
        self.assertEqual(self.pinned("acpi-cpufreq", frequency="max", turbo="on")["setspeed_khz"], 3000000)

    def test_what_lies_between_the_units_of_cppc_is_no_step(self):
        host = self.host("cppc_cpufreq")
        with self.assertRaises(CpufreqError) as raised:
            host.apply(frequency="1.73GHz")
        self.assertIn("available: 0.2GHz to 2.6GHz in steps of 0.1GHz", str(raised.exception))
        _changed, _after, notes = host.apply(frequency="1.73GHz", nearest=True)
        self.assertEqual(notes, ["policy0, policy1: 1.7GHz instead of 1.73GHz, the nearest step"])
        self.assertEqual(host.state()["policies"]["policy0"]["setspeed_khz"], 1700000)

    def test_each_condition_starts_from_what_was_found(self):
        host = self.host("cppc_cpufreq")
        found = host.state()
        host.apply(governor="performance", maximum="1.5GHz")
        host.apply(frequency="2GHz")
        state = host.state()["policies"]["policy0"]
        self.assertEqual((state["governor"], state["maximum_khz"]), ("userspace", 2600000))
        host.apply()
        self.assertEqual(host.state(), found)
        self.assertIsNotNone(host.saved(), "as_found ends a condition, not the run")

    def test_policies_with_different_steps_are_set_by_policy(self):
        host = self.host("cpufreq-dt")
        host.apply(frequency="max")
        self.assertEqual(sorted(host.state()["policies"]), ["policy0", "policy4"])
        self.assertEqual(Cpufreq(host.kernel).policies[1].cpus, [4, 5])

    def test_a_kernel_that_keeps_policies_in_the_cpus_folders(self):
        host = self.host("acpi-cpufreq")
        cpus = os.path.join(host.kernel.root, CPU)
        os.mkdir(cpus + "/cpu0")
        os.mkdir(cpus + "/cpu1")
        os.rename(cpus + "/cpufreq/policy0", cpus + "/cpu0/cpufreq")
        shutil.rmtree(cpus + "/cpufreq/policy1")
        os.symlink("../cpu0/cpufreq", cpus + "/cpu1/cpufreq")
        self.assertEqual([policy.name for policy in Cpufreq(host.kernel).policies], ["policy0"])

    def test_a_frequency_that_is_set_but_not_achieved_is_noted(self):
        host = self.host("cppc_cpufreq")
        host.policy("cpuinfo_cur_freq", 1200000)
        _changed, _after, notes = host.apply(frequency="2GHz")
        self.assertEqual(notes, ["policy0: set to 2GHz, but it reads otherwise now"])

    def pinned(self, driver, **request):
        host = self.host(driver)
        host.apply(**request)
        return host.state()["policies"]["policy0"]


class LimitsTest(CpuFrequencyTest):
    def test_limits_are_written_in_the_order_that_the_kernel_accepts(self):
        for first, second in (
            (("1GHz", "1.2GHz"), ("2GHz", "2.4GHz")),
            (("2GHz", "2.4GHz"), ("1GHz", "1.2GHz")),
        ):
            host = self.host("cppc_cpufreq")
            host.apply(minimum=first[0], maximum=first[1])
            host.apply(minimum=second[0], maximum=second[1])
            found = host.state()["policies"]["policy0"]
            self.assertEqual(found["minimum_khz"], int(float(second[0][:-3]) * 1000000))
            self.assertEqual(found["maximum_khz"], int(float(second[1][:-3]) * 1000000))

    def test_a_kernel_that_takes_its_time_over_limits(self):
        for driver in ("acpi-cpufreq", "intel_pstate"):
            host = self.host(driver, lag=3)
            found = host.state()
            host.apply(frequency="1.2GHz")
            self.assertEqual(Cpufreq(host.kernel).policies[0].achieved_khz(), 1200000)
            host.apply(minimum="1.6GHz", maximum="2GHz")
            self.assertEqual(host.restore(), (True, found), driver)

    def test_crossed_limits_are_refused(self):
        host = self.host("cppc_cpufreq")
        self.error("policy0", "2GHz", "1GHz", "give both", host=host, minimum="2GHz", maximum="1GHz")

    def test_frequency_excludes_limits(self):
        host = self.host("cppc_cpufreq")
        self.error("either frequency, or minimum and maximum", host=host, frequency="2GHz", minimum="1GHz")


class RefusedTest(CpuFrequencyTest):
    def test_a_step_that_the_table_lacks(self):
        host = self.host("acpi-cpufreq")
        self.error(
            "policy0",
            "2.5GHz",
            "available: 0.8GHz, 1.2GHz, 1.6GHz, 2GHz, 2.4GHz, 2.6GHz",
            "nearest: true for 2.4GHz",
            host=host,
            frequency="2500 MHz",
        )
        self.assertEqual(host.kernel.writes, [])
        self.assertIsNone(host.saved())

    def test_nearest_takes_a_step_and_says_so_once_for_all_policies(self):
        host = self.host("acpi-cpufreq")
        _changed, after, notes = host.apply(frequency="2.5GHz", nearest=True)
        self.assertEqual(after["policies"]["policy1"]["setspeed_khz"], 2400000)
        self.assertEqual(notes, ["policy0, policy1: 2.4GHz instead of 2.5GHz, the nearest step"])
        self.assertFalse(host.apply(frequency="2.5GHz", nearest=True)[0])

    def test_beyond_the_hardware_with_turbo_off(self):
        host = self.host("cppc_cpufreq")
        self.error("2.9GHz", "0.2GHz to 2.6GHz", "turbo: 'on'", host=host, frequency="2.9GHz")

    def test_a_value_that_the_driver_rounds(self):
        host = self.host("intel_cpufreq")
        self.error("policy0", "2.55GHz", "reads 2.5GHz", "nearest", host=host, frequency="2.55GHz")
        self.assertEqual(host.state()["policies"]["policy0"]["governor"], "schedutil")
        _changed, _after, notes = host.apply(frequency="2.55GHz", nearest=True)
        self.assertEqual(notes, ["policy0, policy1: intel_cpufreq took 2.5GHz for 2.55GHz"])

    def test_a_governor_that_is_missing(self):
        host = self.host("cppc_cpufreq")
        put(host.kernel.root, CPU + "/cpufreq/policy0/scaling_available_governors", "performance schedutil")
        self.error(
            "policy0",
            "'ondemand'",
            "performance, schedutil",
            "modprobe cpufreq_ondemand",
            host=host,
            governor="ondemand",
        )
        self.error(
            "policy0",
            "'ondemand'",
            "passive > /sys/devices/system/cpu/intel_pstate/status",
            host=self.host("intel_pstate"),
            governor="ondemand",
        )

    def test_turbo_locked_by_firmware(self):
        host = self.host("intel_pstate", locked=True)
        self.error("no_turbo", "turbo on", "not permitted", "firmware", host=host, turbo="on")
        host = self.host("cppc_cpufreq", locked=True)
        self.error("boost did not take 1", "available: turbo off", host=host, turbo="on")
        self.assertIsNone(host.saved())

    def test_turbo_without_a_switch(self):
        self.error("no switch", "cpufreq/boost", host=self.host("cpufreq-dt"), turbo="off")

    def test_a_value_that_cannot_be_read_is_never_changed(self):
        host = self.host("cppc_cpufreq")
        host.policy("scaling_max_freq", "<unknown>", name="policy1")
        self.error("policy1", "maximum_khz cannot be read", host=host, frequency="2GHz")
        self.assertEqual(host.kernel.writes, [])

    def test_an_unreadable_speed_is_never_saved(self):
        host = self.host("cppc_cpufreq")
        host.policy("scaling_governor", "userspace")
        host.policy("scaling_setspeed", "<unsupported>")
        host.apply(maximum="1GHz")
        self.assertNotIn("setspeed_khz", host.saved()["policies"]["policy0"])
        host.restore()
        self.assertEqual(host.state()["policies"]["policy0"]["maximum_khz"], 2600000)


class TurboTest(CpuFrequencyTest):
    SWITCHED = (
        "acpi-cpufreq",
        "cppc_cpufreq",
        "intel_pstate",
        "intel_cpufreq",
        "amd-pstate-epp",
        "amd-pstate",
        "amd-pstate-policy",
    )

    def test_on_and_off_are_one_word_for_every_kind_of_switch(self):
        for driver in self.SWITCHED:
            host = self.host(driver)
            highest = DRIVERS[driver].turbo * 1000
            self.assertEqual(host.state()["turbo"], "off", driver)
            changed, after, _notes = host.apply(turbo="on")
            self.assertEqual((changed, after["turbo"]), (True, "on"), driver)
            self.assertEqual(after["policies"]["policy1"]["maximum_khz"], highest, driver)
            self.assertFalse(host.apply(turbo="on")[0], driver)
            self.assertEqual(host.apply(turbo="off")[1]["turbo"], "off", driver)
            self.assertTrue(host.apply(turbo="on")[0], driver)
            self.assertEqual(host.restore()[1]["turbo"], "off", driver)

    def test_raising_beyond_nominal_switches_turbo_first(self):
        for driver in self.SWITCHED:
            host = self.host(driver)
            frequency = "3GHz"
            host.apply(frequency=frequency, turbo="on")
            self.assertIn(host.kernel.writes[0][0].rsplit("/", 1)[1], ("boost", "no_turbo"), driver)
            self.assertEqual(Cpufreq(host.kernel).policies[0].achieved_khz(), 3000000, driver)

    def test_found_on_it_comes_back_with_its_limits(self):
        for driver in self.SWITCHED:
            host = self.host(driver)
            host.apply(turbo="on")
            saved_state.discard(host.state_file)  # somebody else's setting, from here on
            found = host.state()
            host.apply(turbo="off", frequency="1.6GHz")
            self.assertEqual(host.state()["turbo"], "off", driver)
            self.assertEqual(host.restore(), (True, found), driver)

    def test_a_deliberate_maximum_does_not_follow_turbo(self):
        host = self.host("cppc_cpufreq")
        host.policy("scaling_max_freq", 2000000)
        host.apply(turbo="on")
        self.assertEqual(host.state()["policies"]["policy0"]["maximum_khz"], 2000000)
        self.assertEqual(host.state()["policies"]["policy1"]["maximum_khz"], 3000000)

    def test_policies_that_differ_are_mixed_and_come_back_so(self):
        host = self.host("amd-pstate-policy")
        host.kernel.write(CPU + "/cpufreq/policy1/boost", 1)
        found = host.state()
        self.assertEqual(found["turbo"], "mixed")
        host.apply(turbo="on")
        self.assertEqual(host.restore(), (True, found))

    def test_check_mode_foretells_the_limits_where_the_kernel_tells_them(self):
        host = self.host("acpi-cpufreq")
        foretold = host.apply(turbo="on", check=True)
        self.assertEqual(foretold, host.apply(turbo="on"))
        host = self.host("cppc_cpufreq")
        foretold = host.apply(turbo="on", frequency="2.9GHz", check=True)
        self.assertEqual(foretold, host.apply(turbo="on", frequency="2.9GHz"))

    def test_check_mode_says_where_only_switching_would_tell(self):
        host = self.host("intel_pstate")
        changed, after, notes = host.apply(turbo="on", frequency="3GHz", check=True)
        self.assertEqual((changed, after["turbo"]), (True, "on"))
        self.assertIn("policy0, policy1: the limits after switching turbo cannot be foretold", notes)
        self.assertEqual(host.kernel.writes, [])

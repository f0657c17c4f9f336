# -*- coding: utf-8 -*-
"""Daemons that would fight a set frequency are found and named. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import shutil
import tempfile
import unittest

from ansible_collections.perflab.bench.plugins.module_utils import (
    cpufreq_daemons,
)
from fake_sysfs import put


class DaemonsTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def find(self):
        return cpufreq_daemons.find(os.path.join(self.root, "proc"), os.path.join(self.root, "units"))

    def test_running_daemons_are_found_by_program_or_script(self):
        argvs = (
            "/usr/bin/python3\0-Es\0/usr/sbin/tuned\0-l\0",
            "/usr/sbin/thermald\0--systemd\0",
            "vim\0tuned\0",
            "/usr/libexec/power-profiles-daemon\0",
            "/opt/venv/bin/python\0/usr/bin/auto-cpufreq\0--daemon\0",
            "",
        )
        for number, argv in enumerate(argvs):
            put(self.root, "proc/%d/cmdline" % number, argv)
        self.assertEqual(self.find(), ["auto-cpufreq", "power-profiles-daemon", "thermald", "tuned"])

    def test_a_unit_that_sets_the_governor_at_boot(self):
        self.assertEqual(self.find(), [])
        put(self.root, "units/multi-user.target.wants/cpupower.service", "")
        self.assertEqual(self.find(), ["cpupower.service"])
        self.assertIn("cpupower.service", cpufreq_daemons.warning(self.find()))


if __name__ == "__main__":
    unittest.main()

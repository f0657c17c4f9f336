# -*- coding: utf-8 -*-
"""A host with a fake kernel and a state file, for tests. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import shutil
import tempfile
import unittest

from ansible_collections.perflab.bench.plugins.module_utils import (
    cpufreq,
    cpufreq_change,
    saved_state,
)
from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import Cpufreq, CpufreqError
from ansible_collections.perflab.bench.plugins.module_utils.cpufreq_plan import Request
from ansible_collections.perflab.bench.plugins.module_utils.frequency import FrequencyError
from fake_sysfs import CPU, FakeKernel, put

# A fake has no worker and no counters to wait for.
cpufreq.SETTLE_S = cpufreq_change.SETTLE_S = 0


class Host:
    """A fake kernel with a state file, and the module's verbs on it."""

    def __init__(self, folder, driver, **kernel):
        self.kernel = FakeKernel(os.path.join(folder, "sys"), driver, **kernel)
        self.state_file = os.path.join(folder, "lib", "state.json")

    def apply(self, check=False, **request):
        """Return (changed, after, notes)."""
        before, after, notes = cpufreq_change.apply(
            Cpufreq(self.kernel), Request(**request), self.state_file, check
        )
        return before != after, cpufreq_change.public(after), cpufreq_change.sentences(notes)

    def restore(self, check=False):
        before, after, _notes = cpufreq_change.restore(Cpufreq(self.kernel), self.state_file, check)
        return before != after, cpufreq_change.public(after)

    def state(self):
        return cpufreq_change.public(Cpufreq(self.kernel).read())

    def saved(self):
        return saved_state.load(self.state_file)

    def policy(self, attribute, value, name="policy0"):
        """Set an attribute as somebody else would."""
        put(self.kernel.root, "%s/cpufreq/%s/%s" % (CPU, name, attribute), value)


class CpuFrequencyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.hosts = 0

    def host(self, driver, **kernel):
        self.hosts += 1
        return Host(os.path.join(self.folder, str(self.hosts)), driver, **kernel)

    def error(self, *fragments, **request):
        """Apply *request* to the host and check the error; return it."""
        host = request.pop("host")
        with self.assertRaises((CpufreqError, FrequencyError)) as caught:
            host.apply(**request)
        for fragment in fragments:
            self.assertIn(fragment, str(caught.exception))
        return str(caught.exception)

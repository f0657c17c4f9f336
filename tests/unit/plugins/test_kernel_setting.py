# -*- coding: utf-8 -*-
"""Kernel settings: set, saved and put back, below a fake root. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os
import shutil
import tempfile
import unittest

from ansible_collections.perflab.bench.plugins.module_utils import saved_state
from ansible_collections.perflab.bench.plugins.module_utils.kernel_files import (
    KernelFileError,
    KernelFiles,
    apply,
    plain,
    restore,
)
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs

HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
OVERCOMMIT = "/proc/sys/vm/overcommit_memory"
BACKLOG = "/proc/sys/net/core/somaxconn"
FOUND = {HUGE_PAGES: "madvise", OVERCOMMIT: "0", BACKLOG: "4096"}


class FakeKernel(Sysfs):
    """A tree with the kernel's rules: a choice file brackets its word, and a wrong value is refused.

    *stubborn* are paths that take a write and keep their value, as some drivers do.
    """

    def __init__(self, root):
        Sysfs.__init__(self, root)
        self.stubborn = ()
        self.put(HUGE_PAGES, "always [madvise] never")
        self.put(OVERCOMMIT, "0")
        self.put(BACKLOG, "4096")

    def write(self, path, value):
        choices = [word.strip("[]") for word in self.words(path)]
        if "/" + path in self.stubborn:
            return
        if len(choices) == 1:
            self.put(path, value)
        elif value in choices:
            self.put(path, " ".join("[%s]" % word if word == value else word for word in choices))
        else:
            raise OSError(errno.EINVAL, "Invalid argument")

    def put(self, path, text):
        path = self.path(path.lstrip("/"))
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        with open(path, "w") as handle:
            handle.write(text + "\n")

    def remove(self, path):
        os.unlink(self.path(path.lstrip("/")))


class KernelSettingTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.state_file = os.path.join(self.folder, "lib", "state.json")
        self.kernel = FakeKernel(self.folder)
        self.files = KernelFiles(self.kernel)

    def apply(self, settings, check=False):
        return apply(self.files, settings, self.state_file, check)

    def restore(self, check=False):
        return restore(self.files, self.state_file, check)

    def values(self):
        return self.files.read_those_there(FOUND)

    def saved(self):
        return saved_state.load(self.state_file)

    def error_of(self, call, *arguments):
        with self.assertRaises(KernelFileError) as caught:
            call(*arguments)
        return str(caught.exception)

    def test_reads_what_the_kernel_means(self):
        self.assertEqual(plain("always [madvise] never\n"), "madvise")
        self.assertEqual(plain("4096\t131072\t6291456\n"), "4096 131072 6291456")

    def test_sets_saves_and_puts_back(self):
        before, after = self.apply({HUGE_PAGES: "never", BACKLOG: 511})
        self.assertEqual(before, {HUGE_PAGES: "madvise", BACKLOG: "4096"})
        self.assertEqual(after, {HUGE_PAGES: "never", BACKLOG: "511"})
        self.assertEqual(self.values(), {HUGE_PAGES: "never", BACKLOG: "511", OVERCOMMIT: "0"})
        before, after = self.restore()
        self.assertEqual(after, {HUGE_PAGES: "madvise", BACKLOG: "4096"})
        self.assertEqual(self.values(), FOUND)
        self.assertIsNone(self.saved())

    def test_a_second_time_changes_nothing(self):
        self.apply({HUGE_PAGES: "never"})
        before, after = self.apply({HUGE_PAGES: "never"})
        self.assertEqual(before, after)
        self.restore()
        self.assertEqual(self.restore(), ({}, {}))

    def test_what_is_as_wanted_is_not_saved(self):
        self.apply({OVERCOMMIT: 0})
        self.assertIsNone(self.saved())

    def test_check_mode_tells_and_changes_nothing(self):
        before, after = self.apply({BACKLOG: 511}, True)
        self.assertEqual((before, after), ({BACKLOG: "4096"}, {BACKLOG: "511"}))
        self.assertIsNone(self.saved())
        self.apply({BACKLOG: 511})
        before, after = self.restore(True)
        self.assertEqual((before, after), ({BACKLOG: "511"}, {BACKLOG: "4096"}))
        self.assertEqual(self.files.read(BACKLOG), "511")
        self.assertEqual(self.saved(), {BACKLOG: "4096"})

    def test_a_further_change_keeps_the_value_found_first(self):
        self.apply({BACKLOG: 511})
        self.apply({BACKLOG: 1024, OVERCOMMIT: 1})
        self.assertEqual(self.saved(), {BACKLOG: "4096", OVERCOMMIT: "0"})
        self.restore()
        self.assertEqual(self.values(), FOUND)

    def test_a_refused_value_undoes_those_before_it(self):
        message = self.error_of(self.apply, {BACKLOG: 511, HUGE_PAGES: "sometimes"})
        self.assertIn(HUGE_PAGES + " to 'sometimes': Invalid argument", message)
        self.assertIn("it is 'madvise', available are always, madvise, never", message)
        self.assertEqual(self.values(), FOUND)

    def test_a_value_that_was_not_taken_is_an_error(self):
        self.kernel.stubborn = (BACKLOG,)
        self.assertIn(
            BACKLOG + " did not take '511': it is '4096'", self.error_of(self.apply, {BACKLOG: 511})
        )

    def test_a_missing_file_is_named(self):
        self.kernel.remove(HUGE_PAGES)
        self.assertIn(HUGE_PAGES, self.error_of(self.apply, {HUGE_PAGES: "never", BACKLOG: 511}))
        self.assertEqual(self.files.read(BACKLOG), "4096")

    def test_what_can_be_put_back_is_put_back_and_the_rest_stays_saved(self):
        self.apply({BACKLOG: 511, HUGE_PAGES: "never", OVERCOMMIT: 1})
        self.kernel.remove(HUGE_PAGES)
        self.assertIn(HUGE_PAGES, self.error_of(self.restore))
        self.assertEqual(self.values(), {BACKLOG: "4096", OVERCOMMIT: "0"})
        self.assertIn(HUGE_PAGES, self.saved())

    def test_only_kernel_files_are_written(self):
        for path in ("/etc/passwd", "/proc/sys/../../etc/passwd", "vm.overcommit_memory", "/sys"):
            self.assertIn("under /proc/sys or /sys", self.error_of(self.apply, {path: "1"}))


if __name__ == "__main__":
    unittest.main()

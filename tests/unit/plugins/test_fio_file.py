# -*- coding: utf-8 -*-
"""The file that fio measures in, with a fio that does as it is told.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import re
import shutil
import tempfile
import unittest

from ansible_collections.perflab.bench.plugins.module_utils.fio_file import (
    FioFileError,
    FioFolder,
    Use,
    explain,
    to_bytes,
)

MIB = 1024 * 1024
USE = Use(2 * MIB, ["16K", "4K"], threads=48, iodepth=16, engine="libaio", direct=True)

# As fio 3.33 and 3.39 print them.
NO_DIRECT = "fio: looks like your file system does not support direct=1/buffered=0\n"
NO_ENGINE = "fio: engine libaio not loadable\nfio: failed to load engine\n"
FORBIDDEN = (
    "fio: pid=9, err=1/file:engines/libaio.c:443, func=io_queue_init, error=Operation not permitted\n"
    "fio: pid=8, err=1/file:engines/libaio.c:443, func=io_queue_init, error=Operation not permitted\n"
)
EXHAUSTED = (
    "fio: pid=9, err=11/file:engines/libaio.c:443, func=io_queue_init, "
    "error=Resource temporarily unavailable\n"
)
UNALIGNED = "fio: io_u error on file /mnt/x: Invalid argument: write offset=33100, buflen=100\n"


class Fio:
    """Stands in for the programs: writes the file that fio is told to write, or fails with *output*."""

    def __init__(self):
        self.output = None
        self.kind = "ext2/ext3"
        self.short_of = 0
        self.names = []

    def __call__(self, argv):
        if argv[0] == "stat":
            return 0, self.kind + "\n"
        options = dict(word.lstrip("-").partition("=")[::2] for word in argv[1:])
        self.names.append(options["name"])
        with open(options["filename"], "wb") as handle:
            handle.truncate(int(options["size"]) - self.short_of)
        return (0, "") if self.output is None else (1, self.output)


class FioFileTest(unittest.TestCase):
    def setUp(self):
        self.path = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.path)
        self.fio = Fio()
        self.folder = self.folder_at(self.path)

    def folder_at(self, path):
        return FioFolder(path, "web1", self.fio)

    def refusal(self, call, *arguments):
        """What the call refuses with; it must name folder and host."""
        with self.assertRaises(FioFileError) as caught:
            call(*arguments)
        message = str(caught.exception)
        self.assertTrue(message.startswith("fio_dir %s on web1: " % self.path), message)
        return message

    def test_sizes_as_fio_writes_them(self):
        self.assertEqual(
            [to_bytes(size) for size in ("4096", "4K", "64m", "100G", "1T")],
            [4096, 4096, 64 * MIB, 100 * 1024 * MIB, MIB * MIB],
        )
        for size in ("3GB", "1.5G", "0", "-1M", "", "half"):
            self.assertRaises(ValueError, to_bytes, size)

    def test_lays_out_once_and_leaves_only_the_file(self):
        self.assertFalse(self.folder.is_laid_out(USE))
        self.folder.probe(USE, "fio")
        self.folder.lay_out(USE, "fio")
        self.assertEqual(self.fio.names, ["probe", "layout"])
        self.assertEqual(os.listdir(self.path), ["perflab-fio.data"])
        self.assertTrue(self.folder.is_laid_out(USE))
        self.assertFalse(self.folder.is_laid_out(USE._replace(size=MIB)))

    def test_a_file_that_is_not_whole_does_not_get_the_name(self):
        self.fio.short_of = 1
        self.assertIn("2097151 bytes of 2097152", self.refusal(self.folder.lay_out, USE, "fio"))
        self.fio.output = "fio: pid=9, err=28/file:filesetup.c:1, func=write, error=No space left on device\n"
        self.assertIn("No space left on device", self.refusal(self.folder.lay_out, USE, "fio"))
        self.assertEqual(os.listdir(self.path), [])

    def test_a_probe_that_failed_leaves_nothing(self):
        self.fio.output = NO_DIRECT
        self.assertIn("set fio_direct to false", self.refusal(self.folder.probe, USE, "fio"))
        self.assertEqual(os.listdir(self.path), [])

    def test_removes_what_is_its_own(self):
        for name in ("perflab-fio.data", "perflab-fio.part", "others"):
            open(os.path.join(self.path, name), "w").close()
        self.folder.remove()
        self.assertEqual(os.listdir(self.path), ["others"])
        self.assertEqual(self.folder.leftovers(), [])

    def test_a_missing_folder_is_refused(self):
        self.path += "/nothing"
        self.assertIn("create or mount it", self.refusal(self.folder_at(self.path).check, USE))

    def test_a_colon_would_name_two_files(self):
        self.path += "/a:b"
        os.mkdir(self.path)
        self.assertIn("colon", self.refusal(self.folder_at(self.path).check, USE))

    def test_a_file_that_does_not_fit_is_refused_with_both_sizes(self):
        message = self.refusal(self.folder.check, USE._replace(size=to_bytes("2000T")))
        self.assertTrue(re.search(r"size is 2000 TiB, but only [0-9.]+ [KMGT]iB are free", message), message)

    def test_room_of_an_earlier_file_counts(self):
        with open(os.path.join(self.path, "perflab-fio.data"), "wb") as handle:
            handle.write(b"x" * 3 * MIB)
            handle.flush()
            os.fsync(handle.fileno())
        message = self.refusal(self.folder.check, USE._replace(size=to_bytes("2000T")))
        self.assertTrue(re.search(r"and [34][0-9.]* MiB in an earlier file of ours", message), message)

    def test_memory_is_refused_for_direct_io_alone(self):
        self.fio.kind = "tmpfs"
        self.assertIn("it is tmpfs, in memory", self.refusal(self.folder.check, USE))
        self.folder.check(USE._replace(direct=False))

    def test_parts_of_a_mebibyte_are_refused(self):
        self.assertIn("not whole MiB", self.refusal(self.folder.check, USE._replace(size=MIB + 1)))

    def test_every_failure_has_its_remedy(self):
        for output, remedy in (
            (NO_DIRECT, "refuses direct I/O"),
            (NO_ENGINE, "no engine libaio: install the package that brings it (fio-engine-libaio"),
            (FORBIDDEN, "forbids the system call"),
            (FORBIDDEN + "fio: check /proc/sys/fs/aio-max-nr\n", "forbids the system call"),
            (EXHAUSTED, "48 threads with 16 requests each are more"),
            (UNALIGNED, "does not take blocks of 4K directly"),
            ("fio: Segmentation fault\n", "fio cannot measure there"),
        ):
            self.assertIn(remedy, explain(output, USE))

    def test_what_fio_says_for_every_thread_is_said_once(self):
        self.fio.output = "probe: (g=0): rw=randrw\n" + FORBIDDEN
        message = self.refusal(self.folder.probe, USE, "fio")
        self.assertIn("It ended with status 1: fio: pid=9, err=1", message)
        self.assertEqual(message.count("Operation not permitted"), 1)


if __name__ == "__main__":
    unittest.main()

# -*- coding: utf-8 -*-
"""File systems for measuring, on fake disks: what is refused, remembered and done.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import shutil
import tempfile
import unittest

from ansible_collections.perflab.bench.plugins.module_utils import block_device, mount_table
from ansible_collections.perflab.bench.plugins.module_utils.block_device import DeviceError
from ansible_collections.perflab.bench.plugins.module_utils.device_contents import Contents, Identity
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_records import Records
from ansible_collections.perflab.bench.plugins.module_utils.filesystem_request import FilesystemError
from fake_disks import MIB, Host
from fake_sysfs import put

# Nothing here opens a device for a moment only.
block_device._SECOND_LOOK_S = 0

ROOT_LINE = "22 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n"


class DiskTest(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.host = Host(self.folder)
        self.devices = self.host.devices
        self.disk = self.devices.add("sdb", "8:16")

    def put(self, path, text):
        put(self.folder, path, text)

    def error_of(self, call, *arguments, **named):
        with self.assertRaises((DeviceError, FilesystemError)) as caught:
            call(*arguments, **named)
        return str(caught.exception)


class MountTableTest(DiskTest):
    def test_blanks_and_optional_fields(self):
        line = "36 35 98:0 /mnt1 /mnt/with\\040blank rw,noatime master:1 - ext3 /dev/my\\134root rw\n"
        (mount,) = mount_table.parse(line)
        self.assertEqual(mount, ("98:0", "/mnt/with blank", "ext3", "/dev/my\\root"))


class UsesTest(DiskTest):
    def uses(self):
        return self.devices.uses(self.devices.look_up(self.disk))

    def test_free(self):
        self.devices.add("sdb1", "8:17", disk="sdb")
        self.assertEqual(self.uses(), [])

    def test_mounted_by_another_name(self):
        self.put("proc/self/mountinfo", ROOT_LINE + "40 22 8:16 / /data rw - ext4 /dev/mapper/other rw")
        self.assertEqual(self.uses(), ["it is mounted at /data (as /dev/mapper/other)"])

    def test_btrfs_has_a_number_of_its_own(self):
        self.devices.link("dev/disk/by-id/some", "dev/sdb")
        line = "40 22 0:45 /sub /data rw - btrfs /dev/disk/by-id/some rw"
        self.put("proc/self/mountinfo", ROOT_LINE + line)
        self.assertEqual(self.uses(), ["it is mounted at /data (as /dev/disk/by-id/some)"])

    def test_a_mounted_partition(self):
        self.devices.add("sdb1", "8:17", disk="sdb")
        self.put("proc/self/mountinfo", ROOT_LINE + "40 22 8:17 / /data rw - ext4 /dev/sdb1 rw")
        self.assertEqual(self.uses(), ["its partition sdb1 is mounted at /data (as /dev/sdb1)"])

    def test_mounted_in_another_namespace(self):
        for pid, namespace in (("self", "mnt:[1]"), ("1", "mnt:[1]"), ("77", "mnt:[2]")):
            self.devices.link("proc/%s/ns/mnt" % pid, namespace)
        self.put("proc/77/mountinfo", "40 22 8:16 / /data rw - ext4 /dev/sdb rw")
        self.assertEqual(self.uses(), ["it is mounted at /data in the mount namespace of process 77"])

    def test_swap(self):
        self.devices.link("dev/swap one", "dev/sdb")
        self.put("proc/swaps", "Filename Type Size Used Priority\n/dev/swap\\040one partition 1 0 -2")
        self.assertEqual(self.uses(), ["it is in use as swap"])

    def test_mappings_of_lvm_and_raid(self):
        self.devices.add("sdb1", "8:17", disk="sdb")
        self.put("sys/block/sdb/holders/dm-3", "")
        self.put("sys/block/sdb/sdb1/holders/md0", "")
        self.put("sys/class/block/dm-3/dm/name", "vg-data")
        self.assertEqual(self.uses(), ["sdb is held by dm-3 (vg-data)", "sdb1 is held by md0"])

    def test_a_partition_of_a_disk_that_is_one_path_of_several(self):
        self.disk = self.devices.add("sdb1", "8:17", disk="sdb")
        self.put("sys/block/sdb/holders/dm-0", "")
        self.put("sys/class/block/dm-0/dm/name", "mpatha")
        self.assertEqual(self.uses(), ["sdb is held by dm-0 (mpatha)"])

    def test_backing_a_loop_device(self):
        self.put("sys/class/block/loop4/loop/backing_file", "/dev/sdb")
        self.assertEqual(self.uses(), ["it backs loop4"])

    def test_open_in_a_process(self):
        self.put("proc/77/comm", "qemu-kvm")
        self.devices.link("proc/77/fd/5", "dev/sdb")
        os.unlink(self.devices.tree.path("proc/77/fd/5"))
        os.symlink("/dev/sdb", self.devices.tree.path("proc/77/fd/5"))
        self.devices.number = lambda path, number=self.devices.number: (
            "8:16" if path.endswith("/fd/5") else number(path)
        )
        self.assertEqual(self.uses(), ["it is open in qemu-kvm (process 77)"])

    def test_claimed_by_what_no_list_shows(self):
        self.devices.claimed.add("sdb")
        self.assertEqual(self.uses(), ["it is in use: the kernel refuses to open it exclusively"])

    def test_what_is_no_device(self):
        self.put("dev/file", "text")
        look_up = self.devices.look_up
        self.assertIn("does not exist", self.error_of(look_up, "/dev/sdz"))
        self.assertIn("is not a block device", self.error_of(look_up, "/dev/file"))
        self.put("sys/block/sdb/size", 0)
        self.assertIn("no medium", self.error_of(look_up, self.disk))


class ContentsTest(DiskTest):
    """What blkid and wipefs say, as util-linux 2.38 writes it."""

    def found(self, wipefs="", blkid=(2, "")):
        def run(argv):
            return (0, wipefs, "") if argv[0] == "wipefs" else (blkid[0], blkid[1], "blkid: no")

        return Contents(run).found(self.disk)

    def write(self, position, data):
        with open(self.disk, "r+b") as handle:
            handle.seek(position)
            handle.write(data)

    def test_blank(self):
        self.assertEqual(self.found(), [])
        partition = "PART_ENTRY_SCHEME=gpt\nPART_ENTRY_NAME=TYPE=\nPART_ENTRY_NUMBER=1\n"
        self.assertEqual(self.found(blkid=(0, partition)), [])

    def test_every_signature_is_named(self):
        said = "# offset,uuid,label,type\n0x200,,,gpt\n0x3ffe00,,,gpt\n0x438,1-2,my\\x20label,ext4\n"
        self.assertEqual(self.found(said), ["gpt", "gpt", "ext4 (UUID 1-2, label my\\x20label)"])

    def test_what_blkid_alone_knows(self):
        self.assertEqual(
            self.found(blkid=(0, "UUID=1-2\nTYPE=zfs_member\nUSAGE=filesystem\n")), ["zfs_member (UUID 1-2)"]
        )
        self.assertEqual(self.found(blkid=(0, "PTTYPE=dos\n")), ["dos"])
        self.assertEqual(self.found(blkid=(8, "")), ["conflicting signatures"])

    def test_a_program_that_fails_is_no_blank_device(self):
        self.assertIn("may hold anything: blkid -p fails", self.error_of(self.found, blkid=(4, "")))

    def test_bytes_without_a_signature(self):
        for position in (0, MIB - 1, 3 * MIB, 4 * MIB - 1):
            self.write(position, b"x")
            self.assertEqual(len(self.found()), 1)
            self.assertIn("data without a signature", self.found()[0])
            self.write(position, b"\0")
        self.assertEqual(self.found(), [])

    def test_erased_at_both_ends(self):
        self.write(0, b"x" * 4 * MIB)
        Contents(lambda argv: (0, "", "")).erase(self.disk)
        self.assertEqual(self.found(), [])

    def test_an_empty_file_is_blank(self):
        self.disk = os.path.join(self.folder, "empty")
        open(self.disk, "w").close()
        self.assertEqual(self.found(), [])


class RecordsTest(DiskTest):
    def test_every_mount_point_has_a_file_of_its_own(self):
        records = Records("/records")
        names = [records.path(mount) for mount in ("/mnt/a", "/mnt-a", "/mnt/a b", "/mnt/..json")]
        self.assertEqual(names[:2], ["/records/mnt-a.json", "/records/mnt\\x2da.json"])
        self.assertEqual(len(set(names)), 4)

    def test_none_yet(self):
        self.assertEqual(self.host.records.all(), [])


class VerbsTest(DiskTest):
    def setUp(self):
        DiskTest.setUp(self)
        os.mkdir(self.host.point)

    def made_with(self):
        return [
            argv for argv in self.host.programs.called if argv[0].startswith("mkfs.") and argv[1:] != ["-V"]
        ]

    def record(self):
        return self.host.records.load(self.host.point)

    def hold(self, kind, identifier):
        with open(self.disk, "r+b") as handle:
            handle.write(("FAKE %s %s\n" % (kind, identifier)).encode("ascii"))

    def test_foretold_made_and_left_alone(self):
        foretold = self.host.mounted(self.disk, check_mode=True)
        self.assertEqual(self.made_with(), [])
        self.assertIsNone(self.record())
        self.assertEqual(self.host.mounted(self.disk), foretold)
        before, after = self.host.mounted(self.disk)
        self.assertEqual(before, after)
        self.assertEqual(before["state"], "mounted")
        self.assertEqual(len(self.made_with()), 1)

    def test_mkfs_initialises_at_once_with_the_uuid_on_record(self):
        seen = []
        self.host.programs.before_mkfs = lambda: seen.append(self.record()["uuid"])
        self.host.mounted(self.disk, mkfs_options=["-b", "4096"])
        (argv,) = self.made_with()
        self.assertEqual(seen, [self.record()["uuid"]])
        self.assertEqual(
            argv,
            ["mkfs.ext4", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-U", seen[0]]
            + ["-b", "4096", self.disk],
        )

    def test_a_uuid_that_mkfs_chose_is_taken_over(self):
        self.host.mounted(self.disk, kind="xfs")
        self.assertEqual(self.record()["uuid"], "made-by-mkfs")

    def test_only_the_very_path_overwrites(self):
        self.devices.link("dev/disk/by-id/some", "dev/sdb")
        self.hold("swap", "1-2")
        for overwrite in (None, "True", self.disk + "1", os.path.join(self.folder, "dev/disk/by-id/some")):
            message = self.error_of(self.host.mounted, self.disk, overwrite=overwrite)
            self.assertIn("%s holds swap (UUID 1-2); next: " % self.disk, message)
        self.assertEqual(self.made_with(), [])
        self.host.mounted(self.disk, overwrite=self.disk)
        self.assertEqual(len(self.made_with()), 1)

    def test_partitions_are_contents_though_no_table_is_seen(self):
        self.devices.add("sdb1", "8:17", disk="sdb")
        self.assertIn("holds partitions sdb1", self.error_of(self.host.mounted, self.disk))
        message = self.error_of(self.host.mounted, self.disk, overwrite=self.disk)
        self.assertIn("the kernel keeps its partitions sdb1", message)
        self.assertEqual(self.made_with(), [])

    def test_in_use_is_refused_even_to_overwrite(self):
        self.devices.claimed.add("sdb")
        self.assertIn("is in use", self.error_of(self.host.mounted, self.disk, overwrite=self.disk))

    def test_one_of_ours_is_mounted_again_under_another_name(self):
        self.host.mounted(self.disk)
        self.host.filesystem().unmounted(self.host.point)
        os.rename(self.disk, self.disk[:-1] + "c")
        self.devices.numbers = {"sdc": "8:16"}
        self.host.mounted(self.disk[:-1] + "c")
        self.assertEqual(len(self.made_with()), 1)
        self.assertEqual(self.record()["device"], self.disk[:-1] + "c")

    def test_killed_between_record_and_mkfs(self):
        self.host.programs.failing.add("mkfs.ext4")
        self.host.programs.before_mkfs = None
        self.assertIn("cannot be formatted", self.error_of(self.host.mounted, self.disk))
        self.assertIsNone(self.record())
        self.host.programs.failing.clear()
        self.host.programs.before_mkfs = self.fail_as_killed
        with self.assertRaises(KeyboardInterrupt):
            self.host.mounted(self.disk)
        self.assertIsNotNone(self.record())
        self.host.programs.before_mkfs = lambda: None
        self.host.mounted(self.disk)
        self.assertEqual(self.host.mounted(self.disk)[0]["state"], "mounted")

    @staticmethod
    def fail_as_killed():
        raise KeyboardInterrupt

    def test_the_record_of_one_does_not_cover_what_came_after(self):
        self.host.mounted(self.disk)
        self.host.filesystem().unmounted(self.host.point)
        self.hold("ext4", "somebody-elses")
        self.assertIn("holds ext4 (UUID somebody-elses)", self.error_of(self.host.mounted, self.disk))
        message = self.error_of(self.host.filesystem().absent, self.host.point)
        self.assertIn("no longer holds what perflab made there", message)
        self.assertIn(self.host.records.path(self.host.point), message)
        contents = Contents(self.host.programs)
        self.assertEqual(contents.identity(self.disk), Identity("ext4", "somebody-elses"))

    def test_a_disk_that_is_not_plugged_in_is_not_forgotten(self):
        self.host.mounted(self.disk)
        self.host.filesystem().unmounted(self.host.point)
        del self.devices.numbers["sdb"]
        self.assertIn(
            "is not there to be made blank", self.error_of(self.host.filesystem().absent, self.host.point)
        )
        self.assertIsNotNone(self.record())

    def test_another_kind_or_device_needs_absent_first(self):
        self.host.mounted(self.disk)
        self.assertIn("(type ext4, not xfs)", self.error_of(self.host.mounted, self.disk, kind="xfs"))
        other = self.devices.add("sdc", "8:32")
        self.assertIn("device %s, not %s" % (self.disk, other), self.error_of(self.host.mounted, other))

    def test_other_mount_options_mount_it_anew(self):
        self.host.mounted(self.disk)
        before, after = self.host.mounted(self.disk, mount_options=["noatime", "nobarrier"])
        self.assertNotEqual(before, after)
        self.assertIn("umount", [argv[0] for argv in self.host.programs.called])
        self.assertEqual(self.host.programs.called.count(["umount", self.host.point]), 1)
        self.assertIn(
            ["mount", "-t", "ext4", "-o", "noatime,nobarrier", self.disk, self.host.point],
            self.host.programs.called,
        )

    def test_absent_leaves_a_blank_disk(self):
        self.host.mounted(self.disk)
        before, after = self.host.filesystem(check_mode=True).absent(self.host.point)
        self.assertEqual((before["state"], after["state"]), ("mounted", "absent"))
        self.assertEqual(len(self.host.programs.mounts()), 1)
        self.host.filesystem().absent(self.host.point)
        self.assertEqual(self.host.programs.mounts(), [])
        self.assertEqual(Contents(self.host.programs).found(self.disk), [])
        self.assertIsNone(self.record())
        self.host.mounted(self.disk)


if __name__ == "__main__":
    unittest.main()

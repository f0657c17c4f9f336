# -*- coding: utf-8 -*-
"""What a host's profile says, below a fake root. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import shutil
import tempfile
import unittest

import fake_sysfs
from ansible_collections.perflab.bench.plugins.module_utils import profile_cpu, profile_system
from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs

KUNPENG = """processor\t: 0
BogoMIPS\t: 200.00
Features\t: fp asimd evtstrm aes
CPU implementer\t: 0x48
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd01
"""
EPYC = """processor\t: 0
model name\t: AMD EPYC 7763
microcode\t: 0xa0011d1
flags\t\t: fpu vme %s
"""
THP = "kernel/mm/transparent_hugepage/"
DMI = "class/dmi/id/"


def smbios(kind, strings, name_at):
    """Return one SMBIOS structure whose Processor Version is the string *name_at*."""
    formatted = bytearray([kind, 0x30, 0, 0]) + bytearray(0x30 - 4)
    formatted[0x10] = name_at
    return bytes(formatted) + b"\0".join(strings) + b"\0\0"


class ProfileCase(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.files = Sysfs(self.root)
        self.proc = Sysfs(os.path.join(self.root, "proc"))
        self.sys = Sysfs(os.path.join(self.root, "sys"))

    def put(self, files, values):
        for name, value in values.items():
            fake_sysfs.put(files.root, name, value)


class CpuTest(ProfileCase):
    def topology(self, packages, threads):
        """Two NUMA nodes and, in each package, two cores of *threads* threads."""
        cpus = packages * 2 * threads
        for cpu in range(cpus):
            first = cpu - cpu % threads
            siblings = ",".join(str(first + thread) for thread in range(threads))
            folder = "devices/system/cpu/cpu%d/" % cpu
            self.put(
                self.sys,
                {
                    folder + "topology/physical_package_id": cpu * packages // cpus,
                    folder + "topology/thread_siblings_list": siblings,
                    folder + "cache/index0/level": 1,
                    folder + "cache/index0/type": "Data",
                    folder + "cache/index0/size": "64K",
                    folder + "cache/index0/shared_cpu_list": siblings,
                    folder + "cache/index3/level": 3,
                    folder + "cache/index3/type": "Unified",
                    folder + "cache/index3/size": "32768K",
                    folder + "cache/index3/shared_cpu_list": "0-%d" % (cpus - 1),
                },
            )
        for node in (0, 1):
            self.put(
                self.sys,
                {
                    "devices/system/node/node%d/cpulist" % node: node,
                    "devices/system/node/node%d/meminfo" % node: "Node %d MemTotal:  1024 kB" % node,
                },
            )

    def test_topology_and_caches(self):
        self.put(self.proc, {"cpuinfo": EPYC % ""})
        self.topology(packages=2, threads=2)
        cpu = profile_cpu.read_cpu(self.proc, self.sys, "x86_64")
        self.assertEqual("AMD EPYC 7763", cpu["model"])
        self.assertEqual("0xa0011d1", cpu["microcode"])
        self.assertEqual((8, 4, 2, 2), (cpu["cpus"], cpu["cores"], cpu["sockets"], cpu["numa_nodes"]))
        self.assertEqual({"node": 1, "cpus": "1", "memory_kb": 1024}, cpu["numa"][1])
        self.assertEqual(
            {"L1d": {"size": "64K", "instances": 4}, "L3": {"size": "32768K", "instances": 1}}, cpu["cache"]
        )

    def test_an_arm_processor_is_known_by_its_part(self):
        self.put(self.proc, {"cpuinfo": KUNPENG})
        cpu = profile_cpu.read_cpu(self.proc, self.sys, "aarch64")
        self.assertEqual("Kunpeng 920 (TaiShan v110)", cpu["model"])

    def test_an_arm_processor_that_is_not_known(self):
        self.put(self.proc, {"cpuinfo": KUNPENG.replace("0xd01", "0xfff")})
        cpu = profile_cpu.read_cpu(self.proc, self.sys, "aarch64")
        self.assertEqual("ARM implementer 0x48 part 0xfff", cpu["model"])

    def test_the_firmware_names_the_processor(self):
        table = smbios(1, [b"TaiShan 200"], 1) + smbios(4, [b"CPU01", b"Kunpeng 920-6426"], 2)
        self.assertEqual("Kunpeng 920-6426", profile_cpu.smbios_processor(table))

    def test_firmware_tables_that_are_cut_or_missing(self):
        table = smbios(4, [b"CPU01", b"Kunpeng 920-6426"], 2)
        for length in range(len(table) - 1):
            self.assertIsNone(profile_cpu.smbios_processor(table[:length]))
        self.assertIsNone(profile_cpu.smbios_processor(None))

    def test_cpufreq(self):
        fake_sysfs.build(self.sys.root, "cppc_cpufreq")
        cpufreq = profile_cpu.read_cpufreq(self.sys)
        self.assertEqual("cppc_cpufreq", cpufreq["driver"])
        self.assertEqual("off", cpufreq["turbo"])
        self.assertEqual((200000, 2600000), (cpufreq["minimum_khz"], cpufreq["maximum_khz"]))

    def test_no_cpufreq(self):
        self.assertEqual({}, profile_cpu.read_cpufreq(self.sys))


class SystemTest(ProfileCase):
    def test_kernel(self):
        self.put(
            self.proc, {"sys/kernel/osrelease": "4.19.90", "sys/kernel/version": "#1 SMP", "cmdline": "quiet"}
        )
        self.put(
            self.sys,
            {
                THP + "enabled": "always [madvise] never",
                THP + "defrag": "always defer [defer+madvise] madvise never",
                "devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter",
                "devices/system/cpu/vulnerabilities/meltdown": "Not affected",
            },
        )
        kernel = profile_system.read_kernel(self.proc, self.sys)
        self.assertEqual("4.19.90", kernel["release"])
        self.assertEqual("quiet", kernel["command_line"])
        self.assertEqual({"enabled": "madvise", "defrag": "defer+madvise"}, kernel["thp"])
        self.assertEqual("arch_sys_counter", kernel["clock_source"])
        self.assertEqual({"meltdown": "Not affected"}, kernel["mitigations"])

    def test_os(self):
        self.put(self.files, {"etc/os-release": '# comment\nNAME="CentOS"\nID="centos"\nVERSION_ID="7"'})
        found = profile_system.read_os(self.files)
        self.assertEqual(("centos", "7"), (found["id"], found["version"]))

    def test_an_os_older_than_os_release(self):
        self.put(self.files, {"etc/redhat-release": "CentOS release 6.10 (Final)"})
        self.assertEqual("CentOS release 6.10 (Final)", profile_system.read_os(self.files)["name"])

    def test_memory(self):
        self.put(self.proc, {"meminfo": "MemTotal:  2048 kB\nSwapTotal: 0 kB\nHugePages_Total:  4"})
        self.assertEqual(
            {"total_kb": 2048, "swap_kb": 0, "huge_pages": 4}, profile_system.read_memory(self.proc)
        )

    def test_disks(self):
        self.put(
            self.sys,
            {
                "block/nvme0n1/size": 2000,
                "block/nvme0n1/queue/rotational": 0,
                "block/nvme0n1/queue/scheduler": "[none] mq-deadline",
                "block/nvme0n1/device/model": "HWE52P4",
                "block/loop0/size": 8,
                "block/sr0/size": 8,
                "block/sdb/size": 0,
            },
        )
        (disk,) = profile_system.read_block_devices(self.sys)
        self.assertEqual(("nvme0n1", "HWE52P4", 1024000), (disk["name"], disk["model"], disk["bytes"]))
        self.assertEqual((False, "none"), (disk["rotational"], disk["scheduler"]))

    def test_file_systems(self):
        mounts = [
            r"/dev/sda1 /mnt/my\040disk xfs rw,noatime 0 0",
            "server:/export /data nfs4 rw 0 0",
            "tmpfs /run tmpfs rw 0 0",
            "proc /proc proc rw 0 0",
        ]
        self.put(self.proc, {"self/mounts": "\n".join(mounts)})
        found = profile_system.read_file_systems(self.proc)
        self.assertEqual(["/mnt/my disk", "/data"], [mount["mount"] for mount in found])
        self.assertEqual(("xfs", "rw,noatime"), (found[0]["type"], found[0]["options"]))

    def test_a_host_that_tells_nothing(self):
        empty = (self.proc, self.sys)
        self.assertIsNone(profile_system.read_kernel(*empty)["release"])
        self.assertEqual("riscv64", profile_cpu.read_cpu(self.proc, self.sys, "riscv64")["model"])
        self.assertEqual([], profile_system.read_file_systems(self.proc))
        self.assertEqual({}, profile_system.read_memory(self.proc))
        self.assertEqual(
            {"vm": None, "container": None}, profile_system.read_virtualisation(self.files, *empty)
        )


class VirtualisationTest(ProfileCase):
    def vm(self):
        return profile_system.read_virtualisation(self.files, self.proc, self.sys)["vm"]

    def test_a_physical_server(self):
        self.put(self.proc, {"cpuinfo": KUNPENG})
        self.put(self.sys, {DMI + "sys_vendor": "Huawei", DMI + "product_name": "TaiShan 200 (Model 2280)"})
        self.assertIsNone(self.vm())

    def test_an_arm_guest(self):
        self.put(self.proc, {"cpuinfo": KUNPENG})
        self.put(self.sys, {DMI + "sys_vendor": "QEMU", DMI + "product_name": "KVM Virtual Machine"})
        self.assertEqual("kvm", self.vm())

    def test_an_emulated_and_an_accelerated_x86_guest(self):
        self.put(self.proc, {"cpuinfo": EPYC % "hypervisor"})
        self.put(self.sys, {DMI + "sys_vendor": "QEMU"})
        self.assertEqual("qemu", self.vm())
        self.put(self.sys, {"devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock"})
        self.assertEqual("kvm", self.vm())

    def test_other_hypervisors(self):
        self.put(self.proc, {"cpuinfo": EPYC % "hypervisor"})
        self.assertEqual("unknown", self.vm())
        for vendor, word in (("VMware, Inc.", "vmware"), ("innotek GmbH", "virtualbox")):
            self.put(self.sys, {DMI + "sys_vendor": vendor})
            self.assertEqual(word, self.vm())
        self.put(
            self.sys, {DMI + "sys_vendor": "Microsoft Corporation", DMI + "product_name": "Virtual Machine"}
        )
        self.assertEqual("hyperv", self.vm())

    def test_a_whole_machine_rented_from_a_cloud(self):
        self.put(self.proc, {"cpuinfo": EPYC % ""})
        self.put(self.sys, {DMI + "sys_vendor": "Amazon EC2"})
        self.assertIsNone(self.vm())

    def test_containers(self):
        def container():
            return profile_system.read_virtualisation(self.files, self.proc, self.sys)["container"]

        self.put(self.files, {".dockerenv": ""})
        self.assertEqual("docker", container())
        self.put(self.proc, {"1/environ": "PATH=/bin\0container=lxc\0"})
        self.assertEqual("lxc", container())
        self.put(self.files, {"run/systemd/container": "systemd-nspawn"})
        self.assertEqual("systemd-nspawn", container())

# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a host runs on and what runs on it: machine, kernel, OS, memory, disks, file systems.

Read from /proc, /sys and /etc only. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import ctypes
import os
import re

from ansible_collections.perflab.bench.plugins.module_utils.kernel_files import plain
from ansible_collections.perflab.bench.plugins.module_utils.profile_cpu import parse_fields
from ansible_collections.perflab.bench.plugins.module_utils.text import to_native

_CLOCKS = "devices/system/clocksource/clocksource0"
_THP = "kernel/mm/transparent_hugepage"
_NO_DISK = re.compile(r"^(loop|ram|zram|fd|sr)\d")
_NETWORK_FILE_SYSTEMS = ("nfs", "nfs4", "cifs", "ceph", "glusterfs", "9p", "virtiofs")

# What the firmware says of itself in a virtual machine; the first that matches counts.
_HYPERVISORS = (
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("Amazon EC2", "kvm"),
    ("Google Compute Engine", "kvm"),
    ("Alibaba Cloud ECS", "kvm"),
    ("VMware", "vmware"),
    ("VirtualBox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("Virtual Machine", "hyperv"),
    ("Xen", "xen"),
    ("Parallels", "parallels"),
    ("QEMU", "qemu"),
    ("Bochs", "qemu"),
)


def read_machine(sys):
    """Return the part `machine` of the profile: what the firmware says."""
    names = ("sys_vendor", "product_name", "board_name", "bios_vendor", "bios_version", "bios_date")
    return {name: sys.read("class/dmi/id/" + name) for name in names}


def read_virtualisation(files, proc, sys):
    """Return {"vm": ..., "container": ...}, each a word such as kvm or docker, or None."""
    return {"vm": _vm(proc, sys), "container": _container(files, proc)}


def read_kernel(proc, sys):
    """Return the part `kernel` of the profile."""
    vulnerabilities = sys.names("devices/system/cpu/vulnerabilities/*")
    return {
        "release": proc.read("sys/kernel/osrelease"),
        "version": proc.read("sys/kernel/version"),
        "command_line": proc.read("cmdline"),
        "mitigations": {os.path.basename(path): sys.read(path) for path in vulnerabilities},
        "thp": {name: _chosen(sys.read("%s/%s" % (_THP, name))) for name in ("enabled", "defrag")},
        "clock_source": sys.read(_CLOCKS + "/current_clocksource"),
        "clock_sources": sys.words(_CLOCKS + "/available_clocksource"),
    }


def read_os(files):
    """Return the part `os` of the profile."""
    release = parse_os_release(files.read("etc/os-release") or files.read("usr/lib/os-release") or "")
    return {
        # Older than os-release: CentOS 6.
        "name": release.get("PRETTY_NAME") or files.read("etc/redhat-release"),
        "id": release.get("ID"),
        "version": release.get("VERSION_ID"),
        "libc": _libc(files),
    }


def read_memory(proc):
    """Return the part `memory` of the profile, in kB but for the number of huge pages."""
    fields = {name: value.split()[0] for name, value in parse_fields(proc.read("meminfo") or "").items()}
    names = {
        "total_kb": "MemTotal",
        "swap_kb": "SwapTotal",
        "huge_page_kb": "Hugepagesize",
        "huge_pages": "HugePages_Total",
    }
    return {ours: int(fields[theirs]) for ours, theirs in names.items() if theirs in fields}


def read_block_devices(sys):
    """Return the disks, arrays and volumes, without loop and memory devices."""
    devices = []
    for path in sorted(sys.names("block/*")):
        name = os.path.basename(path)
        sectors = sys.number(path + "/size")
        if _NO_DISK.match(name) or not sectors:
            continue
        rotational = sys.number(path + "/queue/rotational")
        devices.append(
            {
                "name": name,
                "mapped_name": sys.read(path + "/dm/name"),
                "vendor": sys.read(path + "/device/vendor"),
                "model": sys.read(path + "/device/model"),
                "bytes": sectors * 512,  # the kernel counts 512-byte sectors, whatever the device's are
                "rotational": None if rotational is None else bool(rotational),
                "scheduler": _chosen(sys.read(path + "/queue/scheduler")),
                "logical_block_bytes": sys.number(path + "/queue/logical_block_size"),
                "physical_block_bytes": sys.number(path + "/queue/physical_block_size"),
                "queue_depth": sys.number(path + "/queue/nr_requests"),
            }
        )
    return devices


def read_file_systems(proc):
    """Return the mounted file systems that lie on a device or on the network."""
    return [
        mount
        for mount in map(parse_mount, (proc.read("self/mounts") or "").splitlines())
        if mount["device"].startswith("/") or mount["type"] in _NETWORK_FILE_SYSTEMS
    ]


def parse_mount(line):
    r"""Return a line of /proc/mounts as a dict.

    >>> parse_mount(r"/dev/sda1 /mnt/my\040disk xfs rw,noatime 0 0")["mount"]
    '/mnt/my disk'
    """
    fields = [
        re.sub(r"\\([0-7]{3})", lambda code: chr(int(code.group(1), 8)), field) for field in line.split()
    ]
    return {"device": fields[0], "mount": fields[1], "type": fields[2], "options": fields[3]}


def parse_os_release(text):
    """Return the assignments of an os-release file.

    >>> parse_os_release('ID="centos"')
    {'ID': 'centos'}
    """
    assignments = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name: value.strip("\"'") for name, equals, value in assignments if equals}


def _vm(proc, sys):
    if sys.read("hypervisor/type"):
        return sys.read("hypervisor/type")
    firmware = " ".join(filter(None, read_machine(sys).values()))
    cpuinfo = parse_fields(proc.read("cpuinfo") or "")
    is_virtual = "hypervisor" in cpuinfo.get("flags", "").split()
    if "flags" in cpuinfo and not is_virtual:
        return None  # an x86 machine of a cloud that is rented whole
    for mark, word in _HYPERVISORS:
        if mark in firmware:
            return "kvm" if word == "qemu" and _has_kvm_clock(sys) else word
    if _has_kvm_clock(sys) or "kvm" in (sys.read("firmware/devicetree/base/hypervisor/compatible") or ""):
        return "kvm"
    return "unknown" if is_virtual else None


def _has_kvm_clock(sys):
    return "kvm-clock" in sys.words(_CLOCKS + "/available_clocksource")


def _container(files, proc):
    named = files.read("run/systemd/container")
    if named:
        return named
    environment = re.search(r"(?:^|\0)container=([^\0]+)", proc.read("1/environ") or "")
    if environment:
        return environment.group(1)
    if files.exists(".dockerenv"):
        return "docker"
    return "podman" if files.exists("run/.containerenv") else None


def _libc(files):
    try:
        version = ctypes.CDLL(None).gnu_get_libc_version
    except AttributeError:
        return "musl" if files.names("lib/ld-musl-*") else None
    version.restype = ctypes.c_char_p
    return "glibc %s" % to_native(version())


def _chosen(text):
    return None if text is None else plain(text)

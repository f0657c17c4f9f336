# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a host's processors are: model, topology, caches, NUMA, cpufreq. Read from /proc and /sys only.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import re

from ansible_collections.perflab.bench.plugins.module_utils.cpufreq import CPU, Cpufreq, turbo_word

# ARM processors do not tell their names, only (implementer, part). Names as in lscpu, Kunpeng as it is sold.
# https://github.com/util-linux/util-linux/blob/master/sys-utils/lscpu-arm.c
_ARM_PARTS = {
    ("0x41", "0xd03"): "Cortex-A53",
    ("0x41", "0xd07"): "Cortex-A57",
    ("0x41", "0xd08"): "Cortex-A72",
    ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4f"): "Neoverse-V2",
    ("0x43", "0x0af"): "ThunderX2",
    ("0x46", "0x001"): "A64FX",
    ("0x48", "0xd01"): "Kunpeng 920 (TaiShan v110)",
    ("0x48", "0xd02"): "Kunpeng (TaiShan v120)",
    ("0x70", "0x662"): "Phytium FTC662",
    ("0x70", "0x663"): "Phytium FTC663",
    ("0x70", "0x664"): "Phytium FTC664",
    ("0xc0", "0xac3"): "Ampere-1",
    ("0xc0", "0xac4"): "Ampere-1a",
}
_SMBIOS_PROCESSOR = 4
_SMBIOS_PROCESSOR_VERSION = 0x10


def read_cpu(proc, sys, architecture):
    """Return the part `cpu` of the profile."""
    info = parse_fields(proc.read("cpuinfo") or "")
    names = sys.names(CPU + "/cpu[0-9]*/topology")
    cores = {_siblings(sys, name) for name in names}
    sockets = {sys.read(name + "/physical_package_id") for name in names} - {None}
    nodes = sorted(sys.names("devices/system/node/node[0-9]*"), key=_number)
    return {
        "model": info.get("model name") or _arm_model(info) or info.get("cpu") or architecture,
        "smbios_model": smbios_processor(sys.read_bytes("firmware/dmi/tables/DMI")),
        "architecture": architecture,
        "cpus": len(names),
        "cores": len(cores),
        "sockets": len(sockets),
        "numa_nodes": len(nodes),
        "numa": [_numa_node(sys, node) for node in nodes],
        "cache": _caches(sys),
        "microcode": info.get("microcode"),
        "smt": sys.read(CPU + "/smt/control"),
        "online": sys.read(CPU + "/online"),
        "isolated": sys.read(CPU + "/isolated"),
        # In a container or under a cpuset: fewer than are online.
        "allowed": parse_fields(proc.read("self/status") or "").get("Cpus_allowed_list"),
    }


def read_cpufreq(sys):
    """Return the part `cpufreq` of the profile; empty where there is none, as on most virtual machines."""
    cpufreq = Cpufreq(sys)
    policies = cpufreq.policies
    if not policies:
        return {}
    return {
        "driver": _distinct(policy.driver for policy in policies),
        "governor": _distinct(sys.read(policy.folder + "/scaling_governor") for policy in policies),
        "governors": policies[0].governors,
        "turbo": turbo_word(cpufreq.turbo.read()),
        "minimum_khz": min(policy.lowest_khz or 0 for policy in policies),
        "maximum_khz": max(policy.highest_khz or 0 for policy in policies),
        "steps_khz": policies[0].steps,
        "policies": len(policies),
        "idle_driver": sys.read(CPU + "/cpuidle/current_driver"),
    }


def parse_fields(text):
    """Return {name: value} of lines "name : value"; of a name that comes again the first value counts.

    >>> parse_fields("processor\\t: 0\\nmodel name\\t: AMD EPYC\\n\\nprocessor\\t: 1")["processor"]
    '0'
    """
    fields = {}  # type: dict[str, str]
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    return fields


def smbios_processor(table):
    """Return the processor's name as the firmware gives it (SMBIOS type 4, Processor Version), or None.

    The structures: DMTF DSP0134, 6.1 and 7.5.
    """
    table = bytearray(table or b"")
    start = 0
    while start + 4 <= len(table):
        kind, length = table[start], table[start + 1]
        end = table.find(b"\0\0", start + length)
        if length < 4 or end < 0:
            break
        if kind == _SMBIOS_PROCESSOR and length > _SMBIOS_PROCESSOR_VERSION:
            number = table[start + _SMBIOS_PROCESSOR_VERSION]
            strings = bytes(table[start + length : end]).split(b"\0")
            if 0 < number <= len(strings):
                return strings[number - 1].decode("ascii", "replace").strip() or None
        start = end + 2
    return None


def _arm_model(info):
    implementer, part = info.get("CPU implementer"), info.get("CPU part")
    if not implementer or not part:
        return None
    return _ARM_PARTS.get((implementer, part), "ARM implementer %s part %s" % (implementer, part))


def _siblings(sys, topology):
    return sys.read(topology + "/thread_siblings_list") or topology


def _numa_node(sys, node):
    meminfo = sys.read(node + "/meminfo") or ""
    total = re.search(r"MemTotal:\s+(\d+) kB", meminfo)
    return {
        "node": _number(node),
        "cpus": sys.read(node + "/cpulist"),
        "memory_kb": int(total.group(1)) if total else None,
    }


def _caches(sys):
    """Return {"L2": {"size": "1024K", "instances": 2}, ...}."""
    sizes = {}  # type: dict[str, str]
    shared_by = {}  # type: dict[str, set[str]]
    for index in sys.names(CPU + "/cpu[0-9]*/cache/index[0-9]*"):
        level, kind, size = (sys.read("%s/%s" % (index, name)) for name in ("level", "type", "size"))
        if level and size:
            name = "L%s%s" % (level, {"Data": "d", "Instruction": "i"}.get(kind, ""))
            sizes[name] = size
            shared_by.setdefault(name, set()).add(sys.read(index + "/shared_cpu_list") or index)
    return {name: {"size": sizes[name], "instances": len(shared_by[name])} for name in sizes}


def _distinct(values):
    return ", ".join(sorted(set(filter(None, values)))) or None


def _number(path):
    return int(re.findall("[0-9]+", path)[-1])

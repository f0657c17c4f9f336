# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Find the daemons that would set the frequency again behind our back.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import glob
import os

DAEMONS = ("auto-cpufreq", "power-profiles-daemon", "thermald", "tuned")
# Sets the governor once at boot: it leaves no process, only its enabled unit.
BOOT_UNIT = "cpupower.service"


def find(proc="/proc", units="/etc/systemd/system"):
    """Return the names of the daemons that run and of the boot-time unit if it is enabled, sorted."""
    found = set()
    for folder in glob.glob(os.path.join(proc, "[0-9]*")):
        found.update(set(DAEMONS) & _names(folder))
    if glob.glob(os.path.join(units, "*.wants", BOOT_UNIT)):
        found.add(BOOT_UNIT)
    return sorted(found)


def warning(names):
    return "%s may change the frequency while you measure; next: systemctl stop it" % ", ".join(names)


def _names(folder):
    """Return what the process calls itself: its program and, of an interpreter, the script."""
    try:
        with open(os.path.join(folder, "cmdline"), "rb") as handle:
            argv = handle.read().decode("utf-8", "replace").split("\0")
    except (IOError, OSError):
        return set()  # it ended while we looked
    program, arguments = os.path.basename(argv[0]), argv[1:]
    scripts = [word for word in arguments if word and not word.startswith("-")][:1]
    return {program} | {os.path.basename(script) for script in scripts if program.startswith("python")}

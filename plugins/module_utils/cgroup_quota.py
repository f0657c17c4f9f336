# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Limit CPU bandwidth in control groups of our own, v1 or v2: for hosts without systemd.

perflab/server holds the service's process, perflab/client whatever client puts itself there.
Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os

from ansible_collections.perflab.bench.plugins.module_utils.cpu_quota import QuotaError, describe, read_limit

PARENT = "perflab"
SERVER = PARENT + "/server"
CLIENT = PARENT + "/client"
_GROUPS = (SERVER, CLIENT)


class ControlGroups:
    """Our groups in the hierarchy of *version* that *sysfs* has as its root.

    *pid_file* names the service's process.
    """

    def __init__(self, sysfs, version, pid_file, proc="/proc"):
        self.sysfs = sysfs
        self.version = version
        self.pid_file = pid_file
        self.proc = proc
        self.notes = []

    def read(self):
        """Return {"server": limit or None, "client": limit or None, "pids": [of the server's group]}."""
        server, client = (describe(read_limit(self.sysfs, group, self.version)) for group in _GROUPS)
        return {"server": server, "client": client, "pids": self._pids(SERVER)}

    def service_runs(self):
        return self._pid() is not None

    def foretell(self, limit):
        """Return what read() will say after apply(limit), or after remove() where *limit* is None."""
        pids = [] if limit is None else sorted(set(self._pids(SERVER) + [self._pid()]) - {None})
        return {"server": describe(limit), "client": describe(limit), "pids": pids}

    def apply(self, limit):
        """Limit both groups and move the service's process, with all its threads, into the server's."""
        pid = self._pid()
        self._make_groups()
        for group in _GROUPS:
            self._limit(group, limit)
        if pid not in self._pids(SERVER):
            self._move(pid, SERVER + "/")

    def remove(self):
        """Lift the limits, move what is in the groups to where groups begin, and remove them.

        The limits go first: a kernel that refuses the rest still leaves nothing limited.
        """
        groups = [group for group in _GROUPS + (PARENT,) if self.sysfs.exists(group)]
        for group in groups:
            self._limit(group, None)
        for group in groups:
            for pid in self._pids(group):
                self._move(pid, "")
            try:
                self.sysfs.remove_folder(group)
            except OSError as error:
                raise QuotaError(self._refused(group, "remove", error))

    def client_prefix(self, limit):
        """Return the words before a client's own that run it in the client's group, limited already."""
        procs = self.sysfs.path(CLIENT + "/cgroup.procs")
        return ["sh", "-c", 'echo $$ > %s && exec "$@"' % procs, "sh"]

    def throttle_file(self):
        return self.sysfs.path(SERVER + "/cpu.stat")

    def _make_groups(self):
        for group in (PARENT,) + _GROUPS:
            if self.sysfs.exists(group):
                continue
            if self.version == 2:
                self._write(os.path.join(os.path.dirname(group), "cgroup.subtree_control"), "+cpu")
            try:
                self.sysfs.make_folder(group)
            except OSError as error:
                raise QuotaError(self._refused(group, "create", error))

    def _limit(self, group, limit):
        if read_limit(self.sysfs, group, self.version) == limit:
            return
        if self.version == 2:
            self._write(group + "/cpu.max", "max" if limit is None else "%d %d" % limit)
        elif limit is None:
            self._write(group + "/cpu.cfs_quota_us", -1)
        else:
            self._write(group + "/cpu.cfs_period_us", limit.period_us)
            self._write(group + "/cpu.cfs_quota_us", limit.quota_us)
        found = read_limit(self.sysfs, group, self.version)
        if found != limit:
            raise QuotaError("%s: the limit reads %s, not %s" % (self.sysfs.path(group), found, limit))

    def _pid(self):
        try:
            with open(self.pid_file) as handle:
                pid = int(handle.read())
        except (IOError, OSError, ValueError):
            return None
        return pid if os.path.exists(os.path.join(self.proc, str(pid))) else None

    def _move(self, pid, folder):
        """Move a process with all its threads; one that has just ended needs no moving."""
        try:
            self.sysfs.write(folder + "cgroup.procs", pid)
        except (IOError, OSError) as error:
            if error.errno != errno.ESRCH:
                raise QuotaError(self._refused(folder + "cgroup.procs", "move %d by" % pid, error))

    def _pids(self, group):
        return sorted(int(pid) for pid in self.sysfs.words(group + "/cgroup.procs"))

    def _write(self, path, value):
        try:
            self.sysfs.write(path, value)
        except (IOError, OSError) as error:
            raise QuotaError(self._refused(path, "write '%s' to" % value, error))

    def _refused(self, path, verb, error):
        return (
            "cannot %s %s (%s); next: run as root (become: true) on the host itself, or in a container whose "
            "/sys/fs/cgroup is writable" % (verb, self.sysfs.path(path), error.strerror)
        )

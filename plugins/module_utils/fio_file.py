# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The file that fio measures in: check its folder, lay it out once, remove it.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import collections
import os
import re

NAME = "perflab-fio.data"
# Laid out under another name and renamed when it is whole: what has the name has all its data.
_PART = "perflab-fio.part"
_PROBE = "perflab-fio.probe"

_MIB = 1024 * 1024
_FACTORS = {"": 1, "K": 1024, "M": _MIB, "G": 1024 * _MIB, "T": 1024 * 1024 * _MIB}
_MEMORY = ("tmpfs", "ramfs")

#: How points will use the file; *size* in bytes, *block_sizes* as fio takes them, *threads* the most of all.
Use = collections.namedtuple("Use", "size block_sizes threads iodepth engine direct")

# What fio prints when it cannot measure, and what to do about it; the first that matches counts.
_REMEDIES = (
    (
        r"does not support (direct|O_DIRECT)|func=open\S*, error=Invalid argument",
        "its file system refuses direct I/O: put fio_dir on a disk, or set fio_direct to false",
    ),
    (
        r"not loadable|failed to load engine|libaio not available",
        "this fio has no engine {engine}: install the package that brings it (fio-engine-{engine} on Fedora "
        "and Red Hat's 8 and later), or set fio_engine to another one, such as io_uring or psync",
    ),
    (
        r"func=io_queue_init, error=(Operation not permitted|Function not implemented)",
        "its kernel or container forbids the system call that sets {engine} up: allow it (a container's "
        "seccomp profile, the sysctl kernel.io_uring_disabled), or set fio_engine to psync",
    ),
    (
        r"func=io_queue_init, error=Resource temporarily unavailable|aio-max-nr",
        "{threads} threads with {iodepth} requests each are more than its kernel has room for: raise the "
        "sysctl fs.aio-max-nr, or lower fio_threads or fio_iodepth",
    ),
    (
        r"io_u error.*Invalid argument",
        "its disk does not take blocks of {block_size} directly: use multiples of its sectors in "
        "fio_block_sizes, or set fio_direct to false",
    ),
)


class FioFileError(Exception):
    """fio cannot measure there; the message names folder, host and remedy."""


def to_bytes(size):
    """Return the bytes of a size as fio writes it: 64M is 67108864.

    :raises ValueError: when it is not a whole number with K, M, G, T or nothing behind it.
    """
    match = re.match(r"^([1-9][0-9]*)([KMGT]?)$", ("%s" % size).strip().upper())
    if not match:
        raise ValueError("'%s' is no size: write a whole number with K, M, G or T, such as 64M" % size)
    return int(match.group(1)) * _FACTORS[match.group(2)]


def explain(output, use):
    """Return what is wrong and what to do about it, from what fio printed when it failed."""
    for pattern, remedy in _REMEDIES:
        if re.search(pattern, output):
            return remedy.format(block_size=_smallest(use.block_sizes), **use._asdict())
    return "fio cannot measure there"


class FioFolder:
    """A folder on a host and the file in it.

    :param host: how messages call the host.
    :param run: runs a command; takes argv, returns its exit status and all that it printed.
    """

    def __init__(self, path, host, run):
        self._path = path.rstrip("/") or "/"
        self._host = host
        self._run = run
        self.file = os.path.join(self._path, NAME)

    def check(self, use):
        """Refuse what can be seen without writing: no folder, one in memory, too little space.

        :raises FioFileError: in each of these cases.
        """
        if ":" in self._path:
            raise self._error("fio takes a colon for the end of a name: choose another folder")
        if not os.path.isdir(self._path):
            raise self._error("it is not there: create or mount it, or set fio_dir to a folder that is")
        if use.size % _MIB:
            raise self._error("fio_file_size is %d bytes, not whole MiB: use M, G or T" % use.size)
        self._refuse_memory(use)
        if not self.is_laid_out(use):
            self._require_space(use)

    def is_laid_out(self, use):
        """Whether the file is there, as large as it has to be."""
        return os.path.isfile(self.file) and os.path.getsize(self.file) == use.size

    def probe(self, use, fio):
        """Run fio for a moment on a small file, as the points will.

        :raises FioFileError: it failed; the message says why and what to do.
        """
        block_size = _smallest(use.block_sizes)
        probe = os.path.join(self._path, _PROBE)
        argv = _argv(fio, "probe", probe, use, max(_MIB, 4 * to_bytes(block_size)))
        argv += ["--rw=randrw", "--bs=%s" % block_size, "--number_ios=%d" % use.iodepth]
        argv += ["--ioengine=%s" % use.engine, "--iodepth=%d" % use.iodepth]
        argv += ["--thread", "--numjobs=%d" % use.threads]
        try:
            self._require_success(argv, use)
        finally:
            _remove(probe)

    def lay_out(self, use, fio):
        """Write the file, with data in every block.

        :raises FioFileError: it could not be written.
        """
        self.remove()
        part = os.path.join(self._path, _PART)
        argv = _argv(fio, "layout", part, use, use.size)
        argv += ["--rw=write", "--bs=1M", "--ioengine=psync", "--fallocate=none", "--end_fsync=1"]
        try:
            self._require_success(argv, use)
            written = os.path.getsize(part)
            if written != use.size:
                raise self._error("fio wrote %d bytes of %d and no error" % (written, use.size))
            os.rename(part, self.file)
        finally:
            _remove(part)

    def leftovers(self):
        """The files here that are ours."""
        paths = [os.path.join(self._path, name) for name in (NAME, _PART, _PROBE)]
        return [path for path in paths if os.path.lexists(path)]

    def remove(self):
        """Remove our files."""
        for path in self.leftovers():
            os.unlink(path)

    def _refuse_memory(self, use):
        # Since Linux 6.6 tmpfs takes direct I/O, so that only its name tells that no disk is measured.
        rc, kind = self._run(["stat", "--file-system", "--format=%T", self._path])
        if use.direct and rc == 0 and kind.strip() in _MEMORY:
            raise self._error(
                "it is %s, in memory, where direct I/O reaches no disk: put fio_dir on a disk, or set "
                "fio_direct to false" % kind.strip()
            )

    def _require_space(self, use):
        system = os.statvfs(self._path)
        free = system.f_bavail * system.f_frsize
        ours = sum(os.lstat(path).st_blocks * 512 for path in self.leftovers())
        if use.size > free + ours:
            raise self._error(
                "fio_file_size is %s, but only %s are free there (and %s in an earlier file of ours): "
                "lower it or free some space" % tuple(map(_readable, (use.size, free, ours)))
            )

    def _require_success(self, argv, use):
        rc, output = self._run(argv)
        if rc != 0:
            raise self._error(
                "%s. It ended with status %d: %s" % (explain(output, use), rc, _complaint(output))
            )

    def _error(self, reason):
        return FioFileError("fio_dir %s on %s: %s" % (self._path, self._host, reason))


def _argv(fio, name, path, use, size):
    return [fio, "--name=%s" % name, "--filename=%s" % path, "--size=%d" % size, "--direct=%d" % use.direct]


def _complaint(output):
    """Return the first line in which fio complains; the rest repeats it for every thread."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("fio:")), " ".join(lines)[-300:])


def _smallest(block_sizes):
    return min(block_sizes, key=to_bytes)


def _readable(size):
    units = ["TiB", "GiB", "MiB", "KiB", "B"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop()
    return "%.4g %s" % (size, units[-1])


def _remove(path):
    if os.path.lexists(path):
        os.unlink(path)

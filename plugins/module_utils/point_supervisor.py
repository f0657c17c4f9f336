# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Run one point on the host: settle, check, run and observe, keep the logs, write point.json last.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import glob
import os
import re
import resource
import shutil
import time
import traceback

from ansible_collections.perflab.bench.plugins.module_utils import execute
from ansible_collections.perflab.bench.plugins.module_utils.observe import Observer
from ansible_collections.perflab.bench.plugins.module_utils.point_log import Both, Captured, LogFile
from ansible_collections.perflab.bench.plugins.module_utils.redact import Redactor, fill
from ansible_collections.perflab.bench.plugins.module_utils.saved_state import write_json

SCHEMA = 1
POINT_FILE = "point.json"
LOCK_FILE = "supervisor.lock"
_WORK_FOLDER = "work"

# A step beside the workload asks a question; one that takes longer than this has no answer.
STEP_TIMEOUT_S = 60


class PointFailedError(Exception):
    """The point has no result: *status* and the message go into point.json."""

    def __init__(self, status, reason):
        Exception.__init__(self, reason)
        self.status = status


def supervise(job):
    """Run the point that *job* (the arguments of the module run_point) describes and write its point.json.

    Whatever happens to the point, its record says so; an error is raised only when that cannot be written.
    """
    write_json(os.path.join(job["dir"], POINT_FILE), _Supervisor(job).run())


class _Supervisor:
    def __init__(self, job):
        self._job = job
        self._signals = execute.Signals()
        self._redactor = Redactor(job["secrets"])
        self._cwd = job["cwd"] or os.path.join(job["dir"], _WORK_FOLDER)
        self._record = dict(
            job["point"],
            schema=SCHEMA,
            argv=[self._redactor.text(word) for word in job["argv"]],
            observed={},
            started_at=None,
            finished_at=None,
            duration_s=None,
            rc=None,
            status="ok",
            reason=None,
            logs=[],
        )

    def run(self):
        """Return the document of point.json."""
        try:
            if not os.path.isdir(self._cwd):
                os.makedirs(self._cwd)
            self._settle()
            for step in self._job["before"]:
                self._check(step)
            try:
                self._measure()
            finally:
                # Also after a workload that failed: what they tell may be why.
                for step in self._job["after"]:
                    self._ask(step, "after")
        except PointFailedError as error:
            self._fail(error.status, error)
        except (IOError, OSError, execute.OutputError) as error:
            self._fail("failed", error)
        except Exception:
            # Nobody waits on this process's output: what is not in the record is lost.
            self._fail("failed", "error in perflab: %s" % traceback.format_exc())
        if not self._job["cwd"]:
            shutil.rmtree(self._cwd, ignore_errors=True)
        return self._record

    def _fail(self, status, reason):
        one_line = " ".join(self._redactor.text("%s" % reason).split())
        self._record.update(status=status, reason=one_line)

    def _settle(self):
        self._signals.sleep(self._job["settle_s"])
        if self._signals.terminated:
            raise PointFailedError("interrupted", "stopped before the workload began")

    def _check(self, step):
        """Run one step that must succeed before the workload may begin, unless it is not required."""
        problem = self._ask(step, "before")
        if self._signals.terminated:
            raise PointFailedError("interrupted", "stopped before the workload began")
        if problem and step["required"]:
            raise PointFailedError("failed", "before the workload, %s" % problem)

    def _ask(self, step, when):
        """Run a step, keep what it printed if it has a log; return what is wrong, or None."""
        if self._signals.terminated:
            return None
        name = "'%s'" % " ".join(step["argv"])
        printed = Captured(self._redactor)
        log = None
        try:
            if step["log"]:
                log = LogFile(self._job["dir"], step["log"], self._redactor)
            sink = Both(printed, log) if log else printed
            outcome = self._execute(step, (sink, sink), step["timeout_s"])
        except (PointFailedError, execute.OutputError) as error:
            return "%s" % error
        finally:
            if log:
                self._close(log, step=when)
        text = printed.text()
        if outcome.ending == execute.TIMEOUT:
            return "%s had not ended after %g s" % (name, step["timeout_s"])
        if outcome.ending == execute.OUTPUT_LOST:
            return outcome.error
        if outcome.rc != 0:
            return "%s %s: %s" % (name, _describe_rc(outcome.rc or 0), text[-300:])
        if step["expect"] and not re.search(step["expect"], text):
            return "%s did not print '%s' but: %s" % (name, step["expect"], text[:300])
        return None

    def _measure(self):
        """Run the workload; record what it and the host did, and its logs however it ended."""
        job, record = self._job, self._record
        logs = [LogFile(job["dir"], job[name], self._redactor) for name in ("stdout_name", "stderr_name")]
        observer = Observer(job["root"], job["throttle_file"])
        started_at, used_s = time.time(), _cpu_of_ended_children_s()
        outcome = self._execute(job, logs, job["timeout_s"], observer.sample)
        used_s = _cpu_of_ended_children_s() - used_s
        record.update(
            observed=dict(observer.result(), command_cpus=_per_second(used_s, outcome.duration_s)),
            started_at=_utc(started_at),
            finished_at=_utc(time.time()),
            duration_s=round(outcome.duration_s, 3),
            rc=outcome.rc,
        )
        problems = [self._close(log) for log in logs] + [self._keep(pattern) for pattern in job["keep"]]
        name = job["argv"][0]
        self._require_end(outcome, name, job["timeout_s"])
        if outcome.rc != 0:
            last_words = logs[1].last_line() or logs[0].last_line()
            raise PointFailedError("failed", "%s %s: %s" % (name, _describe_rc(outcome.rc), last_words))
        for problem in filter(None, problems):
            raise PointFailedError("failed", problem)

    def _close(self, log, **more):
        """Record a log; return what is wrong if it was lost."""
        try:
            self._record["logs"].append(dict(log.close(), **more))
        except execute.OutputError as error:
            return error
        return None

    def _keep(self, pattern):
        """Copy files from the work folder to the logs; return what is wrong, if anything."""
        paths = sorted(glob.glob(os.path.join(self._cwd, pattern)))
        for path in paths:
            name = os.path.basename(path)
            if os.path.exists(os.path.join(self._job["dir"], name)):
                return "two files to keep are named %s" % name
            try:
                log = LogFile(self._job["dir"], name, self._redactor)
                with open(path, "rb") as source:
                    shutil.copyfileobj(source, log)
            except (IOError, OSError, execute.OutputError) as error:
                return error
            problem = self._close(log)
            if problem:
                return problem
        return None if paths else "the workload left no file '%s' in its work folder" % pattern

    def _execute(self, command, sinks, timeout_s, tick=None):
        secrets = self._job["secrets"]
        argv = [fill(word, secrets) for word in command["argv"]]
        env = dict(os.environ, **{name: fill(value, secrets) for name, value in command["env"].items()})
        try:
            return execute.execute(
                argv, env, self._cwd, sinks, timeout_s, self._signals, tick, self._job["sample_interval_s"]
            )
        except OSError as error:
            raise PointFailedError(
                "failed", "cannot start %s: %s" % (command["argv"][0], os.strerror(error.errno or 0))
            )

    @staticmethod
    def _require_end(outcome, name, timeout_s):
        if outcome.ending == execute.INTERRUPTED:
            raise PointFailedError("interrupted", "%s was stopped on request" % name)
        if outcome.ending == execute.TIMEOUT:
            raise PointFailedError("timeout", "%s had not ended after %g s" % (name, timeout_s))
        if outcome.ending == execute.OUTPUT_LOST:
            raise PointFailedError("failed", outcome.error)


def _describe_rc(rc):
    return "ended with status %d" % rc if rc >= 0 else "was ended by signal %d" % -rc


def _cpu_of_ended_children_s():
    """Return the processor seconds of all children, and theirs that they waited for, that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _per_second(used_s, duration_s):
    return round(used_s / duration_s, 3) if duration_s > 0 else None


def _utc(seconds):
    """Return the time as ISO 8601 in UTC with milliseconds."""
    return "%s.%03dZ" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)), int(seconds * 1000) % 1000)

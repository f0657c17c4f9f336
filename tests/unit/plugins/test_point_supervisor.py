# -*- coding: utf-8 -*-
"""How a point is run on its host, with real processes. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import fcntl
import hashlib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import unittest

from ansible_collections.perflab.bench.plugins.module_utils import detach, execute, point_supervisor, redact

PLANNED = {
    "run_id": "20261130T101500Z-freq_sweep",
    "study": "freq_sweep",
    "point_id": "001-sleep-as_found-r1",
    "host": "kunpeng-1",
    "workload": "sleep",
    "factors": {"frequency": "as_found"},
    "params": {"seconds": 1},
    "repeat": 1,
    "order": 1,
    "tool_version": None,
    "setting": None,
}
SECRET = "s3same-öffne-dich"


def sh(script, **more):
    return dict({"argv": ["sh", "-c", script], "env": {}}, **more)


def step(script, **more):
    return sh(script, **dict({"expect": None, "log": None, "timeout_s": 10.0, "required": True}, **more))


class PointCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        with io.open(self.path(name), encoding="utf-8") as handle:
            return handle.read()

    def start(self, script, **more):
        """Start the supervisor as the module does; return its PID."""
        job = {
            "dir": self.folder,
            "point": PLANNED,
            "secrets": {},
            "before": [],
            "after": [],
            "stdout_name": "stdout.log",
            "stderr_name": "stderr.log",
            "timeout_s": 30.0,
            "settle_s": 0.0,
            "sample_interval_s": 1.0,
            "cwd": None,
            "keep": [],
            "throttle_file": None,
            "root": "/",
        }
        job.update(sh(script), **more)
        lock = detach.take_lock(self.path(point_supervisor.LOCK_FILE))
        try:
            return detach.detach(lambda: point_supervisor.supervise(job), lock, "perflab-point")
        finally:
            os.close(lock)

    def wait(self):
        """Wait as the action does, for the lock; return the record, or None if there is none."""
        with open(self.path(point_supervisor.LOCK_FILE)) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
        if not os.path.exists(self.path("point.json")):
            return None
        return json.loads(self.text("point.json"))

    def run_point(self, script, **more):
        self.start(script, **more)
        return self.wait()


class RecordTest(PointCase):
    def test_a_good_point(self):
        point = self.run_point("echo out; echo err >&2; sleep 0.3")
        self.assertEqual(("ok", None, 0), (point["status"], point["reason"], point["rc"]))
        self.assertEqual(["sh", "-c", "echo out; echo err >&2; sleep 0.3"], point["argv"])
        self.assertEqual(PLANNED, {name: point[name] for name in PLANNED})
        self.assertTrue(0.28 <= point["duration_s"] < 30)  # Python 2.7 knows time to 10 ms
        self.assertEqual(("out\n", "err\n"), (self.text("stdout.log"), self.text("stderr.log")))
        sha256 = hashlib.sha256(b"out\n").hexdigest()
        self.assertIn({"name": "stdout.log", "bytes": 4, "sha256": sha256}, point["logs"])
        self.assertIsNotNone(point["observed"]["load1"])
        self.assertFalse(os.path.exists(self.path("work")))

    def test_a_failed_benchmark_keeps_its_logs_and_says_its_last_words(self):
        point = self.run_point("echo half a result; echo 'Connection refused' >&2; exit 3")
        self.assertEqual(("failed", 3), (point["status"], point["rc"]))
        self.assertEqual("sh ended with status 3: Connection refused", point["reason"])
        self.assertEqual(["stdout.log", "stderr.log"], [log["name"] for log in point["logs"]])

    def test_a_benchmark_that_a_signal_ended(self):
        point = self.run_point("kill -9 $$")
        self.assertEqual("sh was ended by signal 9:", point["reason"])

    def test_a_program_that_is_not_there(self):
        point = self.run_point("", argv=["no-such-benchmark"])
        self.assertEqual("failed", point["status"])
        self.assertEqual("cannot start no-such-benchmark: No such file or directory", point["reason"])
        self.assertIsNone(point["started_at"])

    def test_a_step_before_that_fails_keeps_the_point_from_running(self):
        point = self.run_point("touch %s" % self.path("ran"), before=[step("echo NOAUTH; exit 1")])
        self.assertEqual("failed", point["status"])
        self.assertIn("ended with status 1: NOAUTH", point["reason"])
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_step_before_must_print_what_is_expected(self):
        before = [step("echo $GREETING", env={"GREETING": "PONG"}, expect="^PONG$")]
        self.assertEqual("ok", self.run_point("true", before=before)["status"])
        before[0]["env"]["GREETING"] = "LOADING"
        self.assertIn("did not print '^PONG$' but: LOADING", self.run_point("true", before=before)["reason"])

    def test_a_step_that_is_not_required_keeps_its_log_and_lets_the_point_run(self):
        before = [step("echo no route; exit 1", log="ping-before.log", required=False)]
        point = self.run_point("echo out", before=before)
        self.assertEqual("ok", point["status"])
        self.assertEqual("no route\n", self.text("ping-before.log"))
        logs = {log["name"]: log.get("step") for log in point["logs"]}
        self.assertEqual({"ping-before.log": "before", "stdout.log": None, "stderr.log": None}, logs)

    def test_a_step_that_does_not_end(self):
        point = self.run_point("true", before=[step("sleep 30", timeout_s=0.3)])
        self.assertEqual("before the workload, 'sh -c sleep 30' had not ended after 0.3 s", point["reason"])

    def test_steps_after_run_also_after_a_workload_that_failed(self):
        after = [step("exit 1"), step("echo 0.5", log="ping-after.log")]
        point = self.run_point("exit 3", after=after)
        self.assertEqual(("failed", 3), (point["status"], point["rc"]))
        self.assertEqual("0.5\n", self.text("ping-after.log"))

    def test_the_processor_time_of_the_workload_alone_is_counted(self):
        burn = "exec %s -c 'import os\nwhile sum(os.times()[:2]) < 0.6: pass'" % sys.executable
        idle = self.run_point("sleep 0.3", before=[step(burn)], after=[step(burn)])
        self.assertLess(idle["observed"]["command_cpus"] * idle["duration_s"], 0.3)
        os.unlink(self.path("point.json"))
        busy = self.run_point(burn)
        self.assertGreater(busy["observed"]["command_cpus"] * busy["duration_s"], 0.5)

    def test_files_to_keep_become_logs(self):
        point = self.run_point("echo {} > result.json", keep=["*.json"])
        self.assertEqual("{}\n", self.text("result.json"))
        self.assertEqual("result.json", point["logs"][-1]["name"])

    def test_a_file_to_keep_that_is_missing(self):
        point = self.run_point("true", keep=["result.json"])
        self.assertEqual("failed", point["status"])
        self.assertIn("left no file 'result.json'", point["reason"])

    def test_a_full_disk_is_named_and_leaves_no_cut_log(self):
        os.symlink("/dev/full", self.path("stdout.log"))
        point = self.run_point("while :; do echo 1234567890; done")
        self.assertEqual("failed", point["status"])
        self.assertIn("cannot write %s: No space left on device" % self.path("stdout.log"), point["reason"])
        self.assertEqual(["stderr.log"], [log["name"] for log in point["logs"]])
        self.assertFalse(os.path.lexists(self.path("stdout.log")))


class EndTest(PointCase):
    def pid_of(self, name):
        """Return the PID that the benchmark writes to the file *name*, as soon as it does."""
        for _attempt in range(100):
            if os.path.exists(self.path(name)) and self.text(name).strip():
                return int(self.text(name))
            time.sleep(0.05)
        raise AssertionError("%s was not written" % name)

    def assert_gone(self, pid):
        for _attempt in range(40):
            try:
                with open("/proc/%d/stat" % pid) as handle:
                    if handle.read().rpartition(")")[2].split()[0] == "Z":
                        return
            except (IOError, OSError):
                return
            time.sleep(0.05)
        raise AssertionError("process %d is still there" % pid)

    def test_a_timeout_ends_the_whole_process_group(self):
        point = self.run_point("sleep 60 & echo $! > %s; wait" % self.path("pid"), timeout_s=0.5)
        self.assertEqual(("timeout", None), (point["status"], point["rc"]))
        self.assertEqual("sh had not ended after 0.5 s", point["reason"])
        self.assert_gone(self.pid_of("pid"))

    def test_a_group_that_ignores_sigterm_is_killed(self):
        term_grace_s, execute._TERM_GRACE_S = execute._TERM_GRACE_S, 0.3
        self.addCleanup(setattr, execute, "_TERM_GRACE_S", term_grace_s)
        script = "trap '' TERM; echo $$ > %s; while :; do sleep 0.1; done" % self.path("pid")
        self.assertEqual("timeout", self.run_point(script, timeout_s=0.5)["status"])
        self.assert_gone(self.pid_of("pid"))

    def test_what_a_benchmark_leaves_behind_is_ended(self):
        point = self.run_point("sleep 60 & echo $! > %s" % self.path("pid"))
        self.assertEqual("ok", point["status"])
        self.assertTrue(point["duration_s"] < 5)
        self.assert_gone(self.pid_of("pid"))

    def test_sigterm_to_the_supervisor_interrupts_the_point(self):
        supervisor = self.start("sleep 60 & echo $! > %s; wait" % self.path("pid"))
        benchmark = self.pid_of("pid")
        os.kill(supervisor, signal.SIGTERM)
        point = self.wait()
        self.assertEqual(("interrupted", None), (point["status"], point["rc"]))
        self.assert_gone(benchmark)

    def test_sigterm_while_settling(self):
        supervisor = self.start("true", settle_s=60)
        time.sleep(0.3)
        os.kill(supervisor, signal.SIGTERM)
        self.assertEqual("interrupted", self.wait()["status"])

    def test_a_killed_supervisor_gives_the_lock_back(self):
        supervisor = self.start("echo $$ > %s; exec sleep 60" % self.path("pid"))
        self.addCleanup(os.kill, self.pid_of("pid"), signal.SIGKILL)
        self.assertIsNone(detach.take_lock(self.path(point_supervisor.LOCK_FILE)))
        os.kill(supervisor, signal.SIGKILL)
        self.assertIsNone(self.wait())

    def test_the_supervisor_holds_nothing_of_the_session(self):
        supervisor = self.start("sleep 1")
        time.sleep(0.3)
        for descriptor in range(3):
            self.assertEqual("/dev/null", os.readlink("/proc/%d/fd/%d" % (supervisor, descriptor)))
        self.assertNotEqual(os.getsid(0), os.getsid(supervisor))
        self.wait()


class SecretTest(PointCase):
    def test_a_secret_is_nowhere_in_what_is_kept(self):
        point = self.run_point(
            'echo "$1"; echo "$PASSWORD" >&2; echo "$1" > dump.txt; exit 1',
            argv=["sh", "-c", 'echo "$1"; echo "wrong: $PASSWORD" >&2; echo "$1" > dump', "-", "{secret:db}"],
            env={"PASSWORD": "{secret:db}"},
            secrets={"db": SECRET},
            keep=["dump"],
        )
        self.assertEqual("ok", point["status"])
        self.assertEqual("{secret:db}", point["argv"][-1])
        for name in ("stdout.log", "stderr.log", "dump"):
            self.assertIn("{secret:db}", self.text(name))
        for name in os.listdir(self.folder):
            self.assertNotIn("s3same", self.text(name))

    def test_a_secret_in_a_reason(self):
        point = self.run_point(
            'echo "bad password $P" >&2; exit 1', env={"P": "{secret:db}"}, secrets={"db": SECRET}
        )
        self.assertEqual("sh ended with status 1: bad password {secret:db}", point["reason"])

    def test_a_secret_where_a_reason_is_cut(self):
        before = [step("printf '%0290d' 0; echo $P", env={"P": "{secret:db}"}, expect="PONG")]
        point = self.run_point("true", before=before, secrets={"db": SECRET})
        self.assertTrue(point["reason"].endswith("0{secret:db"), point["reason"])

    def test_a_secret_written_out_in_argv(self):
        point = self.run_point("echo " + SECRET, secrets={"db": SECRET})
        self.assertEqual("echo {secret:db}", point["argv"][-1])

    def test_a_secret_is_seen_wherever_the_stream_is_cut(self):
        redactor = redact.Redactor({"short": "abab", "long": "ababcd", "empty": ""})
        data = b"xababab-ababcdabab"
        for cut in range(len(data) + 1):
            for size in (1, 2, 5):
                stream = redact.RedactedStream(redactor)
                pieces = [data[:cut]] + [data[i : i + size] for i in range(cut, len(data), size)]
                out = b"".join(map(stream.feed, pieces)) + stream.flush()
                self.assertEqual(b"x{secret:short}ab-{secret:long}{secret:short}", out)

    def test_a_placeholder_without_a_secret(self):
        with self.assertRaises(redact.UnknownSecretError):
            redact.fill("{secret:typo}", {"redis": "x"})

"""sysbench: what its output says, in all forms from version 0.4 to 1.1.

A run goes from its banner, or the list of its options, to the line on the execution time of its threads. What
the run printed while it went on (interval lines, histograms) is counted or skipped. Checkpoint reports are
runs, with a test of their own. A run that ends early is a failure: part of its figures is missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collector.metrics import METRICS, Better
from collector.parsers.identity import TestIdentity
from collector.parsers.runs import Runs
from collector.parsers.sysbench_lines import figures
from collector.parsers.text import pieces
from collector.samples import Parsed, ParseIssue, Sample

ORDER = ("cpu", "memory", "threads", "mutex", "fileio", "oltp")

_IN_JSON = re.compile(r"Number of threads|total number of events|sysbench \d")
# Anchored, and led to the first "sysbench", so that a line of thousands of them is searched once.
_COMMAND = re.compile(
    r"^(?:(?!sysbench).)*sysbench\S*(?: .*)? (?:run|prepare|cleanup)`?\s*(?:$|[|>&;2\\])"
    r"|^(?:(?!sysbench).)*[$#>%] (?:(?!sysbench)\S)*sysbench +\S.* --"
)
_PASSWORD = re.compile(r"(password=)\S+")
# The first letter gets lost when people copy it.
_BANNER = re.compile(r"\bs?ysbench v?(?P<version>\d+\.\d[^\s:]*)(?::\s+multi-threaded|\s+\(using)")
_OPTIONS = "Running the test with following options"
_NO_RUN = re.compile(r"Removing test files|bytes written")  # what prepare and cleanup end with
_THREADS = re.compile(r"Number of threads: *(?P<threads>\d{1,9})(?!\S)")
_CHECKPOINT = re.compile(r"\[ *(?P<at>\d+(?:\.\d+)?m?s) *\] *Checkpoint report")
_INTERVAL = re.compile(r"\[ *\d+(?:\.\d+)?m?s *\] *(?:th(?:rea)?ds: |reads: |\d)")
_TIME_LIMIT = "Time limit exceeded"
# A report that somebody copied without its banner begins with one of these.
_SECTION = re.compile(
    r"(?:CPU speed|File operations|Throughput|(?:SQL|OLTP test|General) statistics"
    r"|Test execution summary):\s*$|(?:Total operations|Operations performed): "
)
_SIGNS = {
    "cpu": re.compile(r"CPU speed:|CPU performance benchmark|Primer? numbers? limit|Maximum prime number"),
    "memory": re.compile(r"memory (?:operations )?speed test|Mi?B transferred \("),
    "threads": re.compile(r"thread subsystem performance test"),
    "mutex": re.compile(r"mutex performance test"),
    "fileio": re.compile(r"Extra file open flags|File operations:|fsync: +IOPS=|Requests/sec executed"),
    "oltp": re.compile(r"SQL statistics:|OLTP test"),
}
_VERSION_SIGNS = {"0.4": re.compile(r"per-request statistics:"), "0.5": re.compile(r"response time:\s*$")}
_NAMED = re.compile(
    r"(?<![\w-])(?P<test>cpu|memory|threads|mutex|fileio|oltp)(?:_\w+)?(?![\w=:])", re.IGNORECASE
)
_FATAL = re.compile(r"(?:FATAL|PANIC): .*|Segmentation fault.*|sysbench: command not found.*")
_ALERT = re.compile(r"(?:ALERT|CRITICAL): .*")

_RATED = ("memory", "fileio", "oltp")  # tests that print a rate in every version
# A test that only writes reads nothing: a zero that is true, and no result.
_PARTS = ("reads_per_s", "writes_per_s", "fsyncs_per_s", "read_bandwidth", "write_bandwidth")


def parse(text: str, unnamed: str = "unnamed") -> Parsed:
    """All that a sysbench log says; a pure function that never raises.

    FATAL messages, a run without events and one that is cut off are fatal issues. What is no number is an
    issue, not a sample, and so is a rate of zero.

    :param unnamed: the test of a run that says nowhere which it is.
    """
    reader = _Reader(unnamed)
    for line, piece in pieces(text, _IN_JSON):
        if piece.strip():
            reader.read(line, piece)
    reader.finish(last_line=text.count("\n") + 1)
    return Parsed(reader.samples, reader.issues)


def identity(title: str) -> TestIdentity:
    """Every title is a test of its own: versions up to 0.5 measure otherwise, and are named in the title."""
    return TestIdentity(title, title)


@dataclass
class _Run:
    """A run whose lines are being read.

    :ivar started: it is a run, not a prepare or a cleanup.
    :ivar partial: it is one of several reports of a run: its events are those since the report before, but
        its time counts from the run's beginning.
    :ivar figures: by metric, each with its line.
    """

    line: int
    text: str
    version: str = ""
    test: str = ""
    checkpoint: str = ""
    started: bool = False
    failed: bool = False
    time_limit: bool = False
    partial: bool = False
    figures: dict[str, tuple[float | None, int]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether it has its last line; fileio of 1.1 ends with the latencies."""
        short = "fsyncs_per_s" in self.figures and "duration" not in self.figures
        return ("lat_sum" if short else "time_stddev") in self.figures

    @property
    def did_nothing(self) -> bool:
        done, _ = self.figures.get("events") or self.figures.get("lat_sum") or (None, 0)
        return done == 0

    @property
    def fixed_work(self) -> bool:
        """Whether the total time is a result: what a given number of events took.

        It is for mutex, whose threads have one event each. cpu and threads up to 0.5 do 10000 events unless
        asked otherwise; 0.4 says when a time limit ended them, 0.5 does not, but a number of events that
        somebody chose is round. From 1.0 on they go on for a given time, as perflab's own runs do; whoever
        fixes the number instead finds the same in the rate.
        """
        if self.partial:
            return False
        if self.test == "mutex":
            return True
        events, _ = self.figures.get("events", (None, 0))
        chosen = events is not None and events % 1000 == 0 and not self.time_limit
        return chosen and self.test in ("cpu", "threads") and self.version.startswith("0.")

    @property
    def title(self) -> str:
        title = self.test
        if self.version.startswith("0."):
            title += f" (sysbench {'.'.join(self.version.split('.')[:2])})"
        return f"{title}, checkpoint {self.checkpoint}" if self.checkpoint else title

    def report(self, line: int, text: str, checkpoint: str = "") -> _Run:
        """A report of the same run: that of a checkpoint, or what comes after one."""
        known = {name: figure for name, figure in self.figures.items() if name == "threads"}
        return _Run(
            line, text, self.version, self.test, checkpoint, started=True, partial=True, figures=known
        )

    def note(self, figures: dict[str, float | None], line: int) -> None:
        self.started = True
        self.figures.update({metric: (value, line) for metric, value in figures.items()})

    def forget(self, line: int) -> None:
        """Take back what was read on *line*."""
        self.figures = {metric: figure for metric, figure in self.figures.items() if figure[1] != line}

    def results(self) -> Iterator[tuple[str, float | None, int]]:
        """Metric, value and line of its figures, and of what follows from them."""
        events, duration, mean, stddev = (
            self.figures.get(metric, (None, 0))[0]
            for metric in ("events", "duration", "events_avg", "events_stddev")
        )
        fixed = self.fixed_work
        rated = fixed or self.partial or self.test in _RATED or "events_per_s" in self.figures
        for metric, (value, line) in self.figures.items():
            yield "total_time" if metric == "duration" and fixed else metric, value, line
            if metric == "events" and events and duration and not rated:
                yield "events_per_s", events / duration, line
            if metric == "events_stddev" and mean and stddev is not None:
                yield "events_spread", stddev / mean * 100, line


class _Reader:
    """Reads a log piece by piece."""

    def __init__(self, unnamed: str) -> None:
        self.samples: list[Sample] = []
        self.issues: list[ParseIssue] = []
        self._runs = Runs(_COMMAND)
        self._named = unnamed
        self._run: _Run | None = None  # None between runs

    def read(self, line: int, text: str) -> None:
        run = self._run
        if run and _INTERVAL.search(text):
            count, _ = run.figures.get("intervals", (0, 0))
            run.note({"intervals": (count or 0) + 1}, line)
        elif banner := _BANNER.search(text):
            self._begin(_Run(line, text, banner["version"]))
            self._read_words(text[: banner.start()])
        elif _OPTIONS in text:
            if run is None or run.started:
                run = self._begin(_Run(line, text))
            run.started = True
        elif checkpoint := _CHECKPOINT.search(text):
            run = run or _Run(line, text)
            run.started = run.started and run.checkpoint != ""  # between checkpoints it reports nothing
            self._begin(run.report(line, text, checkpoint["at"]))
        elif fatal := _FATAL.search(text):
            self._issue(line, text, fatal[0].strip(), fatal=True)
            if run:
                run.failed = True
        elif alert := _ALERT.search(text):
            self._issue(line, text, alert[0].strip())
        else:
            if text.startswith("#") or _COMMAND.search(text):
                self._end()  # sysbench prints neither headings nor commands
            elif run is None and _SECTION.search(text):
                self._begin(_Run(line, text))
            if self._run is None:
                self._read_words(text)
            else:
                self._read_in_run(self._run, line, text)

    def finish(self, last_line: int) -> None:
        """Take in that the log ends.

        :param last_line: the line that no line end follows; its figures may have lost digits.
        """
        if self._run and not self._run.complete:
            self._run.forget(last_line)
        self._end()

    def _read_words(self, text: str) -> None:
        if named := _NAMED.search(text):
            self._named = named["test"].lower()
        self._runs.read(_PASSWORD.sub(r"\1...", text))

    def _read_in_run(self, run: _Run, line: int, text: str) -> None:
        if threads := _THREADS.search(text):
            run.note({"threads": float(threads["threads"])}, line)
        elif _NO_RUN.search(text):
            self._end()
        else:
            run.time_limit |= _TIME_LIMIT in text
            run.test = next((test for test, sign in _SIGNS.items() if sign.search(text)), run.test)
            run.version = run.version or next(
                (version for version, sign in _VERSION_SIGNS.items() if sign.search(text)), ""
            )
            self._read_figures(run, line, text)

    def _read_figures(self, run: _Run, line: int, text: str) -> None:
        found = figures(text)
        if not found:
            return
        if run.figures.keys() & found.keys():  # the run before was cut off, and has no banner after it
            run = self._begin(_Run(line, text))
        run.note(found, line)
        if run.complete:
            self._end()
            if run.checkpoint:
                self._begin(run.report(line, text))

    def _begin(self, run: _Run) -> _Run:
        self._end()
        self._run = run
        return run

    def _end(self) -> None:
        run, self._run = self._run, None
        if run is None or not run.started:
            return
        run.test = run.test or self._named
        if not run.complete and not run.failed:
            self._issue(run.line, run.text, "the run that begins here is cut off", fatal=True)
        if run.did_nothing:
            _, line = run.figures.get("events") or run.figures["lat_sum"]
            self._issue(line, run.text, f"{run.title} did not do a single event", fatal=True)
        else:
            self._add(run)

    def _add(self, run: _Run) -> None:
        """Add a sample for each figure of the run; report those that are no numbers, and rates of zero."""
        title = run.title
        self._runs.begin()
        number = self._runs.of(title)
        for metric, value, line in run.results():
            if value is None or not math.isfinite(value):
                self._issue(line, "", f"no value for {title}: {metric} is not a number")
            elif value == 0 and METRICS[metric].better is Better.HIGHER:
                if metric not in _PARTS:
                    self._issue(line, "", f"no value for {title}: {metric} is 0")
            else:
                self.samples.append(Sample(title, metric, value, line, number, self._runs.label))

    def _issue(self, line: int, text: str, reason: str, fatal: bool = False) -> None:
        self.issues.append(ParseIssue(line, text.strip()[:200], reason, fatal))

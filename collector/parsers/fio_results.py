"""What all forms of fio's output have in common: runs, jobs with their errors, and samples of a direction."""

from __future__ import annotations

import errno
import math
import os
import re
from collections import Counter
from collections.abc import Mapping

from collector.metrics import METRICS
from collector.parsers.runs import Runs
from collector.samples import ParseIssue, Sample

DIRECTIONS = ("read", "write", "trim", "mixed")  # mixed: the three together, by unified_rw_reporting
SYNCED = "write"  # the direction whose data fsync and its kin bring to the disk
ALL_CLIENTS = "All clients"
MIB = 2**20

_COMMAND = re.compile(r"\bfio(?:\.exe)?`? +-")
_NOT_WORDS = re.compile(
    r"^\s|^(?:Jobs: |hostname=|Starting |fio-\d|fio: |note: |Disk stats|\.\.\.)|\(g=\d+\): rw=|Laying out IO"
)


class Results:
    """Collects the samples and issues of a log's runs and jobs.

    :param causes: error numbers in words, as the log itself explains them.
    """

    def __init__(self, causes: Mapping[int, str]) -> None:
        self.samples: list[Sample] = []
        self.issues: list[ParseIssue] = []
        self._runs = Runs(_COMMAND)
        self._causes = causes
        self._names: Counter[str] = Counter()
        self._threads: tuple[int, int | None] = (1, None)  # of the present job: where it tells them, how many

    def words(self, text: str) -> None:
        """Take in text around results, which may introduce a run."""
        if not _NOT_WORDS.search(text):
            self._runs.read(text)

    def new_run(self) -> None:
        """What is added from now on belongs to a further run."""
        self.run_of("fio")

    def run_of(self, title: str) -> None:
        """What is added from now on belongs to *title*, of a further run if the present one has it."""
        before = self._runs.number
        if self._runs.of(title) != before:
            self._names.clear()

    def take_back_run(self) -> None:
        """Drop the samples of the present run: what is added from now on is a later state of it."""
        kept = [sample for sample in self.samples if sample.run != self._runs.number]
        for first in self.samples[len(kept) : len(kept) + 1]:
            self.issue(first.line, "", "left out: a later part of the log has this run's later state")
        self.samples = kept
        self._names.clear()

    def title(self, name: str, host: str | None = None) -> str:
        """The title of a job that begins: jobs of one run that have the same name are numbered."""
        name = name.strip() or "fio"
        title = f"{name} on {host}" if host else name
        self._names[title] += 1
        return title if self._names[title] == 1 else f"{title} #{self._names[title]}"

    def job(
        self, line: int, title: str, error: int, cause: str | None = None, threads: int | None = None
    ) -> None:
        """Add what a job says about itself; an error is a fatal issue.

        :param error: its errno, 0 for none.
        :param cause: the error in words.
        :param threads: its numjobs, which are added to each of its directions.
        """
        self._threads = (line, threads)
        self.add(line, title, {"err": error if error >= 0 else None})
        if error:
            words = in_words(error, cause or self._causes.get(error))
            self.issue(line, title, f"{title} failed: {words}", fatal=True)

    def rates(
        self, line: int, test: str, iops: float | None, bandwidth: float | None, io: float, duration: float
    ) -> None:
        """Add how much a direction of the present job did and how fast.

        :param bandwidth: bytes/s.
        :param io: bytes.
        :param duration: seconds.
        """
        rates = {"iops": iops, "bandwidth": bandwidth and bandwidth / MIB}
        if missing := [metric for metric, rate in rates.items() if not rate]:
            self.issue(line, test, f"no value for {test}: {' and '.join(missing)}")
        self.add(line, test, {metric: rate or None for metric, rate in rates.items()})
        self.add(line, test, {"io": io, "duration": duration})
        where, threads = self._threads
        self.add(where, test, {"threads": threads})

    def add(self, line: int, test: str, values: Mapping[str, float | None]) -> None:
        """Add a sample for each value that can be; a percentile that is no metric is left out."""
        self.samples.extend(
            Sample(test, metric, value, line, self._runs.number, self._runs.label)
            for metric, value in values.items()
            if value is not None and 0 <= value < math.inf and metric in METRICS
        )

    def issue(self, line: int, text: str, reason: str, fatal: bool = False) -> None:
        self.issues.append(ParseIssue(line, text.strip()[:200], reason, fatal))


def percentile(latency: str, percent: float) -> str:
    """The metric's name: clat and 99.9 make clat_p99_9."""
    return f"{latency}_p{percent:g}".replace(".", "_")


def in_words(error: int, cause: str | None) -> str:
    """An error number with its cause and its name; numbers of other systems than Linux have no name here.

    :param cause: the log's own words for it.
    """
    name = errno.errorcode.get(error)
    known = os.strerror(error) if name else None
    if name and cause in (None, known):
        return f"{known} ({name})"
    return f"{cause} (error {error})" if cause else f"error {error}"

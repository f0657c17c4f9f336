"""fio's output for people, of fio 2 (KB is 1024 bytes) and fio 3: every line names its own unit."""

from __future__ import annotations

import re

from collector.parsers.fio_errors import CAUSE
from collector.parsers.fio_results import ALL_CLIENTS, SYNCED, Results, percentile
from collector.parsers.text import number

_DIRECTION = r"^\s*(?P<direction>read|write|trim|mixed)\s*: "
_AMOUNT = r"(?P<{0}>[\d.]+)\s*(?P<{0}_unit>[kKMGTPE]?i?)(?P<{0}_bits>bit|b)?B?"
_JOB = re.compile(
    r"^(?P<name>.*?): \(groupid=\d+, jobs=(?P<jobs>\d{1,9})\): err=\s*(?P<error>-?\d{1,9})\b(?P<cause>.*?)"
    r": pid=(?P<pid>\d{1,9})\b"
)
_FIO_2 = re.compile(
    rf"{_DIRECTION}io=\s*{_AMOUNT.format('io')}, bw=\s*{_AMOUNT.format('bw')}/s,"
    r" iops=\s*(?P<iops>[\d.]+[kKMG]?)\s*, runt=\s*(?P<runtime>\d+)\s*msec"
)
_FIO_3 = re.compile(
    rf"{_DIRECTION}IOPS=(?P<iops>[\d.]+[kKMG]?), BW={_AMOUNT.format('bw')}(?:/s)? *\([^)]*\)"
    rf"\({_AMOUNT.format('io')}/(?P<runtime>\d+)msec\)"
)
_UNIT = r"\((?P<unit>nsec|usec|msec|sec)\)\s*:"
_FIGURE = r"=\s*(?P<{0}>[^\s,]+)"
_LATENCY = re.compile(
    rf"^\s*(?P<kind>slat|clat|lat|sync)\s*{_UNIT} min{_FIGURE.format('min')}\s*,"
    rf" max{_FIGURE.format('max')}\s*, avg{_FIGURE.format('mean')}\s*, stdev{_FIGURE.format('stddev')}\s*$"
)
_TABLE = re.compile(rf"^\s*(?P<kind>slat|clat|lat|sync) percentiles {_UNIT}\s*$")
_IN_TABLE = re.compile(r"^\s*\|")
_PERCENTILE = re.compile(r"(?P<percent>\d{1,3}\.\d+)th=\[\s*(?P<value>\d+)\]", re.ASCII)
_HOST = re.compile(r"^<(?P<host>[\w.:-]+)> ?|(?<=\))<(?P<after>[\w.:-]+)> *$")
_BEGINS = re.compile(r"^\S.*: \(g=\d+\): rw=|^fio-\d+\.\d+\S*$|^Starting (?:\d+ (?:process|thread)|$)")

_MS = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0, "sec": 1e3}
_POWERS = " KMGTPE"


def read(pieces: list[tuple[int, str]], results: Results) -> None:
    """Add what the text says."""
    reader = _Reader(results)
    for line, text in pieces:
        reader.read(line, text)
    reader.finish()


class _Reader:
    """Reads the text line by line; every ``_read_x`` tells whether the line was an x."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._title: str | None = None  # the job whose lines are being read
        self._test: str | None = None  # and the direction of it
        self._table: tuple[str, float] | None = None  # kind of latency and factor to ms
        self._pids: dict[str, str] = {}  # of the jobs of the present run
        self._begun = False  # fio has said what it is going to do, and no result yet
        self._in_run = False  # a job has a result, and the status of its group is still to come
        self._host: str | None = None
        self._is_client = False
        self._last = (1, "")

    def read(self, line: int, text: str) -> None:
        text = self._without_host(text)
        if not text.strip():
            return
        self._last = (line, text)
        readers = (self._read_job, self._read_rates, self._read_latency, self._read_percentiles)
        if any(read(line, text) for read in readers):
            return
        self._table = None
        if text.startswith("Run status group"):
            self._title = self._test = None
            self._in_run = False
        elif text.lstrip().startswith("IO depths") and self._title == ALL_CLIENTS:
            self._in_run = False  # nothing that counts follows, and no status
        elif _BEGINS.search(text):
            self._check_end(line, text)
            self._begun, self._in_run, self._title, self._test = True, False, None, None
        elif not self._in_run:
            self._results.words(text)

    def finish(self) -> None:
        """Report what the end of the log has cut off."""
        line, text = self._last
        self._check_end(line, text)
        if self._begun:
            self._results.issue(line, text, "the log ends before fio has a result", fatal=True)

    def _check_end(self, line: int, text: str) -> None:
        """Report a run that lacks what follows its results: the last of them may have lost digits."""
        if self._in_run:
            reason = f"the run's end is missing after the results of {self._title}"
            self._results.issue(line, text, reason, fatal=True)

    def _without_host(self, text: str) -> str:
        """The line without the client's name before it, which stands for the jobs that follow."""
        self._is_client = self._is_client or text.startswith("hostname=")
        if self._is_client and (found := _HOST.search(text)):
            self._host = found["host"] or found["after"]
            return text[: found.start()] + text[found.end() :]
        return text

    def _read_job(self, line: int, text: str) -> bool:
        job = _JOB.match(text)
        if not job:
            return False
        self._table = self._test = None
        name = job["name"]
        of_all = name == ALL_CLIENTS
        if not self._in_run and not (of_all and self._pids):
            self._begin_run(job)
        title = self._results.title(name, None if of_all else self._host)
        self._pids.setdefault(name, job["pid"])
        self._title, self._in_run, self._begun = title, True, False
        cause = CAUSE.search(job["cause"])
        words = cause["words"].strip() if cause else None
        self._results.job(line, title, int(job["error"]), words, int(job["jobs"]))
        return True

    def _begin_run(self, job: re.Match[str]) -> None:
        """Begin a run, or take back the one before if this is a later state of it (--status-interval)."""
        known = self._pids.get(job["name"], "0")
        if not self._begun and known == job["pid"] and known.strip("0"):
            self._results.take_back_run()
        else:
            self._results.new_run()
        self._pids = {}

    def _read_rates(self, line: int, text: str) -> bool:
        rates = _FIO_3.match(text) or _FIO_2.match(text)
        if not rates:
            return False
        if self._title is None:
            self._results.issue(line, text, "a result whose job is not named before it")
            return True
        is_fio_2 = rates.re is _FIO_2
        self._table = None
        self._test = f"{self._title}: {rates['direction']}"
        bandwidth, io = (_bytes(rates, name, is_fio_2) for name in ("bw", "io"))
        duration = (number(rates["runtime"]) or 0) / 1000
        self._results.rates(line, self._test, _scaled(rates["iops"]), bandwidth, io or 0, duration)
        return True

    def _read_latency(self, line: int, text: str) -> bool:
        found = _LATENCY.match(text)
        if found and (test := self._test_of(found["kind"])):
            self._table = None
            figures = {part: _scaled(found[part]) for part in ("min", "max", "mean", "stddev")}
            missing = [f"{found[part]} {part}" for part, figure in figures.items() if figure is None]
            if missing:
                self._results.issue(line, text, f"no value for {found['kind']}: {', '.join(missing)}")
            scale = _MS[found["unit"]]
            values = {f"{found['kind']}_{part}": f * scale for part, f in figures.items() if f is not None}
            self._results.add(line, test, values)
        return bool(found)

    def _read_percentiles(self, line: int, text: str) -> bool:
        if table := _TABLE.match(text):
            self._table = (table["kind"], _MS[table["unit"]])
            return True
        if not _IN_TABLE.match(text):
            return False
        if self._table and (test := self._test_of(self._table[0])):
            kind, scale = self._table
            for found in _PERCENTILE.finditer(text):
                value = number(found["value"])
                metric = percentile(kind, float(found["percent"]))
                self._results.add(line, test, {metric: None if value is None else value * scale})
        return True

    def _test_of(self, kind: str) -> str | None:
        """The test that a latency belongs to; those of sync stand after all directions."""
        return f"{self._title}: {SYNCED}" if self._test and kind == "sync" else self._test


def _scaled(text: str) -> float | None:
    """12.9k as 12900; None if it is no number."""
    power = _POWERS.find(text[-1:].upper()) if text[-1:].isalpha() else 0
    figure = number(text[:-1] if power > 0 else text)
    return figure * 1000**power if figure is not None and figure >= 0 and power >= 0 else None


def _bytes(found: re.Match[str], name: str, is_fio_2: bool) -> float | None:
    """An amount in bytes: KiB is 1024, and so is the KB of fio 2; the kB of fio 3 is 1000."""
    figure, unit = number(found[name]), found[f"{name}_unit"]
    if figure is None:
        return None
    base = 1024 if is_fio_2 or unit.endswith("i") else 1000
    amount = figure * base ** max(_POWERS.find(unit[:1].upper()), 0) if unit else figure
    return amount / 8 if found[f"{name}_bits"] else amount

"""tpcc-mysql: what tpcc_start prints, in all generations, also with tpcc_load's output before it.

- intervals: ``10, 63(0):0.40, ...`` and ``10, 197(0):1.804|2.188, ...`` in seconds, today ``10, trx: 12920,
  95%: 9.483, 99%: 18.738, max_rt: 213.169, ...`` in milliseconds. A terminal may have broken them in two.
- results: transactions by kind (``[0]`` to ``[4]``) twice, the second time as a sum, checks, and TpmC.

An ``[NG]`` of the response times is usual: today's version compares milliseconds with limits in seconds. One
of the mix of transactions makes TpmC doubtful. The program prints the password; it is never repeated here.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from collector.parsers.identity import TestIdentity
from collector.parsers.runs import Runs
from collector.parsers.text import NUMBER, VALUE, number, pieces
from collector.samples import Parsed, ParseIssue, Sample

__all__ = ["ORDER", "identity", "parse"]

WHOLE = "tpcc"  # the test that all transactions together are
_KINDS = ("New-Order", "Payment", "Order-Status", "Delivery", "Stock-Level")
ORDER = (WHOLE, *_KINDS)

_IN_JSON = re.compile(r"TpmC|, trx: \d|MEASURING START")
_COMMAND = re.compile(r"\btpcc_start +[-\w]", re.ASCII)
_SECRETS = (
    re.compile(r"(\boption p with value ).*"),
    re.compile(r"(\[pass\]: *).*"),
    re.compile(r"(\s-p *)(?:\"[^\"]*\"?|'[^']*'?|\S+)"),
    re.compile(r"(--password[= ] *)\S+"),
    re.compile(r"(\btpcc_(?:start|load)(?: +[^-\s]\S*){3} +)\S+"),  # the fourth word, in the oldest version
)

_BANNER = re.compile(r"TPC-C Load Generator")
_MEASURING = re.compile(r"\bMEASURING START\b")
_CONNECTIONS = re.compile(r"\[connection\]: (?P<connections>\d+)\s*$")
_TIME = r"\d+\.\d+"
_INTERVAL_BEGINS = re.compile(r"^\s*\d+,\s+(?:trx|\d+\(\d)")
_INTERVAL_GOES_ON = re.compile(r"^(?:[\d\s.,|():%]|trx|max_rt)+$")
_INTERVAL = re.compile(
    rf"^\s*(?P<at>\d+),\s*trx: (?P<trx>\d+),\s*95%?:\s*(?P<p95>{_TIME}),\s*99%?:\s*(?P<p99>{_TIME}),"
    rf"\s*max_rt:\s*(?P<max>{_TIME}),(?P<whole>(?:\s*\d+\|{_TIME},){{3}}\s*\d+\|{_TIME}\s*$)?"
)
_OLD_INTERVAL = re.compile(
    rf"^\s*(?P<at>\d+),\s*(?P<trx>\d+)\(\d+\):(?P<p90>{_TIME})(?:\|(?P<max>{_TIME}))?"
    rf"(?P<whole>(?:,\s*\d+\(\d+\):{_TIME}(?:\|{_TIME})?){{4}}\s*$)"
)
_LONGEST_INTERVAL = 300  # characters, whatever the terminal's width
_MS_PER_S = 1000
_SECTIONS = {
    "results": re.compile(r"<Raw Results>"),
    "sums": re.compile(r"<Raw Results2\(sum ver\.\)>"),
    "mix": re.compile(r"\[transaction percentage\]"),
    "in_time": re.compile(r"\[response time"),
    "tpmC": re.compile(r"<TpmC>"),
}
_COUNTS = re.compile(
    r"^\s*\[(?P<kind>[0-4])\] sc:\s*(?P<sc>\d+)\s+lt:\s*(?P<lt>\d+)\s+rt:\s*(?P<rt>\d+)\s+fl:\s*(?P<fl>\d+)"
    rf"(?:\s+avg_rt: (?P<avg_rt>{NUMBER}) \(\d+\))?\s*$"
)
_DURATION = re.compile(rf"^\s*in (?P<duration>{NUMBER}) sec\.")
_CHECK = re.compile(
    rf"^\s*(?P<kind>{'|'.join(_KINDS)}): (?P<percent>{NUMBER})%\s+(?:\(>=\s*(?P<least>{NUMBER})%\) )?"
    r"\[(?P<verdict>OK|NG)\]"
)
_TPMC = re.compile(rf"^\s*(?P<tpmC>{VALUE}) TpmC\b")
# The program begins this with a line end and does not end it with one: an interval may follow on the line.
_ERROR = re.compile(r"^\s*(?P<code>\d{4}), (?P<state>[0-9A-Z]{5}), (?P<words>.*?)(?P<rest>\s*\d+, trx: .*)?$")
_DEADLOCK = "1213"
# After these threads end, or none begins: access, unknown database or table, too many or lost connections.
_FATAL_CODES = re.compile(r"104[0459]|1146|20\d\d")
_CRASH = re.compile(r"Segmentation fault.*")


def parse(text: str) -> Parsed:
    """All that a log of tpcc_start says; a pure function that never raises.

    Intervals without a TpmC after them are a failure: the run was cut. Deadlocks, which the program prints
    among the intervals, are counted.
    """
    reader = _Reader()
    for line, piece in pieces(text, _IN_JSON):
        if piece.strip():
            reader.read(line, _redact(piece))
    reader.finish()
    return Parsed(reader.samples, reader.issues)


def identity(title: str) -> TestIdentity:
    """All versions use the same names."""
    return TestIdentity(title, title)


def _redact(text: str) -> str:
    for secret in _SECRETS:
        text = secret.sub(r"\1***", text)
    return text


class _State(Enum):
    BEFORE = auto()
    RUNNING = auto()
    OVER = auto()  # what looks like a part of a run explains the one that was


class _Reader:
    """Reads a log line by line; every ``_read_x`` tells whether the line was an x."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.issues: list[ParseIssue] = []
        self._runs = Runs(_COMMAND)
        self._state = _State.BEFORE
        self._section = ""
        self._broken: tuple[int, str] | None = None  # an interval that may go on: its first line, its text
        self._intervals = 0
        self._deadlocks: list[int] = []
        self._codes: set[str] = set()
        self._last = (1, "")

    def read(self, line: int, text: str) -> None:
        self._last = (line, text)
        if crash := _CRASH.search(text):
            self._issue(line, text, f"the tool crashed: {crash[0]}", fatal=True)
        if error := _ERROR.match(text):
            self._read_error(line, text, error)
            text = error["rest"] or ""
        readers = (
            self._read_interval,
            self._read_begin,
            self._read_section,
            self._read_counts,
            self._read_check,
            self._read_tpmc,
        )
        if text and not any(read(line, text) for read in readers) and self._state is not _State.RUNNING:
            self._runs.read(text)

    def finish(self) -> None:
        """Report what the end of the log has cut off."""
        line, text = self._last
        if self._state is _State.RUNNING:
            self._end_run(line)
            self._issue(line, text, "the log ends before the result (TpmC)", fatal=True)
        elif self._state is _State.BEFORE and self._deadlocks:  # the log of the errors alone
            self._runs.of(WHOLE)
            self._end_run(line)

    def _read_error(self, line: int, text: str, error: re.Match[str]) -> None:
        code, words = error["code"], error["words"].strip()
        if code == _DEADLOCK:
            self._deadlocks.append(line)
        elif code not in self._codes:
            self._codes.add(code)
            fatal = _FATAL_CODES.fullmatch(code) is not None
            self._issue(line, text, f"the server's error {code}: {words}", fatal)

    def _read_interval(self, line: int, text: str) -> bool:
        if self._state is _State.OVER:
            return _INTERVAL_BEGINS.match(text) is not None
        if _INTERVAL_BEGINS.match(text):
            self._end_broken()
            self._begin_run(line, text)
            self._broken = (line, "")
        elif self._broken and not _INTERVAL_GOES_ON.match(text):
            self._end_broken()
        if self._broken is None:
            return False
        self._broken = (self._broken[0], self._broken[1] + text)
        found = _INTERVAL.match(self._broken[1]) or _OLD_INTERVAL.match(self._broken[1])
        if (found and found["whole"]) or len(self._broken[1]) > _LONGEST_INTERVAL:
            self._end_broken()
        return True

    def _end_broken(self) -> None:
        """Take what there is of an interval."""
        if self._broken is None:
            return
        (line, text), self._broken = self._broken, None
        if found := _INTERVAL.match(text):
            times = {name: number(found[name]) for name in ("p95", "p99", "max")}
        elif found := _OLD_INTERVAL.match(text):
            seconds = {name: number(found[name]) for name in ("p90", "max") if found[name]}
            times = {name: time * _MS_PER_S for name, time in seconds.items() if time is not None}
        else:
            self._issue(line, text, "an interval that is not whole")
            return
        self._intervals += 1
        self._add(line, f"interval {found['at'][:20]}", {"trx": number(found["trx"]), **times})

    def _read_begin(self, line: int, text: str) -> bool:
        if _BANNER.search(text):
            if self._state is _State.RUNNING:
                self._issue(line, text, "the result (TpmC) of the run before is missing", fatal=True)
                self._end_run(line)
            self._begin_run(line, text)
        elif _MEASURING.search(text):
            self._begin_run(line, text)
        elif connections := _CONNECTIONS.search(text):
            self._begin_run(line, text)
            self._add(line, WHOLE, {"connections": number(connections["connections"])})
        else:
            return False
        return True

    def _begin_run(self, line: int, text: str) -> None:
        """Begin a run, if the line is the first that is known of it."""
        if self._state is not _State.RUNNING:
            self._runs.of(WHOLE)
            self._state, self._section = _State.RUNNING, ""

    def _end_run(self, line: int) -> None:
        """Add what was counted over the run."""
        self._end_broken()
        self._add(line, WHOLE, {"intervals": self._intervals or None})
        for first in self._deadlocks[:1]:
            self._add(first, WHOLE, {"deadlocks": len(self._deadlocks)})
        self._intervals, self._deadlocks, self._state = 0, [], _State.OVER

    def _read_section(self, line: int, text: str) -> bool:
        for name, pattern in _SECTIONS.items():
            if pattern.search(text):
                self._begin_run(line, text)
                self._section = name
                return True
        return False

    def _read_counts(self, line: int, text: str) -> bool:
        if duration := _DURATION.match(text):
            self._add(line, WHOLE, {"duration": number(duration["duration"])})
            return True
        counts = _COUNTS.match(text)
        if not counts or self._section not in ("results", "sums"):
            return False
        suffix = "_sum" if self._section == "sums" else ""
        values = {f"{name}{suffix}": number(counts[name]) for name in ("sc", "lt", "rt", "fl")}
        if counts["avg_rt"]:
            values["avg_rt"] = number(counts["avg_rt"])
        self._add(line, _KINDS[int(counts["kind"])], values)
        return True

    def _read_check(self, line: int, text: str) -> bool:
        check = _CHECK.match(text)
        if not check or self._section not in ("mix", "in_time"):
            return False
        self._add(line, check["kind"], {self._section: number(check["percent"])})
        if self._section == "mix" and check["verdict"] == "NG":
            least = f", less than {check['least']}%" if check["least"] else ""
            share = f"{check['percent']}% of the transactions are {check['kind']}{least}"
            self._issue(line, text, f"tpmC is doubtful: {share}")
        return True

    def _read_tpmc(self, line: int, text: str) -> bool:
        tpmc = _TPMC.match(text)
        if not tpmc or self._section != "tpmC" or self._state is not _State.RUNNING:
            return False
        value = number(tpmc["tpmC"])
        if value:
            self._add(line, WHOLE, {"tpmC": value})
        else:
            self._issue(line, text, f"no value for tpmC: {tpmc['tpmC']}", fatal=True)
        self._end_run(line)
        return True

    def _add(self, line: int, test: str, values: dict[str, float | None]) -> None:
        self.samples.extend(
            Sample(test, metric, value, line, self._runs.number, self._runs.label)
            for metric, value in values.items()
            if value is not None
        )

    def _issue(self, line: int, text: str, reason: str, fatal: bool = False) -> None:
        self.issues.append(ParseIssue(line, text.strip()[:200], reason, fatal))

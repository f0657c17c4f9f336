"""fio's error lines, which stand before, between and after results of any form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from collector.parsers.fio_results import in_words
from collector.samples import ParseIssue, Sample

CAUSE = re.compile(r"\bfunc=(?P<function>.+?), error=(?P<words>.+?)\)?(?=: pid=|$)")

# fio: pid=15, err=22/file:filesetup.c:805, func=open(/srv/file), error=Invalid argument
_ERROR = re.compile(r"\bfio: pid=\d+, err=\s*(?P<error>-?\d{1,9})\b")
_FATAL = {
    "the data that were read back are wrong": re.compile(r"\bverify: .*\bbad\b.*|\bverify failed at .*"),
    "the file system cannot do direct I/O": re.compile(r"\bfio: .*does not support (?:O_DIRECT|direct=1).*"),
    "fio was stopped before its end": re.compile(r"\bfio: terminating on signal \d+|\bgot signal=\d+"),
    "the disk is full": re.compile(r"\bENOSPC\b.*|No space left on device.*"),
    "fio could not do what was asked": re.compile(
        r"^(?:fio: (?:failed |engine .* not loadable|unrecognized |.*\berror=|.*: Connection refused"
        r"|job startup hung|io_u error)|[Bb]ad option ).*"
    ),
    "the tool crashed": re.compile(r"Segmentation fault.*|Assertion .* failed.*"),
}


class Errors:
    """The error lines among *pieces*.

    :ivar issues: one fatal issue a kind of error, on the first line of its kind.
    :ivar causes: error numbers in the log's own words.
    """

    def __init__(self, pieces: Iterable[tuple[int, str]]) -> None:
        self.issues: list[ParseIssue] = []
        self.causes: dict[int, str] = {}
        self._numbers: list[tuple[int, int]] = []
        self._lines: list[int] = []
        first: dict[str, ParseIssue] = {}
        times: Counter[str] = Counter()
        for line, text in pieces:
            if found := self._kind_and_detail(line, text):
                kind, detail = found
                self._lines.append(line)
                first.setdefault(kind, ParseIssue(line, text.strip()[:200], f"{kind}: {detail}", fatal=True))
                times[kind] += 1
        self.issues += [_counted(issue, times[kind]) for kind, issue in first.items()]

    def samples(self) -> list[Sample]:
        """How many there are and the first error number, for logs in which no job tells its error."""
        return [
            *(Sample("errors", "error_lines", len(self._lines), line) for line in self._lines[:1]),
            *(Sample("errors", "err", error, line) for line, error in self._numbers[:1]),
        ]

    def _kind_and_detail(self, line: int, text: str) -> tuple[str, str] | None:
        if found := _ERROR.search(text):
            error = int(found["error"])
            self._numbers.append((line, error))
            where = ""
            if cause := CAUSE.search(text):
                where = f" in {cause['function']}"
                self.causes.setdefault(error, cause["words"].strip())
            return f"fio failed{where}", in_words(error, self.causes.get(error))
        for kind, pattern in _FATAL.items():
            if found := pattern.search(text):
                return kind, found[0].strip().removeprefix("fio: ")
        return None


def _counted(issue: ParseIssue, times: int) -> ParseIssue:
    if times == 1:
        return issue
    return ParseIssue(issue.line, issue.text, f"{issue.reason} (and {times - 1} more like it)", fatal=True)

"""redis-benchmark: what its output says, in all forms from version 2 to 7.

- ``-q``: ``SET: 74239.05 requests per second``, from 6.2 on with ``, p50=0.303 msec``.
- full: a title between ``======``, settings, then a list of ``NN.NN% <= N milliseconds`` and a rate, from 6.2
  on percentiles and a ``Summary:`` block.
- ``--csv``: ``"SET","265252.00"``, from 6.2 on eight columns under a header.

Progress that the tool writes over itself is skipped. The same title again, another command line or another
heading starts a further run. A log that is cut off is a failure: its last figure may have lost digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from collector.parsers.redis_tests import ORDER, begins_known, identity, is_known
from collector.parsers.runs import Runs
from collector.parsers.text import NUMBER, VALUE, number, pieces
from collector.samples import Parsed, ParseIssue, Sample

__all__ = ["ORDER", "identity", "parse"]

_CSV_METRICS = ("rps", "avg", "min", "p50", "p95", "p99", "max")
_CSV_WIDTHS = (1, len(_CSV_METRICS))  # columns beside the title: up to 6.0, and from 6.2 on
_SUMMARY_METRICS = _CSV_METRICS[1:]

_IN_JSON = re.compile(r'requests per second|requests completed|[^"\\]\\*",\\*"\d')
_COMMAND = re.compile(r"(?:redis|valkey|keydb|memurai)-benchmark(?:\.exe)?`? +-|^[$#] \S*redis-benchmark\b")
_QUIET = re.compile(rf":\s+(?P<rps>{VALUE}) requests per second(?:, p50=(?P<p50>{VALUE}) msec)?")
_QUIET_WORDS = " requests per second"
_BANNER_BEGINS = "====== "
_BANNER = re.compile(r"={6} (?P<title>.+?) ={6}")
_COMPLETED = re.compile(rf"(?P<requests>{NUMBER}) requests completed in (?P<duration>{NUMBER}) seconds")
_SETTING = re.compile(rf"(?P<clients>{NUMBER}) parallel clients|(?P<payload>{NUMBER}) bytes payload")
_AT_MOST = re.compile(rf"100\.00% `?<=`? (?P<max_le>{NUMBER}) milliseconds")
_BARE_RATE = re.compile(rf"^\W*(?:throughput summary: )?(?P<rps>{VALUE}) requests per second")
_LATENCIES = re.compile(r"^\W*" + r"\s+".join([r"(\d+\.\d{3}|-?nan)"] * 6) + r"\s*$")
_PROGRESS = re.compile(r"(?P<title>.+?): rps=")
_PROGRESS_BEFORE = re.compile(r".*avg_msec=\S+(?: \(overall: \S+\))?\s*")
_OLD_PROGRESS = re.compile(r".+: \d+\.\d\d")
_OLD_RATE = re.compile(r": \d+\.\d\d")
_VALUE = re.compile(VALUE)
_AROUND_TITLE = re.compile(r"^[\s>|*`\"'-]+|[\s*`]+$")
_NOT_WORDS = re.compile(
    r"% |keep alive:|host configuration|multi-thread:|^\s*threads:"
    r"|^(?:Latency by|Cumulative|Summary:)|latency summary|^\W*avg +min"
)

# After these the figures, if any follow, are not worth anything. That the server has no CONFIG command is
# harmless, and so are the warnings about -a and -e.
_FATAL = {
    "the server refused the client": re.compile(
        r"\b(?:NOAUTH|WRONGPASS|NOPERM|DENIED)\b.*|ERR (?:invalid password|operation not permitted).*"
    ),
    "the connection failed": re.compile(
        r"Could not connect to .*|Server closed the connection.*|Connection (?:refused|reset|timed out).*"
        r"|Writing to socket.*|Error writing to the server.*|All clients disconnected.*"
    ),
    "the server replied with an error": re.compile(
        r"(?:Error from server|^\W*(?:ERR|OOM|LOADING|MISCONF|READONLY|CLUSTERDOWN|MOVED) )(?!.*CONFIG).*"
    ),
    "the tool crashed": re.compile(r"Segmentation fault.*|crashed by signal.*"),
}


def parse(text: str) -> Parsed:
    """All that a redis-benchmark log says; a pure function that never raises.

    A rate that is no number (inf, nan) or zero is an issue, not a sample. Refused passwords, lost connections
    and a log that is cut off are fatal issues.
    """
    reader = _Reader()
    for line, piece in pieces(text, _IN_JSON):
        if piece.strip():
            reader.read(line, piece)
    reader.finish(cut_line=not text.endswith("\n"))
    return Parsed(reader.samples, reader.issues)


@dataclass
class _Block:
    """A test of the full form, whose lines are being read."""

    title: str
    max_le: tuple[int, str] | None = None
    rated: bool = False
    in_table: bool = False


class _Reader:
    """Reads a log piece by piece; every ``_read_x`` tells whether the piece was an x."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.issues: list[ParseIssue] = []
        self._runs = Runs(_COMMAND)
        self._banner: str | None = None  # a title of the full form, or a heading that looks like one
        self._was_banner: str | None = None  # the banner that the present piece showed to be a heading
        self._block: _Block | None = None
        self._running: str | None = None  # the test whose progress was the last thing that was shown
        self._csv_width = 0
        self._last = (1, "")

    def read(self, line: int, text: str) -> None:
        self._last = (line, text)
        self._check_fatal(line, text)
        self._was_banner = None
        if self._banner and not _COMPLETED.search(text):
            self._runs.heading(self._banner)
            self._was_banner, self._banner = self._banner, None
        readers = (self._read_banner, self._read_block, self._read_quiet, self._read_csv, self._read_progress)
        if not any(read(line, text) for read in readers) and not _NOT_WORDS.search(text):
            self._runs.read(text)

    def finish(self, cut_line: bool) -> None:
        """Report what the end of the log has cut off.

        :param cut_line: the log does not end with a line end.
        """
        line, text = self._last
        block = self._block
        if self._running:
            reason = f"the log ends while {self._running} is running"
        elif title := self._banner or (cut_line and self._was_banner):
            reason = f"the log ends in the middle of {title}"
        elif block and (not block.rated or block.in_table or cut_line):
            reason = f"the log ends in the middle of {block.title}"
        elif cut_line and text and self._is_cut(line, text):
            reason = "the log ends in the middle of a line"
        else:
            return
        self._issue(line, text, reason, fatal=True)

    def _check_fatal(self, line: int, text: str) -> None:
        for what, pattern in _FATAL.items():
            if found := pattern.search(text):
                self._issue(line, text, f"{what}: {found[0].strip().rstrip('.')}", fatal=True)
                self._running = None
                return

    def _read_banner(self, line: int, text: str) -> bool:
        if found := _BANNER.search(text):
            self._end_block(line, text)
            self._banner = found["title"]
        return bool(found)

    def _read_block(self, line: int, text: str) -> bool:
        if completed := _COMPLETED.search(text):
            if self._banner is None:
                self._issue(line, text, "the test's title is missing")
                return True
            self._runs.of(self._banner)
            self._add(line, self._banner, completed.groupdict())
            self._block = _Block(self._banner)
            self._banner = self._running = None
            return True
        return self._block is not None and self._read_in_block(self._block, line, text)

    def _read_in_block(self, block: _Block, line: int, text: str) -> bool:
        if setting := _SETTING.search(text):
            self._add(line, block.title, _found(setting))
        elif at_most := _AT_MOST.search(text):
            block.max_le = (line, at_most["max_le"])
        elif rate := _BARE_RATE.search(text):
            if block.max_le:
                self._add(block.max_le[0], block.title, {"max_le": block.max_le[1]})
            self._add(line, block.title, {"rps": rate["rps"]})
            block.rated = True
            if "throughput summary" not in text:
                self._block = None
        elif "latency summary" in text:
            block.in_table = True
        elif block.in_table and (latencies := _LATENCIES.match(text)):
            self._add(line, block.title, dict(zip(_SUMMARY_METRICS, latencies.groups(), strict=True)))
            self._block = None
        else:
            return False
        return True

    def _read_quiet(self, line: int, text: str) -> bool:
        if _BARE_RATE.search(text):
            self._issue(line, text, "a rate without the title of its test")
            return True
        end = 0
        for result in _QUIET.finditer(text):
            title = _title(text[end : result.start()])
            end = result.end()
            if not title or (result["rps"].isdigit() and not is_known(title)):
                self._issue(line, text, "not a rate that redis-benchmark printed: those have two decimals")
                continue
            self._end_block(line, text)
            self._running = None
            self._runs.of(title)
            self._add(line, title, _found(result))
        return end > 0

    def _read_csv(self, line: int, text: str) -> bool:
        title, values = _csv_row(text)
        if text.startswith('"test","rps"'):
            self._csv_width = text.count(",")
        elif len(values) in _CSV_WIDTHS:
            self._end_block(line, text)
            self._csv_width = max(self._csv_width, len(values))
            self._runs.of(title)
            self._add(line, title, dict(zip(_CSV_METRICS, values, strict=False)))
        elif values or (self._csv_width and text.startswith('"')):
            self._issue(line, text, f"a CSV row with {len(values)} figures, neither 1 nor 7")
        else:
            return False
        return True

    def _read_progress(self, line: int, text: str) -> bool:
        if progress := _PROGRESS.match(text):
            self._running = progress["title"].strip()
        return bool(progress) or _OLD_PROGRESS.fullmatch(text) is not None

    def _end_block(self, line: int, text: str) -> None:
        if self._block and not self._block.rated:
            self._issue(line, text, f"the rate of {self._block.title} is missing before this line")
        self._block = None

    def _add(self, line: int, title: str, values: dict[str, str]) -> None:
        """Add a sample for each finite value; report the others, and rates of zero."""
        numbers = {metric: number(text) for metric, text in values.items()}
        missing = [f"{values[metric]} {metric}" for metric, value in numbers.items() if value is None]
        if numbers.get("rps") == 0:
            missing.append(f"{values['rps']} rps")
        if not numbers.get("rps", 1):  # then a latency of zero was not measured either
            numbers = {metric: value or None for metric, value in numbers.items()}
        if missing:
            self._issue(line, title, f"no value for {title}: {', '.join(missing)}")
        self.samples.extend(
            Sample(title, metric, value, line, self._runs.number, self._runs.label)
            for metric, value in numbers.items()
            if value is not None
        )

    def _issue(self, line: int, text: str, reason: str, fatal: bool = False) -> None:
        self.issues.append(ParseIssue(line, text.strip()[:200], reason, fatal))

    def _is_cut(self, line: int, text: str) -> bool:
        """Whether the last line of a log, which no line end follows, has lost its end."""
        text = text.strip()
        if text.startswith('"'):
            title, figures = _csv_row(text)
            in_csv = self._csv_width > 0 or begins_known(title)
            return in_csv and len(figures) < max(self._csv_width, 1)
        if text.startswith(_BANNER_BEGINS) or _BANNER_BEGINS.startswith(text):
            return True
        if result := _QUIET.search(text):
            rest = text[result.end() :]
            before = [sample.metric for sample in self.samples if sample.line < line]
            return rest.startswith(",") or (not rest and not result["p50"] and before[-1:] == ["p50"])
        title, colon, rest = text.rpartition(": ")
        if not colon:
            return bool(self.samples) and begins_known(rest.rstrip(":"))
        words = rest.lstrip("0123456789.,")
        return is_known(title) or (words != "" and _QUIET_WORDS.startswith(words))


def _found(match: re.Match[str]) -> dict[str, str]:
    """The named groups that took part in the match."""
    return {name: value for name, value in match.groupdict().items() if value is not None}


def _title(text: str) -> str:
    """The title before a rate: what is left when progress that was shown on the same line is taken off."""
    text = _AROUND_TITLE.sub("", _PROGRESS_BEFORE.sub("", text))
    last = _OLD_RATE.split(text)[-1].strip()
    return last if last and text.startswith(f"{last}: ") else text


def _csv_row(text: str) -> tuple[str, list[str]]:
    """Title and figures of a CSV row; no figures if it is not a whole row.

    Titles are not escaped, so the figures are found from the end. Rows whose quotes somebody has taken off
    are only recognised by having all columns.
    """
    text = text.strip()
    quoted = text.startswith('"')
    fields = text.strip('"').split('","' if quoted else ",")
    first = next((i for i in range(len(fields), 1, -1) if not _VALUE.fullmatch(fields[i - 1])), 1)
    figures = fields[first:]
    whole = text.endswith('"') if quoted else len(figures) == len(_CSV_METRICS)
    return ('","' if quoted else ",").join(fields[:first]), figures if whole else []

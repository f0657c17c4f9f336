"""fio's JSON and JSON+ output: fio 2 in microseconds and KiB, fio 3 in nanoseconds and bytes, client/server.

A document is found wherever it stands between notes, errors and progress. ``--status-interval`` writes the
same run again and again: only its last document counts.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from collector.parsers.fio_results import ALL_CLIENTS, DIRECTIONS, SYNCED, Results, percentile

_BEGINS = re.compile(r"(?:^|[\r\n])[ \t\ufeff]*(\{)")
_OF_FIO = re.compile(r'"fio version"|"jobname"')
# What fio or a shell wrote to the terminal while the document was on its way there.
_FOREIGN_LINE = re.compile(r'^[ \t]*[A-Za-z][^"{}\n]*$', re.MULTILINE)
_OWN_LINE = re.compile(r'^(?:[ \t]*[^\sA-Za-z]|.*["{}]).*$', re.MULTILINE)
_NO_NUMBER = re.compile(r'(?:(?<=":)|(?<=" :))\s+-?(?:nan|inf)\b')
_LINE_END = re.compile("\n")
_JOB = re.compile(r'"jobname"\s*:')
_SECTION = {name: re.compile(rf'"{name}"\s*:\s*\{{') for name in (*DIRECTIONS, "sync")}
_SAME_START_S = 1.5
_MOST_BROKEN = 100  # objects; keeps what is no log at all from taking long
_MS_PER_NS = 1e-6
_MS_PER_US = 1e-3
_KIB = 1024


@dataclass(frozen=True)
class Document:
    """A JSON document of fio, or what is left of one.

    :param line: the line that it begins on.
    :param content: None if it is cut off or damaged.
    :param jobs: where each of its jobs stands.
    """

    line: int
    content: dict[str, Any] | None
    jobs: list[_Place]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Its jobs; those of all clients in client/server mode."""
        content = self.content or {}
        entries = content.get("client_stats") or content.get("jobs")
        return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


@dataclass(frozen=True)
class _Place:
    """The lines of a job and of its sections."""

    line: int
    sections: dict[str, int]


def split(text: str) -> tuple[list[Document], str]:
    """The documents of a log, and the log with empty lines in their place."""
    readable = _NO_NUMBER.sub(lambda found: "null".rjust(len(found[0])), text)
    readable = _FOREIGN_LINE.sub(lambda found: " " * len(found[0]), readable)
    lines = [found.start() for found in _LINE_END.finditer(text)]
    documents: list[Document] = []
    rest: list[str] = []
    done = 0
    for begin, end, content in _objects(readable):
        if not _OF_FIO.search(readable, begin, end):
            continue
        places = _places(readable, begin, end, lines)
        documents.append(Document(_line(lines, begin), content, places))
        rest += [text[done:begin], _OWN_LINE.sub("", text[begin:end])]
        done = end
    return documents, "".join([*rest, text[done:]])


def _objects(text: str) -> list[tuple[int, int, dict[str, Any] | None]]:
    """Where the JSON objects of *text* begin and end; None for what is none to its end."""
    found: list[tuple[int, int, dict[str, Any] | None]] = []
    decoder = json.JSONDecoder(strict=False)
    done = broken = 0
    while broken < _MOST_BROKEN and (begin := _BEGINS.search(text, done)):
        start = begin.start(1)
        try:
            content, done = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            # Another document may begin on the line where this one breaks off.
            content, done = None, max(text.rfind("\n", 0, error.pos), start + 1)
        except (ValueError, RecursionError):  # a number or a depth that fio does not write
            content, done = None, len(text)
        broken += content is None
        found.append((start, done, content))
    return found


def _places(text: str, begin: int, end: int, lines: list[int]) -> list[_Place]:
    starts = [found.start() for found in _JOB.finditer(text, begin, end)]
    places = []
    for start, stop in pairwise([*starts, end]):
        line = _line(lines, start)
        sections = {
            name: _line(lines, found.start())
            for name, pattern in _SECTION.items()
            if (found := pattern.search(text, start, stop))
        }
        places.append(_Place(line, sections))
    return places


def _line(lines: list[int], position: int) -> int:
    return bisect_left(lines, position) + 1


def read(documents: list[Document], pieces: list[tuple[int, str]], results: Results) -> None:
    """Add what the documents say; *pieces* is the text around them, which may introduce them."""
    words = iter(pieces)
    piece = next(words, None)
    for document, following in zip(documents, [*documents[1:], None], strict=True):
        while piece and piece[0] < document.line:
            results.words(piece[1])
            piece = next(words, None)
        if document.content is None:
            reason = "the JSON document that begins here is cut off or damaged"
            results.issue(document.line, "", reason, fatal=True)
        elif following and _is_same_run(document, following):
            results.issue(document.line, "", "left out: a later part of the log has this run's later state")
        else:
            results.new_run()
            _read_document(document, results)


def _is_same_run(one: Document, other: Document) -> bool:
    """Whether two documents are states of one run, as --status-interval writes them."""
    names = [[entry.get("jobname") for entry in document.entries] for document in (one, other)]
    if not names[0] or names[0] != names[1]:
        return False
    start, other_start = _started(one), _started(other)
    if start is not None and other_start is not None and abs(start - other_start) > _SAME_START_S:
        return False
    return all(
        before <= after
        for entries in zip(one.entries, other.entries, strict=True)
        for before, after in zip(*map(_progress, entries), strict=True)
    )


def _started(document: Document) -> float | None:
    """When its run began, in seconds; None if it does not tell."""
    content = document.content or {}
    milliseconds, seconds = _finite(content.get("timestamp_ms")), _finite(content.get("timestamp"))
    written = milliseconds / 1000 if milliseconds else seconds
    elapsed = [_finite(entry.get("elapsed")) for entry in document.entries[:1]]
    return written - elapsed[0] if written and elapsed and elapsed[0] is not None else None


def _progress(entry: dict[str, Any]) -> list[float]:
    """What only grows while a job runs."""
    sections = [_dict(entry.get(name)) for name in DIRECTIONS]
    return [_finite(section.get(key)) or 0 for section in sections for key in ("io_bytes", "runtime")]


def _read_document(document: Document, results: Results) -> None:
    options = _dict((document.content or {}).get("global options"))
    entries = document.entries
    places = document.jobs if len(document.jobs) == len(entries) else []
    for number, entry in enumerate(entries):
        place = places[number] if places else _Place(document.line, {})
        _read_job(entry, options, place, results)


def _read_job(entry: dict[str, Any], options: dict[str, Any], place: _Place, results: Results) -> None:
    name = str(entry.get("jobname", ""))
    host = entry.get("hostname") if name != ALL_CLIENTS else None
    title = results.title(name, str(host) if host else None)
    numjobs = str({**options, **_dict(entry.get("job options"))}.get("numjobs", ""))
    threads = int(numjobs) if re.fullmatch(r"\d{1,9}", numjobs, re.ASCII) else None
    error = entry.get("error")
    number = error if isinstance(error, int) and abs(error) < 2**31 else 0
    results.job(place.line, title, number, threads=threads)
    idle = True
    for direction in DIRECTIONS:
        section = _dict(entry.get(direction))
        if _finite(section.get("io_bytes")) or _finite(section.get("total_ios")):
            idle = False
            line = place.sections.get(direction, place.line)
            _read_direction(section, line, f"{title}: {direction}", results)
    if idle:
        results.issue(place.line, title, f"{title} did no I/O")
    synced = _dict(entry.get("sync"))
    if _finite(synced.get("total_ios")) or _dict(synced.get("lat_ns")).get("N"):
        line = place.sections.get("sync", place.line)
        values = _latencies("sync", _dict(synced.get("lat_ns")), _MS_PER_NS)
        results.add(line, f"{title}: {SYNCED}", values)


def _read_direction(section: dict[str, Any], line: int, test: str, results: Results) -> None:
    io = _finite(section.get("io_bytes")) or 0
    if "io_kbytes" not in section:  # so up to fio 2, whatever the key's name says
        io *= _KIB
    bandwidth = _finite(section.get("bw_bytes"))
    if bandwidth is None:
        kibibytes = _finite(section.get("bw"))
        bandwidth = kibibytes * _KIB if kibibytes is not None else None
    runtime_ms = _finite(section.get("runtime")) or 0
    results.rates(line, test, _finite(section.get("iops")), bandwidth, io, runtime_ms / 1000)
    for kind in ("slat", "clat", "lat"):
        nanoseconds, microseconds = _dict(section.get(f"{kind}_ns")), _dict(section.get(kind))
        results.add(line, test, _latencies(kind, nanoseconds, _MS_PER_NS))
        results.add(line, test, _latencies(kind, microseconds, _MS_PER_US))


def _latencies(kind: str, section: dict[str, Any], scale: float) -> dict[str, float | None]:
    """The values in ms; none where nothing was measured, which is written as zeros."""
    if not _finite(section.get("max")):
        return {}
    values = {f"{kind}_{part}": _finite(section.get(part)) for part in ("min", "max", "mean", "stddev")}
    for percent, value in _dict(section.get("percentile")).items():
        if re.fullmatch(r"\d{1,3}\.\d+", percent, re.ASCII) and float(percent):
            values[percentile(kind, float(percent))] = _finite(value)
    return {metric: value * scale for metric, value in values.items() if value is not None}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _finite(value: object) -> float | None:
    """A number that can have been measured; None for anything else that stands in its place."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if 0 <= number < math.inf else None

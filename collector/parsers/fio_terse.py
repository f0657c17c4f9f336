"""fio's terse (minimal) output, versions 2 to 5: one line of fields a job, in microseconds and KiB.

Where a field stands depends on the version, so a line is read only if what has a form of its own, the
percentiles, stands where its version has it.
"""

from __future__ import annotations

import re

from collector.parsers.fio_results import DIRECTIONS, Results, percentile
from collector.parsers.text import VALUE, number

_LINE = re.compile(r"^\s*(?:\d;fio-[^;]*|2);[^;]*;\d+;-?\d{1,9};\d+;", re.ASCII)
_WIDTH = 41  # fields a direction
_WIDTH_5 = 47  # version 5 has six more: samples of the bandwidth, and the spread of IOPS
_AFTER = 34  # fields of CPU, depths and the distribution of latencies, which follow the directions
_PERCENTILES = slice(12, 32)
_VALUE = re.compile(VALUE)
_PERCENTILE = re.compile(r"(?P<percent>\d{1,3}(?:\.\d+)?)%=(?P<value>\d+)", re.ASCII)
_LATENCIES = {"slat": 4, "clat": 8, "lat": 32}  # the field with the lowest; highest, mean and stddev follow
_MS_PER_US = 1e-3
_KIB = 1024


def is_terse(text: str) -> bool:
    return _LINE.match(text) is not None


def read(pieces: list[tuple[int, str]], results: Results) -> None:
    """Add what the lines say; a title that comes again begins a further run."""
    for line, text in pieces:
        if is_terse(text):
            _read_line(line, text.strip(), results)
        else:
            results.words(text)


def _read_line(line: int, text: str, results: Results) -> None:
    fields = text.split(";")
    version = int(fields[0])
    directions = _directions(version, fields)
    if directions is None:
        reason = f"not a whole line of terse version {version}: {len(fields)} fields"
        results.issue(line, text, reason, fatal=True)
        return
    name, _, error = fields[_first(version) - 3 : _first(version)]
    results.run_of(name)
    title = results.title(name)
    results.job(line, title, int(error))
    worked = [(d, values) for d, values in zip(DIRECTIONS, directions, strict=False) if number(values[0])]
    for direction, values in worked:
        _read_direction(line, f"{title}: {direction}", values, results)
    if not worked:
        results.issue(line, text, f"{title} did no I/O")


def _first(version: int) -> int:
    """The index of the first direction's first field; version 2 does not tell that of fio."""
    return 4 if version == 2 else 5


def _directions(version: int, fields: list[str]) -> list[list[str]] | None:
    """The fields of each direction; None if they are not where *version* has them.

    Version 2 had two directions before it had three.
    """
    counts = {2: (3, 2), 3: (2,), 4: (3,), 5: (3,)}.get(version, ())
    width = _WIDTH_5 if version == 5 else _WIDTH
    first = _first(version)
    for count in counts:
        after = first + count * width
        directions = [fields[start : start + width] for start in range(first, after, width)]
        if len(fields) >= after + _AFTER and all(map(_has_form, directions)):
            return directions
    return None


def _has_form(fields: list[str]) -> bool:
    plain = fields[: _PERCENTILES.start] + fields[_PERCENTILES.stop : _PERCENTILES.stop + 4]
    percentiles = fields[_PERCENTILES]
    return all(map(_PERCENTILE.fullmatch, percentiles)) and all(map(_VALUE.fullmatch, plain))


def _read_direction(line: int, test: str, fields: list[str], results: Results) -> None:
    io, bandwidth, iops, runtime = (number(field) or 0 for field in fields[:4])
    results.rates(line, test, iops, bandwidth * _KIB, io * _KIB, runtime / 1000)
    for kind, first in _LATENCIES.items():
        values = [number(field) for field in fields[first : first + 4]]
        if values[1]:
            names = (f"{kind}_{part}" for part in ("min", "max", "mean", "stddev"))
            results.add(line, test, {name: _ms(value) for name, value in zip(names, values, strict=True)})
    for field in fields[_PERCENTILES]:
        if (found := _PERCENTILE.fullmatch(field)) and (value := number(found["value"])):
            # 0%=0 is a place not used, and a time of 0 one of less than a microsecond.
            results.add(line, test, {percentile("clat", float(found["percent"])): _ms(value)})


def _ms(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds * _MS_PER_US

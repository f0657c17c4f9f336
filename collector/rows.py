"""Which row of a table a sample stands in: its test, and the settings whose values are rows.

Most settings of a workload set tables apart. Those that :attr:`collector.parsers.Workload.rows` names do not:
a sweep over threads is one table, a row a number of threads. The last of them is what is swept; the others,
with the test, name the series that is swept ("read 4K").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from collector.metrics import Better
from collector.models import Params
from collector.parsers import WORKLOADS
from collector.parsers.identity import TestIdentity
from collector.samples import Sample
from collector.words import counted

# The values of a workload's row settings by name, in one spelling each: 12, "4K", "read".
Settings = dict[str, int | float | str]
# What a log says of them: by run in it and test, and by run alone under None.
Told = Mapping[tuple[int, str | None], Settings]

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[kmgt]?)(?:i?b)?", re.IGNORECASE)
_POWERS = {unit: 1024**power for power, unit in enumerate(("", "K", "M", "G", "T"))}


@dataclass(frozen=True)
class RowIdentity:
    """A row of a table.

    :param key: equal for samples that stand in one row.
    :param title: for people.
    :param series: the title without what is swept; "" where nothing else tells rows apart.
    :param swept: the value of what is swept; None where nothing is, or it is not known or no number.
    """

    key: str
    title: str
    series: str
    swept: float | None


def swept(workload: str) -> str | None:
    """The setting that the workload's tables are swept over, None if there is none."""
    return next(reversed(_names(workload)), None)


def split(workload: str, params: Params) -> tuple[Params, Settings]:
    """A point's settings: those that set tables apart, and those that are rows."""
    names = _names(workload)
    others = {name: value for name, value in params.items() if name not in names}
    return others, {name: _spelling(params[name]) for name in names if params.get(name) is not None}


def told(workload: str, samples: Iterable[Sample]) -> Told:
    """What a log says about the row settings of its own runs; of several in one run the first counts."""
    names = _names(workload)
    found: dict[tuple[int, str | None], Settings] = {}
    for sample in samples:
        if sample.metric in names and sample.better is Better.NONE:
            for key in ((sample.run, sample.test), (sample.run, None)):
                found.setdefault(key, {}).setdefault(sample.metric, _spelling(sample.value))
    return found


def settings(planned: Settings, log: Told, sample: Sample) -> Settings:
    """The row settings of a sample: as planned, and where the plan does not say, as its log tells."""
    return {**log.get((sample.run, None), {}), **log.get((sample.run, sample.test), {}), **planned}


def identify(workload: str, test: TestIdentity, values: Settings) -> RowIdentity:
    """The row that a test stands in.

    A test that only repeats the workload's name is not named in a row of a sweep: sysbench_memory's is
    "read 4K, 12 threads".
    """
    key, title = (_row(workload, text, values) for text in (test.key, test.title))
    value = values.get(swept(workload) or "")
    number = float(value) if isinstance(value, int | float) else None
    return RowIdentity(key, title, _series(workload, test.title, values), number)


def words(workload: str, values: Settings) -> str:
    """The settings for people, without a test: "4K, 12 threads"; "" where there are none."""
    return _row(workload, "", values)


def sort_key(workload: str, values: Settings) -> tuple[tuple[int, float, str], ...]:
    """Orders the rows of one test by setting: sizes and numbers by their size, words by the alphabet."""
    return tuple(_by_size(values.get(name)) for name in _names(workload))


def _names(workload: str) -> tuple[str, ...]:
    known = WORKLOADS.get(workload)
    return known.rows if known else ()


def _row(workload: str, test: str, values: Settings) -> str:
    series, last = _series(workload, test, values), swept(workload)
    value = values.get(last) if last else None
    if last is None or not isinstance(value, int | float):
        return series or test
    return ", ".join(filter(None, [series, counted(f"{value:,}", last.removesuffix("s"))]))


def _series(workload: str, test: str, values: Settings) -> str:
    names = _names(workload)
    named = [str(values[name]) for name in names if name in values and not _is_swept(name, workload, values)]
    redundant = bool(values) and test in workload.split("_")
    return " ".join(filter(None, ["" if redundant else test, *named]))


def _is_swept(name: str, workload: str, values: Settings) -> bool:
    """Whether it is the setting that is swept; a word in its place ("auto") is no point of a sweep."""
    return name == swept(workload) and isinstance(values[name], int | float)


def _spelling(value: Any) -> int | float | str:
    """One spelling of a value: 12.0 and "12" are 12, "4k" and "4KiB" are "4K"."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = str(value)
    if found := _SIZE.fullmatch(text):
        number = float(found["number"])
        shown = int(number) if number.is_integer() else number
        return f"{shown}{found['unit'].upper()}" if found["unit"] else shown
    return text


def _by_size(value: int | float | str | None) -> tuple[int, float, str]:
    if value is None:
        return (0, 0.0, "")
    if found := _SIZE.fullmatch(str(value)):
        return (1, float(found["number"]) * _POWERS[found["unit"].upper()], "")
    return (2, 0.0, str(value))

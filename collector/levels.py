"""Levels of factors as the run tree has them ("2GHz", "77%", "as_found"), for people and for arithmetic."""

from __future__ import annotations

import re

from collector.errors import CollectorError

AS_FOUND = "as_found"
# Every study, with the factors that it is about; which of them a run has depends on its hosts.
MAIN_FACTORS = {
    "freq_sweep": ("frequency", "quota"),
    "net_compare": ("path",),
    "os_compare": ("os",),
    "virt_compare": ("platform",),
}
_WORDS = {"frequency": ("max", "min", AS_FOUND), "quota": (AS_FOUND,)}
_EXAMPLES = {"frequency": "2.5GHz, 2500MHz", "quota": "77%"}

_FREQUENCY = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[kmg]hz)", re.IGNORECASE)
_QUOTA = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?%")
_PER_GHZ = {"khz": 1e6, "mhz": 1e3, "ghz": 1.0}


def quantity(factor: str, level: str) -> float | None:
    """The level as a number: GHz for ``frequency``, 0.77 for ``quota`` 77%; None for a word."""
    if factor == "frequency" and (found := _FREQUENCY.fullmatch(level)):
        return float(found["number"]) / _PER_GHZ[found["unit"].lower()]
    if factor == "quota" and (found := _QUOTA.fullmatch(level)):
        return float(found["number"]) / 100
    return None


def canonical(factor: str, text: str) -> str:
    """The one spelling that the run tree uses: "2500 MHz" and "2.50GHz" are "2.5GHz".

    :raises CollectorError: a frequency or quota that cannot be read, or is 0.
    """
    number = quantity(factor, text)
    if number:
        return f"{number:.6g}GHz" if factor == "frequency" else f"{number * 100:.6g}%"
    if factor in _WORDS and text not in _WORDS[factor]:
        accepted = ", ".join((_EXAMPLES[factor], *_WORDS[factor]))
        raise CollectorError(f"{text!r} is not a {factor}", remedy=f"accepted are {accepted}")
    return text


def gigahertz(text: str) -> float:
    """A frequency that must be a number, in GHz.

    :raises CollectorError: it cannot be read as one, or is 0.
    """
    number = quantity("frequency", text)
    if not number:
        raise CollectorError(f"{text!r} is not a frequency", remedy=f"accepted are {_EXAMPLES['frequency']}")
    return number


def label(factor: str, level: str) -> str:
    """The level for people: "2.0 GHz", "quota 77%", "turbo off", "as found", "bridged remote"."""
    if level == AS_FOUND:
        return "as found"
    if factor == "frequency" and (number := quantity(factor, level)) is not None:
        return f"{number:.1f} GHz" if round(number, 1) == number else f"{number:.6g} GHz"
    if factor in ("quota", "turbo"):  # the level alone would not say of what
        return f"{factor} {level}"
    return level.replace("_", " ")


def sort_key(factor: str, level: str) -> tuple[int, float]:
    """Orders levels as a reader expects: as found, max or on, numbers from the highest down, min, words.

    Words have equal keys, so that a stable sort leaves them in the order in which the study names them.
    """
    number = quantity(factor, level)
    if number is not None:
        return (2, -number)
    if factor in ("frequency", "quota", "turbo"):
        return ({AS_FOUND: 0, "max": 1, "on": 1, "min": 3}.get(level, 4), 0.0)
    return (4, 0.0)

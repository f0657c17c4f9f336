"""What a Redis server tells of itself: the answers to INFO and CONFIG GET, from any version and system."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

_FIELD = re.compile(r"^(?P<name>[a-z][a-z0-9_.-]*):(?P<value>.*?)\r?$", re.MULTILINE)
_CPU = ("used_cpu_sys", "used_cpu_user")
_MAIN_THREAD = tuple(f"{name}_main_thread" for name in _CPU)  # from 6.2 on


def fields(text: str) -> dict[str, str]:
    """The fields of an answer to INFO; empty for an error."""
    return {found["name"]: found["value"] for found in _FIELD.finditer(text)}


def settings(text: str, names: Iterable[str]) -> dict[str, str]:
    """The settings *names* in answers to CONFIG GET, where a name and its value take turns as lines.

    A server that does not know a name answers with nothing, and that name is left out.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    wanted = set(names)
    return {name: value for name, value in itertools.pairwise(lines) if name in wanted}


def used_cpu_s(info: dict[str, str]) -> float | None:
    """Processor seconds that the server has used since it started; None if it does not tell."""
    return _sum(info, _CPU)


def used_cpu_main_thread_s(info: dict[str, str]) -> float | None:
    """Of these, what its main thread used, which runs all commands; None before 6.2."""
    return _sum(info, _MAIN_THREAD)


def _sum(info: dict[str, str], names: Iterable[str]) -> float | None:
    try:
        return sum(float(info[name]) for name in names)
    except (KeyError, ValueError):
        return None

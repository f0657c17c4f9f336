"""ping: the round-trip times that it printed (iputils, busybox)."""

from __future__ import annotations

import re

_TIME = re.compile(r"\btime[=<](?P<ms>\d+(?:\.\d+)?) ms")
_SENT = re.compile(r"(?P<sent>\d+) packets transmitted")


def round_trips_ms(text: str) -> list[float]:
    """The round-trip time of every answer, in ms, in the order of the answers."""
    return [float(found["ms"]) for found in _TIME.finditer(text)]


def sent(text: str) -> int | None:
    """How many packets were sent; None where ping did not say so, as when it could not start."""
    found = _SENT.search(text)
    return int(found["sent"]) if found else None

"""The round-trip times of TCP that the role link printed (roles/link/files/tcp_rtt.py)."""

from __future__ import annotations

import re

_TIME = re.compile(r"^rtt=(?P<ms>\d+\.\d+) ms$", re.MULTILINE)


def round_trips_ms(text: str) -> list[float]:
    """The round-trip time of every connect, in ms, in their order."""
    return [float(found["ms"]) for found in _TIME.finditer(text)]

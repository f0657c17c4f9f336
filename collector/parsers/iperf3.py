"""iperf3: the TCP throughput that its JSON (``-J``) tells."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Throughput:
    """What one call of iperf3 measured.

    :param mbit_s: Mbit/s as received (1 Mbit = 10^6 bits); None if it failed.
    :param error: why it failed, in iperf3's words; None if it did not.
    """

    mbit_s: float | None
    error: str | None = None


def throughput(text: str) -> Throughput:
    """What iperf3 says; never raises."""
    start = text.find("{")  # a warning may come before
    try:
        document: Any = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        return Throughput(None, " ".join(text.split())[:200] or "it printed nothing")
    if error := document.get("error"):
        return Throughput(None, str(error))
    try:
        bits = float(document["end"]["sum_received"]["bits_per_second"])
    except (KeyError, TypeError, ValueError):
        return Throughput(None, "its output has no sum of what was received")
    return Throughput(bits / 1e6)

"""The tests of redis-benchmark, across its versions."""

from __future__ import annotations

import re

from collector.parsers.identity import TestIdentity

# Keys in the order in which the tool runs its tests.
ORDER = (
    "PING_INLINE",
    "PING_MBULK",
    "SET",
    "GET",
    "INCR",
    "LPUSH",
    "RPUSH",
    "LPOP",
    "RPOP",
    "SADD",
    "HSET",
    "SPOP",
    "ZADD",
    "ZPOPMIN",
    "LPUSH (needed to benchmark LRANGE)",
    "LRANGE_100",
    "LRANGE_300",
    "LRANGE_500",
    "LRANGE_600",
    "MSET (10 keys)",
    "XADD",
)

# What older versions call the same test.
_SAME_TEST = {
    "PING (inline)": "PING_INLINE",
    "PING": "PING_MBULK",
    "PING (multi bulk)": "PING_MBULK",
    "PING_BULK": "PING_MBULK",
    "LPUSH (again, in order to bench LRANGE)": "LPUSH (needed to benchmark LRANGE)",
}
# Titles as the tool prints them, where they are not the keys.
_PRINTED = (
    *_SAME_TEST,
    *(f"LRANGE_{length} (first {length} elements)" for length in (100, 300, 500, 600)),
    "LRANGE_500 (first 450 elements)",
)
_LRANGE = re.compile(r"LRANGE(?:_(?P<nominal>\d+))? \(first (?P<read>\d+) elements\)")
_LRANGE_500 = (
    "450"  # elements that LRANGE_500 read, by its title, before some 6.2; version 2 has the number only
)


def identity(title: str) -> TestIdentity:
    """The test that *title* means: PING_BULK is PING_MBULK, an LRANGE is known by its nominal length."""
    if lrange := _LRANGE.fullmatch(title):
        read = lrange["read"]
        nominal = lrange["nominal"] or ("500" if read == _LRANGE_500 else read)
        note = None if read == nominal else f"{read} elements"
        return TestIdentity(f"LRANGE_{nominal}", f"LRANGE_{nominal} (first {nominal} elements)", note)
    title = _SAME_TEST.get(title, title)
    return TestIdentity(title, title)


def is_known(title: str) -> bool:
    """Whether *title* is one of the tool's own tests, not a command that a user gave."""
    return identity(title).key in ORDER


def begins_known(text: str) -> bool:
    """Whether *text* is the beginning of a title of one of the tool's own tests."""
    return any(title.startswith(text) for title in (*ORDER, *_PRINTED))

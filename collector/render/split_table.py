"""Where the cost of virtualisation arises, as texts, alike in every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collector.overhead import Split, percent

HEADS = (
    "overhead of the geometric mean",
    "rows",
    "from the client",
    "of it inside",
    "the rest: network path",
)
LEGEND = (
    "of it inside: the same tests with the client on the server itself; the rest is the difference, in "
    "percentage points. Inside, client and server share the server's CPUs: the rest may be below 0",
)


def doubts(splits: Sequence[Split]) -> list[str]:
    """What to doubt about all of them."""
    return list(dict.fromkeys(doubt for split in splits for doubt in split.doubts))


def lines(splits: Sequence[Split]) -> Iterator[tuple[str, ...]]:
    """The texts below :data:`HEADS`."""
    for split in splits:
        yield (
            split.what,
            str(split.rows),
            percent(split.seen),
            percent(split.inside),
            percent(split.rest),
        )

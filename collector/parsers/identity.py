"""Which row of a table a test's title belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class TestIdentity:
    """A test, however a version of the tool spells it.

    :param key: equal for titles that are compared with each other.
    :param title: the title that the current version of the tool prints.
    :param note: what differs in the work done although the key is equal ("450 elements"), or None.
    """

    __test__: ClassVar[bool] = False  # not a class of tests, for pytest

    key: str
    title: str
    note: str | None = None

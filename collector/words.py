"""Small phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def listed(items: Iterable[str], most: int = 6) -> str:
    """The items as a phrase; what is beyond `most` is only counted.

    >>> listed("abc"), listed("abcd", most=3)
    ('a, b and c', 'a, b and 2 more')
    """
    shown = list(items)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def by_condition(values: Mapping[str, str]) -> str:
    """Values by the condition's label, as a phrase.

    >>> by_condition({"local": "7.0", "remote": ""})
    'local 7.0 and remote unknown'
    """
    return listed((f"{label} {value or 'unknown'}" for label, value in values.items()), most=12)


def counted(number: int | str, noun: str) -> str:
    """The number with its noun.

    >>> counted(1, "test"), counted(20, "test")
    ('1 test', '20 tests')
    """
    return f"{number} {noun}{'' if str(number) == '1' else 's'}"

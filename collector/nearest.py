"""The nearest name to a misspelt one, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of the *known* names that *word* may have been meant to be; None if none is near."""
    return next(iter(get_close_matches(word, list(known), n=1)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A remedy: the nearest of the *known* names, and if none is near, all of them."""
    names = sorted(known)
    near = nearest(word, names)
    return f"did you mean {near}?" if near else f"known are {', '.join(names)}"

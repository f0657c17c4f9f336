"""The nearest name to a misspelt one, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A remedy: the nearest of the *known* names, and if none is near, all of them."""
    names = sorted(known)
    near = get_close_matches(word, names, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}"

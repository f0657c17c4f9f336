"""What parsers share: a log's bytes as clean, numbered pieces of text, and its numbers."""

from __future__ import annotations

import codecs
import html
import json
import math
import re
from collections.abc import Iterator

# A number as tools print it, also with thousands separators; and what stands in its place if there is none
# (glibc, and the C libraries of Windows).
NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
VALUE = rf"(?:{NUMBER}|[-+]?(?:nan|inf|1\.#\w+)(?:\(\w+\))?)"

_LINE_ENDS = re.compile(r"\r|<br ?/?>")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COMPOSE_PREFIX = re.compile(r"^[\w.-]+ +\| ")  # "client_1  | ", which docker compose puts before each line
_MARKDOWN_ESCAPE = re.compile(r"\\([_<>*#=.-])")
_LONGEST_PIECE = 10_000  # longer than any title; keeps patterns quick on what is no log at all
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)')


def decode(content: bytes) -> str:
    """A log's text; UTF-8 unless a BOM says UTF-16 (PowerShell's ``>``), never an error."""
    utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if utf16 else "utf-8", errors="replace")


def number(text: str) -> float | None:
    """A text that matches :data:`VALUE` as a finite number; None for inf and nan."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def pieces(text: str, wanted: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The text in pieces, each with the number of its line.

    Lines are split at LF and counted from 1. A line has several pieces if a progress display wrote over
    itself with CR, if ``<br>`` ends lines, or if it is JSON with a log inside its strings: then the strings
    in which *wanted* is found are taken apart in the same way. BOM, colours, prefixes of docker compose,
    HTML entities and markdown escapes are removed.
    """
    for line_number, line in enumerate(text.split("\n"), 1):
        for inner in _unwrap(line, wanted):
            for piece in _LINE_ENDS.split(inner):
                yield line_number, _clean(piece)


def _clean(piece: str) -> str:
    piece = piece[:_LONGEST_PIECE]
    piece = _COMPOSE_PREFIX.sub("", _ANSI.sub("", piece.replace("\ufeff", "")))
    return _MARKDOWN_ESCAPE.sub(r"\1", html.unescape(piece))


def _unwrap(line: str, wanted: re.Pattern[str]) -> list[str]:
    """The lines of text inside the JSON strings of *line*, or the line itself if it has none."""
    if '"' not in line:
        return [line]
    inner = [text for literal in _JSON_STRING.findall(line) if wanted.search(text := _json_text(literal))]
    return [deeper for text in inner for part in text.split("\n") for deeper in _unwrap(part, wanted)] or [
        line
    ]


def _json_text(literal: str) -> str:
    """The text of a JSON string, which a cut file may leave open; "" if it is not one."""
    for closed in (literal, literal.rstrip("\\") + '"'):
        try:
            text: str = json.loads(closed, strict=False)
        except ValueError:
            continue
        return text.encode(errors="replace").decode()  # a lone surrogate could not be printed
    return ""

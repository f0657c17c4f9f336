"""fio: what its output says, as text, JSON, JSON+ or terse lines, of fio 2 and 3.

Which direction a job worked in is taken from its figures, never from its name or options. An error of a job,
an error line or a log that is cut off is a failure, even if there are results.
"""

from __future__ import annotations

import re

from collector.parsers import fio_json, fio_terse, fio_text
from collector.parsers.fio_errors import Errors
from collector.parsers.fio_results import DIRECTIONS, Results
from collector.parsers.identity import TestIdentity
from collector.parsers.text import pieces
from collector.samples import Parsed

__all__ = ["ORDER", "identity", "parse"]

ORDER = DIRECTIONS

_IN_JSON = re.compile(r"\(groupid=\d+, jobs=\d+\)|;fio-\d|fio: pid=")
_OWN_JOB = re.compile(rf"perflab(?P<which>(?: on \S+)?(?: #\d+)?): (?P<direction>{'|'.join(DIRECTIONS)})")


def parse(text: str) -> Parsed:
    """All that a log of fio says; a pure function that never raises.

    If the log has JSON documents, they are read and not the same figures as text beside them.
    """
    documents, rest = fio_json.split(text)
    lines = [(line, piece) for line, piece in pieces(rest, _IN_JSON) if piece.strip()]
    errors = Errors(lines)
    results = Results(errors.causes)
    if documents:
        fio_json.read(documents, lines, results)
    elif any(fio_terse.is_terse(piece) for _, piece in lines):
        fio_terse.read(lines, results)
    else:
        fio_text.read(lines, results)
    if not results.samples:
        results.samples += errors.samples()
    issues = sorted([*errors.issues, *results.issues], key=lambda issue: issue.line)
    return Parsed(results.samples, issues)


def identity(title: str) -> TestIdentity:
    """The test that *title* means: a direction for the job of our own, else the title itself."""
    own = _OWN_JOB.fullmatch(title)
    key = own["direction"] + own["which"] if own else title
    return TestIdentity(key, key)

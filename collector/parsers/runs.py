"""Which run of a file a result belongs to: people keep the output of several in one."""

from __future__ import annotations

import re

_HEADING = re.compile(r"(?P<hashes>#{1,6})\s+(?P<title>.+)|[-=]{2,} (?P<banner>.+) [-=]{2,}")
_BANNER_LEVEL = 7  # below the six levels of markdown
_NOT_WORDS = re.compile(r"```.*|OK|\(integer\).*|WARN.*|ERROR.*|[\W_]*", re.IGNORECASE)
_PROMPT = re.compile(r"^[\s`]*(?:[$#>%+] +)?")
_LONGEST = 80


class Runs:
    """Counts the runs of a file and finds the words that introduce each.

    A further run begins after a heading or a command line, and with a test that the present run already has.

    :param command: finds the tool's command lines.
    """

    def __init__(self, command: re.Pattern[str]) -> None:
        self.number = 0
        self.label = ""
        self._is_command = command
        self._tests: set[str] = set()
        self._headings: list[tuple[int, str]] = []
        self._command = self._words = ""
        self._introduced = False

    def read(self, text: str) -> None:
        """Take in a piece of text that is not a result: a heading, a command line or other words."""
        text = text.strip()
        if self._is_command.search(text):
            self._command = _shorten(_PROMPT.sub("", text))
            self._introduced = True
        elif heading := _HEADING.fullmatch(text):
            level = len(heading["hashes"]) if heading["hashes"] else _BANNER_LEVEL
            self.heading(heading["title"] or heading["banner"], level)
        elif not (self._introduced and self._command) and not _NOT_WORDS.fullmatch(text):
            self._words = _shorten(text)

    def heading(self, title: str, level: int = _BANNER_LEVEL) -> None:
        """Take in a heading, which closes those of its own level and below."""
        outer = [(other, text) for other, text in self._headings if other < level]
        self._headings = [*outer, (level, _shorten(title.strip("=- ")))]
        self._command = self._words = ""
        self._introduced = True

    def begin(self) -> None:
        """Let the next result be one of a further run: the tool said itself that it began."""
        self._introduced = True

    def of(self, test: str) -> int:
        """The number of the run that the next result, one of *test*, belongs to; sets :attr:`label`."""
        if self.number == 0 or self._introduced or test in self._tests:
            self.number += 1
            self._tests = set()
            parts = (*(text for _, text in self._headings), self._words, self._command)
            self.label = " / ".join(part for part in parts if part)
        self._tests.add(test)
        self._introduced = False
        self._words = ""
        return self.number


def _shorten(text: str) -> str:
    text = text.strip("` \t")
    return text.rstrip(":") if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"

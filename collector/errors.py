"""The one error that a user sees: a line that names the file or host and what to do, no traceback."""

from __future__ import annotations

from pathlib import Path


class CollectorError(Exception):
    """Something that the user can act on.

    :param message: what is wrong, in one sentence.
    :param path: the file or folder that is at fault.
    :param remedy: what to do next, in one sentence.
    """

    def __init__(self, message: str, *, path: Path | None = None, remedy: str | None = None) -> None:
        self.message = message
        self.path = path
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        todo = f" ({self.remedy})" if self.remedy else ""
        return f"{where}{self.message}{todo}"

"""Run this machine's programs; a failure is one line with what the program said."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from .errors import LabError


def run(*argv: str | Path, stdin: str | None = None) -> str:
    """Run a program to its end and return what it wrote to stdout."""
    words = [str(word) for word in argv]
    try:
        ended = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise LabError(f"{words[0]} is missing here") from None
    if ended.returncode != 0:
        said = " / ".join(ended.stderr.strip().splitlines()[-3:]) or f"exit status {ended.returncode}"
        raise LabError(f"{shlex.join(words)}: {said}")
    return ended.stdout


def start(argv: list[str | Path], console: Path, env: Mapping[str, str] = os.environ) -> None:
    """Start a program that outlives this one; what it prints goes to *console*."""
    words = [str(word) for word in argv]
    try:
        os.posix_spawnp(
            words[0],
            words,
            env,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(console), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except FileNotFoundError:
        raise LabError(f"{words[0]} is missing here") from None

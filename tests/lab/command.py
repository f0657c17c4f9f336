"""Run this machine's programs; a failure is one line with what the program said."""

from __future__ import annotations

import shlex
import subprocess
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


def start(argv: list[str | Path], console: Path, env: dict[str, str] | None = None) -> None:
    """Start a program that outlives this one; what it prints goes to *console*."""
    with console.open("ab") as output:
        # Not as a child: nobody here waits for it.
        subprocess.run(
            ["setsid", "--fork", *map(str, argv)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            check=True,
        )

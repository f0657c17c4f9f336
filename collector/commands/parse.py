"""``python -m collector parse``"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from collector import parsers
from collector.errors import CollectorError
from collector.parsers.text import decode
from collector.render.listing import print_listing
from collector.samples import Parsed


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--workload", required=True, help="The tool that wrote the files, such as redis_benchmark.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of one object a file.")
@click.pass_context
def command(context: click.Context, files: tuple[Path, ...], workload: str, as_json: bool) -> None:
    """Show what log FILEs say, and what in them was not understood.

    Lines are counted from 1, and so are the runs that a file holds. The exit status is 1 if a file has no
    result.
    """
    parsers.workload(workload)
    contents = {file: _parse(file, workload) for file in files}
    if as_json:
        click.echo(json.dumps([_document(file, parsed) for file, parsed in contents.items()], indent=1))
    else:
        for file, parsed in contents.items():
            _print(file, parsed)
    context.exit(int(any(parsed.failure for parsed in contents.values())))


def _parse(file: Path, workload: str) -> Parsed:
    try:
        return parsers.parse(workload, decode(file.read_bytes()))
    except OSError as error:
        raise CollectorError(
            f"cannot be read: {error.strerror}", path=file, remedy="name a log that can be read"
        ) from error


def _document(file: Path, parsed: Parsed) -> dict[str, Any]:
    return {
        "file": str(file),
        "failure": parsed.failure,
        "samples": [dataclasses.asdict(sample) | {"unit": sample.unit} for sample in parsed.samples],
        "issues": [dataclasses.asdict(issue) for issue in parsed.issues],
    }


def _print(file: Path, parsed: Parsed) -> None:
    click.echo(f"{file}: {parsed.failure or 'a result'}")
    for number, label in {sample.run: sample.run_label for sample in parsed.samples}.items():
        click.echo(f"\nrun {number}: {label}".rstrip(": "))
        print_listing(
            ("test", "metric", "value", "unit", "line"),
            [
                (sample.test, sample.metric, sample.value, sample.unit, sample.line)
                for sample in parsed.samples
                if sample.run == number
            ],
        )
    for issue in parsed.issues:
        text = "" if issue.text in issue.reason else f": {issue.text}"
        click.echo(f"! line {issue.line}: {issue.reason}{text}")
    click.echo()

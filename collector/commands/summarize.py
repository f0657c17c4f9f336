"""``python -m collector summarize``"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from collector import store
from collector.errors import CollectorError
from collector.render import markdown, terminal, tidy
from collector.summary import ALL_METRICS, MAIN_METRIC, Summary, summarize

_UNLIMITED = 10_000  # columns: a file or a pipe has no width to fold for
_TIDY = ("csv", "json")
_FORMATS = ("terminal", "markdown", *_TIDY)
_BY_SUFFIX = {".md": "markdown", ".csv": "csv", ".json": "json", ".txt": "terminal"}
_USUAL_WIDTH = 80


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--baseline", metavar="LEVEL", help="Level that the others are divided by: as_found, 2.5GHz, local."
)
@click.option("--by", metavar="FACTOR", help="Factor (or host, run) whose levels stand side by side.")
@click.option(
    "--metric",
    metavar="M",
    help="A metric such as rps or p99, or all. [default: what the study asks about; csv, json: all]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="[default: by the suffix of F, terminal without one]",
)
@click.option("--output", metavar="F", type=click.Path(path_type=Path), help="Write to a file.")
@click.option(
    "--runs-dir",
    type=click.Path(path_type=Path),
    default=store.DEFAULT_RUNS_DIR,
    show_default=True,
    help="Where runs lie that are named by their id.",
)
def command(
    runs: tuple[str, ...],
    baseline: str | None,
    by: str | None,
    metric: str | None,
    format_: str | None,
    output: Path | None,
    runs_dir: Path,
) -> None:
    """Compare the conditions of one or more runs: a table a host and workload, and the study's verdicts.

    RUN is a run's id, its folder or its run.json; without one, the newest run is taken. Several runs are
    compared with each other where they hold different conditions, or with --by run.
    """
    paths = run_folders(runs, runs_dir)
    format_ = format_ or _format_of(output)
    if metric is None:
        metric = ALL_METRICS if format_ in _TIDY else MAIN_METRIC
    summary = summarize(store.load_runs(paths), by=by, baseline=baseline, metric=metric)
    _write(summary, format_, output)
    if format_ in _TIDY:
        for doubt in summary.doubts:  # a host without any result has no row either
            click.echo(f"! {doubt}", err=True)
    if not summary.comparisons:
        click.get_current_context().exit(1)


def run_folders(runs: Sequence[str], runs_dir: Path) -> list[Path]:
    """The folders of the runs that a command line names; of the newest run if it names none.

    :raises CollectorError: none is named, and there is none.
    """
    return [_folder(run, runs_dir) for run in runs] or [store.newest_run(runs_dir)]


def _folder(run: str, runs_dir: Path) -> Path:
    """A run named by its folder, by the run.json in it or by its id."""
    path = Path(run)
    if path.name == "run.json" and path.is_file():
        return path.parent
    return path if path.is_dir() else runs_dir / run


def _format_of(output: Path | None) -> str:
    if output is None:
        return "terminal"
    if not output.name:
        raise CollectorError("--output needs the name of a file")
    suffix = output.suffix.lower()
    if suffix and suffix not in _BY_SUFFIX:
        known = f"known are {', '.join(_BY_SUFFIX)}; --format says it for any other"
        raise CollectorError(f"no format has the suffix {output.suffix}", path=output, remedy=known)
    return _BY_SUFFIX.get(suffix, "terminal")


def _write(summary: Summary, format_: str, output: Path | None) -> None:
    if output is not None:
        try:
            output.write_text(_text(summary, format_), encoding="utf-8")
        except OSError as error:
            raise CollectorError(f"cannot be written: {error.strerror}", path=output) from error
    elif format_ == "terminal":
        terminal.render(summary, Console(highlight=False, width=_width()))
    else:
        click.echo(_text(summary, format_), nl=False)


def _width() -> int | None:
    """The columns to fold for; None to ask the terminal."""
    columns = os.environ.get("COLUMNS")
    if columns is None:
        return None if sys.stdout.isatty() else _UNLIMITED
    return int(columns) if columns.isdecimal() and int(columns) else _USUAL_WIDTH


def _text(summary: Summary, format_: str) -> str:
    if format_ == "terminal":
        text = io.StringIO()
        terminal.render(summary, Console(file=text, width=_UNLIMITED, highlight=False))
        return text.getvalue()
    return {"markdown": markdown.render, "csv": tidy.to_csv, "json": tidy.to_json}[format_](summary)

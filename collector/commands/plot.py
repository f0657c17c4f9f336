"""``python -m collector plot``"""

from __future__ import annotations

import re
from pathlib import Path

import click

from collector import describe, store
from collector.commands.summarize import run_folders
from collector.comparison import Comparison
from collector.errors import CollectorError
from collector.nearest import did_you_mean
from collector.options import runs_dir_option
from collector.render import charts
from collector.render.chart_words import ENGLISH, WORDS
from collector.summary import MAIN_METRIC, summarize

_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--workload", metavar="W", help="Only charts of this workload.")
@click.option(
    "--metric",
    default=MAIN_METRIC,
    metavar="M",
    help="A metric such as iops or p99, or all. [default: those that the study asks about]",
)
@click.option("--baseline", metavar="LEVEL", help="Level that the others are divided by.")
@click.option("--by", metavar="FACTOR", help="Factor (or host, run) whose levels are compared.")
@click.option(
    "--lang", type=click.Choice(tuple(WORDS)), default=ENGLISH, show_default=True, help="Language of labels."
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where charts go.  [default: charts in the run's folder]",
)
@runs_dir_option
def command(
    runs: tuple[str, ...],
    workload: str | None,
    metric: str,
    baseline: str | None,
    by: str | None,
    lang: str,
    output_dir: Path | None,
    runs_dir: Path,
) -> None:
    """Draw charts of one or more runs, each as PNG and SVG, and print their paths.

    RUN is a run's id, its folder or its run.json; without one, the newest run is taken.
    """
    paths = run_folders(runs, runs_dir)
    summary = summarize(store.load_runs(paths), by=by, baseline=baseline, metric=metric)
    comparisons = summary.comparisons
    if workload is not None:
        known = dict.fromkeys(comparison.workload for comparison in comparisons)
        if workload not in known:
            raise CollectorError(
                f"no result of workload {workload!r} in these runs", remedy=did_you_mean(workload, known)
            )
        comparisons = [comparison for comparison in comparisons if comparison.workload == workload]
    folder = output_dir or paths[0] / "charts"
    if comparisons:
        _make_folder(folder)
    for name, comparison in _named(comparisons).items():
        for file in charts.save(comparison, summary.profiles, lang, folder / name):
            click.echo(file)
    for doubt in summary.doubts:
        click.echo(f"! {doubt}", err=True)
    if not comparisons:
        click.get_current_context().exit(1)


def _named(comparisons: list[Comparison]) -> dict[str, Comparison]:
    """The charts by name: workload, metric, and what sets one apart from another of them."""
    alike: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        alike.setdefault((comparison.workload, comparison.metric.name), []).append(comparison)
    return {
        "-".join(_NOT_IN_NAMES.sub("_", part) for part in (*kind, *where)): comparison
        for kind, of_kind in alike.items()
        for comparison, where in zip(of_kind, describe.set_apart(of_kind), strict=True)
    }


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CollectorError(
            f"cannot be made: {error.strerror}", path=folder, remedy="name another folder with --output-dir"
        ) from error

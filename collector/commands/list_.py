"""``python -m collector list``"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from collector.errors import CollectorError
from collector.levels import label
from collector.models import Factors
from collector.options import runs_dir_option
from collector.render.listing import print_listing
from collector.store import LoadedPoint, RunTree, find_runs, load_run


@click.command("list")
@runs_dir_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["terminal", "json"]),
    default="terminal",
    show_default=True,
    help="How to print.",
)
@click.pass_context
def command(context: click.Context, runs_dir: Path, format_: str) -> None:
    """List the runs, oldest first: study, hosts, conditions, and how many of the planned points are done."""
    trees, broken = [], []
    for path in find_runs(runs_dir):
        try:
            trees.append(load_run(path))
        except CollectorError as error:  # one damaged run must not hide the others
            broken.append(error)
    documents = [_document(tree) for tree in sorted(trees, key=lambda tree: tree.run.started_at)]
    if format_ == "json":
        click.echo(json.dumps(documents, indent=1))
    else:
        print_listing(
            ("run", "study", "hosts", "conditions", "done", "failed", "planned"),
            [
                (
                    document["run"],
                    document["study"],
                    ", ".join(document["hosts"]),
                    _describe(document["conditions"]),
                    document["done"],
                    document["failed"],
                    document["planned"],
                )
                for document in documents
            ],
        )
    for damage in broken:
        click.echo(f"collector: error: {damage}", err=True)
    context.exit(2 if broken else 0)


def _document(tree: RunTree) -> dict[str, Any]:
    failed = sum(_is_failed(point) for point in tree.points)
    conditions: list[Factors] = []
    for planned in tree.run.points:
        if planned.factors not in conditions:
            conditions.append(planned.factors)
    return {
        "run": tree.path.name,
        "path": str(tree.path),
        "study": tree.run.study,
        "started_at": tree.run.started_at.isoformat(),
        "hosts": tree.run.hosts,
        "conditions": conditions,
        "done": len(tree.points) - failed,
        "failed": failed,
        "planned": len(tree.run.points),
    }


def _is_failed(point: LoadedPoint) -> bool:
    try:
        return point.failure is not None
    except CollectorError:  # a log is lost or damaged
        return True


def _describe(conditions: list[Factors]) -> str:
    """The levels of each factor that varies, "as found, 2.0 GHz; turbo on, turbo off"; else of all."""
    levels: dict[str, list[str]] = {}
    for condition in conditions:
        for factor, level in condition.items():
            found = levels.setdefault(factor, [])
            if label(factor, level) not in found:
                found.append(label(factor, level))
    varying = [labels for labels in levels.values() if len(labels) > 1]
    return "; ".join(", ".join(labels) for labels in varying or levels.values())

"""``python -m collector import``"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from collector.importer import STUDIES, Source, import_logs
from collector.models import Status
from collector.options import runs_dir_option


def _pairs(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE arguments as a dict."""
    pairs: dict[str, str] = {}
    for argument in values:
        name, equals, value = argument.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{argument!r} is not NAME=VALUE", context, parameter)
        if name in pairs:
            raise click.BadParameter(f"{name!r} is given twice", context, parameter)
        pairs[name] = value
    return pairs


def _named(flag: str, help_text: str) -> Callable[[Any], Any]:
    return click.option(flag, multiple=True, metavar="NAME=VALUE", callback=_pairs, help=help_text)


@click.command("import")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--study", required=True, metavar="STUDY", help=f"What the logs answer: {', '.join(STUDIES)}.")
@click.option("--host", required=True, help="The host that was measured.")
@click.option("--workload", required=True, help="The tool that wrote the logs, such as redis_benchmark.")
@_named("--factor", "The condition: frequency=2.0GHz, platform=virtual. Repeatable.")
@_named("--param", "A setting of the workload: clients=50. Repeatable.")
@click.option("--tool-version", metavar="VERSION", help="The tool's version.")
@click.option("--observed-frequency", metavar="GHZ", help="The clock at as_found, if it is known: 2.6GHz.")
@_named("--host-info", 'What the host is: cpu.model="Kunpeng 920", cpu.cpus=128. Repeatable.')
@click.option(
    "--run-id", metavar="ID", help="Add to this run, or start one of this name. [default: a new one]"
)
@click.option(
    "--started-at",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%SZ"]),
    help="When a new run was started (UTC). [default: now]",
)
@runs_dir_option
@click.pass_context
def command(
    context: click.Context,
    logs: tuple[Path, ...],
    study: str,
    host: str,
    workload: str,
    factor: dict[str, str],
    param: dict[str, str],
    tool_version: str | None,
    observed_frequency: str | None,
    host_info: dict[str, str],
    run_id: str | None,
    started_at: datetime | None,
    runs_dir: Path,
) -> None:
    """Make a run of LOGs that Ansible did not make, or add them to one.

    The logs are repeats of one condition; call it again with the same --run-id for the next condition. The
    exit status is 1 if a log holds no result: it is kept as a failed point.
    """
    parts: dict[str, dict[str, Any]] = {}
    for name, value in host_info.items():
        part, dot, key = name.partition(".")
        if not (part and dot and key):
            raise click.BadParameter(
                f"{name!r} is not PART.NAME, such as cpu.model", param_hint="--host-info"
            )
        parts.setdefault(part, {})[key] = _value(value)
    source = Source(
        study=study,
        host=host,
        workload=workload,
        factors=factor,
        params={name: _value(value) for name, value in param.items()},
        tool_version=tool_version,
        observed_frequency=observed_frequency,
        host_info=parts,
    )
    started_at = (started_at or datetime.now(UTC)).replace(tzinfo=UTC, microsecond=0)
    run_id = run_id or _new_run_id(runs_dir, f"{started_at:%Y%m%dT%H%M%SZ}-{study}")
    points = import_logs(logs, source, runs_dir, run_id, started_at)
    for point in points:
        click.echo(f"{runs_dir / run_id / point.host / point.point_id}: {point.reason or point.status.value}")
    context.exit(int(any(point.status is not Status.OK for point in points)))


def _value(text: str) -> Any:
    """Numbers and truth values as such, anything else as text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # JSON has no NaN and no infinity, though Python reads them.
    return value if isinstance(value, int | float) and -math.inf < value < math.inf else text


def _new_run_id(runs_dir: Path, name: str) -> str:
    run_id, number = name, 1
    while (runs_dir / run_id).exists():
        number += 1
        run_id = f"{name}-{number}"
    return run_id

"""``python -m collector run``"""

from __future__ import annotations

import contextlib
import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from collector.errors import CollectorError
from collector.nearest import did_you_mean
from collector.options import host_options, runs_dir_option
from collector.progress import Progress
from collector.progress_view import ProgressView
from collector.runner import Playbook, studies
from collector.session import Echo, Session
from collector.store import read_run


@click.command()
@click.argument("study")
@host_options
@click.option(
    "--profile",
    type=click.Choice(["smoke", "quick", "published"]),
    help="How thorough. [default: the study's]",
)
@click.option("--resume", metavar="RUN", help="Measure what this run (its id or folder) lacks.")
@runs_dir_option
@click.option("--summary/--no-summary", default=True, show_default=True, help="Print the table at the end.")
@click.pass_context
def command(
    context: click.Context,
    /,
    study: str,
    profile: str | None,
    resume: str | None,
    runs_dir: Path,
    summary: bool,
    **hosts: Any,
) -> None:
    """Run STUDY on the hosts of an inventory, fetch the logs, put the hosts back, print the table.

    Exit status: 0 all points were measured, 1 a point or a host failed, 2 wrong usage, 130 interrupted.
    """
    if study not in studies():
        raise CollectorError(f"no study {study!r}", remedy=did_you_mean(study, studies()))
    resumed = _resumed(resume, runs_dir, study) if resume else None
    if resumed and not profile:
        profile = read_run(resumed).profile  # a resumed run has the plan that it had
    if profile:
        hosts["extra_vars"] = [f"{study}_profile={profile}", *hosts["extra_vars"]]
    if hosts["check"]:
        context.exit(Playbook(study, **hosts, echo=True).run(Echo()).exit_status)
    playbook = Playbook(study, **hosts)
    run_dir = resumed or _new_run_dir(runs_dir, study)
    status = _measure(playbook, run_dir, Console(stderr=True))
    if summary and any(run_dir.glob("*/*/point.json")):
        _summarize(run_dir)
    context.exit(status)


def _measure(playbook: Playbook, run_dir: Path, console: Console) -> int:
    """Run the study, show how it goes and what came of it, and return the exit status."""
    progress = Progress(run_dir)
    progress.poll()  # what a resumed run already has is no news
    if progress.planned and not progress.missing:
        raise CollectorError(
            "nothing to resume: every point is finished",
            path=run_dir,
            remedy="to have a failed point measured again, remove its folder there",
        )
    with (
        (run_dir / "ansible.log").open("a", encoding="utf-8") as log,
        ProgressView(playbook.name, progress, console) as view,
    ):
        session = Session(progress, view, log)
        outcome = playbook.run(
            session, {"run_id": run_dir.name, "run_runs_dir": str(run_dir.parent.absolute())}
        )
        session.catch_up()
        view.line(_result(progress) if progress.planned else f"nothing was measured (log: {log.name})")
    complete = progress.planned and not progress.failed and not progress.missing
    return outcome.exit_status or int(not complete)


def _result(progress: Progress) -> str:
    done = len(progress.finished) - progress.failed
    return (
        f"run {progress.run_dir}: {done} of {len(progress.planned)} points ok, "
        f"{progress.failed} failed, {progress.missing} missing"
    )


def _summarize(run_dir: Path) -> None:
    from collector.commands import summarize  # slow to import, and only needed now

    summarize.command.main([str(run_dir)], prog_name="collector summarize", standalone_mode=False)


def _new_run_dir(runs_dir: Path, study: str) -> Path:
    """Create the folder of a new run, whose name no other run has."""
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{study}"
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    try:
        while True:
            run_dir = runs_dir / next(names)
            with contextlib.suppress(FileExistsError):
                run_dir.mkdir(parents=True)
                return run_dir
    except OSError as error:
        raise CollectorError(
            f"cannot be created: {error.strerror}",
            path=run_dir,
            remedy="name another folder with --runs-dir",
        ) from error


def _resumed(run: str, runs_dir: Path, study: str) -> Path:
    """The folder of the run to resume."""
    run_dir = Path(run) if Path(run).is_dir() else runs_dir / run
    of_study = read_run(run_dir).study
    if of_study != study:
        raise CollectorError(
            f"is a run of {of_study}, not of {study}",
            path=run_dir,
            remedy=f"resume it so: collector run {of_study} --resume {run}",
        )
    return run_dir

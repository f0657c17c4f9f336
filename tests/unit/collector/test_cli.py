from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from collector.cli import cli

COMMANDS = sorted(cli.list_commands(click.Context(cli)))


def test_every_command_is_found() -> None:
    assert {"import", "list", "parse", "run", "summarize"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.help
    assert [
        option.name for option in command.params if isinstance(option, click.Option) and not option.help
    ] == []


def test_a_misspelt_command_names_the_nearest() -> None:
    result = CliRunner().invoke(cli, ["sumarize"])
    assert result.exit_code == 2
    assert result.stderr == "collector: error: no command 'sumarize' (did you mean summarize?)\n"


def test_the_module_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "collector", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("collector, version ")


ROOT = Path(__file__).parents[3]
LIST = "-m collector list --runs-dir examples"
PARSE = "-m collector parse --workload redis_benchmark examples/*/*/*/*.log"


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, in which $PYTHON is this interpreter."""
    return subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
        check=False,
    )


@pytest.mark.parametrize("command", [LIST, f"{LIST} --format json", PARSE, "-m collector --help"])
def test_an_output_that_cannot_be_written_is_one_line(command: str) -> None:
    full = _shell(f'"$PYTHON" {command} > /dev/full')
    assert (full.returncode, full.stderr) == (
        2,
        "collector: error: standard output cannot be written: No space left on device\n",
    )


def test_a_closed_output_is_one_line() -> None:
    closed = _shell(f'"$PYTHON" {LIST} >&-')
    assert (closed.returncode, closed.stderr) == (2, "collector: error: standard output is closed\n")


@pytest.mark.parametrize("command", [LIST, f"{LIST} --format json", PARSE])
def test_a_reader_who_has_seen_enough_is_no_news(command: str) -> None:
    left = _shell(f'"$PYTHON" {command} | true; exit ${{PIPESTATUS[0]}}')
    assert (left.returncode, left.stderr) == (1, "")


def test_an_error_that_nobody_can_see_is_still_a_status() -> None:
    assert _shell('"$PYTHON" -m collector list --runs-dir nowhere 2> /dev/full').returncode == 2
    assert _shell('"$PYTHON" -m collector list --runs-dir nowhere 2>&-').returncode == 2
    assert _shell('"$PYTHON" -m collector 2> /dev/full').returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "--runsdir", "x"], "No such option"),
        (["import", "a.log"], "Missing option '--study' (see collector import --help)"),
        (["summarize", "--format", "xml"], "Invalid value for '--format': 'xml' is not one of"),
        (["--nonsense"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(cli, arguments, prog_name="collector")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"collector: error: {message}")
    command = " ".join(["collector", *(word for word in arguments[:1] if word[0] != "-")])
    assert result.stderr.endswith(f" (see {command} --help)\n")
    assert result.stderr.count("\n") == 1

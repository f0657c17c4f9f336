from __future__ import annotations

import subprocess
import sys

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

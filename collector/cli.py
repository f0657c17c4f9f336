"""The command line: a group that finds its subcommands in :mod:`collector.commands`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import click

from collector import __version__, commands
from collector.errors import CollectorError
from collector.nearest import did_you_mean


class _Failure(click.ClickException):
    """A CollectorError on its way out: one line on stderr, exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"collector: error: {self.message}", file=file, err=True)


class _Commands(click.Group):
    """Imports a subcommand's module only when it is asked for, so that --help and parse start quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name.rstrip("_") for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for module in pkgutil.iter_modules(commands.__path__):
            if module.name.rstrip("_") == cmd_name:
                command = importlib.import_module(f"{commands.__name__}.{module.name}").command
                assert isinstance(command, click.Command)
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            raise CollectorError(f"no command {name!r}", remedy=did_you_mean(name, self.list_commands(ctx)))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CollectorError as error:
            raise _Failure(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="collector")
def cli() -> None:
    """Run studies, and turn the logs that they fetched into comparison tables."""


def main() -> None:
    """Entry point of ``python -m collector`` and ``perflab``."""
    cli(prog_name="collector")

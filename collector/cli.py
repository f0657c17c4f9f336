"""The command line: a group that finds its subcommands in :mod:`collector.commands`."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
from typing import Any, TextIO

import click

from collector import __version__, commands
from collector.errors import CollectorError
from collector.nearest import did_you_mean


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

    def main(self, *args: Any, **extra: Any) -> Any:
        """As click's, but every error is one line of the same form. It ends the program."""
        if sys.stdout is None:  # was closed: the first file that is opened would get the output
            sys.exit(_fail("standard output is closed"))
        try:
            status = super().main(*args, **{**extra, "standalone_mode": False})
            sys.stdout.flush()
        except CollectorError as error:
            status = _fail(str(error))
        except click.ClickException as error:
            status = _fail_usage(error)
        except click.Abort:
            status = _fail("interrupted", 130)
        except OSError as error:
            status = _fail_output(error)
        sys.exit(status)


def _fail(message: str, status: int = 2) -> int:
    """Say what is wrong, in one line on stderr, and return the exit status."""
    _say(f"collector: error: {message}")
    return status


def _say(text: str) -> None:
    try:
        click.echo(text, err=True)
    except OSError:  # nobody is listening
        _give_up(sys.stderr)


def _fail_usage(error: click.ClickException) -> int:
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # click 8.2 and later
        _say(error.format_message())
        return error.exit_code
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    see = f" (see {context.command_path} --help)" if context else ""
    return _fail(message + see, error.exit_code)


def _fail_output(error: OSError) -> int:
    """What no command foresaw; without a file's name it is that standard output cannot be written."""
    if error.filename is not None:
        return _fail(f"{error.filename}: {error.strerror}")
    _give_up(sys.stdout)
    if isinstance(error, BrokenPipeError):  # `| head` has seen enough
        return 1
    return _fail(f"standard output cannot be written: {error.strerror}")


def _give_up(stream: TextIO) -> None:
    """Close a stream that cannot be written, or the interpreter would try again at its end, and complain."""
    with contextlib.suppress(OSError):
        stream.close()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="collector")
def cli() -> None:
    """Run studies, and turn the logs that they fetched into comparison tables."""


def main() -> None:
    """Entry point of ``python -m collector`` and ``perflab``."""
    cli(prog_name="collector")

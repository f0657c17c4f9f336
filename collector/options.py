"""The options that several commands share.

Those of commands that run a playbook (which hosts, and how) are called as Ansible's own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from collector.store import DEFAULT_RUNS_DIR

runs_dir_option = click.option(
    "--runs-dir",
    type=click.Path(path_type=Path),
    default=DEFAULT_RUNS_DIR,
    show_default=True,
    help="Where runs lie.",
)


def _ask_if(context: click.Context, parameter: click.Parameter, wanted: bool) -> str | None:
    return click.prompt("sudo password", hide_input=True, err=True, type=str) if wanted else None


_OPTIONS = (
    click.option(
        "-i",
        "--inventory",
        "inventories",
        multiple=True,
        required=True,
        help="Inventory file or folder, or hosts with a comma; may be repeated.",
    ),
    click.option("-l", "--limit", metavar="PATTERN", help="Only hosts that match."),
    click.option(
        "-e",
        "--extra-vars",
        multiple=True,
        help="Variables, as ansible-playbook takes them; may be repeated.",
    ),
    click.option("-C", "--check", is_flag=True, help="Change nothing, show what would change."),
    click.option(
        "-K",
        "--ask-become-pass",
        "become_password",
        is_flag=True,
        callback=_ask_if,
        help="Ask for the password of sudo on the hosts.",
    ),
)


def host_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; their values are parameters of :class:`collector.runner.Playbook`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function

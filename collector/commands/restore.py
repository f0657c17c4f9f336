"""``python -m collector restore``"""

from __future__ import annotations

from typing import Any

import click

from collector.options import host_options
from collector.runner import Playbook
from collector.session import Echo


@click.command()
@host_options
@click.pass_context
def command(context: click.Context, /, **hosts: Any) -> None:
    """Put hosts back as they were found, after a run that could not do so itself. Safe at any time."""
    context.exit(Playbook("restore", **hosts, echo=True).run(Echo()).exit_status)

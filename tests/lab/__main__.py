"""`make lab-up` and `make lab-down`."""

from __future__ import annotations

import argparse
import sys

from . import lab
from .errors import LabError
from .machines import load

# Two guests at once are what two cores can carry.
_USUAL = {"up": ["hosts", "x86", "arm"], "images": ["hosts", "guests"], "down": []}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=lab.__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, words in (
        ("up", "start machines (default: the hosts, x86 and arm)"),
        (
            "down",
            "take machines away with what they wrote (default: the whole lab, whoever left it)",
        ),
        ("status", "say which machines are up"),
        ("images", "make the images that machines start from (default: every one), start nothing"),
    ):
        command = commands.add_parser(name, help=words, description=words)
        if name != "status":
            command.add_argument("machine", nargs="*", default=_USUAL[name], help="a machine or a group")
    options = parser.parse_args()
    try:
        if options.command == "up":
            lab.up(options.machine)
        elif options.command == "images":
            lab.make_images(options.machine)
        elif options.command == "down":
            lab.down(options.machine)
        for machine in load().values():
            print(f"{machine.name:12} {machine.address:14} {'up' if lab.is_up(machine) else 'down'}")
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

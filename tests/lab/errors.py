"""What goes wrong in the lab, said in one line."""

from __future__ import annotations


class LabError(Exception):
    """The message names the machine or command, and the remedy where one is known."""

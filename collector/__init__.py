"""Turns a folder of benchmark logs (a run) into comparison tables."""

__version__ = "0.1.0"

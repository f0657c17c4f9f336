"""How the sidecars of wild logs are to be read, tool by tool: what a row of one is as a sample of ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from collector.samples import Sample


class Row(NamedTuple):
    """What a sample should be.

    :ivar value: not finite where there should be an issue on the line instead of a sample.
    :ivar line: None where the sidecar does not say it.
    :ivar run: equal for the rows of one run of the file.
    """

    test: str
    metric: str
    value: float
    unit: str
    line: int | None
    run: str | None


def as_they_are(document: dict[str, Any]) -> list[Row]:
    """The rows of a sidecar whose words are ours."""
    return [
        Row(row["test"], row["metric"], float(row["value"]), row["unit"], row["line"], row.get("run"))
        for row in document["rows"]
    ]


@dataclass(frozen=True)
class Adapter:
    """How the sidecars of one tool are read.

    :param workload: whose parser reads the logs.
    :param rows: the samples that a sidecar asks for.
    :param unasked: metrics that we read and sidecars do not have.
    :param asks_for: whether a sample should be among the rows; sidecars of large logs do not list everything.
    :param tolerance: of values, relative, where sidecars have them rounded in another unit.
    :param fatal: how many fatal issues a sidecar asks for; None if it does not say.
    """

    workload: str
    rows: Callable[[dict[str, Any]], list[Row]] = as_they_are
    unasked: frozenset[str] = frozenset()
    asks_for: Callable[[Sample, list[Row]], bool] = lambda sample, rows: True
    tolerance: float = 0
    fatal: Callable[[dict[str, Any]], int | None] = lambda document: None

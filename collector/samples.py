"""What a parser gives back: samples, the lines that it did not understand, and why a log has no result."""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.metrics import METRICS, Better


@dataclass(frozen=True)
class Sample:
    """One metric value read from a log.

    :param test: the test's title as the tool printed it.
    :param metric: a name in :data:`collector.metrics.METRICS`.
    :param value: the value in the metric's unit; always finite.
    :param line: the line of the log that it stands on, from 1, lines split at LF.
    :param run: which run in the file it belongs to, from 1.
    :param run_label: the words that introduce that run in the file (a heading, a command line), or "".
    """

    test: str
    metric: str
    value: float
    line: int
    run: int = 1
    run_label: str = ""

    @property
    def unit(self) -> str:
        return METRICS[self.metric].unit

    @property
    def better(self) -> Better:
        return METRICS[self.metric].better


@dataclass(frozen=True)
class ParseIssue:
    """A line that gave no sample although it looks as if it should, and why.

    :param fatal: the tool itself reported a failure (a refused password, a lost connection), or the log is
        cut off: the point is failed, even if there are samples.
    """

    line: int
    text: str
    reason: str
    fatal: bool = False


@dataclass(frozen=True)
class Parsed:
    """All that a log says.

    A log is usable when it has samples and no fatal issue; otherwise :attr:`failure` says why not.
    """

    samples: list[Sample] = field(default_factory=list)
    issues: list[ParseIssue] = field(default_factory=list)

    @property
    def failure(self) -> str | None:
        """Why the log counts as a failed point, in one line; None when it has a result."""
        fatal = [issue for issue in self.issues if issue.fatal]
        if fatal:
            return f"line {fatal[0].line}: {fatal[0].reason}"
        if not any(sample.better is not Better.NONE for sample in self.samples):
            first = f" (line {self.issues[0].line}: {self.issues[0].reason})" if self.issues else ""
            return f"no result in the log{first}"
        return None

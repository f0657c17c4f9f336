"""Verdict tables: which condition wins, question by question, over all rows of a comparison.

A verdict is about the geometric mean of a question's ratios (P. J. Fleming and J. J. Wallace, How not to lie
with statistics: the correct way to summarize benchmark results, CACM 29 (1986)), tested against the noise of
the repeats by :func:`collector.stats.mean_difference`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collector import describe, stats
from collector.comparison import Column, Comparison, Row
from collector.doubts import differences
from collector.frame import points
from collector.models import Status
from collector.questions import Question, of
from collector.stats import Verdict
from collector.words import counted


@dataclass(frozen=True)
class Judgement:
    """The answer to one question for one condition.

    :param where: what sets it apart from the question's other answers, in phrases: "ext4", "turbo off".
    :param comparison: the table that it sums up.
    :param column: the condition that is compared with the table's baseline.
    :param rows: over how many rows; those without a ratio are left out, and those without repeats where
        others have them.
    :param planned: how many rows of the table are about the question.
    :param ratio: the geometric mean of the rows' ratios, condition over baseline; None without any.
    :param low: lower end of the ratio's 95% interval; None where the repeats do not allow one.
    :param p: corrected for all answers of the verdict table; None where nothing was tested.
    """

    question: Question
    where: tuple[str, ...]
    comparison: Comparison
    column: Column
    rows: int
    planned: int
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None

    @property
    def baseline(self) -> Column:
        return self.comparison.columns[0]

    @property
    def verdict(self) -> Verdict | None:
        """What may be claimed; None without a ratio. A difference within 2% is none, however certain."""
        if self.ratio is None:
            return None
        if self.p is None:
            return Verdict.TOO_FEW
        tested = stats.Difference(self.low, self.high, self.p)
        if tested.negligible:
            return Verdict.SAME
        return stats.verdict(self.ratio, tested, self.question.metric.better)

    @property
    def winner(self) -> Column | None:
        """The better condition; None if they tie, or nothing may be claimed."""
        return {Verdict.BETTER: self.column, Verdict.WORSE: self.baseline}.get(self.verdict or Verdict.SAME)


@dataclass(frozen=True)
class VerdictTable:
    """The answers along one factor.

    :param by: the factor whose levels are compared.
    :param judgements: in the order of the study's questions; at least one.
    """

    by: str
    judgements: tuple[Judgement, ...]

    @property
    def comparisons(self) -> list[Comparison]:
        """The tables that it sums up."""
        return list({id(j.comparison): j.comparison for j in self.judgements}.values())

    @property
    def tested(self) -> int:
        return sum(j.p is not None for j in self.judgements)

    @property
    def doubts(self) -> list[str]:
        """What differs besides the factor, and what is missing, by workload."""
        return list(dict.fromkeys(doubt for comparison in self.comparisons for doubt in _doubts(comparison)))


def verdict_tables(comparisons: Sequence[Comparison]) -> list[VerdictTable]:
    """The verdict tables of some comparisons: one a factor along which questions have an answer.

    Each p is corrected for all answers of its table (:func:`collector.stats.adjust`).
    """
    tables = []
    for by in dict.fromkeys(comparison.by for comparison in comparisons):
        found = list(_judgements([comparison for comparison in comparisons if comparison.by == by]))
        corrected = iter(stats.adjust([j.p for j in found if j.p is not None]))
        found = [j if j.p is None else replace(j, p=next(corrected)) for j in found]
        if found:
            tables.append(VerdictTable(by, tuple(found)))
    return tables


def _judgements(comparisons: Sequence[Comparison]) -> Iterator[Judgement]:
    for question in dict.fromkeys(q for comparison in comparisons for q in of(comparison.study)):
        about = [(c, rows) for c in comparisons if (rows := _rows_about(question, c)) and len(c.columns) > 1]
        wheres = describe.set_apart([comparison for comparison, _ in about])
        for (comparison, rows), where in zip(about, wheres, strict=True):
            for column in comparison.columns[1:]:
                yield _judge(question, where, comparison, column, rows)


def _rows_about(question: Question, comparison: Comparison) -> list[Row]:
    if (comparison.workload, comparison.metric.name) != (question.workload, question.name):
        return []
    return [row for row in comparison.rows if question.test in (None, row.tool_test)]


def _judge(
    question: Question, where: tuple[str, ...], comparison: Comparison, column: Column, rows: Sequence[Row]
) -> Judgement:
    base = comparison.columns[0].level
    pairs = [
        (row.cells[base].repeats, cell.repeats)
        for row in rows
        if (cell := row.cells.get(column.level)) and cell.ratio is not None
    ]
    repeated = [pair for pair in pairs if min(map(len, pair)) > 1]
    used = repeated or pairs
    tested = stats.mean_difference(repeated)
    return Judgement(
        question=question,
        where=where,
        comparison=comparison,
        column=column,
        rows=len(used),
        planned=len(rows),
        ratio=_geometric_mean(used) if used else None,
        low=tested.low if tested else None,
        high=tested.high if tested else None,
        p=tested.p if tested else None,
    )


def _geometric_mean(rows: Sequence[stats.Row]) -> float:
    return statistics.geometric_mean(
        [stats.ratio(list(baseline.values()), list(other.values())) for baseline, other in rows]
    )


def _doubts(comparison: Comparison) -> Iterator[str]:
    planned = points(comparison.frame)
    without = int((planned["status"] != Status.OK).sum())
    if without:
        yield f"{comparison.workload}: no result from {without} of {counted(len(planned), 'point')}"
    for doubt in differences(comparison):
        yield f"{comparison.workload}: {doubt}"

"""A verdict table as texts, alike in every format."""

from __future__ import annotations

from dataclasses import dataclass

from collector.render.glyphs import NONE, Glyphs
from collector.stats import ALPHA, CONFIDENCE, SAME_WITHIN, Verdict
from collector.verdicts import Judgement, VerdictTable
from collector.words import counted

SURE = 0.01  # p below which an answer is called sure, not only fairly sure


@dataclass(frozen=True)
class VerdictLine:
    """An answer as texts.

    :param cells: in the order of :func:`columns`.
    """

    question: str
    cells: tuple[str, ...]
    verdict: Verdict | None


def head(table: VerdictTable) -> str:
    """What is asked."""
    if table.by == "turbo":
        return "does turbo off cost or gain?"
    return f"which {table.by} is better?"


def columns(table: VerdictTable) -> tuple[str, ...]:
    """The heads of the columns beside the questions; the ratio's says of what, if all are of the same."""
    pairs = {_pair(judgement) for judgement in table.judgements}
    outcome = "cost or gain" if table.by == "turbo" else "winner"
    compared = ("compared", outcome, "ratio") if len(pairs) > 1 else (outcome, *pairs)
    return (*compared, "how sure", "rows", "metric", "better")


def lines(table: VerdictTable, glyphs: Glyphs) -> list[VerdictLine]:
    """The answers."""
    with_pair = "compared" in columns(table)
    return [
        VerdictLine(
            question=", ".join((judgement.question.title, *judgement.where)),
            cells=(
                *([_pair(judgement)] if with_pair else []),
                " ".join(filter(None, [glyphs.sign(judgement), _outcome(table, judgement)])),
                _ratio(judgement, glyphs),
                how_sure(judgement),
                _rows(judgement),
                judgement.question.name,
                judgement.question.metric.better.value,
            ),
            verdict=judgement.verdict,
        )
        for judgement in table.judgements
    ]


def how_sure(judgement: Judgement) -> str:
    """What stands behind an answer, in words that claim no more than was tested."""
    if judgement.ratio is None:
        return "no row has both"
    if judgement.p is None:
        return "one repeat: not tested"
    p = "p<0.001" if judgement.p < 1e-3 else f"p={judgement.p:.3f}"
    if judgement.verdict is Verdict.SAME:
        return f"same within {SAME_WITHIN:.0%}"
    if judgement.verdict is Verdict.UNDECIDED:
        return f"not told apart ({p})"
    return f"{'sure' if judgement.p < SURE else 'fairly sure'} ({p})"


def legend(table: VerdictTable, glyphs: Glyphs) -> list[str]:
    """What the columns mean; what was tested only where something was."""
    said = ["the ratio is the geometric mean over the rows that both conditions have"]
    if table.tested:
        said[0] += f"; {glyphs.plus_minus} or (low-high) is its {CONFIDENCE:.0%} interval"
        said += [
            f"sure: p below {SURE:.2f}, fairly sure: below {ALPHA:.2f}, that the noise of the repeats alone "
            "makes such a ratio (test of the mean log ratio, Welch and Satterthwaite, corrected for "
            f"{counted(table.tested, 'answer')} by Benjamini-Hochberg)",
            f"tie: the whole interval lies within {SAME_WITHIN:.0%} of 1, or the two are not told apart, "
            "which is no claim that they are the same",
        ]
    return said


def _pair(judgement: Judgement) -> str:
    return f"{judgement.column.head} / {judgement.baseline.head}"


def _outcome(table: VerdictTable, judgement: Judgement) -> str:
    if judgement.verdict in (None, Verdict.TOO_FEW):
        return NONE
    if table.by == "turbo":
        return {Verdict.BETTER: "gain", Verdict.WORSE: "cost"}.get(judgement.verdict, "neither")
    return judgement.winner.label if judgement.winner else "tie"


def _ratio(judgement: Judgement, glyphs: Glyphs) -> str:
    if judgement.ratio is None:
        return NONE
    return " ".join(filter(None, [f"{judgement.ratio:.3f}", glyphs.margin(judgement)]))


def _rows(judgement: Judgement) -> str:
    if judgement.rows == judgement.planned:
        return str(judgement.rows)
    return f"{judgement.rows} of {judgement.planned}"

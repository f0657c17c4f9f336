"""The words around a comparison: its header, its foot and its footnotes, alike in every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collector import design, levels, overhead
from collector.comparison import Column, Comparison
from collector.frame import shared_params
from collector.metrics import Better
from collector.models import HostProfile, Status
from collector.stats import Verdict
from collector.words import counted, listed

Profiles = Mapping[tuple[str, str], HostProfile]  # by run_id and host

_PARAMS = {
    "clients": "{} clients",
    "requests": "{} requests",
    "threads": "{} threads",
    "data_size": "{} bytes a value",
    "pipeline": "pipeline of {}",
    "warehouses": "{} warehouses",
    "time_s": "{} s",
    "warmup_s": "{} s of warm-up",
}
# Not worth a word in a header: the tool's defaults, and the tests, which are the rows.
_SILENT = {"data_size": 3, "pipeline": 1}
_SHOWN_BY_ROWS = {"tests"}
_UNIT_IN_NAME = {"rps", "tpmC", "iops"}
_NOT_TOLD_APART = {Verdict.SAME, Verdict.UNDECIDED}


@dataclass(frozen=True)
class FootRow:
    """A line under the table.

    :param cells: by level, as text.
    :param of_overhead: whether it belongs below overheads rather than below ratios.
    """

    label: str
    cells: dict[str, str]
    of_overhead: bool = False


def facts(comparison: Comparison, profiles: Profiles) -> list[str]:
    """What was compared, on what, how often: the header, in phrases."""
    return [
        comparison.study,
        *hosts(comparison, profiles),
        workload(comparison),
        *(_fixed(name, level) for name, level in comparison.fixed.items() if level != levels.AS_FOUND),
        _repeats(comparison),
    ]


def circumstances(comparison: Comparison) -> dict[str, str]:
    """What holds for the whole table and may set it apart from another: phrases by name, factors first."""
    shared = shared_params(comparison.frame)
    return {
        **{name: _fixed(name, level) for name, level in comparison.fixed.items()},
        **{name: _param(name, value) for name, value in sorted(shared.items())},
        "host": listed(dict.fromkeys(host for column in comparison.columns for host in column.hosts)),
        "runs": listed(dict.fromkeys(run for column in comparison.columns for run in column.runs)),
    }


def set_apart(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """For each comparison the fewest of its circumstances that set it apart from the others."""
    known = [circumstances(comparison) for comparison in comparisons]
    told: list[tuple[str, ...]] = [() for _ in comparisons]
    for name in dict.fromkeys(name for found in known for name in found):
        finer = [(*before, found.get(name, "")) for before, found in zip(told, known, strict=True)]
        if len(set(finer)) > len(set(told)):
            told = finer
    return [tuple(filter(None, phrases)) for phrases in told]


def metric_and_direction(comparison: Comparison) -> str:
    """ "rps, higher is better" """
    metric = comparison.metric
    unit = "" if metric.name in _UNIT_IN_NAME else f" ({metric.unit})"
    return f"{metric.name}{unit}, {metric.better} is better"


def per_size(comparison: Comparison) -> str | None:
    """ "rps per GHz"; None where it has no meaning, as for a latency."""
    if not comparison.scaling or comparison.metric.better is not Better.HIGHER:
        return None
    return f"{comparison.metric.name} per {comparison.scaling.unit}"


def spread(comparison: Comparison) -> str | None:
    """ "spread over repeats"; None where nothing was repeated."""
    repeated = any(cell.variation is not None for row in comparison.rows for cell in row.cells.values())
    return "spread over repeats" if repeated else None


def foot(comparison: Comparison) -> list[FootRow]:
    """The means of the ratios and over how many tests, and beside them the ratio of the clocks or quotas."""
    means = {c.level: mean for c in comparison.columns if (mean := comparison.mean(c.level))}
    rows = []
    if means:
        counts = {mean.tests for mean in means.values()}
        noun = _row_noun(comparison)
        over = f", {counted(counts.pop(), noun)}" if len(counts) == 1 else ""
        if not over:
            rows.append(
                FootRow(f"{noun}s matched", {level: str(mean.tests) for level, mean in means.items()})
            )
        rows += [
            _ratios(f"mean of ratios{over}", {level: mean.arithmetic for level, mean in means.items()}),
            _ratios("geometric mean", {level: mean.geometric for level, mean in means.items()}),
        ]
        if overhead.is_asked(comparison):
            costs = {level: overhead.of(comparison, mean.geometric) for level, mean in means.items()}
            cells = {level: overhead.percent(cost) for level, cost in costs.items()}
            rows.append(FootRow("overhead (of the geometric mean)", cells, of_overhead=True))
    if comparison.scaling and comparison.scaling.ratios:
        rows.append(_ratios(_scale_label(comparison), comparison.scaling.ratios))
    return rows


def _ratios(label: str, ratios: Mapping[str, float]) -> FootRow:
    return FootRow(label, {level: f"{ratio:.3f}" for level, ratio in ratios.items()})


def scaling(comparison: Comparison) -> str | None:
    """The scaling exponent in a line; None where the table has none."""
    found = comparison.scaling
    if not found or found.exponent is None:
        return None
    lower = comparison.metric.better is Better.LOWER
    reference = "-1 = inversely proportional" if lower else "1 = proportional"
    over = f"median over {counted(found.tests, _row_noun(comparison))}"
    text = f"scaling exponent {found.exponent:.2f} ({over}; {reference} to {comparison.by})"
    why = "not limited" if comparison.by == "quota" else "frequency not known"
    unknown = [c.label for c in comparison.columns if c.level in found.unknown]
    return text + (f"; {listed(unknown)} left out, {why}" if unknown else "")


def footnotes(comparison: Comparison) -> dict[str, str]:
    """What differs in the work of tests that stand in one row, by test."""
    found = {}
    for row in comparison.rows:
        labels = {c.level: c.label for c in comparison.columns if c.level in row.cells}
        if row.notes:
            where = listed(f"{note} at {labels[level]}" for level, note in row.notes.items())
            others = "elsewhere as the title says: the work differs"
            found[row.test] = f"{where}, {others}" if len(row.notes) < len(labels) else where
    return found


def remarks(comparison: Comparison) -> list[str]:
    """What the table says that is no doubt: tests without a partner; of two conditions, the exceptions."""
    remarks = []
    for column in comparison.columns:
        without = [row.test for row in comparison.rows if column.level not in row.cells]
        if without and column.status == Status.OK:
            verb = "have" if len(without) > 1 else "has"
            what = f"{listed(without, most=12)} {verb} no value at {column.label}"
            remarks.append(f"unmatched, left out of the means: {what}")
    pair = len(comparison.columns) == 2 and not comparison.scaling
    if pair or overhead.is_asked(comparison):
        remarks += [_exceptions(comparison, c) for c in comparison.columns[1:] if comparison.ratios(c.level)]
    if overhead.is_asked(comparison):
        remarks += overhead.remarks(comparison)
    return remarks


def _exceptions(comparison: Comparison, other: Column) -> str:
    """In how many rows the other condition is better, and which are the exceptions."""
    faster: list[str] = []
    slower: list[str] = []
    for row in comparison.rows:
        cell = row.cells.get(other.level)
        if cell is None or cell.ratio is None or cell.ratio == 1 or cell.verdict in _NOT_TOLD_APART:
            continue
        better = (cell.ratio > 1) is (comparison.metric.better is Better.HIGHER)
        (faster if better else slower).append(f"{row.test} ({cell.ratio:.3f})")
    number = len(comparison.ratios(other.level))
    tests = counted(number, _row_noun(comparison))
    more, less = ("better", "worse") if comparison.metric.unit == "%" else ("faster", "slower")
    text = f"{other.label} is {more} in {len(faster) or 'none'} of {tests}"
    # Where the others are expected to be slower, a faster test is an exception even if all others are alike.
    expected = max(len(slower), number // 2) if overhead.is_asked(comparison) else len(slower)
    if len(faster) <= expected:
        return f"{text}: {listed(faster)}" if faster else text
    return f"{text}, {less} in {len(slower)}: {listed(slower)}" if slower else text


def _row_noun(comparison: Comparison) -> str:
    """What a row is: a test, or one point of a sweep."""
    return "row" if comparison.sweep else "test"


def _scale_label(comparison: Comparison) -> str:
    baseline = comparison.columns[0]
    if comparison.by == "quota":
        return "quota ratio (as found is not limited)" if baseline.size is None else "quota ratio"
    as_called = baseline.size == levels.quantity(comparison.by, baseline.level)
    return "frequency ratio" + ("" if as_called else f" ({baseline.label} = {baseline.size:.2f} GHz)")


def _fixed(name: str, level: str) -> str:
    label = level if name in design.PLAIN_AXES else levels.label(name, level)
    says_of_what = name in design.USUAL_FACTORS and level != levels.AS_FOUND
    return label if says_of_what else f"{name} {label}"


def hosts(comparison: Comparison, profiles: Profiles) -> list[str]:
    """The hosts, once if all conditions ran on the same, else by condition."""
    if len({column.hosts for column in comparison.columns}) == 1:
        column = comparison.columns[0]
        return [_host(comparison, host, profiles) for host in column.hosts]
    if comparison.by == "host":
        return [_host(comparison, column.level, profiles) for column in comparison.columns]
    return [
        f"{column.label}: {listed(_host(comparison, host, profiles) for host in column.hosts)}"
        for column in comparison.columns
    ]


def _host(comparison: Comparison, host: str, profiles: Profiles) -> str:
    runs = [run for column in comparison.columns for run in column.runs]
    profile = next((profiles[run, host] for run in runs if (run, host) in profiles), None)
    if profile is None:
        return host
    cpus = profile.cpu.get("cpus")
    known = [
        profile.cpu.get("model"),
        counted(cpus, "CPU") if cpus else None,
        profile.cpufreq.get("driver"),
    ]
    detail = ", ".join(str(fact) for fact in known if fact)
    return f"{host} ({detail})" if detail else host


def workload(comparison: Comparison) -> str:
    """The tool and those of its settings that all conditions share."""
    shared = shared_params(comparison.frame)
    told = {n: v for n, v in shared.items() if v and n not in _SHOWN_BY_ROWS and _SILENT.get(n) != v}
    names = [*(name for name in _PARAMS if name in told), *(name for name in told if name not in _PARAMS)]
    known = [_param(name, told[name]) for name in names]
    return comparison.workload + (f": {', '.join(known)}" if known else "")


def _param(name: str, value: Any) -> str:
    number = isinstance(value, int) and not isinstance(value, bool)
    text = f"{value:,}" if number else listed(map(str, value)) if isinstance(value, list) else str(value)
    return _PARAMS[name].format(text) if name in _PARAMS else f"{name} {text}"


def repeats(comparison: Comparison) -> tuple[int, int]:
    """How many values stand behind a cell: the fewest and the most; 0 where there is no result."""
    counts = [cell.n for row in comparison.rows for cell in row.cells.values()]
    return min(counts, default=0), max(counts, default=0)


def _repeats(comparison: Comparison) -> str:
    few, many = repeats(comparison)
    if not many:
        return "no result"
    return ("" if few == many else f"{few} to ") + counted(many, "repeat")

"""Makes a comparison of a group's samples: means, ratios, verdicts and scaling."""

from __future__ import annotations

import json
import statistics
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import cast

import pandas as pd

from collector import design, levels, parsers, rows, stats
from collector.comparison import Cell, Column, Comparison, Outcome, Row, Scaling
from collector.frame import POINT_KEY, factor_columns, points, shared_params
from collector.metrics import METRICS, Better, Metric
from collector.models import Status

NOT_ACHIEVED = 0.03  # a clock farther than this from what was set counts as not achieved, or as another


def compare(group: design.Group, metric: Metric, baseline: str | None = None) -> Comparison:
    """Compare the conditions of a group by one metric.

    :param baseline: a level in any spelling; by default, and where the group lacks it, the study's usual one.
    """
    planned = points(group.frame)
    order = design.order_levels(group.by, planned["level"].tolist(), baseline)
    quota_cpus = float(planned["quota_cpus"].max())
    columns = tuple(
        _column(group.by, level, planned[planned["level"] == level], quota_cpus) for level in order
    )
    samples = group.frame[group.frame["metric"] == metric.name]
    outcomes = _outcomes(group.frame)
    found = _rows(samples, metric, columns, outcomes) if len(samples) else ()
    workload = str(planned["workload"].iloc[0])
    return Comparison(
        study=str(planned["study"].iloc[0]),
        workload=workload,
        by=group.by,
        sweep=rows.swept(workload) if any(row.swept is not None for row in found) else None,
        metric=metric,
        fixed=group.fixed,
        columns=columns,
        rows=found,
        scaling=_scaling(group.by, columns, found, quota_cpus),
        zeros=_zeros(samples),
        averaged=tuple(samples[samples.duplicated([*POINT_KEY, "test"])]["test"].unique()),
        frame=group.frame,
    )


def metrics_of(frame: pd.DataFrame) -> list[Metric]:
    """The metrics that the frame has results of, the most telling first."""
    found = set(frame["metric"].dropna())
    return [m for m in METRICS.values() if m.name in found and m.better is not Better.NONE]


def _column(by: str, level: str, planned: pd.DataFrame, quota_cpus: float) -> Column:
    done = planned[planned["status"] == Status.OK]
    set_to = levels.quantity(by, level)
    # The clock while the workload ran says more than the one that was read back before it.
    clock = done["observed_ghz"].fillna(done["achieved_ghz"]).dropna()
    observed = float(done["observed_ghz"].median()) if done["observed_ghz"].notna().any() else None
    achieved = None
    size = set_to
    if by == "quota" and set_to is not None:
        size = set_to * quota_cpus
    elif by == "frequency" and set_to is None:
        size = observed
    elif by == "frequency" and set_to and len(clock):
        achieved = bool(((clock / set_to - 1).abs() <= NOT_ACHIEVED).all())
        size = set_to if achieved else float(clock.median())
    return Column(
        level=level,
        label=level if by in design.PLAIN_AXES else levels.label(by, level),
        factors={
            name: "+".join(planned[column].unique()) for name, column in factor_columns(planned).items()
        },
        hosts=tuple(planned["host"].unique()),
        runs=tuple(planned["run_id"].unique()),
        size=size,
        observed_ghz=observed,
        params=shared_params(planned),
        status=_status(planned),
        achieved=achieved,
    )


def _status(planned: pd.DataFrame) -> str:
    if (planned["status"] == Status.OK).any():
        return Status.OK.value
    return str(planned["status"].mode()[0])


def _outcomes(frame: pd.DataFrame) -> dict[tuple[str, str], Outcome]:
    """What became of the points, by level and by the settings that are rows."""
    planned = frame.drop_duplicates([*POINT_KEY, "settings"])
    return {
        (str(level), str(settings)): Outcome(len(alike), _status(alike))
        for (level, settings), alike in planned.groupby(["level", "settings"], sort=False)
    }


def _rows(
    samples: pd.DataFrame,
    metric: Metric,
    columns: tuple[Column, ...],
    outcomes: Mapping[tuple[str, str], Outcome],
) -> tuple[Row, ...]:
    """Rows in the tool's own order. A test that stands several times in a log counts once, averaged."""
    base = columns[0].level
    repeats: dict[tuple[str, str], dict[Hashable, float]] = {}
    means = samples.groupby(["test", "level", *POINT_KEY], sort=False)["value"].mean()
    for where, value in means.items():
        test, level, *point = cast(tuple[str, ...], where)
        repeats.setdefault((test, level), {})[tuple(point)] = float(value)
    values = {here: tuple(of_condition.values()) for here, of_condition in repeats.items()}
    zeros = set(_zeros(samples))
    ratios = {
        (test, level): stats.ratio(values[test, base], other)
        for (test, level), other in values.items()
        if level != base and (test, base) in values and not zeros & {(test, level), (test, base)}
    }
    found = {here: stats.difference(values[here[0], base], values[here]) for here in ratios}
    differences = {here: difference for here, difference in found.items() if difference}
    corrected = stats.adjust([difference.p for difference in differences.values()])
    differences = {
        here: replace(difference, p=p)
        for (here, difference), p in zip(differences.items(), corrected, strict=True)
    }

    def cell(test: str, column: Column) -> Cell:
        here = (test, column.level)
        mean = statistics.fmean(values[here])
        ratio, tested = ratios.get(here), differences.get(here)
        return Cell(
            repeats=repeats[here],
            mean=mean,
            stddev=statistics.stdev(values[here]) if len(values[here]) > 1 else None,
            per_size=mean / column.size if column.size else None,
            ratio=ratio,
            low=tested.low if tested else None,
            high=tested.high if tested else None,
            p=tested.p if tested else None,
            verdict=None if ratio is None else stats.verdict(ratio, tested, metric.better),
        )

    workload = str(samples["workload"].iloc[0])
    of_test = {str(record["test"]): record for record in samples.drop_duplicates("test").to_dict("records")}
    notes = {(row.test, row.level): str(row.note) for row in samples.dropna(subset="note").itertuples()}
    tool_tests = dict.fromkeys((*parsers.order(workload), *samples["tool_test"].unique()))
    order = {tool_test: position for position, tool_test in enumerate(tool_tests)}

    def row(test: str) -> Row:
        record = of_test[test]
        return Row(
            test=test,
            title=str(record["title"]),
            tool_test=str(record["tool_test"]),
            series=str(record["series"]),
            swept=None if pd.isna(record["swept"]) else float(record["swept"]),
            settings=json.loads(record["settings"]),
            cells={c.level: cell(test, c) for c in columns if (test, c.level) in values},
            notes={c.level: notes[test, c.level] for c in columns if (test, c.level) in notes},
            outcomes={
                c.level: outcomes.get((c.level, record["settings"]), Outcome(0, c.status)) for c in columns
            },
        )

    return tuple(
        sorted(
            map(row, of_test),
            key=lambda row: (order[row.tool_test], rows.sort_key(workload, row.settings)),
        )
    )


def _zeros(samples: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    zeros = samples[samples["value"] <= 0].drop_duplicates(["test", "level"])
    return tuple(zip(zeros["test"], zeros["level"], strict=True))


def _scaling(
    by: str, columns: tuple[Column, ...], table: tuple[Row, ...], quota_cpus: float
) -> Scaling | None:
    unit = {"frequency": "GHz", "quota": "CPU"}.get(by)
    if unit is None:
        return None
    # As found there is no limit, and the service uses what a quota of 100% stands for.
    base = columns[0].size or (quota_cpus if by == "quota" else None)
    sizes = {c.level: c.size for c in columns if c.size and c.status == Status.OK}
    differ = bool(sizes) and max(sizes.values()) / min(sizes.values()) > 1 + NOT_ACHIEVED
    full = [
        row
        for row in table
        if all(level in row.cells and min(row.cells[level].values) > 0 for level in sizes)
    ]
    slopes = [
        stats.scaling_exponent(list(sizes.values()), [row.cells[level].mean for level in sizes])
        for row in full
        if differ
    ]
    return Scaling(
        unit=unit,
        ratios={c.level: c.size / base for c in columns[1:] if c.size and base},
        exponent=statistics.median(slopes) if slopes else None,
        tests=len(slopes),
        unknown=tuple(c.level for c in columns if c.size is None and c.status == Status.OK),
    )

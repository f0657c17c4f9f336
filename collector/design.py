"""Which points stand in one table, and along which factor: the design of a comparison.

A table's columns are the levels of its axis; whatever else varies gives tables of its own. Except what varies
only because the axis does: a guest is another host than the machine it is compared with, and a newer kernel
has another version. Such a dimension would split every pair, so it is not a reason for another table. Nor is
the host along a path, which begins at a host: a client's two paths stand beside the server's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from collector import levels
from collector.errors import CollectorError
from collector.frame import FACTOR, points
from collector.nearest import did_you_mean

USUAL_FACTORS = ("frequency", "quota", "platform", "path", "os", "filesystem", "turbo")
# Axes that are no factors: two machines, or two runs, side by side.
PLAIN_AXES = {"host": "host", "run": "run_id"}
# The level that others are measured against if nothing else is asked for.
_USUAL_BASELINES = (levels.AS_FOUND, "physical", "local")


@dataclass(frozen=True, eq=False)
class Group:
    """What one table shows.

    :param by: the axis: a factor's name, "host" or "run".
    :param frame: the samples, and the gaps, of its points, with the axis's level in the column ``level``.
    :param fixed: the other factors that have one level in the whole table; and "run", if there are several
        runs that are not compared with each other.
    """

    by: str
    frame: pd.DataFrame
    fixed: dict[str, str]


def groups(frame: pd.DataFrame, by: str | None = None) -> list[Group]:
    """Split a tidy frame into tables.

    :param by: the axis; by default the study's main factor.
    :raises CollectorError: no point has the axis that was asked for.
    """
    factors = [str(name) for name in frame.columns if str(name).startswith(FACTOR)]
    if by is not None:
        known = [name.removeprefix(FACTOR) for name in factors] + list(PLAIN_AXES)
        if by not in known:
            raise CollectorError(f"no factor {by!r} in these runs", remedy=did_you_mean(by, known))
    has_factors = pd.Series(
        map(str, (frame[factors] != "").to_numpy().tolist()), index=frame.index, dtype=str
    )
    return [
        group
        for _, part in frame.groupby(["study", "workload", has_factors], sort=False)
        for group in _split(part, [name for name in factors if (part[name] != "").any()], by)
    ]


def order_levels(by: str, found: Sequence[str], baseline: str | None = None) -> list[str]:
    """The levels as the table's columns: the baseline first, numbers from the highest down.

    :param baseline: the level asked for, in any spelling; it is ignored if it is not among `found`.
    """
    ordered = sorted(sorted(set(found)), key=lambda level: levels.sort_key(by, level))
    wanted = find_level(by, found, baseline) if baseline else None
    first = [wanted] if wanted else [level for level in _USUAL_BASELINES if level in ordered][:1]
    return first + [level for level in ordered if level not in first]


def find_level(by: str, found: Sequence[str], wanted: str) -> str | None:
    """The level that a person means by "2500 MHz", "as found" or "Quota 77%"; None if it is not there."""
    number = levels.quantity(by, wanted)
    for level in found:
        if number is not None and levels.quantity(by, level) == number:
            return level
        if _plain(wanted) in (_plain(level), _plain(levels.label(by, level))):
            return level
    return None


def _plain(text: str) -> str:
    return text.casefold().replace("_", "").replace("-", "").replace(" ", "")


def _split(part: pd.DataFrame, factors: list[str], by: str | None) -> list[Group]:
    planned = points(part)
    axis = _axis(planned, factors, by)
    others = [name for name in (*factors, "params", "run_id", "host") if name != axis]
    tables = [part]
    for name in others:  # one after the other: hosts may follow the axis on each path, and not over both
        tables = [table for whole in tables for table in _split_by(whole, name, axis)]
    several_runs = ["run_id"] if planned["run_id"].nunique() > 1 else []
    told = [name for name in (*several_runs, *factors) if name != axis]
    return [
        Group(
            by=_name(axis),
            frame=table.assign(level=table[axis]),
            fixed={_name(c): str(table[c].iloc[0]) for c in told if table[c].nunique() == 1},
        )
        for table in _in_order(tables, part, ["run_id", "host", *factors, "params"])
    ]


def _split_by(part: pd.DataFrame, name: str, axis: str) -> list[pd.DataFrame]:
    planned = points(part)
    if planned[name].nunique() < 2 or _follows(planned, name, axis):
        return [part]
    return [table for _, table in part.groupby(name, sort=False)]


def _in_order(tables: list[pd.DataFrame], part: pd.DataFrame, names: list[str]) -> list[pd.DataFrame]:
    """The tables by what sets them apart, since their points lie in the random order of measuring."""
    ranks = {name: {value: i for i, value in enumerate(_ordered(name, part[name]))} for name in names}

    def key(table: pd.DataFrame) -> tuple[int, ...]:
        return tuple(min(ranks[name][value] for value in table[name].unique()) for name in names)

    return sorted(tables, key=key)


def _ordered(column: str, values: pd.Series[str]) -> list[str]:
    found = values.unique().tolist()
    if column.startswith(FACTOR):
        return order_levels(_name(column), found)
    return sorted(found) if column == "params" else found  # hosts and runs as they were given


def _name(column: str) -> str:
    """What a person calls a column of the frame."""
    plain = {column: name for name, column in PLAIN_AXES.items()}
    return plain.get(column, column.removeprefix(FACTOR))


def _axis(planned: pd.DataFrame, factors: list[str], by: str | None) -> str:
    """The column of the frame that gives a table its columns."""
    if by in PLAIN_AXES:
        return PLAIN_AXES[by]
    if by is not None and FACTOR + by in factors:
        return FACTOR + by
    main = levels.MAIN_FACTORS.get(str(planned["study"].iloc[0]), ())
    usual = [FACTOR + name for name in (*main, *USUAL_FACTORS)]
    candidates = [name for name in usual if name in factors] + factors
    varying = [name for name in candidates if planned[name].nunique() > 1]
    return (varying or candidates or ["host"])[0]


def _follows(planned: pd.DataFrame, name: str, axis: str) -> bool:
    """Whether the dimension varies only because the axis does: its values have one level of the axis each.

    A path has one host where it begins, which may be where others begin, too.
    """
    if name == "host" and axis == FACTOR + "path" and (planned.groupby(axis)[name].nunique() == 1).all():
        return True
    return planned[axis].nunique() > 1 and bool((planned.groupby(name)[axis].nunique() == 1).all())

"""What to doubt about the link, the server and the client of a comparison, each in one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pandas as pd

from collector.comparison import Measured
from collector.words import by_condition, counted, listed

BUSY = 0.95  # of a CPU: a thread that has no time left
_MOVED = 0.2  # of the round-trip time before the workload
_MOVED_MS = 0.02  # a difference below it is ping's own: a loopback's 0.04 ms is 0.05 ms in the next second


def link_doubts(measured: Measured) -> Iterator[str]:
    """Whether client, link and servers were what the comparison takes them for."""
    yield from emulated(measured)
    yield from _client(measured)
    yield from _link(measured)
    yield from _servers(measured)


def busy_servers(measured: Measured) -> dict[str, float]:
    """The servers whose main thread had no time left, by condition: the CPUs that it took.

    Of a server that does not tell of its main thread (Redis before 6.2) all threads count as it.
    """
    found = {}
    for column, ok in measured:
        main = float(ok["server_main_thread_cpus"].fillna(ok["server_cpus"]).median())
        if main >= BUSY:
            found[column.label] = main
    return found


def emulated_hosts(measured: Measured) -> list[str]:
    """The hosts of the comparison whose machines are emulated in software."""
    return list(
        dict.fromkeys(
            host for _, ok in measured for names in ok["emulated"] if names for host in names.split("+")
        )
    )


def emulated(measured: Measured) -> Iterator[str]:
    """That machines are emulated in software, if they are."""
    if hosts := emulated_hosts(measured):
        verb = "are" if len(hosts) > 1 else "is"
        yield (
            f"{listed(hosts)} {verb} emulated in software (QEMU without KVM): what is seen is the cost of "
            "emulation, not of virtualisation"
        )


def _client(measured: Measured) -> Iterator[str]:
    for column, ok in measured:
        cpus, threads = ok["client_cpus"].median(), ok["client_threads"].median()
        if cpus >= BUSY * threads:
            on = counted(int(threads), "thread")
            yield (
                f"the client was itself the limit at {column.label}: it kept {cpus:.2f} CPUs busy with {on} "
                "(median), so the server may be faster than this"
            )


def _link(measured: Measured) -> Iterator[str]:
    moved, lost = [], []
    for column, ok in measured:
        before, after = ok["rtt_before_ms"], ok["rtt_after_ms"]
        change = (after - before).abs()
        changed = (change > _MOVED * before) & (change > _MOVED_MS)
        if changed.any():
            worst = int((change / before)[changed].argmax())
            what = f"{before[changed].iloc[worst]:.3f} to {after[changed].iloc[worst]:.3f} ms"
            moved.append(f"{column.label} ({what}, {_count(changed)})")
        without_answer = ok["ping_lost"].fillna(0) > 0
        if without_answer.any():
            lost.append(f"{column.label} (up to {ok['ping_lost'].max():.1%}, {_count(without_answer)})")
    if moved:
        yield f"the round-trip time changed by more than {_MOVED:.0%} while measuring: {listed(moved)}"
    if lost:
        yield f"pings were lost: {listed(lost)}"
    for column, ok in measured:
        troubles = ok["link_troubles"].fillna("").str.split("\n").explode()
        for trouble, times in troubles[troubles != ""].value_counts(sort=False).items():
            yield f"{column.label}: {trouble} (in {times} of {counted(len(ok), 'point')})"


def _servers(measured: Measured) -> Iterator[str]:
    for name, what in (("server_version", "versions"), ("server_mode", "modes")):
        told = {column.label: listed(sorted(ok[name].dropna().unique())) for column, ok in measured}
        if len(set(filter(None, told.values()))) > 1:
            yield f"server {what} differ: {by_condition(told)}"
    settings = {column.label: _settings(ok) for column, ok in measured}
    known = {label: of for label, of in settings.items() if of}
    for name in dict.fromkeys(name for of in known.values() for name in of):
        values = {label: of.get(name, "") for label, of in known.items()}
        if len(set(values.values())) > 1 and all(values.values()):
            yield f"the server's {name} differs: {by_condition(values)}"


def _settings(ok: pd.DataFrame) -> dict[str, str]:
    """The server's settings at all points of a condition; an empty value is written as ""."""
    found: dict[str, dict[str, None]] = {}
    for text in ok["server_settings"].dropna().unique():
        for name, value in json.loads(text).items():
            found.setdefault(name, {})[value or '""'] = None
    return {name: listed(values) for name, values in found.items()}


def _count(affected: pd.Series[bool]) -> str:
    return f"in {affected.sum()} of {counted(len(affected), 'point')}"

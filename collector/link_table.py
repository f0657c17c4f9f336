"""The table below a comparison that says what link and load were like, by condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from collector import link_and_load
from collector.comparison import Comparison
from collector.link_and_load import Conditions
from collector.link_doubts import busy_servers
from collector.words import by_condition, counted, listed

HEAD = "link and load"
# What a share is told by, as remarks say it.
_TRIPS = {
    link_and_load.TCP: ("TCP RTT", "connects, which a NAT forwards, find"),
    link_and_load.PING: ("RTT", "ping finds"),
}


@dataclass(frozen=True)
class LinkRow:
    """A line.

    :param cells: by level, as text; a condition of which it is not known has none.
    """

    label: str
    cells: dict[str, str]


@dataclass(frozen=True)
class LinkTable:
    """:param remarks: what the rows mean, and what else is known of the servers."""

    rows: list[LinkRow]
    remarks: list[str]


def made_of(comparison: Comparison) -> LinkTable | None:
    """None where nothing was measured beside the workload, as in imported logs."""
    found = link_and_load.conditions(comparison)
    if found is None:
        return None
    rows = [row for row in _rows(comparison, found) if row.cells]
    return LinkTable(rows, [*_legend(comparison, found), *_servers(comparison, found)])


def texts(comparison: Comparison, table: LinkTable) -> Iterator[tuple[str, ...]]:
    """The rows as texts, a condition a column."""
    for row in table.rows:
        yield (row.label, *(row.cells.get(column.level, "") for column in comparison.columns))


def _rows(comparison: Comparison, found: Conditions) -> Iterator[LinkRow]:
    def row(label: str, values: dict[str, float], form: Callable[[float], str]) -> LinkRow:
        return LinkRow(label, {level: form(value) for level, value in values.items()})

    lowest, highest = found.known("rtt_min_ms"), found.known("rtt_p99_ms")
    yield row("RTT median, ms", found.known("rtt_median_ms"), _ms)
    span = {level: f"{_ms(lowest[level])} - {_ms(highest[level])}" for level in lowest if level in highest}
    yield LinkRow("RTT min - p99, ms", span)
    yield row("TCP RTT median, ms", found.known("tcp_rtt_median_ms"), _ms)
    yield row("TCP to the server, Mbit/s", found.known("up_mbit_s"), "{:,.0f}".format)
    yield row("TCP from the server, Mbit/s", found.known("down_mbit_s"), "{:,.0f}".format)
    yield row("client CPUs", found.known("client_cpus"), "{:.2f}".format)
    yield row("server CPUs", found.known("server_cpus"), "{:.2f}".format)
    yield row("of them its main thread", found.known("server_main_thread_cpus"), "{:.2f}".format)
    if found.known(found.trip):
        yield row("mean latency of a test, ms", found.typical("ms"), _ms)
        yield row("the link's share of it", found.typical("link_share"), "{:.0%}".format)
        yield row("its share of what is added", found.typical("added_share"), "{:.0%}".format)


def _legend(comparison: Comparison, found: Conditions) -> Iterator[str]:
    tests = max((len(of) for of in found.latencies.values()), default=0)
    if found.known(found.trip) and tests:
        over = f"median over {counted(tests, 'test')}" if tests > 1 else "of the one test"
        trip, tool = _TRIPS[found.trip]
        yield f"the link's share is the median {trip} over the mean latency ({over}); {tool} the link idle"
        if found.typical("added_share"):
            base = comparison.columns[0].label
            yield f"of what is added: ({trip} - {trip} at {base}) / (mean latency - mean latency at {base})"
        pipelined = max(link_and_load.pipelines(comparison)) > 1
        if found.derived:
            which = "" if len(found.derived) == tests else f" of {listed(sorted(found.derived))}"
            formula = "clients * pipeline / rps" if pipelined else "clients / rps"
            yield f"mean latency{which} by Little's law, {formula}: the logs do not have it everywhere"
        if pipelined:
            yield f"requests of a pipeline go over the link together: each waits for one {trip}"


def _servers(comparison: Comparison, found: Conditions) -> Iterator[str]:
    told = {
        column.label: ", ".join(found.servers[column.level].values()) for column, _ in comparison.measured
    }
    if any(told.values()):
        same = len(set(told.values())) == 1
        by_label = [f"{label} {text or 'does not tell'}" for label, text in told.items()]
        yield f"server: {next(iter(told.values()))}" if same else f"servers: {'; '.join(by_label)}"
    if busy := busy_servers(comparison.measured):
        cpus = by_condition({label: f"({value:.2f} CPUs)" for label, value in busy.items()})
        yield f"the server's main thread had no time left: it is the limit at {cpus}"


def _ms(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"

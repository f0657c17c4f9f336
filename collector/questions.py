"""What a study asks: the questions that its verdict table answers."""

from __future__ import annotations

from dataclasses import dataclass

from collector.metrics import METRICS, Metric


@dataclass(frozen=True)
class Question:
    """One line of a verdict table.

    :param title: for people, without the metric's direction.
    :param workload: whose results answer it.
    :param name: of the metric.
    :param test: the key of the tool's test that it is about; None for all that the workload has.
    """

    title: str
    workload: str
    name: str
    test: str | None = None

    @property
    def metric(self) -> Metric:
        return METRICS[self.name]


QUESTIONS: dict[str, tuple[Question, ...]] = {
    "os_compare": (
        Question("CPU events", "sysbench_cpu", "events_per_s"),
        Question("CPU spread over threads", "sysbench_cpu", "events_spread"),
        Question("memory throughput", "sysbench_memory", "bandwidth"),
        Question("memory spread over threads", "sysbench_memory", "events_spread"),
        Question("fio IOPS", "fio", "iops"),
        Question("fio read latency", "fio", "lat_mean", "read"),
        Question("fio write latency", "fio", "lat_mean", "write"),
        Question("TPC-C throughput", "tpcc_mysql", "tpmC"),
    ),
}
# What a study asks besides its main factor, in a verdict table of its own: a factor, and its baseline.
BESIDE: dict[str, dict[str, str]] = {"os_compare": {"turbo": "on"}}


def of(study: str) -> tuple[Question, ...]:
    """The study's questions, none if it has no verdict table."""
    return QUESTIONS.get(study, ())


def metrics(study: str, workload: str) -> list[str]:
    """The names of the metrics that the study's questions about a workload need, in their order."""
    return list(dict.fromkeys(q.name for q in of(study) if q.workload == workload))

"""The registry, and which titles are the same test."""

from __future__ import annotations

import pytest

from collector import parsers
from collector.errors import CollectorError


@pytest.mark.parametrize(
    ("title", "key", "note"),
    [
        ("SET", "SET", None),
        ("PING_BULK", "PING_MBULK", None),
        ("PING", "PING_MBULK", None),
        ("PING (inline)", "PING_INLINE", None),
        ("LRANGE_100 (first 100 elements)", "LRANGE_100", None),
        ("LRANGE_500 (first 500 elements)", "LRANGE_500", None),
        ("LRANGE_500 (first 450 elements)", "LRANGE_500", "450 elements"),
        ("LRANGE (first 450 elements)", "LRANGE_500", "450 elements"),
        ("LRANGE (first 600 elements)", "LRANGE_600", None),
        ("LPUSH", "LPUSH", None),
        ("LPUSH (again, in order to bench LRANGE)", "LPUSH (needed to benchmark LRANGE)", None),
        ("set a b", "set a b", None),
    ],
)
def test_identity_across_versions(title: str, key: str, note: str | None) -> None:
    identity = parsers.identity("redis_benchmark", title)
    assert (identity.key, identity.note) == (key, note)


def test_the_title_is_that_of_today() -> None:
    assert parsers.identity("redis_benchmark", "LRANGE (first 450 elements)").title == (
        "LRANGE_500 (first 500 elements)"
    )


def test_order_has_every_test_once() -> None:
    order = parsers.order("redis_benchmark")
    assert len(set(order)) == len(order)
    assert order[:3] == ("PING_INLINE", "PING_MBULK", "SET")
    assert all(parsers.identity("redis_benchmark", key).key == key for key in order)


def test_sysbench_of_before_1_0_shares_no_row_with_later_ones() -> None:
    titles = ("cpu", "cpu (sysbench 0.5)", "cpu (sysbench 0.4)", "cpu, checkpoint 1s")
    assert len({parsers.identity("sysbench_cpu", title).key for title in titles}) == len(titles)


def test_the_swept_setting_is_the_last_of_the_rows() -> None:
    sysbench = {name: w.rows for name, w in parsers.WORKLOADS.items() if name.startswith("sysbench_")}
    assert sysbench.pop("sysbench_memory") == ("operation", "block_size", "threads")
    assert sysbench == {
        f"sysbench_{test}": ("threads",) for test in parsers.order("sysbench_cpu") if test != "memory"
    }


def test_an_unknown_workload_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(
        CollectorError, match=r"unknown workload 'redis-benchmark' \(did you mean redis_benchmark\?"
    ):
        parsers.parse("redis-benchmark", "")

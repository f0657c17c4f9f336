"""From a role's settings to the workloads of a run."""

from __future__ import annotations

from typing import Any

from ansible_collections.perflab.bench.plugins.filter.sweep import sweep


def params(settings: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry["params"] for entry in sweep(settings, "fio")]


def test_every_combination_in_order_the_last_setting_fastest() -> None:
    assert sweep({"block_size": ["4K", "16K"], "threads": [1, 4], "direct": True}, "fio") == [
        {"workload": "fio", "params": {"block_size": "4K", "threads": 1, "direct": True}},
        {"workload": "fio", "params": {"block_size": "4K", "threads": 4, "direct": True}},
        {"workload": "fio", "params": {"block_size": "16K", "threads": 1, "direct": True}},
        {"workload": "fio", "params": {"block_size": "16K", "threads": 4, "direct": True}},
    ]


def test_the_command_line_writes_lists_with_commas_and_numbers_as_text() -> None:
    assert params({"size": "4K, 16K", "threads": "1", "time_s": ["30"]}) == [
        {"size": "4K", "threads": 1, "time_s": 30},
        {"size": "16K", "threads": 1, "time_s": 30},
    ]


def test_a_setting_without_a_level_leaves_nothing_to_run() -> None:
    assert params({"threads": [], "time_s": 1}) == []

"""Which points a run has, in which order, and what cannot be planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from ansible_collections.perflab.bench.plugins.action import plan_run
from ansible_collections.perflab.bench.plugins.plugin_utils import plan

from collector.models import Run


def request(**changes: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "factors": {"frequency": ["as_found", "2500 MHz", "1.0ghz"], "turbo": ["as_found"]},
        "repeats": 3,
        "workloads": [{"workload": "redis_benchmark", "params": {"clients": 50}}],
    }
    return {**asked, **changes}


def test_every_condition_is_repeated_and_named_in_its_one_form() -> None:
    points = plan.expand({"kunpeng-1": request()}, seed=1)
    assert len(points) == 9
    assert {point["factors"]["frequency"] for point in points} == {"as_found", "2.5GHz", "1GHz"}
    assert [point["order"] for point in points] == list(range(1, 10))
    first = points[0]
    assert first["point_id"] == f"001-redis_benchmark-{first['factors']['frequency']}-as_found-r1"


def test_one_repeat_of_everything_comes_before_the_next() -> None:
    points = plan.expand({"kunpeng-1": request()}, seed=1)
    assert [point["repeat"] for point in points] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_the_order_follows_the_seed_and_differs_between_repeats_and_hosts() -> None:
    hosts = {name: request(repeats=20) for name in ("a", "b")}
    points = plan.expand(hosts, seed=7)
    assert points == plan.expand(hosts, seed=7)
    assert points != plan.expand(hosts, seed=8)
    orders = {
        (host, repeat): tuple(
            point["factors"]["frequency"]
            for point in points
            if (point["host"], point["repeat"]) == (host, repeat)
        )
        for host in hosts
        for repeat in range(1, 21)
    }
    assert len(set(orders.values())) == 6
    assert any(orders["a", repeat] != orders["b", repeat] for repeat in range(1, 21))


def test_a_quota_is_a_factor_of_its_own() -> None:
    points = plan.expand({"a": request(factors={"quota": ["as_found", "77.0 %", "77%"]}, repeats=1)}, seed=1)
    assert sorted(point["point_id"][3:] for point in points) == [
        "-redis_benchmark-77pct-r1",
        "-redis_benchmark-as_found-r1",
    ]


def test_a_study_without_factors_has_one_condition() -> None:
    points = plan.expand({"a": request(factors={}, repeats=1)}, seed=1)
    assert [point["point_id"] for point in points] == ["001-redis_benchmark-r1"]


def test_yaml_booleans_are_turbo_settings() -> None:
    points = plan.expand({"a": request(factors={"turbo": [True, False, "as_found"]}, repeats=1)}, seed=1)
    assert {point["factors"]["turbo"] for point in points} == {"on", "off", "as_found"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"factors": {"frequency": ["2500"]}},
            "web-1: frequency: '2500' is not a frequency: write it with its unit",
        ),
        ({"factors": {"frequency": ["2.5GHz", "fast"]}}, "web-1: frequency: 'fast' is not"),
        ({"factors": {"frequency": "2.5GHz"}}, "web-1: frequency must be a list"),
        ({"factors": {"frequency": []}}, "web-1: frequency must be a list of at least one"),
        (
            {"factors": {"turbo": ["boost"]}},
            "web-1: turbo: 'boost' is not a turbo setting: write as_found, on, off",
        ),
        ({"factors": {"quota": ["150%"]}}, "web-1: quota: '150%' is not a quota"),
        ({"repeats": 0}, "web-1: 0 repeats of 1 workloads is nothing to run"),
        ({"workloads": []}, "web-1: 3 repeats of 0 workloads is nothing to run"),
    ],
)
def test_what_cannot_be_planned(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(plan.PlanError, match=says.replace("(", r"\(")):
        plan.expand({"web-1": request(**changes)}, seed=1)


def test_a_request_that_lacks_something() -> None:
    asked = request()
    del asked["repeats"]
    with pytest.raises(plan.PlanError, match="web-1: the request lacks 'repeats'"):
        plan.expand({"web-1": asked}, seed=1)


def test_no_host_is_an_error() -> None:
    with pytest.raises(plan.PlanError, match="no host asks for anything"):
        plan.expand({}, seed=1)


def test_two_guests_of_one_machine_cannot_both_set_its_frequency() -> None:
    guests = {name: request(frequency_host="metal") for name in ("guest-1", "guest-2")}
    with pytest.raises(
        plan.PlanError, match=r"guest-1 and guest-2 both set the frequency of metal: .* --limit guest-1"
    ):
        plan.expand(guests, seed=1)
    with pytest.raises(plan.PlanError, match="both set the frequency of metal"):
        plan.expand({"metal": request(), "guest-1": guests["guest-1"]}, seed=1)


def test_guests_that_leave_the_frequency_alone_may_share_a_machine() -> None:
    alone = request(factors={"frequency": ["as_found"], "turbo": ["as_found"]}, frequency_host="metal")
    assert plan.expand({"guest-1": alone, "guest-2": alone}, seed=1)


def test_plans_differ_by_what_is_measured_not_by_its_order() -> None:
    ours = plan.expand({"a": request(), "b": request()}, seed=1)
    assert plan.differing(ours, plan.expand({"a": request(), "b": request()}, seed=2)) == []
    assert plan.differing(ours, plan.expand({"a": request(), "b": request(repeats=2)}, seed=1)) == ["b"]


def run_action(args: dict[str, Any], check_mode: bool = False) -> dict[str, Any]:
    task = Mock(args=args, check_mode=check_mode, async_val=0)
    return plan_run.ActionModule(task, Mock(), None, None, None, None).run(task_vars={})


@pytest.fixture
def args(tmp_path: Path) -> dict[str, Any]:
    return {
        "study": "freq_sweep",
        "hosts": {"a": request(), "b": request()},
        "runs_dir": str(tmp_path / "runs"),
    }


def finish(result: dict[str, Any], point: dict[str, Any], status: str) -> None:
    folder = Path(result["run_dir"]) / point["host"] / point["point_id"]
    folder.mkdir(parents=True)
    (folder / "point.json").write_text(json.dumps({"status": status}))


def test_run_json_is_what_the_collector_reads(args: dict[str, Any]) -> None:
    result = run_action({**args, "profile": "quick", "playbook": "perflab.bench.freq_sweep"})
    run = Run.model_validate_json((Path(result["run_dir"]) / "run.json").read_text())
    assert (run.run_id, run.study, run.profile, run.seed) == (
        result["run_id"],
        "freq_sweep",
        "quick",
        result["seed"],
    )
    assert run.hosts == ["a", "b"]
    assert len(run.points) == 18
    assert {"perflab", "ansible_core", "python"} == set(run.versions)
    assert {host: len(points) for host, points in result["points"].items()} == {"a": 9, "b": 9}


def test_a_run_never_takes_the_folder_of_another(
    args: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_run.time, "gmtime", lambda: (2026, 11, 30, 10, 15, 0, 0, 334, 0))
    assert [run_action(args)["run_id"] for _ in range(3)] == [
        "20261130T101500Z-freq_sweep",
        "20261130T101500Z-freq_sweep-2",
        "20261130T101500Z-freq_sweep-3",
    ]


def test_check_mode_plans_and_writes_nothing(args: dict[str, Any]) -> None:
    result = run_action(args, check_mode=True)
    assert len(result["points"]["a"]) == 9
    assert not Path(args["runs_dir"]).exists()


def test_resuming_runs_what_has_no_end(args: dict[str, Any]) -> None:
    started = run_action({**args, "run_id": "my-run"})
    done, failed, timeout, interrupted = started["points"]["a"][:4]
    for point, status in (
        (done, "ok"),
        (failed, "failed"),
        (timeout, "timeout"),
        (interrupted, "interrupted"),
    ):
        finish(started, point, status)
    resumed = run_action({**args, "run_id": "my-run"})
    assert not resumed["changed"]
    assert resumed["points"]["a"] == started["points"]["a"][3:]
    assert resumed["points"]["b"] == started["points"]["b"]


def test_resuming_some_hosts(args: dict[str, Any]) -> None:
    started = run_action({**args, "run_id": "my-run"})
    resumed = run_action({**args, "run_id": "my-run", "hosts": {"b": request()}})
    assert resumed["points"] == {"b": started["points"]["b"]}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"hosts": {"a": request(repeats=2)}}, "a asks for other points"),
        ({"study": "virt_compare"}, "is a run of freq_sweep"),
        ({"seed": 2}, "was planned with seed 1: resume it without run_seed"),
    ],
)
def test_resuming_another_plan_is_an_error(args: dict[str, Any], changes: dict[str, Any], says: str) -> None:
    started = run_action({**args, "run_id": "my-run", "seed": 1})
    finish(started, started["points"]["a"][0], "ok")
    with pytest.raises(plan_run.AnsibleActionFail, match=says):
        run_action({**args, "run_id": "my-run", **changes})


def test_resuming_plans_anew_for_a_host_of_which_nothing_was_measured(args: dict[str, Any]) -> None:
    """It could not be reached when the run was planned, and only now says what it is."""
    started = run_action({**args, "run_id": "my-run", "hosts": {"a": request(), "b": request(repeats=1)}})
    finish(started, started["points"]["a"][0], "ok")
    resumed = run_action({**args, "run_id": "my-run"})
    assert resumed["points"]["a"] == started["points"]["a"][1:]
    assert len(resumed["points"]["b"]) == 9
    run = Run.model_validate_json((Path(started["run_dir"]) / "run.json").read_text())
    assert sorted(run.hosts) == ["a", "b"]
    assert len(run.points) == 18


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "run.json is not JSON"), ('{"schema": 9}', "run.json has schema 9, this perflab knows 1")],
)
def test_resuming_a_broken_run(args: dict[str, Any], text: str, says: str) -> None:
    run_json = Path(args["runs_dir"]) / "my-run" / "run.json"
    run_json.parent.mkdir(parents=True)
    run_json.write_text(text)
    with pytest.raises(plan_run.AnsibleActionFail, match=says):
        run_action({**args, "run_id": "my-run"})


def test_a_run_id_is_a_folder_of_runs(args: dict[str, Any]) -> None:
    with pytest.raises(plan_run.AnsibleActionFail, match=r"run_id '\.\./x' is no folder's name"):
        run_action({**args, "run_id": "../x"})


def test_a_runs_folder_that_cannot_be_written(args: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(plan_run.AnsibleActionFail, match=r"on the controller: .*runs"):
        run_action(args)


def test_a_workloads_own_factors_are_varied_for_it_alone() -> None:
    workloads = [
        {"workload": "sysbench_cpu", "params": {"threads": 1}, "factors": {"turbo": ["on", "off"]}},
        {"workload": "fio", "params": {"threads": 1}},
    ]
    points = plan.expand(
        {"a": request(factors={"os": ["Debian 12"]}, repeats=1, workloads=workloads)}, seed=1
    )
    assert sorted((point["workload"], tuple(point["factors"].items())) for point in points) == [
        ("fio", (("os", "Debian 12"),)),
        ("sysbench_cpu", (("os", "Debian 12"), ("turbo", "off"))),
        ("sysbench_cpu", (("os", "Debian 12"), ("turbo", "on"))),
    ]


def test_a_points_name_tells_the_settings_that_are_swept() -> None:
    workloads = [
        {"workload": "fio", "params": {"threads": threads, "block_size": "4K", "iodepth": 16}}
        for threads in (1, 12)
    ]
    points = plan.expand({"a": request(factors={"os": ["CentOS 7"]}, repeats=1, workloads=workloads)}, seed=1)
    names = sorted(point["point_id"].split("-", 1)[1] for point in points)
    assert names == ["fio-threads1-CentOS-7-r1", "fio-threads12-CentOS-7-r1"]


def test_refuses_two_workloads_that_set_the_turbo_of_one_machine() -> None:
    workloads = [{"workload": "sysbench_cpu", "params": {}, "factors": {"turbo": ["on"]}}]
    both = request(factors={}, workloads=workloads, frequency_host="metal")
    with pytest.raises(plan.PlanError, match="a and b both set the frequency of metal"):
        plan.expand({"a": both, "b": both}, seed=1)


def test_levels_that_belong_together_are_not_crossed() -> None:
    pair = [{"platform": "physical", "hypervisor": "none"}, {"platform": "virtual", "hypervisor": "metal"}]
    asked = request(factors={"path": ["remote"]}, conditions=pair, order="as_given", repeats=2)
    points = plan.expand({"client": asked}, seed=1)
    assert [tuple(point["factors"].values()) for point in points] == [
        ("physical", "none", "remote"),
        ("virtual", "metal", "remote"),
    ] * 2  # P V P V: a drift hits both alike

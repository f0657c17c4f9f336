"""Which points stand in one table, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from collector import design, frame, store
from collector.errors import CollectorError
from tests.unit.collector.runs import Written, repeats, write_run

RPS = {"SET": 100.0}


def groups(
    folder: Path, points: Sequence[Written], by: str | None = None, study: str = "freq_sweep"
) -> list[design.Group]:
    return design.groups(frame.tidy(store.load_runs([write_run(folder / "r1", points, study)])), by)


def levels(group: design.Group) -> set[str]:
    return set(group.frame["level"])


def test_a_table_a_host(tmp_path: Path) -> None:
    points = [
        point
        for host in ("a", "b")
        for level in ("as_found", "2GHz")
        for point in repeats({"frequency": level}, RPS, RPS, host=host)
    ]
    found = groups(tmp_path, points)
    assert [(g.by, levels(g), set(g.frame["host"])) for g in found] == [
        ("frequency", {"as_found", "2GHz"}, {"a"}),
        ("frequency", {"as_found", "2GHz"}, {"b"}),
    ]


def test_a_table_for_each_combination_of_other_factors_and_params(tmp_path: Path) -> None:
    points = [
        Written({"frequency": frequency, "turbo": turbo}, RPS, params={"clients": clients})
        for frequency in ("2GHz", "1GHz")
        for turbo in ("on", "off")
        for clients in (1, 50)
    ]
    found = groups(tmp_path, points)
    assert len(found) == 4
    assert [g.fixed for g in found] == [{"turbo": "on"}, {"turbo": "on"}, {"turbo": "off"}, {"turbo": "off"}]


def test_a_guest_is_another_host_but_stands_beside_its_machine(tmp_path: Path) -> None:
    points = [
        Written({"platform": "physical", "kernel": "6.1"}, RPS, host="arm1"),
        Written({"platform": "virtual", "kernel": "6.6"}, RPS, host="vm1"),
    ]
    (found,) = groups(tmp_path, points, study="virt_compare")
    assert (found.by, levels(found), found.fixed) == ("platform", {"physical", "virtual"}, {})


def test_guests_are_compared_from_a_client_and_from_inside(tmp_path: Path) -> None:
    """From inside the hosts differ because the platforms do; from the client they do not."""
    points = [
        Written({"platform": "physical", "hypervisor": "none", "path": "local"}, RPS, host="metal"),
        Written({"platform": "virtual", "hypervisor": "metal", "path": "local"}, RPS, host="guest"),
        Written({"platform": "physical", "hypervisor": "none", "path": "remote"}, RPS, host="client"),
        Written({"platform": "virtual", "hypervisor": "metal", "path": "remote"}, RPS, host="client"),
    ]
    found = groups(tmp_path, points, study="virt_compare")
    assert [(g.by, levels(g), g.fixed, set(g.frame["host"])) for g in found] == [
        ("platform", {"physical", "virtual"}, {"path": "local"}, {"metal", "guest"}),
        ("platform", {"physical", "virtual"}, {"path": "remote"}, {"client"}),
    ]


def test_two_paths_of_a_client_stand_beside_the_servers_own(tmp_path: Path) -> None:
    points = [
        Written({"path": path}, RPS, host=host)
        for path, host in (("local", "server"), ("bridged", "client"), ("nat", "client"))
    ]
    (found,) = groups(tmp_path, points, study="net_compare")
    assert levels(found) == {"local", "bridged", "nat"}


def test_paths_that_several_hosts_share_are_a_table_a_host(tmp_path: Path) -> None:
    points = [Written({"path": path}, RPS, host=host) for path in ("local", "nat") for host in ("a", "b")]
    found = groups(tmp_path, points, study="net_compare")
    assert [(levels(g), set(g.frame["host"])) for g in found] == [
        ({"local", "nat"}, {"a"}),
        ({"local", "nat"}, {"b"}),
    ]


def test_quota_and_frequency_are_never_in_one_table(tmp_path: Path) -> None:
    points = [
        *(Written({"frequency": level}, RPS, host="a") for level in ("as_found", "2GHz")),
        *(Written({"quota": level}, RPS, host="b") for level in ("as_found", "77%")),
    ]
    assert {g.by: levels(g) for g in groups(tmp_path, points)} == {
        "frequency": {"as_found", "2GHz"},
        "quota": {"as_found", "77%"},
    }


@pytest.mark.parametrize(
    ("study", "expected"), [("freq_sweep", "frequency"), ("os_compare", "os"), ("other", "frequency")]
)
def test_the_studys_main_factor_is_the_axis(tmp_path: Path, study: str, expected: str) -> None:
    points = [Written({"os": os, "frequency": f}, RPS) for os in ("a", "b") for f in ("2GHz", "1GHz")]
    assert {g.by for g in groups(tmp_path, points, study=study)} == {expected}


def test_without_a_varying_main_factor_the_axis_is_what_varies(tmp_path: Path) -> None:
    points = [Written({"frequency": "max", "colour": colour}, RPS) for colour in ("red", "blue")]
    assert groups(tmp_path, points)[0].by == "colour"


def test_by_a_factor_or_the_host(tmp_path: Path) -> None:
    points = [
        Written({"frequency": f, "turbo": t}, RPS, host=h)
        for f in ("2GHz", "1GHz")
        for t in ("on", "off")
        for h in ("a", "b")
    ]
    assert {(g.by, *sorted(levels(g))) for g in groups(tmp_path / "t", points, "turbo")} == {
        ("turbo", "off", "on")
    }
    assert {(g.by, *sorted(levels(g))) for g in groups(tmp_path, points, "host")} == {("host", "a", "b")}


def test_runs_stand_side_by_side_if_asked(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, [Written({"frequency": "max"}, RPS)]) for name in ("r1", "r2")]
    tidy = frame.tidy(store.load_runs(runs))
    assert len(design.groups(tidy)) == 2
    (found,) = design.groups(tidy, "run")
    assert levels(found) == {"r1", "r2"}


def test_points_without_factors_still_make_a_table(tmp_path: Path) -> None:
    (found,) = groups(tmp_path, [Written({}, RPS)])
    assert (found.by, levels(found)) == ("host", {"kunpeng1"})


def test_an_unknown_factor_is_an_error_that_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(CollectorError, match="did you mean frequency"):
        groups(tmp_path, [Written({"frequency": "max"}, RPS)], "frequnecy")


def test_order_of_levels() -> None:
    found = ["1GHz", "2.5GHz", "min", "as_found", "2GHz", "max"]
    assert design.order_levels("frequency", found) == ["as_found", "max", "2.5GHz", "2GHz", "1GHz", "min"]
    assert design.order_levels("frequency", found, "2 GHz")[:3] == ["2GHz", "as_found", "max"]
    assert design.order_levels("path", ["remote", "bridged", "local"]) == ["local", "bridged", "remote"]
    assert design.order_levels("platform", ["virtual", "physical"]) == ["physical", "virtual"]


@pytest.mark.parametrize(
    ("by", "wanted", "expected"),
    [
        ("frequency", "2500 MHz", "2.5GHz"),
        ("frequency", "As Found", "as_found"),
        ("quota", "quota 77%", "77%"),
        ("path", "windows-local", "windows_local"),
        ("path", "moon", None),
    ],
)
def test_a_level_in_any_spelling(by: str, wanted: str, expected: str | None) -> None:
    assert design.find_level(by, ["as_found", "2.5GHz", "77%", "windows_local"], wanted) == expected


def test_tables_stand_in_an_order_of_their_own(tmp_path: Path) -> None:
    """However their points were shuffled."""
    points = [
        Written({"os": system, "filesystem": filesystem}, RPS)
        for filesystem, system in (("xfs", "b"), ("ext4", "a"), ("xfs", "a"), ("ext4", "b"))
    ]
    assert [group.fixed for group in groups(tmp_path, points)] == [
        {"filesystem": "ext4"},
        {"filesystem": "xfs"},
    ]

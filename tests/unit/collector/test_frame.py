"""The tidy frame: nothing gets lost on the way into it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from collector import frame, store
from collector.errors import CollectorError
from tests.unit.collector.runs import Written, clock, write_run


def tidy(folder: Path, *points: Written) -> pd.DataFrame:
    return frame.tidy(store.load_runs([write_run(folder, points)]))


def test_a_row_a_sample_joined_with_its_point(tmp_path: Path) -> None:
    point = Written(
        {"frequency": "2GHz", "turbo": "off"}, {"SET": 100.0, "GET": 200.0}, params={"clients": 50}
    )
    rows = tidy(tmp_path / "r1", point)
    assert list(rows["test"]) == ["SET", "GET"]
    assert list(rows["value"]) == [100.0, 200.0]
    assert set(rows["metric"]) == {"rps"}
    assert set(rows["run_id"]) == {"r1"}
    assert set(rows["params"]) == {'{"clients": 50}'}
    assert frame.factor_columns(rows) == {"frequency": "factor_frequency", "turbo": "factor_turbo"}


def test_points_without_a_result_stay_as_rows_without_a_value(tmp_path: Path) -> None:
    rows = tidy(
        tmp_path / "r1",
        Written({"frequency": "2GHz"}, {"SET": 100.0}),
        Written({"frequency": "1GHz"}, {"SET": 50.0}, status="timeout", reason="took longer than 900 s"),
        Written({"frequency": "1GHz"}, {}, repeat=2),
        Written({"frequency": "1GHz"}, None, repeat=3),
    )
    points = frame.points(rows)
    assert list(points["status"]) == ["ok", "timeout", "failed", "missing"]
    assert list(points["reason"])[1] == "took longer than 900 s"
    assert list(points["reason"])[2]  # the parser's words for a log without a result
    assert rows["value"].count() == 1


def test_a_damaged_log_fails_its_point_and_not_the_others(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r1", [Written({"a": "x"}, {"SET": 1.0}), Written({"a": "y"}, {"SET": 2.0})])
    log = next(run.glob("kunpeng1/002*/stdout.log"))
    log.write_text("SET: 9.00 requests per second\n")
    points = frame.points(frame.tidy(store.load_runs([run])))
    assert list(points["status"]) == ["ok", "failed"]
    assert "sha256" in points["reason"].iloc[1]


def test_titles_of_other_versions_meet_in_one_test(tmp_path: Path) -> None:
    rows = tidy(tmp_path / "r1", Written({}, {"PING_BULK": 1.0, "LRANGE_500 (first 450 elements)": 2.0}))
    assert list(rows["test"]) == ["PING_MBULK", "LRANGE_500"]
    assert list(rows["note"])[1] == "450 elements"


def test_what_was_set_and_read_back(tmp_path: Path) -> None:
    setting = {"method": "cpufreq", "achieved_khz": {"policy0": 2.0e6, "policy4": None}, "notes": ["a", "b"]}
    rows = tidy(
        tmp_path / "r1",
        Written({"frequency": "2GHz"}, {"SET": 1.0}, setting=setting, observed=clock(1.9, 2, 2.1)),
    )
    row = rows.iloc[0]
    assert row["achieved_ghz"] == 2.0
    assert (row["observed_min_ghz"], row["observed_ghz"], row["observed_max_ghz"]) == pytest.approx(
        (1.9, 2.0, 2.1)
    )
    assert row["setting_notes"] == "a; b"
    assert row["quota_cpus"] == 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"quota_cpus": "x"}, "setting.quota_cpus: Input should be a valid number"),
        ({"achieved_khz": [2e6]}, "setting.achieved_khz: Input should be a valid dict"),
        ({"achieved_khz": {"policy0": "fast"}}, "setting.achieved_khz.policy0: "),
        ({"notes": "slow"}, "setting.notes: Input should be a valid list"),
    ],
)
def test_a_setting_of_another_form_is_an_error_that_names_the_file(
    tmp_path: Path, setting: dict[str, Any], message: str
) -> None:
    with pytest.raises(CollectorError, match="001-redis_benchmark-r1/point.json: " + re.escape(message)):
        tidy(tmp_path / "r1", Written({"frequency": "2GHz"}, {"SET": 1.0}, setting=setting))


def test_a_factor_that_only_some_points_have_is_empty_elsewhere(tmp_path: Path) -> None:
    rows = tidy(
        tmp_path / "r1", Written({"frequency": "max"}, {"SET": 1.0}), Written({"quota": "50%"}, {"SET": 1.0})
    )
    assert list(rows["factor_quota"]) == ["", "50%"]

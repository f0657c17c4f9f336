from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector import store
from collector.errors import CollectorError
from tests.unit.collector.runs import Written, write_run

AS_FOUND, SLOW = {"frequency": "as_found"}, {"frequency": "1GHz"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    points = [Written(AS_FOUND, {"SET": 100.0}), Written(SLOW, {"SET": 50.0}), Written(SLOW, None, repeat=2)]
    return write_run(tmp_path / "a-run", points, profiles={"kunpeng1": {"cpu": {"cpus": 128}}})


def _edit(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))


def _point_file(run: Path) -> Path:
    return sorted(run.glob("*/*/point.json"))[0]


def test_a_run_is_loaded(run: Path) -> None:
    tree = store.load_run(run)
    assert tree.run.study == "freq_sweep"
    assert [loaded.point.factors for loaded in tree.points] == [AS_FOUND, SLOW]
    assert [planned.repeat for planned in tree.missing] == [2]
    assert tree.profiles["kunpeng1"].cpu == {"cpus": 128}
    (sample,) = tree.points[0].parsed.samples
    assert (sample.test, sample.metric, sample.value) == ("SET", "rps", 100.0)
    assert tree.points[0].failure is None


def test_the_newest_run_is_the_one_started_last(tmp_path: Path) -> None:
    write_run(tmp_path / "z", [], started_at="2026-01-01T00:00:00Z")
    newest = write_run(tmp_path / "a", [], started_at="2026-02-01T00:00:00Z")
    assert store.newest_run(tmp_path) == newest


def test_the_newest_run_is_found_beside_damaged_ones(tmp_path: Path) -> None:
    good = write_run(tmp_path / "good", [], started_at="2026-01-01T00:00:00Z")
    write_run(tmp_path / "no-zone", [], started_at="2026-02-01T00:00:00")
    damaged = write_run(tmp_path / "damaged", [])
    (damaged / "run.json").write_text("{")
    assert store.newest_run(tmp_path) == good
    (good / "run.json").write_text("{")
    with pytest.raises(CollectorError, match=r"no-zone/run\.json: started_at: Input should have timezone"):
        store.newest_run(tmp_path)


@pytest.mark.parametrize("schema", [True, 1.0, "1", None])
def test_a_schema_that_only_resembles_a_known_one_is_refused(run: Path, schema: object) -> None:
    _edit(run / "run.json", lambda document: document.update(schema=schema))
    with pytest.raises(CollectorError, match=f"unknown schema {schema!r}, this version knows 1"):
        store.read_run(run)


def test_a_time_without_a_zone_is_refused(run: Path) -> None:
    _edit(_point_file(run), lambda point: point.update(finished_at="2026-11-30T10:15:00"))
    with pytest.raises(CollectorError, match=r"point\.json: finished_at: Input should have timezone info"):
        store.load_run(run)


def test_a_folder_without_runs_says_how_to_get_some(tmp_path: Path) -> None:
    with pytest.raises(CollectorError, match=r"no runs in this folder \(measure with .* run freq_sweep"):
        store.newest_run(tmp_path)
    with pytest.raises(CollectorError, match="no such folder"):
        store.newest_run(tmp_path / "nowhere")
    with pytest.raises(CollectorError, match=r"not a run: it has no run\.json"):
        store.load_runs([tmp_path])
    with pytest.raises(CollectorError, match="no such folder"):
        store.load_runs([tmp_path / "nowhere"])
    (tmp_path / "file").touch()
    for load in (store.find_runs, store.read_run):
        with pytest.raises(CollectorError, match=r"file: is not a folder \("):
            load(tmp_path / "file")


def test_an_unknown_schema_names_the_file(run: Path) -> None:
    _edit(_point_file(run), lambda point: point.update(schema=2))
    with pytest.raises(CollectorError, match=r"point\.json: unknown schema 2, this version knows 1"):
        store.load_run(run)


def test_broken_json_names_the_file(run: Path) -> None:
    (run / "run.json").write_text('{"schema": 1,')
    with pytest.raises(
        CollectorError, match=r"run\.json: is not JSON: .* \(restore it from a copy, or remove"
    ):
        store.load_run(run)


def test_an_unknown_or_missing_field_is_named(run: Path) -> None:
    _edit(_point_file(run), lambda point: point.update(surprise=1))
    with pytest.raises(CollectorError, match=r"point\.json: surprise: Extra inputs are not permitted"):
        store.load_run(run)
    _edit(_point_file(run), lambda point: (point.pop("surprise"), point.pop("rc")))
    with pytest.raises(CollectorError, match=r"point\.json: rc: Field required"):
        store.load_run(run)


def test_a_point_of_another_run_is_refused(run: Path) -> None:
    _edit(_point_file(run), lambda point: point.update(run_id="other"))
    with pytest.raises(CollectorError, match=r"belongs to point .* in run other"):
        store.load_run(run)


def test_a_changed_or_lost_log_is_an_error_when_it_is_read(run: Path) -> None:
    loaded = store.load_run(run).points
    logs = [point.path / point.point.logs[0].name for point in loaded]
    logs[0].write_text("SET: 999.00 requests per second\n")
    logs[1].unlink()
    with pytest.raises(CollectorError, match="its sha256 differs"):
        _ = loaded[0].parsed
    with pytest.raises(CollectorError, match="cannot be read: No such file"):
        _ = loaded[1].parsed


def test_a_point_fails_by_its_status_or_by_its_log(tmp_path: Path) -> None:
    points = [
        Written(AS_FOUND, {"SET": 100.0}, status="timeout", reason="took more than 900 s"),
        Written(AS_FOUND, {}, repeat=2),
        Written(AS_FOUND, {"SET": 100.0}, repeat=3, status="interrupted"),
    ]
    tree = store.load_run(write_run(tmp_path / "run", points))
    assert [loaded.failure for loaded in tree.points] == [
        "took more than 900 s",
        "no result in the log",
        "interrupted",
    ]


def test_all_logs_of_a_point_are_read(run: Path) -> None:
    error = b"NOAUTH Authentication required.\n"
    (_point_file(run).parent / "stderr.log").write_bytes(error)
    log = {"name": "stderr.log", "bytes": len(error), "sha256": hashlib.sha256(error).hexdigest()}
    _edit(_point_file(run), lambda point: point["logs"].append(log))
    loaded = store.load_run(run).points[0]
    assert (
        loaded.failure == "line 1: the server refused the client: NOAUTH Authentication required (stderr.log)"
    )
    assert [sample.value for sample in loaded.parsed.samples] == [100.0]


def test_a_last_line_without_its_end_is_a_cut_only_in_a_log_that_perflab_did_not_record(run: Path) -> None:
    warning = b"SET: 12"
    (_point_file(run).parent / "stderr.log").write_bytes(warning)
    log = {"name": "stderr.log", "bytes": len(warning), "sha256": hashlib.sha256(warning).hexdigest()}
    _edit(_point_file(run), lambda point: point["logs"].append(log))
    assert store.load_run(run).points[0].failure is None
    _edit(_point_file(run), lambda point: point.update(argv=[]))
    assert "the log ends in the middle of a line" in str(store.load_run(run).points[0].failure)

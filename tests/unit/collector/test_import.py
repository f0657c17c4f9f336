"""``collector import``, and ``list`` and ``parse`` on what it made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from collector.cli import cli
from collector.store import load_run

LOG = "SET: 100.00 requests per second, p50=0.100 msec\nGET: 200.00 requests per second, p50=0.100 msec\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a.log", "b.log", "c.log")):
        Path(name).write_text(LOG.replace("00.00", f"0{number}.00"))
    return tmp_path


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def _import(*arguments: str, study: str = "freq_sweep", workload: str = "redis_benchmark") -> Result:
    return _run("import", "--study", study, "--host", "h1", "--workload", workload, *arguments)


def test_logs_are_repeats_and_another_call_adds_a_condition(folder: Path) -> None:
    first = _import(
        *("--run-id", "mine", "--factor", "frequency=as_found", "--observed-frequency", "2600MHz"),
        *("--param", "clients=50", "--tool-version", "7.0.15", "--started-at", "2026-11-30T00:00:00Z"),
        *("--host-info", "cpu.model=Kunpeng 920", "--host-info", "cpu.cpus=128", "a.log", "b.log"),
    )
    second = _import("--run-id", "mine", "--factor", "frequency=2.0GHz", "--factor", "turbo=off", "c.log")
    assert (first.exit_code, second.exit_code) == (0, 0)

    tree = load_run(folder / "runs" / "mine")
    assert [loaded.point.point_id for loaded in tree.points] == [
        "001-redis_benchmark-as_found-r1",
        "002-redis_benchmark-as_found-r2",
        "003-redis_benchmark-2GHz-off-r1",
    ]
    point = tree.points[0].point
    assert (point.params, point.tool_version, point.argv) == ({"clients": 50}, "7.0.15", [])
    assert point.observed.frequency_khz is not None
    assert point.observed.frequency_khz.median == 2_600_000
    assert tree.profiles["h1"].cpu == {"model": "Kunpeng 920", "cpus": 128}
    assert tree.run.started_at.isoformat() == "2026-11-30T00:00:00+00:00"
    assert tree.missing == []
    assert [len(loaded.parsed.samples) for loaded in tree.points] == [4, 4, 4]
    assert (tree.points[0].path / "a.log").read_text() == (folder / "a.log").read_text()


def test_a_further_import_continues_the_repeats(folder: Path) -> None:
    for log in ("a.log", "b.log"):
        assert _import("--run-id", "mine", "--factor", "frequency=max", log).exit_code == 0
    assert [loaded.point.repeat for loaded in load_run(folder / "runs" / "mine").points] == [1, 2]


def test_without_an_id_every_import_is_a_new_run(folder: Path) -> None:
    for log in ("a.log", "b.log"):
        assert _import("--started-at", "2026-11-30T10:15:00Z", log).exit_code == 0
    assert sorted(path.name for path in (folder / "runs").iterdir()) == [
        "20261130T101500Z-freq_sweep",
        "20261130T101500Z-freq_sweep-2",
    ]


def test_a_log_without_a_result_is_kept_as_a_failed_point(folder: Path) -> None:
    Path("a.log").write_text("NOAUTH Authentication required.\n")
    result = _import("--run-id", "mine", "a.log", "b.log")
    assert result.exit_code == 1
    assert "NOAUTH" in result.output
    failed, done = load_run(folder / "runs" / "mine").points
    assert (failed.point.status, done.point.status) == ("failed", "ok")
    assert "NOAUTH" in str(failed.point.reason)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (["a.log"], {"study": "freq_swep"}, "no study 'freq_swep' (did you mean freq_sweep?)"),
        (["a.log"], {"workload": "redis"}, "unknown workload 'redis'"),
        (["--factor", "frequency=2.5", "a.log"], {}, "'2.5' is not a frequency"),
        (["--observed-frequency", "fast", "a.log"], {}, "'fast' is not a frequency"),
        (["nowhere.log"], {}, "nowhere.log: cannot be read: No such file or directory"),
        (["a.log", "a.log"], {}, "a.log: is in the run already, as h1/001-redis_benchmark-r1"),
        (["twice.log"], {}, "twice.log: holds several runs"),
        (["--run-id", "../x", "a.log"], {}, "'../x' cannot be the name of a run"),
        (["--run-id", "other", "a.log"], {}, "is a run of os_compare, not of freq_sweep"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    folder: Path, arguments: list[str], options: dict[str, str], message: str
) -> None:
    Path("twice.log").write_text(LOG + LOG)
    _import("--run-id", "other", "c.log", study="os_compare")
    before = sorted(folder.rglob("*"))
    result = _import(*arguments, **options)
    assert result.exit_code == 2
    assert result.stderr.startswith("collector: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


def test_arguments_of_the_wrong_form(folder: Path) -> None:
    assert "'frequency' is not NAME=VALUE" in _import("--factor", "frequency", "a.log").stderr
    assert "'model' is not PART.NAME" in _import("--host-info", "model=x", "a.log").stderr


def test_list(folder: Path) -> None:
    Path("c.log").write_text("Could not connect to Redis at 127.0.0.1:6379: Connection refused\n")
    _import(
        "--run-id", "mine", "--factor", "frequency=as_found", "--started-at", "2026-11-30T00:00:00Z", "a.log"
    )
    _import("--run-id", "mine", "--factor", "frequency=2GHz", "b.log", "c.log")
    assert [line.split() for line in _run("list").output.splitlines()] == [
        ["run", "study", "hosts", "conditions", "done", "failed", "planned"],
        ["mine", "freq_sweep", "h1", "as", "found,", "2.0", "GHz", "2", "1", "3"],
    ]
    (document,) = json.loads(_run("list", "--format", "json").output)
    assert document["conditions"] == [{"frequency": "as_found"}, {"frequency": "2GHz"}]
    assert (document["done"], document["failed"], document["planned"]) == (2, 1, 3)


def test_list_names_a_damaged_run_and_shows_the_others(folder: Path) -> None:
    for name in ("good", "bad"):
        _import("--run-id", name, "a.log")
    (folder / "runs" / "bad" / "run.json").write_text("{}")
    result = _run("list")
    assert result.exit_code == 2
    assert "good" in result.stdout
    assert "bad/run.json: unknown schema None" in result.stderr


def test_list_of_nothing(folder: Path) -> None:
    result = _run("list")
    assert result.exit_code == 2
    assert result.stderr.startswith("collector: error: runs: no such folder (")


def test_parse(folder: Path) -> None:
    Path("b.log").write_text("# Two\nSET: inf requests per second\nGET: 7.50 requests per sec")
    result = _run("parse", "--workload", "redis_benchmark", "a.log", "b.log")
    assert result.exit_code == 1
    assert [" ".join(line.split()) for line in result.output.splitlines()] == [
        "a.log: a result",
        "",
        "run 1",
        "test metric value unit line",
        "SET rps 100 requests/s 1",
        "SET p50 0.1 ms 1",
        "GET rps 200 requests/s 2",
        "GET p50 0.1 ms 2",
        "",
        "b.log: line 3: the log ends in the middle of a line",
        "! line 2: no value for SET: inf rps",
        "! line 3: the log ends in the middle of a line: GET: 7.50 requests per sec",
        "",
    ]


def test_parse_as_json(folder: Path) -> None:
    result = _run("parse", "--workload", "redis_benchmark", "--json", "a.log")
    assert result.exit_code == 0
    (document,) = json.loads(result.output)
    assert (document["file"], document["failure"], document["issues"]) == ("a.log", None, [])
    assert document["samples"][0] == {
        "test": "SET",
        "metric": "rps",
        "value": 100.0,
        "unit": "requests/s",
        "line": 1,
        "run": 1,
        "run_label": "",
    }


def test_parse_of_what_is_not_there(folder: Path) -> None:
    result = _run("parse", "--workload", "redis_benchmark", "nowhere.log")
    assert (result.exit_code, result.stderr) == (
        2,
        "collector: error: nowhere.log: cannot be read: No such file or directory\n",
    )

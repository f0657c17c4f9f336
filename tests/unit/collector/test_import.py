"""``collector import``, and ``list`` and ``parse`` on what it made."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from collector.cli import cli
from collector.store import load_run

LOG = "SET: 100.00 requests per second, p50=0.100 msec\nGET: 200.00 requests per second, p50=0.100 msec\n"
FACTORS = {"freq_sweep": "frequency=max", "os_compare": "os=debian"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a.log", "b.log", "c.log")):
        Path(name).write_text(LOG.replace("00.00", f"0{number}.00"))
    return tmp_path


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def _import(*arguments: str, study: str = "freq_sweep", workload: str = "redis_benchmark") -> Result:
    """Import with a condition that the study compares by, unless *arguments* have one."""
    factor = [] if "--factor" in arguments else ["--factor", FACTORS.get(study, "platform=x")]
    return _run("import", "--study", study, "--host", "h1", "--workload", workload, *factor, *arguments)


def _files(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


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
        (["--factor", "frequency=0GHz", "a.log"], {}, "'0GHz' is not a frequency"),
        (["--factor", "frequency=-1GHz", "a.log"], {}, "'-1GHz' is not a frequency"),
        (["--factor", "freqency=2GHz", "a.log"], {}, "not 'freqency' (did you mean frequency?)"),
        (
            ["--factor", "turbo=off", "a.log"],
            {},
            "compares by the factor frequency or quota, not 'turbo' (add --factor frequency=LEVEL)",
        ),
        (["--observed-frequency", "0GHz", "a.log"], {}, "'0GHz' is not a frequency"),
        (["--host-info", "host.x=1", "a.log"], {}, "'host' is no part of a host's profile (parts are cpu"),
        (["--host-info", "schema.x=3", "a.log"], {}, "'schema' is no part of a host's profile"),
        (["--run-id", "other", "--host", "run.json", "a.log"], {}, "'run.json' cannot be the name of a host"),
        (["a.log", "point.json"], {}, "'point.json' cannot be the name of a log in a run (rename it"),
        (["point.unfinished"], {}, "'point.unfinished' cannot be the name of a log"),
        (["supervisor.lock"], {}, "'supervisor.lock' cannot be the name of a log"),
        (["a\nb.log"], {}, "'a\\nb.log' cannot be the name of a log"),
        (["--observed-frequency", "fast", "a.log"], {}, "'fast' is not a frequency"),
        (["nowhere.log"], {}, "nowhere.log: cannot be read: No such file or directory"),
        (
            ["a.log", "a.log"],
            {},
            "a.log: is in the run already, as h1/001-redis_benchmark-max-r1 (leave it out)",
        ),
        (["twice.log"], {}, "twice.log: holds several runs"),
        (["--run-id", "../x", "a.log"], {}, "'../x' cannot be the name of a run"),
        (["--run-id", "other", "a.log"], {}, "is a run of os_compare, not of freq_sweep (choose another"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    folder: Path, arguments: list[str], options: dict[str, str], message: str
) -> None:
    Path("twice.log").write_text(LOG + LOG)
    for name in ("point.json", "point.unfinished", "supervisor.lock"):
        Path(name).write_text(LOG)
    _import("--run-id", "other", "c.log", study="os_compare")
    before = _files(folder)
    result = _import(*arguments, **options)
    assert result.exit_code == 2
    assert result.stderr.startswith("collector: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert _files(folder) == before


def test_a_condition_without_any_factor_says_which_to_add(folder: Path) -> None:
    study = ("--study", "net_compare", "--host", "h1", "--workload", "redis_benchmark")
    result = _run("import", *study, "a.log")
    assert (result.exit_code, result.stderr) == (
        2,
        "collector: error: net_compare compares by the factor path (add --factor path=LEVEL)\n",
    )


def test_a_damaged_profile_is_one_line_and_nothing_is_written(folder: Path) -> None:
    _import("--run-id", "mine", "--host-info", "cpu.cpus=128", "a.log")
    (folder / "runs/mine/h1/host.json").write_text('{"schema": 1, "host": 5}')
    before = _files(folder)
    result = _import("--run-id", "mine", "--host-info", "cpu.cpus=64", "b.log")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "h1/host.json: host: Input should be a valid string (restore it from a copy, or remove it)\n"
    )
    assert _files(folder) == before


def test_host_info_adds_to_what_is_known(folder: Path) -> None:
    _import("--run-id", "mine", "--host-info", "cpu.cpus=128", "--host-info", "disk.kind=nvme", "a.log")
    _import("--run-id", "mine", "--host-info", "cpu.model=x", "--host-info", "cpu.cpus=64", "b.log")
    profile = load_run(folder / "runs" / "mine").profiles["h1"]
    assert (profile.cpu, profile.model_extra) == ({"cpus": 64, "model": "x"}, {"disk": {"kind": "nvme"}})


@pytest.mark.parametrize("name", ["point.unfinished", "host.unfinished", "run.unfinished"])
@pytest.mark.parametrize("extends", [True, False])
def test_a_write_that_fails_leaves_everything_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, extends: bool
) -> None:
    if extends:
        _import("--run-id", "mine", "--host-info", "cpu.cpus=128", "a.log")
    before = _files(folder)
    write_text = Path.write_text

    def full(file: Path, content: str, **options: str) -> int:
        if file.name == name:
            write_text(file, content[:9])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(file, content, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        result = _import("--run-id", "mine", "--host-info", "cpu.cpus=64", "b.log", "c.log")
    assert result.exit_code == 2
    assert result.stderr == (
        "collector: error: runs/mine: cannot be written: No space left on device "
        "(make it writable, or choose another --runs-dir)\n"
    )
    assert _files(folder) == before
    assert _import("--run-id", "mine", "--host-info", "cpu.cpus=64", "b.log", "c.log").exit_code == 0


@pytest.mark.parametrize("option", ["--factor", "--param", "--host-info"])
def test_a_name_that_is_given_twice_is_refused(folder: Path, option: str) -> None:
    result = _import("--factor", "quota=77%", option, "a.b=1", option, "a.b=2", "a.log")
    assert result.exit_code == 2
    assert result.stderr == (
        f"collector: error: Invalid value for '{option}': 'a.b' is given twice (see cli import --help)\n"
    )


def test_what_json_cannot_say_stays_text(folder: Path) -> None:
    _import("--run-id", "mine", "--param", "a=NaN", "--param", "b=1e999", "--param", "c=2.5", "a.log")
    (loaded,) = load_run(folder / "runs" / "mine").points
    assert loaded.point.params == {"a": "NaN", "b": "1e999", "c": 2.5}


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


def test_list_shows_the_others_beside_a_start_without_a_zone(folder: Path) -> None:
    for name, log in (("good", "a.log"), ("bad", "b.log")):
        _import("--run-id", name, "--started-at", "2026-11-30T00:00:00Z", log)
    file = folder / "runs" / "bad" / "run.json"
    file.write_text(file.read_text().replace("2026-11-30T00:00:00Z", "2026-11-30T00:00:00"))
    result = _run("list")
    assert result.exit_code == 2
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["run", "good"]
    assert result.stderr == (
        "collector: error: runs/bad/run.json: started_at: Input should have timezone info "
        "(restore it from a copy, or remove the run's folder)\n"
    )


def test_list_of_a_file(folder: Path) -> None:
    result = _run("list", "--runs-dir", "a.log")
    assert result.exit_code == 2
    assert result.stderr.startswith("collector: error: a.log: is not a folder (")


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
    message = "nowhere.log: cannot be read: No such file or directory (name a log that can be read)"
    assert (result.exit_code, result.stderr) == (2, f"collector: error: {message}\n")

"""The command: which runs, which format, where to, and errors in one line."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from collector.cli import cli
from tests.unit.collector.runs import Written, write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs, of which r2 is the newer one."""
    for name, by, day in (("r1", 0.8, 1), ("r2", 0.4, 2)):
        points = [
            Written({"frequency": "2GHz"}, {"SET": 100e3, "GET": 90e3}),
            Written({"frequency": "1GHz"}, {"SET": 100e3 * by, "GET": 90e3 * by}),
        ]
        write_run(tmp_path / "runs" / name, points, started_at=f"2026-12-0{day}T00:00:00Z")
    return tmp_path / "runs"


def invoke(runs: Path, *args: str) -> Result:
    return CliRunner().invoke(cli, ["summarize", "--runs-dir", str(runs), *args])


def test_the_newest_run_by_default(runs: Path) -> None:
    result = invoke(runs)
    assert result.exit_code == 0
    assert "0.400" in result.stdout and "0.800" not in result.stdout


def test_a_run_by_its_id_or_its_folder(runs: Path) -> None:
    assert "0.800" in invoke(runs, "r1").stdout
    assert "0.800" in invoke(Path("elsewhere"), str(runs / "r1")).stdout


def test_a_run_by_its_run_json(runs: Path) -> None:
    assert invoke(runs, str(runs / "r1" / "run.json")).stdout == invoke(runs, "r1").stdout


@pytest.mark.parametrize("format_", ["terminal", "markdown", "csv"])
@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">/dev/full", "standard output cannot be written: No space left on device"),
        (">&-", "standard output is closed"),
    ],
)
def test_output_that_cannot_be_written_is_an_error_in_one_line(
    runs: Path, format_: str, redirection: str, message: str
) -> None:
    script = f'exec "$0" -m collector summarize "$1" --format {format_} {redirection}'
    result = subprocess.run(
        ["sh", "-c", script, sys.executable, str(runs / "r1")], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (2, f"collector: error: {message}\n")


def test_two_runs_side_by_side(runs: Path) -> None:
    text = invoke(runs, "r1", "r2", "--by", "run").stdout
    assert "r1" in text and "0.500" in text


def test_piped_output_is_neither_folded_nor_coloured(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = invoke(runs).stdout
    assert "\x1b" not in text
    assert text.count("higher is better") == 1


def test_columns_in_the_environment_fold(runs: Path) -> None:
    result = CliRunner(env={"COLUMNS": "40"}).invoke(cli, ["summarize", "--runs-dir", str(runs)])
    assert max(map(len, result.stdout.splitlines())) <= 60
    assert result.stdout.count("higher is better") == 2


@pytest.mark.parametrize("columns", ["0", "-5", "wide", ""])
def test_columns_that_are_no_width_fold_at_80(runs: Path, columns: str) -> None:
    args = ["summarize", "--runs-dir", str(runs)]
    result, usual = (CliRunner(env={"COLUMNS": width}).invoke(cli, args) for width in (columns, "80"))
    assert (result.exit_code, result.stdout) == (0, usual.stdout)


@pytest.mark.parametrize("suffix", ["md", "csv", "json", "txt", "JSON"])
def test_the_format_follows_the_outputs_suffix(runs: Path, tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"table.{suffix}"
    result = invoke(runs, "--output", str(output))
    assert (result.exit_code, result.stdout) == (0, "")
    text = output.read_text()
    if suffix == "csv":
        assert {row["metric"] for row in csv.DictReader(io.StringIO(text))} == {"rps"}
    elif suffix.lower() == "json":
        assert {row["metric"] for row in json.loads(text)} == {"rps"}
    else:
        assert ("|---|" in text) is (suffix == "md")


def test_csv_and_json_go_to_stdout_too(runs: Path) -> None:
    assert len(json.loads(invoke(runs, "--format", "json").stdout)) == 4
    assert len(invoke(runs, "--format", "csv").stdout.splitlines()) == 5


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere"], "no such folder"),
        (["--by", "colour"], "no factor 'colour'"),
        (["--baseline", "3GHz"], "no condition '3GHz'"),
        (["--metric", "iops"], "no metric 'iops'"),
        (["--metric", ""], "no metric ''"),
        (["--output", ""], "--output needs the name of a file"),
        (["--output", "x.html"], "no format has the suffix .html (known are .md, .csv, .json, .txt;"),
        (["--output", "/nonexistent/table.md"], "cannot be written"),
    ],
)
def test_errors_are_one_line(runs: Path, args: list[str], message: str) -> None:
    result = invoke(runs, *args)
    assert result.exit_code == 2
    assert result.stderr.startswith("collector: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_empty_runs_folder_is_an_error(tmp_path: Path) -> None:
    result = invoke(tmp_path)
    assert result.exit_code == 2
    assert "no runs in this folder" in result.stderr


@pytest.mark.parametrize("format_", ["terminal", "markdown", "csv", "json"])
def test_a_run_without_any_result_says_so_and_fails(tmp_path: Path, format_: str) -> None:
    write_run(tmp_path / "r1", [Written({"frequency": "2GHz"}, None)])
    result = invoke(tmp_path, "--format", format_)
    assert result.exit_code == 1
    said = result.stdout if format_ in ("terminal", "markdown") else result.stderr
    assert "kunpeng1: no result from 1 point, 1 missing" in said

"""The published results in examples/ are what tools/make_examples.sh makes of their logs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from collector.store import find_runs, load_run

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


def test_they_are_reproducible(tmp_path: Path) -> None:
    for log in EXAMPLES.glob("*/*/*/*.log"):
        run_id = log.relative_to(EXAMPLES).parts[0]
        (tmp_path / "logs" / run_id).mkdir(parents=True, exist_ok=True)
        shutil.copy(log, tmp_path / "logs" / run_id)
    subprocess.run(
        [ROOT / "tools" / "make_examples.sh", tmp_path / "logs", tmp_path / "examples"],
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )
    assert _files(tmp_path / "examples") == _files(EXAMPLES)


def test_every_point_has_a_result() -> None:
    trees = [load_run(path) for path in find_runs(EXAMPLES)]
    assert {tree.path.name: len(tree.points) for tree in trees} == {
        "arm-kvm-redis": 2,
        "kunpeng-frequency": 4,
        "workstation-network": 4,
    }
    assert [point.path for tree in trees for point in tree.points if point.failure] == []
    assert [tree.path for tree in trees if tree.missing] == []


def _files(folder: Path) -> dict[str, bytes]:
    found = [file for file in folder.rglob("*") if file.is_file() and file.name != "README.md"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}

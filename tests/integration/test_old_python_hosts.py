"""The study on a host whose only Python is 2.7 or 3.6, by ansible-core 2.16, the newest that reaches it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collector.models import Point, Status
from tests.integration.conftest import ROOT, SHORT_SWEEP, environment
from tests.old_interpreters import VERSIONS, find_python

if TYPE_CHECKING:
    from conftest import Perflab

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ansible_2_16(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an older ansible-playbook: what the extra `el7` installs."""
    folder = tmp_path_factory.mktemp("ansible-2.16")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run(
        [str(folder / "bin/pip"), "install", "--quiet", "ansible-core>=2.16,<2.17"], check=True, timeout=300
    )
    return folder / "bin"


@pytest.mark.parametrize("version", VERSIONS)
def test_sweep(version: str, perflab: Perflab, ansible_2_16: Path) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    _, *arguments = perflab.playbook_argv(
        "freq_sweep.yml", "-i", "inventory/local", *SHORT_SWEEP,
        "-e", json.dumps({"ansible_python_interpreter": python}),
    )  # fmt: skip
    done = subprocess.run(
        [str(ansible_2_16 / "ansible-playbook"), *arguments],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    points = [Point.model_validate_json(path.read_text()) for path in perflab.runs.glob("*/*/*/point.json")]
    assert [point.status for point in points] == [Status.OK] * 2

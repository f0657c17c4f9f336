"""The roles' scenarios, as a contributor runs them: `molecule test -s redis` (machines from tests/lab)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import BIN, ROOT, environment

SCENARIOS = sorted(path.parent.name for path in (ROOT / "extensions/molecule").glob("*/molecule.yml"))
TIMEOUT_S = 1200


@pytest.mark.slow
@pytest.mark.usefixtures("the_lab")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(scenario: str, tmp_path: Path) -> None:
    log = tmp_path / "molecule.log"
    with log.open("w") as output:
        ended = subprocess.run(
            [str(BIN / "molecule"), "test", "--scenario-name", scenario],
            # It calls ansible-playbook and others by name.
            env=environment() | {"PATH": f"{BIN}:{os.environ['PATH']}"},
            cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    assert ended.returncode == 0, log.read_text()[-8000:]

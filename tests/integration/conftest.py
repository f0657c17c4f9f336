"""What the integration tests share: this machine as the measured host, and runs in a temporary folder."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration import disks
from tests.integration.disks import Host
from tests.lab import lab, packages
from tests.lab.machines import load

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LOCK = Path("/tmp/perflab-integration.lock")

# A sweep of seconds: two conditions, which this machine can set with and without cpufreq.
SHORT_SWEEP = (
    "-e",
    "freq_sweep_profile=smoke",
    "-e",
    '{"freq_sweep_quotas": ["as_found", "50%"], "freq_sweep_frequencies": ["as_found", "min"]}',
)


@dataclass(frozen=True)
class Perflab:
    """Runs perflab's commands as a user would, with runs in a folder of their own."""

    runs: Path

    def collector(self, *arguments: str, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
        return self._run([sys.executable, "-m", "collector", *arguments], timeout_s)

    def sweep(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """``collector run freq_sweep`` on this machine, shortened."""
        return self.collector(
            "run",
            "freq_sweep",
            "-i",
            "inventory/local",
            "--runs-dir",
            str(self.runs),
            *SHORT_SWEEP,
            *arguments,
        )

    def playbook(
        self, *arguments: str, cwd: Path = ROOT, timeout_s: float = 300
    ) -> subprocess.CompletedProcess[str]:
        return self._run(self.playbook_argv(*arguments), timeout_s, cwd=cwd)

    def playbook_argv(self, *arguments: str) -> list[str]:
        return [str(BIN / "ansible-playbook"), *arguments, "-e", f"run_runs_dir={self.runs}"]

    def only_run(self) -> Path:
        (run,) = [path for path in self.runs.iterdir() if path.is_dir()]
        return run

    def _run(
        self, argv: Sequence[str], timeout_s: float, cwd: Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv, cwd=cwd, text=True, capture_output=True, timeout=timeout_s, env=environment(), check=False
        )


def environment() -> dict[str, str]:
    """As in a plain terminal: no activated virtual environment, no colour, a known width."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "VIRTUAL_ENV"))
    }
    return kept | {"COLUMNS": "120", "NO_COLOR": "1", "PYTHONWARNINGS": "default"}


@pytest.fixture
def perflab(tmp_path: Path) -> Perflab:
    return Perflab(tmp_path / "runs")


@pytest.fixture(scope="session", autouse=True)
def _alone() -> Iterator[None]:
    """One run of these tests at a time: a machine has one Redis of perflab's, one CPU to set, one lab."""
    if not LOCK.exists():
        LOCK.touch()
    with LOCK.open() as lock:  # to read, which another user may, too
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.exit(f"these tests already run on this machine (they hold {LOCK}); wait for them", 2)
        yield


@pytest.fixture(scope="session", autouse=True)
def _root_or_sudo() -> None:
    if (
        os.geteuid() != 0
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs root, or sudo without a password: it provisions and changes this machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the lab comes last: its images are made while the other tests run."""
    items.sort(key=_needs_lab)


def _needs_lab(item: pytest.Item) -> bool:
    return "the_lab" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="session", autouse=True)
def _packages(request: pytest.FixtureRequest, _alone: None) -> None:
    """What the chosen tests need of Debian; before them, for some of them install packages themselves."""
    if os.geteuid() != 0:
        return
    items = request.session.items
    if any("host" in getattr(item, "fixturenames", ()) for item in items):
        packages.install(disks.PACKAGES)
    if any(map(_needs_lab, items)):
        packages.provide({"hosts", "guests"})


@pytest.fixture(scope="session", autouse=True)
def _images(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _packages: None
) -> Iterator[subprocess.Popen[bytes] | None]:
    """Makes the lab's images beside the tests that come before its own; what fails, the lab says then."""
    if os.geteuid() != 0 or not any(map(_needs_lab, request.session.items)):
        yield None
        return
    with (tmp_path_factory.mktemp("lab") / "images.log").open("w") as log:
        making = subprocess.Popen(
            ["nice", "-n", "19", sys.executable, "-m", "tests.lab", "images"],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    yield making
    if making.poll() is None:
        os.killpg(making.pid, signal.SIGTERM)
        making.wait()


@pytest.fixture(scope="session")
def the_lab(_images: subprocess.Popen[bytes] | None) -> Iterator[None]:
    """The lab may be used; it is taken away afterwards, unless it was there before (`make lab-up`)."""
    if os.geteuid() != 0:
        pytest.skip("the lab makes machines and networks: run as root")
    was_there = any(map(lab.is_up, load().values()))
    if _images:
        _images.wait()
    yield
    if not was_there:
        lab.down()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """This machine, with disks that a test makes and that go with it."""
    host = Host(tmp_path)
    try:
        yield host
    finally:
        host.clean()

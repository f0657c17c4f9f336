"""The built collection, installed elsewhere, runs by its full name without this checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import BIN, ROOT, environment


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the collection installed from its archive, and an inventory of its own."""
    folder = tmp_path_factory.mktemp("elsewhere")
    _run("ansible-galaxy", "collection", "build", "--output-path", str(folder), cwd=ROOT)
    (archive,) = folder.glob("perflab-bench-*.tar.gz")
    _run("ansible-galaxy", "collection", "install", "--offline", str(archive), "-p", "installed", cwd=folder)
    (folder / "hosts.yml").write_text(
        "all:\n"
        "  hosts:\n"
        "    here:\n"
        "      ansible_connection: local\n"
        "      ansible_python_interpreter: '{{ ansible_playbook_python }}'\n"
    )
    return folder


def _run(program: str, *arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [str(BIN / program), *arguments],
        cwd=cwd,
        text=True,
        capture_output=True,
        check=False,
        timeout=300,
        env=environment() | {"ANSIBLE_COLLECTIONS_PATH": str(cwd / "installed"), "HOME": str(cwd)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_archive_holds_the_collection_only(elsewhere: Path) -> None:
    installed = elsewhere / "installed" / "ansible_collections" / "perflab" / "bench"
    assert {path.name for path in installed.iterdir()} <= {
        "CHANGELOG.md", "FILES.json", "LICENSE", "MANIFEST.json", "README.md", "README.zh-CN.md",
        "docs", "meta", "playbooks", "plugins", "requirements.yml", "roles",
    }  # fmt: skip


def test_it_runs_by_full_name(elsewhere: Path) -> None:
    _run(
        "ansible-playbook", "perflab.bench.freq_sweep", "-i", "hosts.yml",
        "-e", '{"freq_sweep_quotas": ["as_found"], "freq_sweep_frequencies": ["as_found"]}',
        "-e", "freq_sweep_profile=smoke cpu_frequency_method=auto",
        cwd=elsewhere,
    )  # fmt: skip
    assert list((elsewhere / "runs").glob("*/here/*/point.json"))


def test_restore_runs_by_full_name(elsewhere: Path) -> None:
    _run("ansible-playbook", "perflab.bench.restore", "-i", "hosts.yml", cwd=elsewhere)


def test_the_shims_list_the_same_plays() -> None:
    for study in ("freq_sweep", "restore"):
        by_shim = _run(
            "ansible-playbook", f"{study}.yml", "-i", "inventory/kunpeng", "--list-tasks", cwd=ROOT
        )
        assert "kunpeng" not in by_shim
        assert study in by_shim

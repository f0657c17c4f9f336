"""The scripts that role tpcc_mysql puts around tpcc_load and tpcc_start, with others in their place."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "roles" / "tpcc_mysql" / "files"
TIMEOUT_S = 20
PASSWORD = "s3same"
LIKE_THE_LIBRARY = "trap '' PIPE"
LOADED = "echo '...DATA LOADING COMPLETED SUCCESSFULLY.'"


def beside(folder: Path, script: str, program: str, body: str) -> Path:
    """Put *script* into *folder* with a program of the name that it calls; return the script's path."""
    (folder / program).write_text(f"#!/bin/sh\n{body}\n")
    (folder / program).chmod(0o755)
    return Path(shutil.copy(SCRIPTS / f"{script}.sh", folder / script))


def start(folder: Path, body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = beside(folder, "tpcc_start_checked", "tpcc_start", body)
    return subprocess.run(
        [str(script), *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


def load(folder: Path, body: str, *which: str) -> subprocess.CompletedProcess[str]:
    script = beside(folder, "load_warehouses", "tpcc_load", body)
    client = folder / "client.cnf"
    client.write_text(f"[client]\nport=13306\nuser=perflab\npassword={PASSWORD}\n")
    return subprocess.run(
        [str(script), str(client), "tpcc", "5", *which],
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip


def test_output_and_arguments_pass_through(tmp_path: Path) -> None:
    done = start(tmp_path, 'printf "%s\\n" "$@"; echo "1213, 40001, Deadlock found" >&2', "-w1", "-p a b")
    assert (done.returncode, done.stdout) == (0, "-w1\n-p a b\n")
    assert done.stderr == "1213, 40001, Deadlock found\n"


def test_a_status_passes_through(tmp_path: Path) -> None:
    assert start(tmp_path, "exit 7").returncode == 7
    assert start(tmp_path, "kill -SEGV $$").returncode == 128 + 11


def test_refused_connections_fail_though_tpcc_start_does_not(tmp_path: Path) -> None:
    done = start(tmp_path, "echo error at thread_main; echo error at thread_main; echo 9 TpmC")
    assert done.returncode == 1
    assert "9 TpmC" in done.stdout
    assert done.stderr == "2 of the connections could not be made or prepared\n"


def test_a_lost_server_ends_it(tmp_path: Path) -> None:
    body = f"{LIKE_THE_LIBRARY}; while :; do echo '2006, HY000, MySQL server has gone away' >&2; done"
    done = start(tmp_path, body)
    assert done.returncode == 1
    assert done.stderr.endswith("tpcc_start was ended, since it lost the server\n")


def test_it_may_open_as_many_files_as_the_host_allows(tmp_path: Path) -> None:
    done = start(tmp_path, "ulimit -Sn; ulimit -Hn")
    soft, hard = done.stdout.split()
    assert soft == hard


def test_every_part_of_every_warehouse_is_loaded(tmp_path: Path) -> None:
    done = load(tmp_path, f'echo "$@" >>"{tmp_path}/calls"; {LOADED}', "2", "3")
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert {call.split("-w5 ")[1] for call in calls} == {
        f"-l{part} -m{w} -n{w}" for part in (2, 3, 4) for w in (2, 3)
    }
    assert all(f"-p{PASSWORD} " in call and "-P13306" in call for call in calls)


def test_the_items_are_loaded_once(tmp_path: Path) -> None:
    assert load(tmp_path, f'echo "$@" >>"{tmp_path}/calls"; {LOADED}', "items").returncode == 0
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert call.endswith("-l1 -m1 -n1")


@pytest.mark.parametrize("echo", ["echo \"option p with value '{}'\"", 'echo "       [pass]: {}"'])
def test_an_incomplete_load_says_why_but_not_the_password(tmp_path: Path, echo: str) -> None:
    body = f"{echo.format(PASSWORD)}; echo .....; echo '1114, HY000, The table is full'; exit 255"
    done = load(tmp_path, body, "4", "4")
    assert done.returncode == 1
    assert re.search(r"warehouse-4-part-3.log\): 1114, HY000, The table is full", done.stderr)
    assert PASSWORD not in done.stderr + done.stdout


def test_a_load_that_repeats_itself_for_ever_is_ended(tmp_path: Path) -> None:
    done = load(
        tmp_path,
        f"{LIKE_THE_LIBRARY}; while :; do echo '1114, HY000, The table is full'; echo Retrying ...; done",
        "1",
        "1",
    )
    assert done.returncode == 1
    assert "The table is full" in done.stderr


def test_a_copy_has_the_same_bytes_and_names(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "tpcc").mkdir(parents=True)
    (data / ".perflab-mysql").write_text("ours")
    (data / "tpcc" / "orders.ibd").write_bytes(b"rows")
    (data / "tpcc").chmod(0o700)
    script = SCRIPTS / "copy_data.sh"
    done = subprocess.run([str(script), str(data), str(tmp_path / "disk" / "copy")], check=False)
    assert done.returncode == 0
    copy = tmp_path / "disk" / "copy"
    assert (copy / ".perflab-mysql").read_text() == "ours"
    assert (copy / "tpcc" / "orders.ibd").read_bytes() == b"rows"
    assert (copy / "tpcc").stat().st_mode == (data / "tpcc").stat().st_mode


def test_a_copy_that_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / ".perflab-mysql").write_text("ours")
    stand_in = tmp_path / "bin" / "du"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho 99999999999 $2\n")
    stand_in.chmod(0o755)
    done = subprocess.run(
        [str(SCRIPTS / "copy_data.sh"), str(data), str(tmp_path / "copy")],
        env={"PATH": f"{stand_in.parent}:/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert re.search(r"needs 99999999999 MB, and .* only \d+ MB are free", done.stderr)
    assert not list((tmp_path / "copy").iterdir())

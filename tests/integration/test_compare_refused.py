"""What virt_compare and net_compare refuse before anything is changed, each in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Perflab

pytestmark = pytest.mark.slow

# Both are this machine, which is all that a plan needs.
HOSTS = {
    "all": {
        "vars": {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        },
        "hosts": {"one": {}, "two": {}},
    }
}


@pytest.mark.parametrize(
    ("study", "inputs", "says"),
    [
        (
            "virt_compare",
            {"virt_compare_servers": ["one", "three"]},
            "virt_compare_servers is one, three: name two servers or more, the physical one first, all of "
            "them hosts of this play (one, two).",
        ),
        (
            "virt_compare",
            {"virt_compare_servers": ["one", "one"]},
            "virt_compare_servers is one, one: name two servers or more",
        ),
        (
            "virt_compare",
            {"virt_compare_servers": "one,two"},
            "virt_compare_servers is 'one,two', which is no list: write "
            '{"virt_compare_servers": ["one", "two"]}',
        ),
        (
            "virt_compare",
            {"virt_compare_servers": ["one", "two"], "virt_compare_workloads": "fio"},
            'virt_compare_workloads is \'fio\', which is no list: write {"virt_compare_workloads": ["fio"]}',
        ),
        (
            "virt_compare",
            {"virt_compare_servers": ["one", "two"]},
            "two of the same platform are not told apart; os_compare compares hosts alike.",
        ),
        (
            "net_compare",
            {"net_compare_server": ""},
            "net_compare_server is empty for one: give the server's inventory name, or the address of one",
        ),
        (
            "net_compare",
            {"net_compare_server": "two", "net_compare_hosts": "one"},
            "net_compare_server is two, which the inventory has but this play leaves out",
        ),
    ],
)
def test_refused(perflab: Perflab, tmp_path: Path, study: str, inputs: dict[str, object], says: str) -> None:
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps(HOSTS))
    done = perflab.playbook(f"{study}.yml", "-i", str(inventory), "-e", json.dumps(inputs))
    assert done.returncode != 0
    printed = done.stdout + done.stderr
    # In the result's JSON, where a quote is escaped.
    assert says in printed or json.dumps(says)[1:-1] in printed, printed
    assert not perflab.runs.exists()

"""Role kvm_guest on a lab host that carries guests: an emulated one, bridged, made by cloud-init."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from collector.models import Point, Status
from tests.integration.conftest import BIN, ROOT, environment
from tests.integration.lab_machine import LabMachine
from tests.lab import access, guest_images, images, lab
from tests.lab.machines import BRIDGE_ADDRESS, INVENTORY, load
from tests.lab.network import GUEST_BRIDGE

if TYPE_CHECKING:
    from conftest import Perflab

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("the_lab")]

ADDRESS = "10.231.0.31"
WORKLOADS = ("sysbench_cpu", "sysbench_memory", "fio")  # that run on the servers themselves
BOOT_LIMIT_S = 420  # of an emulated guest on a machine that does other things, too
# Without IPv6, of which the guest would wait 12 s for a router.
CMDLINE = "console=ttyS0 root=/dev/vda rw quiet mitigations=off net.ifnames=0 ipv6.disable=1"
MAKE = """
- name: Make a guest
  hosts: metal
  become: true
  gather_facts: false
  roles: [perflab.bench.kvm_guest]
"""
# The guest is reached by the inventory that the first play added it to, and by the key that it wrote down.
REACH = """
- name: Look at the guest
  hosts: made
  become: true
  gather_facts: false
  vars:
    ansible_ssh_common_args: -o UserKnownHostsFile={{ kvm_guest_known_hosts }} -o IdentitiesOnly=yes
  tasks:
    - name: Read what it is
      perflab.bench.host_profile:
      register: seen
    - name: Read what it is called
      ansible.builtin.command: hostname
      register: called
      changed_when: false
    - name: It knows as well as the role that it is emulated, and what it is called
      ansible.builtin.assert:
        that:
          - seen.profile.virtualisation.vm == kvm_guest_found.type == 'qemu'
          - called.stdout == kvm_guest_found.name == 'guest1'
"""
# From here on the guest is a host as any other, which a study takes in.
COMPARE = """
- name: Compare the guest with its host
  import_playbook: perflab.bench.virt_compare
"""
FOREIGN = """
<domain type="qemu"><name>theirs</name><memory unit="MiB">64</memory>
<os><type arch="x86_64" machine="q35">hvm</type></os></domain>
"""


@dataclass(frozen=True)
class Metal(LabMachine):
    """The host that carries guests, and plays of the role on it."""

    folder: Path
    inputs: dict[str, object]

    def play(self, *arguments: str, plays: str = MAKE, **inputs: object) -> subprocess.CompletedProcess[str]:
        playbook = self.folder / "play.yml"
        playbook.write_text(plays)
        return subprocess.run(
            [
                *(str(BIN / "ansible-playbook"), str(playbook)),
                *("-i", str(INVENTORY), "-i", str(INVENTORY.with_name("virt_compare.yml"))),
                *("-e", json.dumps(self.inputs | inputs), *arguments),
            ],
            cwd=ROOT, env=environment(), text=True, capture_output=True, timeout=900, check=False,
        )  # fmt: skip

    def changed(self, *arguments: str, plays: str = MAKE, **inputs: object) -> int:
        """Run the plays, which must succeed; return how many tasks changed something on this host."""
        done = self.play(*arguments, plays=plays, **inputs)
        assert done.returncode == 0, done.stdout + done.stderr
        (changed,) = re.findall(r"^metal .*changed=(\d+)", done.stdout, re.MULTILINE)
        return int(changed)

    def domains(self) -> set[str]:
        return set(self.shell("virsh list --all --name").split())

    def remove_guest(self) -> None:
        """Remove what a test that failed, or a killed run, has left."""
        if self.shell("find /var/lib/libvirt/images -name perflab-guest1 2> /dev/null; true"):
            self.changed(kvm_guest_state="absent")

    def traces(self) -> str:
        """Return what of libvirt is active and what of the role lies there."""
        return self.shell(
            "systemctl list-units --plain --no-legend --state=active 'libvirt*' 'virt*';"
            "find /run/libvirt/network -name '*.xml' 2> /dev/null;"
            "find /var/lib/libvirt/images /var/lib/perflab /var/log/libvirt/qemu/*guest1* 2> /dev/null"
            " | grep -vx -e /var/lib/perflab -e '/var/lib/perflab/runs.*' -e /var/lib/libvirt/images; true"
        )


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder's files to the lab's machines; yield its URL."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer((BRIDGE_ADDRESS, 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://{BRIDGE_ADDRESS}:{server.server_port}"
        finally:
            server.shutdown()


@pytest.fixture(scope="module")
def metal(the_lab: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metal]:
    """The host without our guest, before and after."""
    folder = tmp_path_factory.mktemp("kvm_guest")
    lab.up(["metal", "debian12", "x86"])
    image = images.provide(guest_images.cloud_image())
    with served(image) as url:
        metal = Metal(
            load()["metal"],
            folder,
            {
                "kvm_guest_name": "guest1",
                "kvm_guest_image": f"{url}/disk.qcow2",
                "kvm_guest_image_sha256": hashlib.sha256((image / "disk.qcow2").read_bytes()).hexdigest(),
                "kvm_guest_kernel": str(image / "vmlinuz"),
                "kvm_guest_initrd": str(image / "initrd"),
                "kvm_guest_cmdline": CMDLINE,
                "kvm_guest_bridge": GUEST_BRIDGE,
                "kvm_guest_address": f"{ADDRESS}/24",
                "kvm_guest_gateway": BRIDGE_ADDRESS,
                "kvm_guest_disk_cache": "unsafe",
                "kvm_guest_ssh_public_key": access.KEY.with_suffix(".pub").read_text(),
                "kvm_guest_known_hosts": str(folder / "known_hosts"),
                "kvm_guest_groups": ["made"],
                "kvm_guest_boot_timeout_s": BOOT_LIMIT_S,
            },
        )
        metal.remove_guest()
        yield metal
        metal.remove_guest()


@pytest.fixture(scope="module")
def found(metal: Metal) -> str:
    """What was there before the guest."""
    return metal.traces()


@pytest.fixture(scope="module")
def guest(metal: Metal, found: str) -> str:
    """Make the guest and reach it; return what the plays printed."""
    done = metal.play("--diff", plays=MAKE + REACH)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_check_mode_says_what_it_would_make_and_makes_nothing(metal: Metal, found: str) -> None:
    done = metal.play("--check", "--diff")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '+<domain type="qemu">' in done.stdout
    assert metal.traces() == found


def test_guest_is_made_and_reached_by_one_command(metal: Metal, guest: str) -> None:
    assert re.search(r"^guest1 .*ok=3 ", guest, re.MULTILINE), guest
    assert "PRIVATE KEY" not in guest
    # Beside its host on the same network: another machine reaches it without a way through the host.
    assert ADDRESS not in metal.shell("ip -4 address")
    assert "guest1" in metal.domains()


@pytest.mark.usefixtures("guest")
def test_what_virtualisation_costs_by_one_command(metal: Metal, perflab: Perflab) -> None:
    """Host and guest in turn, from another host and from inside each, at one frequency for both."""
    hypervisor = LabMachine(load()["x86"])
    knobs = hypervisor.knobs()
    done = metal.play(
        plays=MAKE + COMPARE,
        kvm_guest_known_hosts=str(access.KNOWN_HOSTS),  # which the lab's inventory names for all hosts
        run_runs_dir=str(perflab.runs),
        virt_compare_hosts="metal:guest1:debian12",
        virt_compare_servers=["metal", "guest1"],
        virt_compare_frequency="2.0GHz",
        virt_compare_workloads=["redis_benchmark", *WORKLOADS],
        virt_compare_profile="smoke",
        redis_benchmark_tests=["set", "get"],
        link_pings=10,
        # Of each sweep its smallest point.
        sysbench_cpu_threads=[1],
        sysbench_memory_threads=[1],
        sysbench_memory_operations=["read"],
        fio_threads=[1],
        fio_block_sizes=["4K"],
        fio_file_size="16M",
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    # The guest was made before: the role finds nothing to change.
    making, _, _ = done.stdout.partition("PLAY [Plan the comparison]")
    assert "ok: [metal]" in making
    assert "changed: [metal]" not in making

    run = perflab.only_run()
    measured = [Point.model_validate_json(path.read_text()) for path in run.glob("*/*/point.json")]
    assert {(p.host, p.factors["platform"], p.factors["path"], p.workload, p.status) for p in measured} == {
        *(("metal", "container", "local", workload, Status.OK) for workload in WORKLOADS),
        *(("guest1", "virtual", "local", workload, Status.OK) for workload in WORKLOADS),
        ("metal", "container", "local", "redis_benchmark", Status.OK),
        ("guest1", "virtual", "local", "redis_benchmark", Status.OK),
        ("debian12", "container", "remote", "redis_benchmark", Status.OK),
        ("debian12", "virtual", "remote", "redis_benchmark", Status.OK),
    }
    for point in measured:
        assert point.factors["frequency"] == "2GHz"
        assert point.setting
        assert point.setting["host"] == "x86"
        assert set(point.setting["achieved_khz"].values()) == {2_000_000}
    assert hypervisor.knobs() == knobs
    assert not hypervisor.saved()
    assert not metal.shell("find /var/tmp -name 'perflab-fio*'")

    table = perflab.collector("summarize", str(run), "--format", "json", "--metric", "all")
    assert table.returncode == 0, table.stderr
    _overhead_of_each_tool(json.loads(table.stdout))
    table = perflab.collector("summarize", str(run))
    for said in ("container", "virtual", "overhead", "emulated in software", "RTT median", "2.0 GHz"):
        assert said in table.stdout, table.stdout


@pytest.mark.usefixtures("metal")
def test_nothing_is_measured_at_a_frequency_that_cannot_be_set(perflab: Perflab) -> None:
    """Of a pair whose frequency one sets for both, the other is not measured either."""
    pair = {
        "virt_compare_hosts": "debian12:x86",
        "virt_compare_servers": ["debian12", "x86"],
        "virt_compare_frequency": "1.9GHz",  # between two steps of its table
        "virt_compare_profile": "smoke",
        "cpu_frequency_host": "x86",
    }
    done = perflab.playbook("virt_compare.yml", "-i", str(INVENTORY), "-e", json.dumps(pair))
    assert done.returncode != 0
    assert "debian12 is not measured: x86 has not set the frequency 1.9GHz of both" in done.stdout
    assert not list(perflab.only_run().glob("*/*/point.json"))


def _overhead_of_each_tool(rows: list[dict[str, Any]]) -> None:
    """Each tool has a rate on both sides; ratio and overhead are those of the two."""
    for workload in WORKLOADS:
        of = [row for row in rows if row["workload"] == workload and row["better"] == "higher"]
        by_test: dict[object, dict[str, dict[str, Any]]] = {}
        for row in of:
            by_test.setdefault((row["test"], row["metric"]), {})[row["factors"]["platform"]] = row
        assert by_test, workload
        for pair in by_test.values():
            host, guest = pair["container"], pair["virtual"]
            assert guest["emulated"] == "guest1"
            assert guest["ratio"] == pytest.approx(guest["mean"] / host["mean"])
            assert guest["overhead"] == pytest.approx(1 - guest["ratio"])


@pytest.mark.usefixtures("guest")
def test_check_mode_shows_another_definition_and_leaves_the_guest_running(metal: Metal) -> None:
    done = metal.play("--check", "--diff", kvm_guest_memory_mib=768)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '-  <memory unit="MiB">1024</memory>\n+  <memory unit="MiB">768</memory>' in done.stdout
    assert "changed=0" not in done.stdout
    assert metal.shell("virsh domstate guest1").strip() == "running"
    assert "1048576 KiB" in metal.shell("virsh dominfo guest1")


@pytest.mark.usefixtures("guest")
@pytest.mark.parametrize("state", ["running", "absent"])
def test_a_domain_that_is_not_ours_is_left_alone(metal: Metal, state: str) -> None:
    metal.shell(f"echo '{FOREIGN}' > /tmp/theirs.xml; virsh define /tmp/theirs.xml")
    before = metal.shell("virsh dumpxml theirs")
    try:
        done = metal.play(kvm_guest_name="theirs", kvm_guest_state=state)
        assert done.returncode != 0
        assert "The domain theirs on metal was not made by role kvm_guest" in done.stdout + done.stderr
        assert metal.shell("virsh dumpxml theirs") == before
    finally:
        metal.shell("virsh undefine theirs; rm /tmp/theirs.xml")


@pytest.mark.usefixtures("guest")
def test_another_image_does_not_replace_the_disk(metal: Metal) -> None:
    done = metal.play(kvm_guest_image_sha256="0" * 64)
    assert done.returncode != 0
    assert "A disk is not made anew over what the guest has written" in done.stdout + done.stderr


@pytest.mark.usefixtures("guest")
def test_another_definition_is_applied_and_stopped_shuts_down(metal: Metal) -> None:
    other = {"kvm_guest_memory_mib": 768, "kvm_guest_cpu_pinning": ["0"], "kvm_guest_state": "stopped"}
    assert metal.changed(**other) > 0
    assert metal.shell("virsh domstate guest1").strip() == "shut off"
    assert "786432 KiB" in metal.shell("virsh dominfo guest1")
    assert metal.shell("virsh vcpupin guest1").split()[-2:] == ["0", "0"]
    assert metal.changed(**other) == 0


@pytest.mark.usefixtures("guest")
def test_absent_removes_all_that_was_made_and_stops_what_was_started(metal: Metal, found: str) -> None:
    assert metal.changed(kvm_guest_state="absent") > 0
    assert metal.traces() == found
    assert ADDRESS not in (metal.folder / "known_hosts").read_text()
    assert metal.changed(kvm_guest_state="absent") == 0

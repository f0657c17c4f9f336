"""Role kvm_guest on a lab host that carries guests: an emulated one, bridged, made by cloud-init."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collector.models import Point, Status
from tests.integration.conftest import BIN, ROOT, environment
from tests.integration.lab_machine import LabMachine
from tests.lab import access, guest_images, images, lab
from tests.lab.machines import BRIDGE_ADDRESS, INVENTORY, load
from tests.lab.network import GUEST_BRIDGE

if TYPE_CHECKING:
    from conftest import Perflab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("the_lab"),
    pytest.mark.skipif(
        not os.environ.get("PERFLAB_TEST_GUESTS"),
        reason="10 minutes more than the suite's hour has room for: set PERFLAB_TEST_GUESTS=1",
    ),
]

ADDRESS = "10.231.0.31"
BOOT_LIMIT_S = 420  # of an emulated guest on a machine that does other things, too
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
# From here on the guest is a host as any other, which a study takes in. Nothing in its image would write the
# file of resolvers, and packages are to be found.
COMPARE = """
- name: Let the guest find packages
  hosts: made
  become: true
  gather_facts: false
  tasks:
    - name: Tell it who resolves names
      ansible.builtin.copy:
        src: /etc/resolv.conf
        dest: /etc/resolv.conf
        mode: "0644"

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
                *(str(BIN / "ansible-playbook"), str(playbook), "-i", str(INVENTORY)),
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
    lab.up(["metal"])
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
                "kvm_guest_cmdline": "console=ttyS0 root=/dev/vda rw quiet mitigations=off net.ifnames=0",
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
        metal.changed(kvm_guest_state="absent")
        yield metal
        metal.changed(kvm_guest_state="absent")


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
def test_a_second_time_changes_nothing(metal: Metal) -> None:
    assert metal.changed() == 0


@pytest.mark.usefixtures("guest")
def test_what_virtualisation_costs_by_one_command(metal: Metal, perflab: Perflab) -> None:
    """Host and guest in turn, from another host of the lab and from inside each."""
    lab.up(["debian12"])
    done = metal.play(
        plays=MAKE + COMPARE,
        kvm_guest_known_hosts=str(access.KNOWN_HOSTS),  # which the lab's inventory names for all hosts
        run_runs_dir=str(perflab.runs),
        virt_compare_hosts="metal:guest1:debian12",
        virt_compare_servers=["metal", "guest1"],
        virt_compare_profile="smoke",
        redis_benchmark_tests=["set", "get"],
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    run = perflab.only_run()
    measured = [Point.model_validate_json(path.read_text()) for path in run.glob("*/*/point.json")]
    assert {(p.host, p.factors["platform"], p.factors["path"], p.status) for p in measured} == {
        ("metal", "container", "local", Status.OK),
        ("guest1", "virtual", "local", Status.OK),
        ("debian12", "container", "remote", Status.OK),
        ("debian12", "virtual", "remote", Status.OK),
    }
    table = perflab.collector("summarize", str(run))
    assert table.returncode == 0, table.stderr
    for said in ("container", "virtual", "overhead", "emulated in software", "RTT median"):
        assert said in table.stdout, table.stdout


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

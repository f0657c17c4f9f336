"""A bridge that every machine of the lab hangs on, with a way out through this machine."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from .command import run
from .errors import LabError
from .machines import BRIDGE_ADDRESS, STATE, Machine

BRIDGE = "plab"
GUEST_BRIDGE = "br0"  # of a host that carries guests
PREFIX = "plab-"
FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
_FORWARDING_BEFORE = STATE / "ip_forward.before"

# The machines reach what this machine reaches (their packages), and nothing outside reaches them.
_NAT = f"""
table ip {BRIDGE} {{
  chain postrouting {{
    type nat hook postrouting priority srcnat
    ip saddr {BRIDGE_ADDRESS}/24 oifname != "{BRIDGE}" masquerade
  }}
}}
"""


def up() -> None:
    """Make the bridge; nothing changes where it is already there."""
    if BRIDGE in links():
        return
    if not _FORWARDING_BEFORE.exists():
        _FORWARDING_BEFORE.write_text(FORWARDING.read_text())
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    run("ip", "address", "add", f"{BRIDGE_ADDRESS}/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")
    run("nft", "-f", "-", stdin=_NAT)
    FORWARDING.write_text("1")


def down() -> None:
    """Take away the bridge, its ports and namespaces, whoever left them."""
    for namespace in namespaces():
        run("ip", "netns", "delete", namespace)
    for link in links():
        # A port may have gone with its namespace in the meantime.
        with contextlib.suppress(LabError):
            run("ip", "link", "delete", link)
    if f"table ip {BRIDGE}" in run("nft", "list", "tables"):
        run("nft", "delete", "table", "ip", BRIDGE)
    if _FORWARDING_BEFORE.exists():
        FORWARDING.write_text(_FORWARDING_BEFORE.read_text())


def plug_namespace(machine: Machine) -> Path:
    """Give the machine a network namespace whose `host0` hangs on the bridge; return the namespace's path."""
    unplug(machine)
    name = machine.port
    run("ip", "netns", "add", name)
    run("ip", "link", "add", name, "type", "veth", "peer", "name", "host0", "netns", name)
    run("ip", "link", "set", name, "master", BRIDGE, "up")
    run("ip", "-n", name, "link", "set", "lo", "up")
    run("ip", "-n", name, "link", "set", "host0", "up")
    device = _bridge_host0(name) if machine.carries_guests else "host0"
    run("ip", "-n", name, "address", "add", f"{machine.address}/24", "dev", device)
    run("ip", "-n", name, "route", "add", "default", "via", BRIDGE_ADDRESS)
    return Path("/run/netns") / name


def _bridge_host0(namespace: str) -> str:
    """Make a bridge that guests can hang on beside `host0`; return its name."""
    run("ip", "-n", namespace, "link", "add", GUEST_BRIDGE, "type", "bridge")
    run("ip", "-n", namespace, "link", "set", "host0", "master", GUEST_BRIDGE)
    run("ip", "-n", namespace, "link", "set", GUEST_BRIDGE, "up")
    return GUEST_BRIDGE


def plug_tap(machine: Machine) -> str:
    """Give the machine a tap device on the bridge; return its name."""
    unplug(machine)
    run("ip", "tuntap", "add", machine.port, "mode", "tap")
    run("ip", "link", "set", machine.port, "master", BRIDGE, "up")
    return machine.port


def unplug(machine: Machine) -> None:
    if machine.port in namespaces():
        run("ip", "netns", "delete", machine.port)
    if machine.port in links():
        with contextlib.suppress(LabError):  # it goes with its namespace, a moment later
            run("ip", "link", "delete", machine.port)


def cut(machine: Machine, *, off: bool) -> None:
    """Take the machine's cable out, or put it back."""
    run("ip", "link", "set", machine.port, "down" if off else "up")


def links() -> list[str]:
    """Return the lab's network devices on this machine."""
    names = [link["ifname"] for link in json.loads(run("ip", "-json", "link", "show"))]
    return [name for name in names if name == BRIDGE or name.startswith(PREFIX)]


def namespaces() -> list[str]:
    found = json.loads(run("ip", "-json", "netns", "list") or "[]")
    return [namespace["name"] for namespace in found if namespace["name"].startswith(PREFIX)]

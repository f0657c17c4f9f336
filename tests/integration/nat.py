"""A NAT on the lab's bridge: an address of its own, whose ports lead to a machine of the lab."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.lab.command import run
from tests.lab.machines import Machine
from tests.lab.network import BRIDGE, PREFIX

ADDRESS = "10.231.0.40"
_NAME = f"{PREFIX}nat"
# A kernel's network stack is all that a router needs. It must not tell clients the shorter way.
_SETTINGS = """
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects
echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects
"""


@dataclass(frozen=True)
class Nat:
    ports: tuple[int, ...]

    def forwarded(self) -> dict[int, int]:
        """Return how many connections to each port have been forwarded."""
        rules = json.loads(run("ip", "netns", "exec", _NAME, "nft", "-j", "list", "ruleset"))["nftables"]
        counters = [
            part["counter"]["packets"]  # of a connection only the first packet comes by
            for rule in rules
            for part in rule.get("rule", {}).get("expr", [])
            if "counter" in part
        ]
        return dict(zip(self.ports, counters, strict=True))


@contextlib.contextmanager
def nat(server: Machine, *ports: int) -> Iterator[Nat]:
    """Forward these ports of ADDRESS to the server, which sees the NAT as its client."""
    _remove()  # what a killed run left
    run("ip", "netns", "add", _NAME)
    try:
        run("ip", "netns", "exec", _NAME, "sh", "-ec", _SETTINGS)
        run("ip", "link", "add", _NAME, "type", "veth", "peer", "name", "host0", "netns", _NAME)
        run("ip", "link", "set", _NAME, "master", BRIDGE, "up")
        run("ip", "-n", _NAME, "address", "add", f"{ADDRESS}/24", "dev", "host0")
        run("ip", "-n", _NAME, "link", "set", "host0", "up")
        run("ip", "netns", "exec", _NAME, "nft", "-f", "-", stdin=_rules(server, ports))
        yield Nat(ports)
    finally:
        _remove()


def _rules(server: Machine, ports: tuple[int, ...]) -> str:
    forward = "\n".join(f"tcp dport {port} counter dnat to {server.address}" for port in ports)
    return f"""
table ip nat {{
  chain prerouting {{
    type nat hook prerouting priority dstnat
    {forward}
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat
    masquerade
  }}
}}
"""


def _remove() -> None:
    """The namespace takes its rules, its device and that device's other end with it."""
    found = json.loads(run("ip", "-json", "netns", "list") or "[]")
    if _NAME in (namespace["name"] for namespace in found):
        run("ip", "netns", "delete", _NAME)

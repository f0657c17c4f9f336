"""The lab's machines, as its inventory names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from .errors import LabError

INVENTORY = Path(__file__).with_name("inventory") / "lab.yml"
STATE = Path("/var/lib/perflab-lab")  # also in the inventory: the key and the known hosts lie there
BRIDGE_ADDRESS = "10.231.0.1"


@dataclass(frozen=True)
class Machine:
    """One machine of the lab: *kind* is hosts (nspawn) or guests (QEMU)."""

    name: str
    kind: str
    address: str
    user: str
    image: str
    turbo: bool = False
    carries_guests: bool = False

    @property
    def folder(self) -> Path:
        """Where everything that this machine writes lies while it is up."""
        return STATE / self.name

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def port(self) -> str:
        """The machine's port of the bridge; the kernel takes 15 characters at most."""
        return f"plab-{self.address.rpartition('.')[2]}"

    @property
    def hardware_address(self) -> str:
        return f"52:54:00:0a:e7:{int(self.address.rpartition('.')[2]):02x}"


def load() -> dict[str, Machine]:
    """Return every machine of the inventory by its name."""
    tree = yaml.safe_load(INVENTORY.read_text())["all"]
    return {
        name: Machine(
            name=name,
            kind=kind,
            address=variables["ansible_host"],
            user=variables.get("ansible_user", tree["vars"]["ansible_user"]),
            image=variables["lab_image"],
            turbo=variables.get("lab_turbo", False),
            carries_guests=variables.get("lab_carries_guests", False),
        )
        for kind, group in tree["children"].items()
        for name, variables in group["hosts"].items()
    }


def select(names: Iterable[str]) -> list[Machine]:
    """Return the machines of these names; a group's name stands for all of its machines."""
    known = load()
    chosen: dict[str, Machine] = {}
    for name in names:
        members = [machine for machine in known.values() if name in (machine.name, machine.kind)]
        if not members:
            raise LabError(f"the lab has no machine {name}; it has {', '.join(known)}, hosts and guests")
        chosen |= {machine.name: machine for machine in members}
    return list(chosen.values())

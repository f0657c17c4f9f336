"""What a guest's kernel told its (emulated) hardware: the truth that perflab's own words are compared with.

The hardware of an amd64 guest is one port for each CPU, whose bytes QEMU appends to a file; that of an arm64
guest is memory that QEMU shares with a file. The tables in acpi/ tell the guest's kernel of them.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from .machines import Machine

CPUS = 2

# The frequency of each P-state, by its number in acpi/pstates.asl.
_PSTATES_KHZ = (2600000, 2400000, 2000000, 1600000, 1200000, 800000)

# A CPU's registers in the order of Performance; each CPU's begin 64 bytes after those of the one before.
_REGISTERS = struct.Struct("<IIIIQQ")
_PITCH = 64
MEMORY_SIZE = 2 << 20
_KHZ_PER_UNIT = 100000


class Performance(NamedTuple):
    """One CPU's registers; all but the counters are in units of 100 MHz."""

    desired: int
    minimum: int
    maximum: int
    limited: int
    reference: int
    delivered: int


def frequencies_khz(machine: Machine) -> list[int]:
    """Return the frequency that each CPU was last told to run at; until it is told one, that of its start."""
    if machine.image == "guest-amd64":
        return [_PSTATES_KHZ[told[-1] if told else 0] for told in pstates(machine)]
    return [registers.desired * _KHZ_PER_UNIT for registers in performance(machine)]


def pstates(machine: Machine) -> list[bytes]:
    """Return every P-state that each CPU of an amd64 guest was told since it booted, in that order."""
    return [port_file(machine, cpu).read_bytes() for cpu in range(CPUS)]


def performance(machine: Machine) -> list[Performance]:
    """Return what the registers of each CPU of an arm64 guest hold now."""
    memory = memory_file(machine).read_bytes()
    return [Performance(*_REGISTERS.unpack_from(memory, cpu * _PITCH)) for cpu in range(CPUS)]


def port_file(machine: Machine, cpu: int) -> Path:
    return machine.folder / f"told-cpu{cpu}"


def memory_file(machine: Machine) -> Path:
    return machine.folder / "told-memory"


def reset_memory(machine: Machine) -> None:
    """Set the registers as at power-on: nominal frequency, and counters that have counted."""
    memory = bytearray(MEMORY_SIZE)
    for cpu in range(CPUS):
        _REGISTERS.pack_into(memory, cpu * _PITCH, *Performance(26, 0, 0, 0, 26000, 26000))
    memory_file(machine).write_bytes(memory)


def register_addresses(cpu: int, memory: int) -> dict[str, str]:
    """Return where the guest finds each register of a CPU, if the memory begins at this address."""
    places = {"desired": 0, "minimum": 4, "maximum": 8, "limited": 12, "reference": 16, "delivered": 24}
    return {name: hex(memory + cpu * _PITCH + place) for name, place in places.items()}

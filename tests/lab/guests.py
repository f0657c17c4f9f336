"""QEMU guests: Debian with a kernel of its own, whose cpufreq driver has (emulated) hardware to speak to.

No hardware virtualisation is needed, and no speed changes with the frequency: what is real is the kernel.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from string import Template

from . import access, guest_images, identity, images, network, processes, told
from .command import run, start
from .machines import BRIDGE_ADDRESS, Machine

_BOOT_S = 120
_ACPI = Path(__file__).with_name("acpi")
_FIRMWARE = "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"  # Debian's qemu-efi-aarch64

_FIRST_PORT = 0x5F7  # with one every 8 bytes; any that nothing else uses would do
_MEMORY = 0x80000000  # where QEMU's virt puts an nvdimm beside 1 GB or less

_NETWORK = f"""\
[Match]
MACAddress=$hardware_address
[Network]
Address=$address/24
Gateway={BRIDGE_ADDRESS}
LinkLocalAddressing=no
"""


def image(machine: Machine) -> images.Image:
    return guest_images.image(machine.image)


def up(machine: Machine) -> None:
    """Start the guest from its image; what it wrote when it was up before is still there."""
    if not _disk(machine).exists():
        _make_disk(machine)
    boot(machine)


def boot(machine: Machine) -> None:
    """Start the guest as it lies there: after `up`, or after it died."""
    hardware = _amd64(machine) if machine.image == "guest-amd64" else _arm64(machine)
    tap = network.plug_tap(machine)
    start(
        [
            *hardware,
            *("-name", machine.name, "-accel", "tcg,thread=multi,tb-size=128", "-smp", f"{told.CPUS}"),
            *("-kernel", machine.folder / "vmlinuz", "-initrd", machine.folder / "initrd"),
            # Unsafe only if this machine dies: what the guest has synced is in this kernel's page cache.
            *("-drive", f"file={_disk(machine)},format=raw,if=virtio,cache=unsafe"),
            *("-netdev", f"tap,id=net,ifname={tap},script=no,downscript=no"),
            *("-device", f"virtio-net-pci,netdev=net,mac={machine.hardware_address},romfile="),
            *("-device", "virtio-rng-pci"),
            *("-display", "none", "-monitor", "none", "-serial", "stdio"),
        ],
        machine.console,
    )
    access.wait_until_up(machine, _BOOT_S)


def down(machine: Machine) -> None:
    """Stop the guest at once, as if its power failed; what it wrote stays."""
    processes.kill(machine)
    network.unplug(machine)


def _amd64(machine: Machine) -> list[str | Path]:
    """Return the machine whose CPUs have P-states, one port for each CPU to set them."""
    # Overwritten at each start: what was told before a power failure is forgotten, as in real hardware.
    ports = [
        word
        for cpu in range(told.CPUS)
        for word in (
            *("-chardev", f"file,id=port{cpu},path={told.port_file(machine, cpu)}"),
            *("-device", f"isa-debugcon,iobase={_port(cpu)},chardev=port{cpu}"),
        )
    ]
    return [
        *("qemu-system-x86_64", "-machine", "q35", "-cpu", "EPYC", "-m", "512", *ports),
        *("-append", _kernel_words("ttyS0")),
    ]


def _arm64(machine: Machine) -> list[str | Path]:
    """Return the machine whose CPUs have performance registers, in memory that looks like an nvdimm."""
    told.reset_memory(machine)
    memory = f"id=registers,share=on,mem-path={told.memory_file(machine)},size={told.MEMORY_SIZE}"
    return [
        *("qemu-system-aarch64", "-machine", "virt,gic-version=3,nvdimm=on", "-cpu", "cortex-a72"),
        *("-m", "512,slots=1,maxmem=4G", "-bios", _FIRMWARE),
        *("-object", f"memory-backend-file,{memory}"),
        *("-device", "nvdimm,memdev=registers"),
        *("-append", f"{_kernel_words('ttyAMA0')} acpi=force"),
    ]


def _kernel_words(console: str) -> str:
    return f"console={console} root=/dev/vda rw quiet mitigations=off net.ifnames=0"


def _disk(machine: Machine) -> Path:
    return machine.folder / "disk"


def _make_disk(machine: Machine) -> None:
    """Copy what the image holds, and put in what makes it this guest."""
    source = images.provide(image(machine))
    shutil.copy(source / "vmlinuz", machine.folder)
    tables = _make_tables(machine)
    (machine.folder / "initrd").write_bytes(tables.read_bytes() + (source / "initrd").read_bytes())
    disk = machine.folder / "disk.partial"
    run("cp", "--sparse=always", source / "disk", disk)
    files = _make_own_files(machine)
    orders = [
        f"cd /{path.parent.relative_to(files)}\nwrite {path} {path.name}\n"
        for path in files.rglob("*")
        if path.is_file()
    ]
    run("debugfs", "-w", "-f", "-", disk, stdin="".join(orders))
    disk.rename(_disk(machine))


def _make_own_files(machine: Machine) -> Path:
    """Return a folder with the files that this guest alone has, each where it belongs below /."""
    root = machine.folder / "own"
    for folder in ("etc/ssh", "etc/systemd/network", "root"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    identity.install(machine, root)
    settings = Template(_NETWORK).substitute(
        hardware_address=machine.hardware_address, address=machine.address
    )
    (root / "etc/systemd/network/lab.network").write_text(settings)
    return root


def _make_tables(machine: Machine) -> Path:
    """Compile the guest's ACPI tables into an archive; the kernel looks for one in front of its initrd."""
    folder = machine.folder / "acpi"
    members = []
    for name, text in _tables(machine).items():
        source, compiled = folder / f"{name}.asl", f"kernel/firmware/acpi/{name}.aml"
        (folder / compiled).parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        run("iasl", "-vs", "-p", folder / compiled, source)
        members.append(compiled)
    archive = folder / "tables.cpio"
    run("cpio", "--quiet", "-o", "-H", "newc", "-D", folder, "-F", archive, stdin="\n".join(members))
    return archive


def _tables(machine: Machine) -> dict[str, str]:
    """Return the source of each of the guest's tables."""
    if machine.image == "guest-amd64":
        pstates = Template((_ACPI / "pstates.asl").read_text())
        return {f"cpu{cpu}": pstates.substitute(cpu=cpu, port=_port(cpu)) for cpu in range(told.CPUS)}
    cppc = Template((_ACPI / "cppc.asl").read_text())
    highest = 30 if machine.turbo else 26
    return {"osc": (_ACPI / "osc.asl").read_text()} | {
        f"cpu{cpu}": cppc.substitute(cpu=cpu, highest=highest, **told.register_addresses(cpu, _MEMORY))
        for cpu in range(told.CPUS)
    }


def _port(cpu: int) -> str:
    return hex(_FIRST_PORT + 8 * cpu)

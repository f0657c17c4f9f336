"""What a further host costs the controller: a smoke sweep on 1, 4, 16 and 64 hosts.

Makes the hosts itself (tests/lab/light.py), runs `collector run` on them as a user would, and prints its wall
time, its processor time and its memory, by the host and by the point, and whether a host costs more the more
there are. Needs root. `make bench-scale`.

The hosts run on this machine too: their work is not in the controller's figures, but it is in the wall time.
And it slows the controller: a CPU whose sibling or whose cache others use takes longer for the same work, and
the kernel accounts that as processor time. So a yardstick, a fixed piece of work, is done again and again
beside each sweep; the controller's work is its processor time in yardsticks. And since a CPU that idles now
and then takes another time than one that never does, what idles otherwise is kept busy.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from statistics import median

from tests.lab import light, packages
from tests.lab.errors import LabError

ROOT = Path(__file__).parents[1]
FREQUENCIES = ("as_found", "2.0GHz")

SAMPLE_S = 0.5
PATIENCE_S = 20 * 60
# By how much more a host may cost than before without being called more: runs differ by as much.
TOLERANCE = 0.15

_PR_SET_CHILD_SUBREAPER = 36
# What the controller does for every task, too: a new process, which loads some of Python.
_YARDSTICK = (sys.executable, "-I", "-S", "-c", "import argparse, json, subprocess")
# Gives way to all else, and ends with this program.
_FILLER = (
    *("setpriv", "--pdeathsig=KILL", "chrt", "--idle", "0", "nice", "-n", "19"),
    *(sys.executable, "-I", "-S", "-c", "while True: pass"),
)


@dataclass(frozen=True)
class Cost:
    """What a sweep took, of the controller's.

    :param main_s: of cpu_s, what ansible-playbook's own process took, not the forks that it starts for tasks.
    :param faults_k: how often, in thousands, the kernel gave or copied a page. It hardly varies.
    :param elsewhere_s: processor time of all else here: the hosts, and this machine's other work.
    :param yardstick_ms: processor time of the yardstick while it ran, the median.
    """

    hosts: int
    wall_s: float
    cpu_s: float
    main_s: float
    memory_mib: float
    faults_k: float
    elsewhere_s: float
    yardstick_ms: float

    @property
    def points(self) -> int:
        return self.hosts * len(FREQUENCIES)

    @property
    def work(self) -> float:
        """The controller's work, in yardsticks."""
        return self.cpu_s / (self.yardstick_ms / 1000)


QUANTITIES = {
    "wall_s": "wall time, s",
    "cpu_s": "controller CPU, s",
    "main_s": "of it, ansible's main process, s",
    "work": "controller CPU, yardsticks",
    "faults_k": "page faults, thousands",
    "memory_mib": "controller memory, MiB",
}
# What is the controller's alone. Wall time and plain processor time also tell how full this machine was.
JUDGED = ("work", "faults_k", "memory_mib")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        *("--hosts", "-n"),
        type=count,
        nargs="+",
        default=[1, 4, 16, 64],
        help="numbers of hosts (default: 1 4 16 64)",
    )
    parser.add_argument(
        "--repeats",
        type=count,
        default=1,
        help="sweeps of each number, of which the median counts (default: 1)",
    )
    parser.add_argument("--forks", type=count, help="instead of those in ansible.cfg")
    options = parser.parse_args()
    try:
        costs = measure(sorted(set(options.hosts)), options.repeats, options.forks)
    except LabError as error:
        print(f"\nbench_scale: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(table(costs))
    rising = [name for name in JUDGED if rises(costs, name)]
    for name in rising:
        print(f"the growth per added host RISES: {QUANTITIES[name]}")
    if not rising and len(costs) > 2:
        print(f"no growth per added host rises (by more than {TOLERANCE:.0%}, which may be noise)")
    return 1 if rising else 0


def count(text: str) -> int:
    """Return the positive whole number that an option names; argparse makes one line of the error."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def measure(numbers: Sequence[int], repeats: int, forks: int | None) -> list[Cost]:
    """Return the cost of a sweep on each number of hosts."""
    packages.provide({"hosts"})
    sweeps: dict[int, list[Cost]] = {number: [] for number in numbers}
    with light.alone():
        for _ in range(repeats):
            for number in numbers:  # taking turns: a shared machine's speed drifts
                sweeps[number].append(sweep(number, forks))
    return [
        Cost(
            number,
            **{
                field.name: median(getattr(one, field.name) for one in each)
                for field in fields(Cost)
                if field.name != "hosts"
            },
        )
        for number, each in sweeps.items()
    ]


def sweep(number: int, forks: int | None) -> Cost:
    """Sweep that many new hosts once."""
    load = os.getloadavg()[0]
    print(f"{number} hosts (load before: {load:.1f}) ...", end=" ", flush=True, file=sys.stderr)
    # Its folder lies among the hosts' own, so that what a killed run leaves goes with the next.
    with (
        light.hosts(number) as inventory,
        full_machine(),
        tempfile.TemporaryDirectory(dir=light.STATE) as name,
    ):
        folder = Path(name)
        environment = os.environ | {"TMPDIR": name, "ANSIBLE_HOME": f"{name}/ansible"}
        if forks:
            environment["ANSIBLE_FORKS"] = str(forks)
        with Controller(command(inventory, folder), environment, folder / "output") as controller:
            cost = controller.run(number)
    print(
        f"{cost.wall_s:.0f} s, controller {cost.cpu_s:.1f} s of CPU, {cost.memory_mib:.0f} MiB",
        file=sys.stderr,
    )
    return cost


@contextlib.contextmanager
def full_machine() -> Iterator[None]:
    """Keep every CPU busy: with few hosts it would idle at times, with many it would not."""
    fillers = [subprocess.Popen(_FILLER) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for filler in fillers:
            filler.kill()
            filler.wait()


def command(inventory: Path, folder: Path) -> list[str]:
    """What a user runs; where this program is killed it ends too."""
    return [
        *("setpriv", "--pdeathsig=TERM"),
        *(sys.executable, "-m", "collector", "run", "freq_sweep", "-i", str(inventory)),
        *("--profile", "smoke", "--no-summary", "--runs-dir", str(folder / "runs")),
        *("-e", json.dumps({"freq_sweep_frequencies": FREQUENCIES})),
    ]


class Controller:
    """A command and every process that comes of it, also those that detach themselves, as ssh's masters do.

    They become this process's children (it is made their "subreaper"), as are the hosts, which were there
    before.
    """

    def __init__(self, argv: Sequence[str], environment: dict[str, str], output: Path) -> None:
        self._argv = argv
        self._environment = environment
        self._output = output

    def __enter__(self) -> Controller:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._others = set(children().get(os.getpid(), ()))
        with self._output.open("wb") as output:
            self._first = subprocess.Popen(
                self._argv,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def run(self, hosts: int) -> Cost:
        """Wait for the command's end and return what it took."""
        started, before, busy = time.monotonic(), Used.by_ended_children(), cpu_of_machine()
        memory, main_s, yardsticks = 0.0, 0.0, [yardstick()]
        while self._first.poll() is None:
            if time.monotonic() > started + PATIENCE_S:
                raise LabError(f"{hosts} hosts take longer than {PATIENCE_S} s")
            processes = self._processes()
            memory = max(memory, sum(map(memory_mib, processes)))
            main_s = max(main_s, max(map(cpu_of_playbook, processes), default=0.0))
            yardsticks.append(yardstick())
            time.sleep(SAMPLE_S)
        wall_s = time.monotonic() - started
        if self._first.returncode != 0:
            tail = "\n".join(self._output.read_text(errors="replace").splitlines()[-20:])
            raise LabError(f"the sweep on {hosts} hosts failed:\n{tail}")
        elsewhere_s = cpu_of_machine() - busy
        self._end()
        used = Used.by_ended_children()
        for one in (before, *yardsticks):
            used -= one
        return Cost(
            hosts=hosts,
            wall_s=wall_s,
            cpu_s=used.cpu_s,
            main_s=main_s,
            memory_mib=memory,
            faults_k=used.faults / 1000,
            elsewhere_s=elsewhere_s - used.cpu_s - sum(one.cpu_s for one in yardsticks),
            yardstick_ms=median(one.cpu_s for one in yardsticks) * 1000,
        )

    def _processes(self) -> list[int]:
        tree = children()
        found: list[int] = []
        new = [pid for pid in tree.get(os.getpid(), ()) if pid not in self._others]
        while new:
            found += new
            new = [child for pid in new for child in tree.get(pid, ())]
        return found

    def _end(self) -> None:
        """End what is left, and take its processor time into account."""
        while pids := self._processes():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for pid in pids:
                with contextlib.suppress(ChildProcessError):  # a grandchild, mine in the next round
                    os.waitpid(pid, 0)


def children() -> dict[int, list[int]]:
    """Return the children of every process."""
    tree: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended since
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            tree.setdefault(int(parent), []).append(int(process.name))
    return tree


def memory_mib(pid: int) -> float:
    """Return the process's memory; a page that n processes share counts as 1/n in each."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def cpu_of_playbook(pid: int) -> float:
    """Return the processor seconds of the process itself if it is an ansible-playbook, else 0."""
    with contextlib.suppress(OSError):
        if b"ansible-playbook" in Path(f"/proc/{pid}/cmdline").read_bytes():
            user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return 0.0


@dataclass(frozen=True)
class Used:
    """What ended processes have used: processor seconds, and how often the kernel gave or copied a page."""

    cpu_s: float
    faults: int

    @classmethod
    def by(cls, usage: resource.struct_rusage) -> Used:
        return cls(usage.ru_utime + usage.ru_stime, usage.ru_minflt)

    @classmethod
    def by_ended_children(cls) -> Used:
        """By all that ended below this process. Light hosts end later."""
        return cls.by(resource.getrusage(resource.RUSAGE_CHILDREN))

    def __sub__(self, other: Used) -> Used:
        return Used(self.cpu_s - other.cpu_s, self.faults - other.faults)


def yardstick() -> Used:
    """Do the fixed piece of work and return what it used."""
    pid = os.posix_spawn(_YARDSTICK[0], _YARDSTICK, os.environ)
    return Used.by(os.wait4(pid, 0)[2])


def cpu_of_machine() -> float:
    """Return the processor seconds that this machine has been busy, whatever with, but for the fillers."""
    user, _nice, system, _idle, _iowait, irq, softirq, *_ = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def growths(costs: Sequence[Cost], quantity: str) -> Iterator[float]:
    """Yield how much a further host adds, from each number of hosts to the next."""
    for fewer, more in pairwise(costs):
        yield (getattr(more, quantity) - getattr(fewer, quantity)) / (more.hosts - fewer.hosts)


def rises(costs: Sequence[Cost], quantity: str) -> bool:
    """Whether a host costs more at any number than it did, at the least, at a smaller one."""
    added = list(growths(costs, quantity))
    return any(
        more > min(added[:position]) * (1 + TOLERANCE)
        for position, more in enumerate(added)
        if position and min(added[:position]) > 0
    )


def table(costs: Sequence[Cost]) -> str:
    """Return the figures: of each number of hosts in all, by the host and by the point; then the growth."""
    rows = [f"{'':34}" + "".join(f"{f'{cost.hosts} hosts':>12}" for cost in costs)]

    def row(label: str, values: Iterator[float] | Sequence[float], skip: int = 0) -> None:
        rows.append(f"{label:34}" + " " * 12 * skip + "".join(f"{value:12.2f}" for value in values))

    for quantity, label in QUANTITIES.items():
        values = [getattr(cost, quantity) for cost in costs]
        row(label, values)
        row("  a host", [value / cost.hosts for value, cost in zip(values, costs, strict=True)])
        row("  a point", [value / cost.points for value, cost in zip(values, costs, strict=True)])
        row("  each host more adds", growths(costs, quantity), skip=1)
    row("CPU elsewhere here, s", [cost.elsewhere_s for cost in costs])
    row("yardstick, ms", [cost.yardstick_ms for cost in costs])
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())

"""What a point costs beyond its benchmark, and whether measuring through perflab disturbs the benchmark.

Starts an SSH server and a Redis of its own on 127.0.0.1, runs redis-benchmark through the roles that every
study uses and by hand, in turn, and prints both figures with their targets. `make bench-harness`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from collector import parsers, store

ROOT = Path(__file__).parents[1]
PLAYBOOK = Path(__file__).with_suffix(".yml")
HOST = "harness"
PASSWORD = "{secret:redis}"  # noqa: S105 - the placeholder

# Server and client are pinned apart, by hand as through perflab: the halves of a pair differ less then.
SERVER_CPU, *_, CLIENT_CPU = sorted(os.sched_getaffinity(0)) * 2

# Between what starts a benchmark and the benchmark, both ways; role point's own default.
SETTLE_S = 0.3
COST_TARGET_S = 1.5
RATIO_TARGET = (0.99, 1.01)

NEEDED = {
    "sshd": "openssh-server",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "redis-server": "redis-server",
    "redis-benchmark": "redis-tools",
    "taskset": "util-linux",
    "flock": "util-linux",
}


@dataclass
class Lab:
    """Where the harness measures: an SSH server and a Redis, both on this machine."""

    folder: Path
    ssh_port: int
    redis_port: int
    password: str

    @property
    def host_dir(self) -> Path:
        return self.folder / "host"

    @property
    def ssh_options(self) -> list[str]:
        return ["-o", f"UserKnownHostsFile={self.folder}/known_hosts", "-o", "IdentitiesOnly=yes"]

    def benchmark(self, requests: int, password: str) -> list[str]:
        pinned = ["taskset", "-c", str(CLIENT_CPU)]
        server = ["-p", str(self.redis_port), "-a", password]
        return [*pinned, "redis-benchmark", *server, "-t", "get", "-n", str(requests), "--csv"]

    def measure(self, points: int, requests: int, *, by_hand: bool) -> store.RunTree:
        """Run *points* points as a study would, each beside one by hand if asked; return their run."""
        run_id = f"harness-{time.monotonic_ns()}"
        self.host_dir.mkdir(exist_ok=True)
        variables = {
            "harness_points": points,
            "harness_argv": self.benchmark(requests, PASSWORD),
            "harness_by_hand": shlex.join(self.benchmark(requests, self.password)) if by_hand else "",
            "harness_settle_s": SETTLE_S,
            "point_settle_s": SETTLE_S,
            "harness_secrets": {"redis": self.password},
            "harness_host_dir": str(self.host_dir),
            "run_runs_dir": str(self.folder / "runs"),
            "run_id": run_id,
            "ansible_host": "127.0.0.1",
            "ansible_port": self.ssh_port,
            "ansible_ssh_private_key_file": str(self.folder / "key"),
            "ansible_ssh_common_args": shlex.join(self.ssh_options),
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        playbook = Path(sys.executable).with_name("ansible-playbook")
        play = subprocess.run(
            [str(playbook), str(PLAYBOOK), "-i", f"{HOST},", "-e", json.dumps(variables)],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        if play.returncode != 0:
            sys.exit(play.stdout + play.stderr)
        return store.load_runs([self.folder / "runs" / run_id])[0]


def rps(log: str) -> float:
    """Return the one rate that the log of `-t get` holds."""
    (rate,) = (
        sample.value for sample in parsers.parse("redis_benchmark", log).samples if sample.metric == "rps"
    )
    return rate


def measure_cost(lab: Lab, points: int) -> list[float]:
    """Return the seconds from each benchmark's end to the start of the next.

    That is all of perflab: fetching the one point, Ansible between the two, starting the next.
    """
    run = [loaded.point for loaded in lab.measure(points + 1, 1000, by_hand=False).points]
    run.sort(key=lambda point: point.order)
    return [
        (after.started_at - before.finished_at).total_seconds()
        for before, after in pairwise(run)
        if after.started_at and before.finished_at
    ]


def measure_disturbance(lab: Lab, pairs: int, requests: int) -> list[float]:
    """Return rps through perflab over rps by hand, pair by pair; which comes first takes turns.

    Both halves of a pair run within seconds of each other over one connection: a shared machine's speed
    drifts by more than what is looked for.
    """
    return [
        rps((loaded.path / "redis-benchmark.csv").read_text())
        / rps((lab.host_dir / f"{loaded.point.order}.csv").read_text())
        for loaded in lab.measure(pairs, requests, by_hand=True).points
    ]


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95% confidence interval of the median, from order statistics (Conover 1999, section 3.2)."""
    ordered = sorted(ratios)
    margin = 1.96 * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - margin))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + margin))
    return ordered[low], ordered[high]


@contextlib.contextmanager
def lab() -> Iterator[Lab]:
    """Start the servers; end them and remove what they wrote."""
    with tempfile.TemporaryDirectory(prefix="perflab-harness-") as name:
        folder = Path(name)
        made = Lab(folder, free_port(), free_port(), secrets.token_hex(16))
        servers: tuple[subprocess.Popen[Any], ...] = (start_sshd(made), start_redis(made))
        try:
            for port in (made.ssh_port, made.redis_port):
                wait_for(port)
            yield made
        finally:
            for server in servers:
                server.terminate()
                server.wait()


def start_sshd(lab: Lab) -> subprocess.Popen[bytes]:
    for key in ("key", "host_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(lab.folder / key)], check=True
        )
    shutil.copy(lab.folder / "key.pub", lab.folder / "authorized_keys")
    kind, public, *_ = (lab.folder / "host_key.pub").read_text().split()
    (lab.folder / "known_hosts").write_text(f"[127.0.0.1]:{lab.ssh_port} {kind} {public}\n")
    settings = {
        "ListenAddress": "127.0.0.1",
        "Port": lab.ssh_port,
        "HostKey": lab.folder / "host_key",
        "AuthorizedKeysFile": lab.folder / "authorized_keys",
        "PidFile": "none",
        "StrictModes": "no",  # the folder lies in /tmp
        "UsePAM": "no",
        "PasswordAuthentication": "no",
    }
    (lab.folder / "sshd_config").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd locks its unprivileged half in
    # sshd insists on its absolute path, since it starts itself again for every connection.
    return subprocess.Popen(
        [find("sshd"), "-D", "-f", str(lab.folder / "sshd_config")], stderr=subprocess.DEVNULL
    )


def start_redis(lab: Lab) -> subprocess.Popen[str]:
    """Start a Redis whose password goes in by stdin, so that `ps` does not show it."""
    config = f'bind 127.0.0.1\nport {lab.redis_port}\nsave ""\nappendonly no\nrequirepass {lab.password}\n'
    redis = subprocess.Popen(
        ["taskset", "-c", str(SERVER_CPU), find("redis-server"), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=lab.folder,
        text=True,
    )
    assert redis.stdin
    redis.stdin.write(config)
    redis.stdin.close()
    return redis


def find(program: str) -> str:
    """Return the program's path; sshd lies where an ordinary user's PATH does not reach."""
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if path is None:
        sys.exit(f"bench_harness: {program} is missing: apt-get install {NEEDED[program]}")
    return path


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    sys.exit(f"bench_harness: nothing listens on port {port} after 5 s")


def quartiles(values: Sequence[float]) -> str:
    low, _, high = quantiles(values, n=4)
    return f"middle half {low:.3f} to {high:.3f}, n = {len(values)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=20, help="points to time (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=100, help="pairs to compare (default: %(default)s)")
    parser.add_argument(
        "--requests", type=int, default=100000, help="requests a benchmark (default: %(default)s)"
    )
    options = parser.parse_args()
    for program in NEEDED:
        find(program)
    with lab() as made:
        costs = measure_cost(made, options.points)
        cost_ok = median(costs) <= COST_TARGET_S
        print(f"cost of a point beyond its benchmark: median {median(costs):.2f} s ({quartiles(costs)})")
        print(f"  target: at most {COST_TARGET_S} s: {'met' if cost_ok else 'MISSED'}", flush=True)
        ratios = measure_disturbance(made, options.pairs, options.requests)
        low, high = RATIO_TARGET
        from_, to = interval(ratios)
        ratio_ok = low <= median(ratios) <= high
        missed = to < low or from_ > high
        print(f"rps through perflab over rps by hand: median {median(ratios):.3f} ({quartiles(ratios)})")
        print(f"  95% interval of the median: {from_:.3f} to {to:.3f}")
        verdict = "met" if ratio_ok else "MISSED" if missed else "lost in the noise, take more --pairs"
        print(f"  target: {low} to {high}: {verdict}")
    return 0 if cost_ok and ratio_ok else 1


if __name__ == "__main__":
    sys.exit(main())

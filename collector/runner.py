"""Runs a playbook of perflab.bench: the only module that knows ansible-runner."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_runner.interface import init_runner

from collector.errors import CollectorError
from collector.events import Events, Listener
from collector.interrupts import Interrupts, send

CHECKOUT = Path(__file__).resolve().parents[1]

_TICK_S = 0.5
_INTERRUPTED = 130
# ssh may ask this on its terminal, where nobody would see it: the answer is no, the host unreachable.
_SSH_QUESTION = r"Are you sure you want to continue connecting.*\? ?$"


@dataclass(frozen=True)
class Outcome:
    """How a playbook ended.

    :param rc: exit status of ansible-playbook; None when it was killed.
    :param interrupted: whether the user wanted it to end.
    """

    rc: int | None
    interrupted: bool

    @property
    def exit_status(self) -> int:
        """The exit status of a command that ran it."""
        return _INTERRUPTED if self.interrupted else int(self.rc != 0)


@dataclass
class Playbook:
    """One execution of a playbook of the collection in this checkout.

    :param name: its name in the collection, such as ``freq_sweep``.
    :param inventories: what follows ``-i``: paths, or lists of hosts with a comma.
    :param limit: what follows ``--limit``.
    :param extra_vars: what follows ``-e``, each as the user wrote it.
    :param check: change nothing, show what would change.
    :param become_password: the password that sudo asks for on the hosts.
    :param echo: print Ansible's output as it comes, as ansible-playbook itself would.
    :raises CollectorError: this is not a checkout, Ansible is not installed, an inventory does not exist.
    """

    name: str
    inventories: Sequence[str]
    limit: str | None = None
    extra_vars: Sequence[str] = ()
    check: bool = False
    become_password: str | None = None
    echo: bool = False

    def __post_init__(self) -> None:
        self._environment = _environment(color=self.echo and sys.stdout.isatty())
        self._sources = [_inventory(source) for source in self.inventories]

    def run(self, listener: Listener, variables: Mapping[str, Any] | None = None) -> Outcome:
        """Run it to its end, all in the caller's thread.

        The user may end it by Ctrl-C, see :class:`collector.interrupts.Interrupts`.

        :param variables: further extra variables, which win over those of the user.
        :raises CollectorError: no host matched, or ansible-playbook refused to begin.
        """
        events = Events(listener)

        def take(event: dict[str, Any]) -> bool:
            events.take(event)
            return False  # the event's file is not kept

        def tick() -> bool:
            listener.tick()
            return interrupts.pass_on(events.pid)

        with (
            Interrupts(listener.notice) as interrupts,
            tempfile.TemporaryDirectory(prefix="perflab-") as scratch,
        ):
            runner = init_runner(
                **self._arguments(Path(scratch)),
                extravars=dict(variables or {}),
                event_handler=take,
                cancel_callback=tick,
            )
            try:
                status, rc = runner.run()
            except BaseException:
                send(events.pid, signal.SIGINT)
                raise
        killed = status == "canceled" or rc is None
        if killed and events.pid and not events.told_how_to_restore:
            listener.notice(
                f"ansible-playbook was killed; to put the hosts back, run: {self._restore_command()}"
            )
        if not events.tasks and not interrupts.count:
            self._complain(events)
        return Outcome(None if killed else rc, interrupts.count > 0)

    def _arguments(self, scratch: Path) -> dict[str, Any]:
        """What ansible-runner is told."""
        # Its argument of that name is dropped where there is no such file.
        settings = scratch / "env" / "settings"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"pexpect_timeout": _TICK_S, "suppress_output_file": True}))
        environment = dict(self._environment)
        if self.become_password is not None:
            file = scratch / "become_password"
            file.touch(mode=0o600)
            file.write_text(self.become_password, encoding="utf-8")
            environment["ANSIBLE_BECOME_PASSWORD_FILE"] = str(file)
        return {
            "private_data_dir": str(scratch),
            "project_dir": str(CHECKOUT),
            "playbook": f"perflab.bench.{self.name}",
            "inventory": self._sources,
            "limit": self.limit,
            "cmdline": shlex.join([*(["--check", "--diff"] if self.check else []), *self._extra_vars()]),
            "envvars": environment,
            "passwords": {_SSH_QUESTION: "no"},
            "suppress_env_files": True,
            "fact_cache_type": "none",
            "quiet": not self.echo,
        }

    def _complain(self, events: Events) -> None:
        """Raise what explains that no task started; ansible-playbook's status may be 0 nevertheless."""
        where = ", ".join(self.inventories)
        remedy = f"see: ansible-inventory -i {' -i '.join(self.inventories)} --graph"
        if self.limit and any("--limit" in error for error in events.errors):
            raise CollectorError(f"no hosts matched --limit {self.limit} in {where}", remedy=remedy)
        if events.unmatched:
            raise CollectorError(
                f"no hosts matched {', '.join(dict.fromkeys(events.unmatched))} in {where}", remedy=remedy
            )
        if events.errors:
            raise CollectorError(f"Ansible: {' '.join(events.errors)}")

    def _extra_vars(self) -> list[str]:
        return [word for variables in self.extra_vars for word in ("-e", variables)]

    def _restore_command(self) -> str:
        """For a shell in the checkout."""
        sources = [word for source in self._sources for word in ("-i", source)]
        limit = ["--limit", self.limit] if self.limit else []
        return shlex.join(
            ["ansible-playbook", "perflab.bench.restore", *sources, *limit, *self._extra_vars()]
        )


def studies() -> list[str]:
    """The names of the studies: the checkout's playbooks, without the one that only restores."""
    return sorted(path.stem for path in (CHECKOUT / "playbooks").glob("*.yml") if path.stem != "restore")


def _environment(*, color: bool) -> dict[str, str]:
    """What ansible-playbook needs in its environment; works without an activated virtual environment."""
    config = CHECKOUT / "ansible.cfg"
    if not config.exists():
        raise CollectorError(
            "not found: playbooks are run from a checkout", path=config, remedy="change to one, try again"
        )
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    if not shutil.which("ansible-playbook", path=path):
        raise CollectorError(
            "ansible-playbook is not installed", remedy=f"run: python -m pip install -e {CHECKOUT}"
        )
    environment = {
        "PATH": path,
        "ANSIBLE_CONFIG": os.environ.get("ANSIBLE_CONFIG", str(config)),
        # ansible-runner would switch it off.
        "ANSIBLE_HOST_KEY_CHECKING": os.environ.get("ANSIBLE_HOST_KEY_CHECKING", "True"),
    }
    return environment if color else environment | {"ANSIBLE_NOCOLOR": "1"}


def _inventory(source: str) -> str:
    """An ``-i`` argument that means the same from the checkout's folder."""
    if "," in source:
        return source
    path = Path(source)
    if not path.exists():
        raise CollectorError(
            "no such inventory",
            path=path,
            remedy="name a file, a folder, or hosts with a comma: host1,host2,",
        )
    return str(path.absolute())

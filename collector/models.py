"""The run tree's files as types: run.json, host.json, point.json (schema 1).

The Ansible side writes them (plugins/action/plan_run.py, plugins/modules/run_point.py,
plugins/modules/host_profile.py), ``collector import`` writes them too, the collector reads them.
docs/run-tree.md describes every field.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

SCHEMA = 1

# A level of a factor as it stands in the files: "as_found", "2.5GHz", "77%", "ext4".
Factors = dict[str, str]
# A workload's own settings: clients, requests, threads, block size.
Params = dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Status(StrEnum):
    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"


class PlannedPoint(_Strict):
    """A point as run.json announces it."""

    point_id: str
    host: str
    workload: str
    factors: Factors
    params: Params
    repeat: int = Field(ge=1)
    order: int = Field(ge=1, description="position in its host's sequence, from 1")


class Run(_Strict):
    """run.json"""

    schema_: Literal[1] = Field(alias="schema")
    run_id: str
    study: str
    playbook: str | None = Field(description="None for an imported run")
    revision: str | None = Field(description="git revision of the checkout, '-dirty' if it had changes")
    versions: dict[str, str]
    seed: int | None
    profile: str | None
    started_at: AwareDatetime
    hosts: list[str]
    points: list[PlannedPoint]


class FrequencyObserved(_Strict):
    """Achieved frequency of the busy CPUs (of all, where none was), read once an interval."""

    min: float
    median: float
    max: float
    samples: int = Field(ge=0)


class Observed(_Strict):
    """What was read back while the workload ran; None where the host does not tell."""

    frequency_khz: FrequencyObserved | None = None
    governor: str | None = None
    turbo: Literal["on", "off"] | None = None
    throttled: int | None = Field(default=None, description="thermal or bandwidth throttle events")
    steal_pct: float | None = None
    load1: float | None = None
    command_cpus: float | None = Field(default=None, description="CPUs that the tool itself kept busy")


class Log(_Strict):
    name: str
    bytes: int
    sha256: str
    step: Literal["before", "after"] | None = Field(
        default=None, description="of a command that ran beside the workload; None for the workload's own"
    )


class Point(_Strict):
    """point.json"""

    schema_: Literal[1] = Field(alias="schema")
    run_id: str
    point_id: str
    study: str
    host: str
    workload: str
    factors: Factors
    params: Params
    repeat: int = Field(ge=1)
    order: int = Field(ge=1)
    argv: list[str]
    tool_version: str | None
    setting: dict[str, Any] | None = Field(
        description="what set the condition: method (cpufreq or quota), host, achieved_khz by policy, notes"
    )
    observed: Observed
    started_at: AwareDatetime | None
    finished_at: AwareDatetime | None
    duration_s: float | None
    rc: int | None
    status: Status
    reason: str | None = Field(description="why the status is not ok, in one line")
    logs: list[Log]


class HostProfile(BaseModel):
    """host.json; further keys are allowed, since a profile grows with what studies ask for."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    schema_: Literal[1] = Field(alias="schema")
    host: str
    collected_at: AwareDatetime
    cpu: dict[str, Any] = Field(
        default_factory=dict, description="model, cpus, cores, sockets, numa_nodes, cache"
    )
    cpufreq: dict[str, Any] = Field(
        default_factory=dict, description="driver, governor, turbo, minimum_khz, maximum_khz"
    )
    os: dict[str, Any] = Field(default_factory=dict)
    kernel: dict[str, Any] = Field(default_factory=dict)
    memory: dict[str, Any] = Field(default_factory=dict)

    @property
    def emulated(self) -> bool:
        """Whether its machine is emulated in software: a guest of QEMU without KVM."""
        virtualisation = (self.model_extra or {}).get("virtualisation")
        return isinstance(virtualisation, dict) and virtualisation.get("vm") == "qemu"

"""Every role's inputs are declared, documented, and the same in all three places that name them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text()) if path.exists() else None


def _tasks(tasks: list[dict[str, Any]], when: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """Every task, also of blocks, with the conditions that it is under."""
    for task in tasks or []:
        conditions = f"{when} {task.get('when', '')}".strip()
        yield task, conditions
        for part in ("block", "rescue", "always"):
            yield from _tasks(task.get(part, []), conditions)


def _tasks_of(role: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every task of a role, after where it stands, and before its conditions."""
    for path in sorted((ROOT / "roles" / role / "tasks").glob("*.yml")):
        for task, when in _tasks(_yaml(path)):
            yield f"{path.name}: {task.get('name')}", task, when


def _imported(task: dict[str, Any], role: str) -> Path | None:
    if name := task.get("ansible.builtin.import_tasks"):
        return ROOT / "roles" / role / "tasks" / str(name)
    if named := task.get("ansible.builtin.import_role"):
        other = named["name"].rpartition(".")[2]
        return ROOT / "roles" / other / "tasks" / f"{named.get('tasks_from', 'main')}.yml"
    return None


def _registered(path: Path) -> set[str]:
    """What the tasks of a file and of those that it imports register."""
    found: set[str] = set()
    for task, _ in _tasks(_yaml(path)):
        found |= {task["register"]} if "register" in task else set()
        if more := _imported(task, path.parts[-3]):
            found |= _registered(more)
    return found


def _options(role: str) -> dict[str, Any]:
    """The inputs of all entry points of *role*."""
    specs = _yaml(ROOT / "roles" / role / "meta" / "argument_specs.yml")["argument_specs"]
    return {name: option for spec in specs.values() for name, option in (spec.get("options") or {}).items()}


@pytest.mark.parametrize("role", ROLES)
def test_defaults_are_declared_inputs(role: str) -> None:
    defaults = _yaml(ROOT / "roles" / role / "defaults" / "main.yml") or {}
    options = _options(role)
    assert set(defaults) <= set(options)
    # A default that is computed has no value to declare; the README says what it comes from.
    fixed = {name: value for name, value in defaults.items() if "{{" not in str(value)}
    declared = {name: option["default"] for name, option in options.items() if "default" in option}
    assert declared == fixed


@pytest.mark.parametrize("role", ROLES)
def test_inputs_carry_the_roles_name_and_a_description(role: str) -> None:
    for name, option in _options(role).items():
        assert name.startswith(f"{role}_"), name
        assert option["description"], name
        assert option["type"], name


@pytest.mark.parametrize("role", ROLES)
def test_readme_names_every_input(role: str) -> None:
    readme = (ROOT / "roles" / role / "README.md").read_text()
    missing = [name for name in _options(role) if f"`{name}`" not in readme]
    assert not missing


@pytest.mark.parametrize("role", ROLES)
def test_what_no_host_decides_is_imported(role: str) -> None:
    """An include costs each host a process and a copy of its tasks (docs/decisions.md)."""
    needless = [
        place
        for place, task, when in _tasks_of(role)
        for action in ("ansible.builtin.include_tasks", "ansible.builtin.include_role")
        if action in task and not when and "loop" not in task and "{{" not in str(task[action])
    ]
    assert not needless


@pytest.mark.parametrize("role", ROLES)
def test_no_import_overwrites_what_it_depends_on(role: str) -> None:
    """Under a condition each imported task is skipped by itself, and registers that it was."""
    overwritten = [
        f"{place}: {name}"
        for place, task, when in _tasks_of(role)
        if when and (imported := _imported(task, role))
        for name in _registered(imported)
        if name in when
    ]
    assert not overwritten

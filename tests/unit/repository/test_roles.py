"""Every role's inputs are declared, documented, and the same in all three places that name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text()) if path.exists() else None


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

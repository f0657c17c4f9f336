"""FQCNs resolve from a plain checkout: collections/ links to the collection's directories."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]
VIEW = ROOT / "collections" / "ansible_collections" / "perflab" / "bench"


def test_links_are_relative_and_lead_into_the_checkout() -> None:
    links = list(VIEW.iterdir())
    assert {"galaxy.yml", "meta", "playbooks", "plugins", "roles"} <= {link.name for link in links}
    for link in links:
        assert link.is_symlink()
        assert not link.readlink().is_absolute()
        assert link.resolve() == ROOT / link.name

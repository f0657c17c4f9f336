"""How often Ansible looks for work."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from ansible import constants
from ansible_collections.perflab.bench.plugins.callback import pace


@pytest.mark.parametrize(("hosts", "expected_s"), [(1, 0.02), (8, 0.02), (16, 0.04), (64, 0.16), (100, 0.25)])
def test_the_interval_grows_with_the_hosts(hosts: int, expected_s: float) -> None:
    assert pace.interval_s(0.02, hosts) == pytest.approx(expected_s)


def test_every_play_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """From what the configuration says, not from the play before."""
    monkeypatch.setattr(constants, "DEFAULT_INTERNAL_POLL_INTERVAL", 0.02)
    callback = pace.CallbackModule()
    for hosts, expected_s in ((64, 0.16), (64, 0.16), (2, 0.02)):
        play = Mock()
        play.get_variable_manager().get_vars.return_value = {"ansible_play_hosts_all": ["host"] * hosts}
        callback.v2_playbook_on_play_start(play)
        assert pytest.approx(expected_s) == constants.DEFAULT_INTERNAL_POLL_INTERVAL

from __future__ import annotations

import pytest

from collector import levels
from collector.errors import CollectorError


@pytest.mark.parametrize(
    ("factor", "text", "canonical"),
    [
        ("frequency", "2.50GHz", "2.5GHz"),
        ("frequency", "2.0 GHz", "2GHz"),
        ("frequency", "800 mhz", "0.8GHz"),
        ("frequency", "2500000kHz", "2.5GHz"),
        ("frequency", "as_found", "as_found"),
        ("frequency", "max", "max"),
        ("quota", "77.0 %", "77%"),
        ("turbo", "off", "off"),
        ("platform", "virtual", "virtual"),
    ],
)
def test_one_spelling(factor: str, text: str, canonical: str) -> None:
    assert levels.canonical(factor, text) == canonical


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        ("frequency", "2.5"),
        ("frequency", "fast"),
        ("frequency", "0GHz"),
        ("frequency", "-2GHz"),
        ("quota", "max"),
        ("quota", "0%"),
    ],
)
def test_what_is_no_level_is_an_error_that_names_what_is(factor: str, text: str) -> None:
    with pytest.raises(CollectorError, match=f"'{text}' is not a {factor} .*accepted are .*as_found"):
        levels.canonical(factor, text)


@pytest.mark.parametrize(
    ("factor", "level", "label"),
    [
        ("frequency", "2GHz", "2.0 GHz"),
        ("frequency", "2.6GHz", "2.6 GHz"),
        ("frequency", "2.75GHz", "2.75 GHz"),
        ("frequency", "max", "max"),
        ("frequency", "as_found", "as found"),
        ("quota", "77%", "quota 77%"),
        ("quota", "as_found", "as found"),
        ("turbo", "off", "turbo off"),
        ("path", "bridged_remote", "bridged remote"),
    ],
)
def test_labels_are_for_people(factor: str, level: str, label: str) -> None:
    assert levels.label(factor, level) == label


def test_quantities() -> None:
    assert levels.quantity("frequency", "2.5GHz") == 2.5
    assert levels.quantity("quota", "77%") == pytest.approx(0.77)
    assert levels.quantity("frequency", "as_found") is None
    assert levels.quantity("platform", "2GHz") is None


def test_order() -> None:
    shuffled = ["min", "1GHz", "as_found", "2.5GHz", "max", "10GHz"]
    expected = ["as_found", "max", "10GHz", "2.5GHz", "1GHz", "min"]
    assert sorted(shuffled, key=lambda level: levels.sort_key("frequency", level)) == expected
    words = ["physical", "virtual", "as_found", "local"]
    assert sorted(words, key=lambda level: levels.sort_key("platform", level)) == words

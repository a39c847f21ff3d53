"""Names become legal and unique."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simwright.core.names import NameScope, is_identifier, make_identifier, shorten_path


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("base_link", "base_link"),
        ("2nd arm", "_2nd_arm"),
        ("a-b::c", "a_b_c"),
        ("  ", "unnamed"),
        ("été", "_t_"),
    ],
)
def test_examples(name, legal):
    assert make_identifier(name) == legal


@given(st.text())
def test_anything_becomes_an_identifier(text):
    assert is_identifier(make_identifier(text))


@given(st.lists(st.sampled_from(["a", "a_2", "a_3", "b"])))
def test_claimed_names_are_unique(names):
    scope = NameScope()
    claimed = [scope.claim(name) for name in names]
    assert len(set(claimed)) == len(names)


def test_first_keeps_its_name():
    scope = NameScope(["wheel"])
    assert [scope.claim("wheel"), scope.claim("wheel"), scope.claim("leg")] == ["wheel_2", "wheel_3", "leg"]
    assert "leg" in scope


def test_a_path_is_shortened_as_far_as_it_is_free():
    path = ("robot", "left arm", "camera")
    assert shorten_path(path, set()) == "camera"
    assert shorten_path(path, {"camera"}) == "left_arm_camera"
    assert shorten_path(path, {"camera", "left_arm_camera"}) == "robot_left_arm_camera"
    assert shorten_path(path[2:], {"camera"}) is None

"""Prims that come, move and move again are followed."""

from __future__ import annotations

from simwright.usd.expected_changes import ExpectedChanges, is_below


def test_a_prim_that_moves_twice_is_followed() -> None:
    expected = ExpectedChanges(moved={"/r/a": "/r/b"})
    expected.include(ExpectedChanges(moved={"/r/b": "/r/c"}))
    assert expected.follow("/r/a/x") == "/r/c/x"
    assert expected.follow("/r/ab") == "/r/ab"


def test_what_is_below_a_prim_that_moved_moves_alone() -> None:
    expected = ExpectedChanges(moved={"/r/a": "/r/b"})
    expected.include(ExpectedChanges(moved={"/r/b/x": "/r/y"}))
    assert expected.follow("/r/a/x/z") == "/r/y/z"
    assert expected.follow("/r/a/w") == "/r/b/w"


def test_what_moved_below_itself_moves_with_what_holds_it() -> None:
    expected = ExpectedChanges(moved={"/r/mesh": "/r/mesh/mesh"}, added={"/r/mesh"})
    expected.include(ExpectedChanges(moved={"/r/mesh": "/r/visual/mesh"}))
    assert expected.follow("/r/mesh") == "/r/visual/mesh/mesh"
    assert is_below("/r/visual/mesh", expected.added)


def test_what_came_moves_on() -> None:
    expected = ExpectedChanges(added={"/r/new"}, repositioned={"/r/new/part"})
    expected.include(ExpectedChanges(moved={"/r/new": "/r/scope/new"}))
    assert {"/r/scope/new"} <= expected.added
    assert {"/r/scope/new/part"} <= expected.repositioned


def test_a_name_that_begins_alike_is_not_below() -> None:
    assert is_below("/r/a/b", {"/r/a"})
    assert not is_below("/r/ab", {"/r/a"})
    assert not is_below("/r", set())

"""Prims that come, move and move again are followed."""

from __future__ import annotations

from simwright.usd.shifts import Shifts, is_below


def test_a_prim_that_moves_twice_is_followed() -> None:
    shifts = Shifts(moved={"/r/a": "/r/b"})
    shifts.include(Shifts(moved={"/r/b": "/r/c"}))
    assert shifts.follow("/r/a/x") == "/r/c/x"
    assert shifts.follow("/r/ab") == "/r/ab"


def test_what_is_below_a_prim_that_moved_moves_alone() -> None:
    shifts = Shifts(moved={"/r/a": "/r/b"})
    shifts.include(Shifts(moved={"/r/b/x": "/r/y"}))
    assert shifts.follow("/r/a/x/z") == "/r/y/z"
    assert shifts.follow("/r/a/w") == "/r/b/w"


def test_what_moved_below_itself_moves_with_what_holds_it() -> None:
    shifts = Shifts(moved={"/r/mesh": "/r/mesh/mesh"}, come={"/r/mesh"})
    shifts.include(Shifts(moved={"/r/mesh": "/r/visual/mesh"}))
    assert shifts.follow("/r/mesh") == "/r/visual/mesh/mesh"
    assert is_below("/r/visual/mesh", shifts.come)


def test_what_came_moves_on() -> None:
    shifts = Shifts(come={"/r/new"}, turned={"/r/new/part"})
    shifts.include(Shifts(moved={"/r/new": "/r/scope/new"}))
    assert {"/r/scope/new"} <= shifts.come
    assert {"/r/scope/new/part"} <= shifts.turned


def test_a_name_that_begins_alike_is_not_below() -> None:
    assert is_below("/r/a/b", {"/r/a"})
    assert not is_below("/r/ab", {"/r/a"})
    assert not is_below("/r", set())

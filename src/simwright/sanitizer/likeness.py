# SPDX-License-Identifier: Apache-2.0
"""Are two readings of an asset the same, number by number?  Then nothing about them has to be measured.

Most fixes change how something is said.  To move a machine, and to find areas and volumes of every mesh twice, would
cost more than all the rest; here elements are held against each other as they stand.

Numbers may differ by what single precision rounds away, since that is how OpenUSD keeps most of them: a quarter of the
difference that the proof allows in what is measured.  Directions of joint frames add up along a chain, so they have to
be the same to 1e-9.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from functools import cache
from math import isnan
from typing import Any

import numpy as np

from simwright.core.math3d import Pose
from simwright.model.asset import ELEMENT_LISTS, Asset, Shape
from simwright.model.geometry import Mesh
from simwright.model.inertia import Inertial
from simwright.model.joint import Joint

_SAME = 1e-9
"""Directions of joint frames, and lengths [m] below which nothing is."""
_ROUNDING = 2.0**-22
"""Two roundings to single precision, relative to the number."""
_PLACES = frozenset({"source", "path", "file"})
_SHAPES = ("shapes", "materials", "physics_materials")


class Likeness:
    """Holds two readings against each other.

    ``same`` are paths of meshes that are known to be the same, ``follow`` leads there from those of the first reading.
    Names of shapes do not count: nothing is said of a shape by its name that is not compared elsewhere.
    """

    def __init__(self, same: Collection[str] = (), follow: Callable[[str], str] = str) -> None:
        self.same = same
        self.follow = follow

    def are_alike(self, one: Asset, other: Asset) -> bool:
        """Is every element of one in the other, with the same values?"""
        lists = [(getattr(one, name), getattr(other, name)) for name in ELEMENT_LISTS]
        return all(self._equal(a, b) for a, b in lists) and self._equal(one.environment, other.environment)

    def have_same_shapes(self, one: Asset, other: Asset) -> bool:
        """The same shapes, on the same bodies, at the same places, of the same materials?"""
        return all(self._equal(getattr(one, name), getattr(other, name)) for name in _SHAPES)

    def _equal(self, one: Any, other: Any) -> bool:
        if one is other:
            return True
        if type(one) is not type(other):
            return False
        if isinstance(one, str | int | bool):
            return bool(one == other)
        if isinstance(one, np.ndarray):
            return one.shape == other.shape and _near(one, other)
        if isinstance(one, float):
            return one == other or abs(one - other) <= _ROUNDING * abs(one) or (isnan(one) and isnan(other))
        if isinstance(one, tuple | list):
            return len(one) == len(other) and all(map(self._equal, one, other))
        if isinstance(one, dict):
            return one.keys() == other.keys() and all(self._equal(one[key], other[key]) for key in one)
        return self._equal_objects(one, other)

    def _equal_objects(self, one: Any, other: Any) -> bool:
        if isinstance(one, Pose):
            return _measure_turn(one, other) <= _ROUNDING and _near_lengths(one.p, other.p)
        if isinstance(one, Joint) and not _turn_alike(one, other):
            return False
        if isinstance(one, Inertial):
            values = ((one.mass, other.mass), (one.inertia, other.inertia))
            return _near_lengths(one.com, other.com) and all(self._equal(a, b) for a, b in values)
        if isinstance(one, Mesh):
            known = other.source in self.same and self.follow(one.source) == other.source
            return known or self._equal(one.data, other.data)
        if dataclasses.is_dataclass(one):
            kind: Any = type(one)
            return all(self._equal(getattr(one, name), getattr(other, name)) for name in _list_fields(kind))
        return bool(one == other)


@cache
def _list_fields(kind: Any) -> tuple[str, ...]:
    """What an element says; not where it was found."""
    left_out = _PLACES | {"name"} if kind is Shape else _PLACES
    return tuple(field.name for field in dataclasses.fields(kind) if field.name not in left_out)


def _turn_alike(one: Joint, other: Joint) -> bool:
    """Have the frames and axes of a joint the same directions, closer than by rounding?"""
    frames = ((one.parent_frame, other.parent_frame), (one.child_frame, other.child_frame))
    if any(_measure_turn(a, b) > _SAME for a, b in frames):
        return False
    axes = ((a.axis, b.axis) for a, b in zip(one.dofs, other.dofs, strict=False))
    return all(np.array_equal(a, b) or bool(np.abs(a - b).max() <= _SAME) for a, b in axes)


def _measure_turn(one: Pose, other: Pose) -> float:
    if one is other or np.array_equal(one.q, other.q):
        return 0.0
    return float(min(np.abs(one.q - other.q).max(), np.abs(one.q + other.q).max()))


def _near_lengths(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if np.array_equal(one, other):
        return True
    allowed = max(_SAME, _ROUNDING * float(np.abs(one).max()))
    return bool(np.abs(one - other).max() <= allowed)


def _near(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if np.array_equal(one, other):
        return True
    if one.dtype.kind != "f" or not one.size:
        return False
    largest = float(np.abs(one).max())
    return bool(np.all(np.abs(one - other) <= _ROUNDING * largest))

# SPDX-License-Identifier: Apache-2.0
"""One stage being read: typed values, world placement, and the names given to prims so far.

Every element file of this folder takes a :class:`Source` and adds to its ``asset``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pxr import Gf, Usd, UsdGeom

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.formats.usd.units import Units
from simwright.model.asset import Asset
from simwright.model.geometry import Geometry, Mesh
from simwright.model.joint import WORLD

VALUE_INVALID = declare(
    "usd-value-invalid",
    Level.ERROR,
    "{name} is {value}, which is not {expected}; {default} is used",
    hint="author a valid value, or block the attribute",
    doc="A physics attribute holds a value that its schema does not allow.",
)


@dataclass(frozen=True, slots=True, eq=False)
class BodyFrame:
    """A body's name, its rigid pose and the scale of its prim, which goes to all that sits on it."""

    name: str
    pose: Pose
    scale: Array


WORLD_FRAME = BodyFrame(WORLD, IDENTITY, np.ones(3))


@dataclass(slots=True, eq=False)
class Source:
    """A stage, the time it is read at, its units, and the tables that link prim paths to the model."""

    stage: Usd.Stage
    file: str
    time: Usd.TimeCode
    units: Units
    reporter: Reporter
    asset: Asset
    xforms: Any = None
    bodies: dict[str, BodyFrame] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    joints: dict[str, str] = field(default_factory=dict)
    sites: dict[str, str] = field(default_factory=dict)
    tendons: dict[str, str] = field(default_factory=dict)
    meshes: dict[str, Mesh] = field(default_factory=dict)
    primitives: dict[tuple[Any, ...], Geometry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.xforms = UsdGeom.XformCache(self.time)

    def where(self, prim: Usd.Prim, prop: str = "") -> Where:
        """The place of a prim or of one of its properties."""
        return Where(self.file, prim=str(prim.GetPath()), prop=prop)

    def body_of(self, owner: str) -> BodyFrame:
        """The frame of the body with this path, the world's for none."""
        return self.bodies.get(owner, WORLD_FRAME)

    def world_matrix(self, prim: Usd.Prim) -> Array:
        """4x4 column-vector matrix of a prim in the asset frame [m], authored scale included."""
        return self.units.convert_matrix(as_matrix(self.xforms.GetLocalToWorldTransform(prim)))

    def get(self, prim: Usd.Prim, name: str, default: Any = None) -> Any:
        """Value of an attribute at the reading time, its schema's fallback, or the default."""
        attribute = prim.GetAttribute(name)
        value = attribute.Get(self.time) if attribute else None
        return default if value is None else value

    def get_authored(self, prim: Usd.Prim, name: str) -> Any:
        """Value of an attribute if someone authored one, else None."""
        attribute = prim.GetAttribute(name)
        if not attribute or not attribute.HasAuthoredValue():
            return None
        return attribute.Get(self.time)

    def get_number(self, prim: Usd.Prim, name: str, default: float) -> float:
        """A number that may be infinite; anything that is not a number is reported."""
        value = self.get(prim, name, default)
        if isinstance(value, (int, float)) and not math.isnan(value):
            return float(value)
        return float(self._reject(prim, name, value, "a number", default))

    def get_text(self, prim: Usd.Prim, name: str, default: str = "") -> str:
        """A token, string or path as text."""
        return str(self.get(prim, name, default))

    def get_flag(self, prim: Usd.Prim, name: str, default: bool) -> bool:
        """A switch."""
        return bool(self.get(prim, name, default))

    def get_optional(self, prim: Usd.Prim, name: str) -> float | None:
        """An authored number, None if there is none; what is no number is reported."""
        value = self.get_authored(prim, name)
        if value is None or (isinstance(value, (int, float)) and not math.isnan(value)):
            return None if value is None else float(value)
        self._reject(prim, name, value, "a number", None)
        return None

    def get_array(self, prim: Usd.Prim, name: str, default: Sequence[float]) -> Array:
        """As many numbers as the default has, which may be infinite; else the default, reported."""
        value = self.get(prim, name)
        if value is None:
            return np.array(default, dtype=np.float64)
        try:
            array = as_quaternion(value) if hasattr(value, "GetReal") else as_array(value)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.shape == (len(default),) and not np.any(np.isnan(array)):
            return array
        expected = f"made of {len(default)} numbers"
        return np.array(self._reject(prim, name, value, expected, default), dtype=np.float64)

    def get_vector(self, prim: Usd.Prim, name: str) -> Array:
        """A finite 3-vector, zero where there is none."""
        return self._get_finite(prim, name, (0.0, 0.0, 0.0))

    def get_quaternion(self, prim: Usd.Prim, name: str) -> Array:
        """A finite quaternion w, x, y, z; zero where there is none."""
        return self._get_finite(prim, name, (0.0, 0.0, 0.0, 0.0))

    def _get_finite(self, prim: Usd.Prim, name: str, default: Sequence[float]) -> Array:
        array = self.get_array(prim, name, default)
        if np.all(np.isfinite(array)):
            return array
        return np.array(self._reject(prim, name, array, "finite", default), dtype=np.float64)

    def get_targets(self, prim: Usd.Prim, name: str) -> list[str]:
        """Paths a relationship points to, forwarded."""
        relationship = prim.GetRelationship(name)
        return [str(path) for path in relationship.GetForwardedTargets()] if relationship else []

    def _reject(self, prim: Usd.Prim, name: str, value: Any, expected: str, default: Any) -> Any:
        shown = "nothing" if default is None else " ".join(str(v) for v in np.atleast_1d(default))
        self.reporter.report(
            VALUE_INVALID, self.where(prim, name), name=name, value=value, expected=expected, default=shown
        )
        return default


def as_matrix(matrix: Gf.Matrix4d) -> Array:
    """A USD row-vector matrix as a column-vector array."""
    return np.array(matrix, dtype=np.float64).T


def as_array(value: Any) -> Array:
    """A USD vector or array of vectors as float64."""
    return np.array(value, dtype=np.float64)


def as_rows(value: Any, width: int) -> Array:
    """An array of vectors as rows of numbers; no rows where the value is nothing of that kind."""
    try:
        return np.array([] if value is None else value, dtype=np.float64).reshape(-1, width)
    except (TypeError, ValueError):
        return np.zeros((0, width))


def as_quaternion(value: Any) -> Array:
    """A USD quaternion as w, x, y, z."""
    return np.array((value.GetReal(), *value.GetImaginary()), dtype=np.float64)


def find_prototype_path(prim: Usd.Prim) -> str:
    """A path that all instances of the same prim share."""
    return str((prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim).GetPath())

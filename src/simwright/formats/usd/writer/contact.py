# SPDX-License-Identifier: Apache-2.0
"""What a collider is made of: a primitive, or a hull with the triangles of the source as a finer choice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simwright.formats.usd.writer.meshes import Library, Stored, choose_word, is_mesh
from simwright.formats.usd.writer.primitives import describe_primitive, is_primitive
from simwright.formats.usd.writer.solids import is_closed, make_round
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import Ellipsoid, Sphere


@dataclass(frozen=True, slots=True, eq=False)
class Touchable:
    """``coarse`` is None for a primitive.  ``radii`` are those of an ellipsoid that had to become a mesh [m]."""

    coarse: Stored | None = None
    fine: Stored | None = None
    radii: list[float] | None = None
    is_open: bool = False
    """Is the mesh of the source not closed?"""


def find_touchable(shape: Shape, library: Library) -> Touchable | None:
    """What is touched of a shape; None if there is nothing, or OpenUSD has no word for it."""
    if is_mesh(shape.geometry):
        return _find_mesh(shape, library)
    if not is_primitive(shape.geometry):
        return None
    kind, _, stretch = describe_primitive(shape.geometry, scaled(shape))
    if kind == "Cube" or np.all(stretch == 1.0):
        return Touchable()
    # UsdPhysics knows no uneven scale on round colliders
    coarse = library.store_small(f"{choose_word(shape)}_round", make_round(shape.geometry, scaled(shape)))
    is_ball = isinstance(shape.geometry, Sphere | Ellipsoid)
    return Touchable(coarse, radii=[float(v) for v in _find_radii(shape)] if is_ball else None)


def _find_radii(shape: Shape) -> np.ndarray:
    assert isinstance(shape.geometry, Sphere | Ellipsoid)
    radii = shape.geometry.radii if isinstance(shape.geometry, Ellipsoid) else shape.geometry.radius
    return np.abs(np.asarray(radii) * scaled(shape))


def _find_mesh(shape: Shape, library: Library) -> Touchable | None:
    fine, coarse = library.store_solid(shape), library.store_hull(shape)
    if fine is None:
        return None
    if coarse is None:  # flat: a floor or a wall has no hull
        return Touchable(fine)
    return Touchable(coarse, fine, is_open=library.remember(fine, is_closed) is False)

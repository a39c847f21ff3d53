# SPDX-License-Identifier: Apache-2.0
"""Ellipsoids that had to be written as meshes: UsdPhysics has none, so their radii are noted beside the mesh.

The note counts only while the mesh is still as large as the radii say, so whoever edits the mesh is believed.
"""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array
from simwright.formats.usd.scan import Found
from simwright.formats.usd.source import Source
from simwright.model.geometry import Ellipsoid

RADII = "radii"
_NEAR = 0.01


def read_ellipsoid(source: Source, found: Found, scale: Array) -> Ellipsoid | None:
    """The noted ellipsoid of a mesh prim at a scale; None if there is none, or it is no longer true."""
    noted = source.note(found).get(RADII)
    if noted is None or len(noted) != 3:
        return None
    radii = np.array([float(value) for value in noted])
    extent = source.get(found, "extent")
    if extent is None or len(extent) != 2:
        return None
    low, high = np.asarray(extent, dtype=np.float64)
    if not np.allclose((high - low) / 2.0, radii, rtol=_NEAR, atol=0.0):
        return None
    return Ellipsoid(radii * np.abs(scale) * source.units.length)

# SPDX-License-Identifier: Apache-2.0
"""Meshes of primitives that a format has no geometry for, bare and with texture coordinates."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from simwright.formats.parts.coordinates import cover
from simwright.formats.parts.images import make_file_name
from simwright.formats.parts.solids import make_mesh
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    MeshData,
    Sphere,
)
from simwright.model.material import Texture

HEIGHTS = np.array(((0.0, 0.1, 0.4), (0.2, 0.3, 0.1)))
SOLIDS = [
    (Sphere(0.5), 4 / 3 * pi * 0.125),
    (Ellipsoid(np.array((0.5, 0.25, 1.0))), 4 / 3 * pi * 0.125),
    (Cylinder(0.5, 2.0), pi * 0.5),
    (Cone(0.5, 3.0), pi * 0.25),
    (Capsule(0.5, 2.0), pi * 0.5 + 4 / 3 * pi * 0.125),
]


def sum_sides(data: MeshData) -> tuple[float, float]:
    """Volume inside the sides of a mesh, and how far they are from closing it [m^2]."""
    a, b, c = np.moveaxis(data.vertices[data.triangles()], 1, 0)
    flat = np.cross(b - a, c - a) / 2
    return float(np.einsum("ij,ij->", a, flat)) / 3, float(np.abs(flat.sum(axis=0)).max())


@pytest.mark.parametrize(("geometry", "volume"), SOLIDS, ids=lambda row: getattr(row, "kind", ""))
def test_round_solids_are_closed_and_as_large_as_they_are(geometry: Geometry, volume: float) -> None:
    mesh = make_mesh(geometry)
    assert mesh is not None
    found, gap = sum_sides(mesh.data)
    assert found == pytest.approx(volume, rel=0.02)
    assert gap < 1e-12
    edges = [tuple(edge) for row in mesh.data.triangles() for edge in zip(row, np.roll(row, -1), strict=True)]
    assert len(edges) == len(set(edges))
    assert {(end, start) for start, end in edges} == set(edges)


@pytest.mark.parametrize("uv_set", ["st", "st_uniform", "st_cube"])
@pytest.mark.parametrize(
    ("geometry", "volume"),
    [row for row in SOLIDS if row[0].kind != "cone"] + [(Box.of(1.0, 2.0, 3.0), 6.0)],
    ids=lambda row: getattr(row, "kind", ""),
)
def test_a_texture_changes_no_solid(geometry: Geometry, volume: float, uv_set: str) -> None:
    data = cover(geometry, Texture("wood.png", uv_set=uv_set), 1.0)
    assert data is not None
    found, gap = sum_sides(data)
    assert found == pytest.approx(volume, rel=0.03)
    assert gap < 1e-9


def test_a_texture_on_terrain_leaves_every_triangle_where_it_is() -> None:
    field = Heightfield(HEIGHTS, np.array((4.0, 2.0)))
    data = cover(field, Texture("grass.png"), 1.0)
    assert data is not None
    corners = data.vertices[data.triangles()]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    assert len(corners) == 4
    np.testing.assert_allclose(flat[:, 2], 2.0)  # each is half of a cell of 2 m by 2 m, seen from above
    assert sorted(map(tuple, np.unique(data.vertices, axis=0).round(9).tolist())) == sorted(
        (x, y, HEIGHTS[row, column])
        for row, y in enumerate((-1.0, 1.0))
        for column, x in enumerate((-2.0, 0.0, 2.0))
    )


def test_names_of_files_are_plain() -> None:
    assert make_file_name("arm/left link<1>") == "arm_left_link_1"
    assert make_file_name("Gr\u00f6\u00dfe+2.obj") == "Gr__e+2.obj"
    assert make_file_name("../..") == "part"

# SPDX-License-Identifier: Apache-2.0
"""Looks of meshes: roughness, metal and the picture on a surface, with its coordinates on the vertices.

Newton's meshes have one texture coordinate per vertex; a vertex with several is split.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Level, Reporter, declare
from simwright.model.asset import Shape
from simwright.model.geometry import Mesh, MeshData, fan_triangles
from simwright.model.material import RenderMaterial, Texture

TEXTURE_LOST = declare(
    "newton-texture-lost",
    Level.INFO,
    "{count} picture(s) of material {name!r} are not carried, the first is that of its {first}",
    hint="Newton's viewers draw one picture, that of the diffuse colour, on meshes with texture coordinates",
    doc="Newton's shapes have a picture for the diffuse colour of meshes, and for nothing else.",
)
_DIFFUSE = "diffuse"


def find_picture(shape: Shape, material: RenderMaterial | None) -> Texture | None:
    """The picture that is drawn on a shape; None if there is none, or no coordinates for it."""
    if material is None or not shape.visual or not isinstance(shape.geometry, Mesh):
        return None
    picture = material.textures.get(_DIFFUSE)
    return None if picture is None or shape.geometry.data.uvs is None else picture


def split_corners(data: MeshData) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices, triangles and texture coordinates, one for each vertex."""
    assert data.uvs is not None
    if len(data.uvs) == len(data.vertices) != len(data.indices):
        return data.vertices, data.triangles(), data.uvs
    counts = np.full(len(data.indices) // 3, 3, dtype=np.int32) if data.counts is None else data.counts
    corners = fan_triangles(counts, np.arange(len(data.indices), dtype=np.int32))
    rows = np.column_stack((data.indices, data.uvs))
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    triangles = number.reshape(-1)[corners]
    return (
        data.vertices[data.indices[first]],
        triangles[:, ::-1] if data.left_handed else triangles,
        data.uvs[first],
    )


def describe_picture(picture: Texture) -> dict[str, Any]:
    """Arguments of ``newton.Mesh``: the file, and how coordinates are scaled, turned and moved."""
    (sx, sy), (tx, ty) = picture.scale, picture.offset
    cos, sin = math.cos(picture.rotation), math.sin(picture.rotation)
    return {
        "texture": picture.file,
        "texture_transform": ((sx * cos, -sy * sin, tx), (sx * sin, sy * cos, ty)),
    }


def report_pictures(materials: list[RenderMaterial], carried: set[str], reporter: Reporter) -> None:
    """One finding per material with pictures that Newton does not draw; ``carried`` have their diffuse one drawn."""
    for material in materials:
        lost = [word for word in material.textures if word != _DIFFUSE or material.name not in carried]
        if lost:
            reporter.report(TEXTURE_LOST, material.source, name=material.name, count=len(lost), first=lost[0])

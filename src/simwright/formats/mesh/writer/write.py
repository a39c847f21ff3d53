# SPDX-License-Identifier: Apache-2.0
"""From arrays to a mesh file: which writer, and what each format keeps.

======= ============ ========= ==================== ======================================
format  numbers      polygons  normals and textures looks of face sets
======= ============ ========= ==================== ======================================
STL     single       triangles none                 none
OBJ     exact        kept      kept                 colours and images, in an MTL file
COLLADA exact        kept      kept                 colours and images
glTF    single       triangles kept                 metallic-roughness, images
======= ============ ========= ==================== ======================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from simwright.core.registry import import_object
from simwright.model.geometry import MeshData
from simwright.model.material import RenderMaterial

_WRITERS = {
    "stl": "simwright.formats.mesh.writer.stl:write_stl",
    "obj": "simwright.formats.mesh.writer.obj:write_obj",
    "dae": "simwright.formats.mesh.writer.dae:write_dae",
    "glb": "simwright.formats.mesh.writer.glb:write_glb",
}
MESH_FORMATS = tuple(_WRITERS)
"""Formats that :func:`write_mesh` writes; each is also the ending of its files."""

Looks = Mapping[str, RenderMaterial]


Writer = Callable[[MeshData, str, Looks], dict[str, bytes]]
"""Gives files by name: the mesh, and what it needs beside it."""


def write_mesh(data: MeshData, word: str, name: str, looks: Looks | None = None) -> dict[str, bytes]:
    """The files of a mesh in the format ``word``: ``name`` with its ending, and an MTL file where OBJ needs one.

    ``looks`` are the materials of the mesh's face sets by name, colours as they appear on a screen; the files of their
    images are written as they stand there, so they are relative to the mesh.
    """
    return cast("Writer", import_object(_WRITERS[word]))(data, name, looks or {})

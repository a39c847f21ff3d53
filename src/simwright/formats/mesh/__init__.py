# SPDX-License-Identifier: Apache-2.0
"""Mesh files: STL, OBJ with MTL, COLLADA, glTF and PLY, in metres and Z-up.

``load_mesh`` gives the arrays, ``load_mesh_materials`` the looks, ``MeshLibrary`` one lazy and shared
:class:`~simwright.model.geometry.Mesh` per file.  What each format says about units and axes:

======== ============================== ==========================================================
format   units                          up
======== ============================== ==========================================================
STL      none: taken as metres          none: taken as Z-up
OBJ      none: taken as metres          none: taken as Z-up
PLY      none: taken as metres          none: taken as Z-up
COLLADA  ``asset/unit``                 taken as Z-up; ``up_axis`` is not followed (see ``dae``)
glTF     metres (glTF 2.0, 3.4)         Y-up (glTF 2.0, 3.4), turned: (x, y, z) -> (x, -z, y)
======== ============================== ==========================================================

load         which reader, with which limits; one shared object per file; images
join         many placed parts of a scene file to one mesh
stl, ply     these formats
obj          Wavefront OBJ and its MTL library, statement by statement
obj_columns  the same as whole columns of numbers, for tidy files; many decimals read at once
dae          COLLADA
gltf         glTF 2.0
writer       mesh files written
"""

from simwright.formats.mesh.load import (
    MESH_EXTENSIONS,
    MeshLibrary,
    embed_image,
    load_image,
    load_mesh,
    load_mesh_materials,
    load_mesh_objects,
    mesh_geometry,
    name_image,
)

__all__ = [
    "MESH_EXTENSIONS",
    "MeshLibrary",
    "embed_image",
    "load_image",
    "load_mesh",
    "load_mesh_materials",
    "load_mesh_objects",
    "mesh_geometry",
    "name_image",
]

# SPDX-License-Identifier: Apache-2.0
"""Mesh files written: STL, OBJ with MTL, COLLADA and binary glTF, in metres and Z-up as they are read.

write     which writer, and what each format keeps
polygons  a mesh as files list it: faces, the rows their corners name, groups by look
stl, obj, dae, glb  one format each; obj also writes rows of numbers as text, for MJCF too
"""

from simwright.formats.mesh.writer.write import MESH_FORMATS, write_mesh

__all__ = ["MESH_FORMATS", "write_mesh"]

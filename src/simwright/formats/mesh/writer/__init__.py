# SPDX-License-Identifier: Apache-2.0
"""Mesh files written: STL, OBJ with MTL, COLLADA and binary glTF, in metres and Z-up as they are read."""

from simwright.formats.mesh.writer.write import MESH_FORMATS, write_mesh

__all__ = ["MESH_FORMATS", "write_mesh"]

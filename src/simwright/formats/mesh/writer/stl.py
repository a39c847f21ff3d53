# SPDX-License-Identifier: Apache-2.0
"""Binary STL: triangles in single precision, nothing else."""

from __future__ import annotations

import numpy as np

from simwright.formats.mesh.writer.polygons import list_triangles
from simwright.formats.mesh.writer.write import Looks
from simwright.model.geometry import MeshData

_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def write_stl(data: MeshData, name: str, looks: Looks) -> dict[str, bytes]:  # noqa: ARG001 - every writer's form
    """The file; facet normals follow from the winding."""
    triangles = list_triangles(data)
    corners = triangles.points.rows[triangles.points.index].reshape(-1, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    facets = np.zeros(len(corners), dtype=_FACET)
    facets["normal"] = normals / np.where(lengths > 0.0, lengths, 1.0)
    facets["corners"] = corners
    head = b"binary STL".ljust(80, b"\0")
    return {f"{name}.stl": head + len(facets).to_bytes(4, "little") + facets.tobytes()}

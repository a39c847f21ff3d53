# SPDX-License-Identifier: Apache-2.0
"""One solid made of closed shells that cross each other: the same inside, without walls in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.checker.facts.meshes import make_facts
from simwright.checker.facts.topology import weld_near
from simwright.sanitizer.faces import Faces
from simwright.sanitizer.polygons import split_faces


def unite_shells(old: Faces) -> tuple[Any, Any] | None:
    """Points and triangle corners of the union; None where a shell is open, or turned inside out."""
    import manifold3d

    triangles = weld_near(old.points)[old.indices[split_faces(old).corners]].reshape(-1, 3)
    parts = []
    for shell in _list_shells(triangles, len(old.points)):
        used, corners = np.unique(shell, return_inverse=True)
        points = old.points[used].astype(np.float32)
        facts = make_facts(points, np.full(len(shell), 3), corners.reshape(-1).astype(np.int32))
        if not facts.topology.is_closed or facts.volume <= 0.0:
            return None
        mesh = manifold3d.Mesh(points, corners.reshape(-1, 3).astype(np.uint32))
        part = manifold3d.Manifold(mesh)
        if part.status() != manifold3d.Error.NoError:
            return None
        parts.append(part)
    if len(parts) < 2:
        return None
    result = manifold3d.Manifold.batch_boolean(parts, manifold3d.OpType.Add).to_mesh()
    points = np.asarray(result.vert_properties, dtype=np.float32)[:, :3]
    return points, np.asarray(result.tri_verts, dtype=np.int32).reshape(-1)


def _list_shells(triangles: Any, count: int) -> list[Any]:
    """Triangles that hang together by their points."""
    labels = np.arange(count)
    while True:
        least = labels[triangles].min(axis=1)
        spread = labels.copy()
        np.minimum.at(spread, triangles.reshape(-1), np.repeat(least, 3))
        spread = spread[spread]
        if np.array_equal(spread, labels):
            break
        labels = spread
    owners = labels[triangles[:, 0]]
    return [triangles[owners == label] for label in np.unique(owners)]

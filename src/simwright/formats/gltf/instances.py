# SPDX-License-Identifier: Apache-2.0
"""Point instancers as EXT_mesh_gpu_instancing: one node, one mesh, rows of placements (REP-0158 3.5).

A mirrored copy needs a mirrored node, since the extension does not say which side of it is outside: the node turns
everything over and its rows do so once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, matrices_from_quats, quats_from_matrices
from simwright.formats.gltf.draft import Draft
from simwright.model.asset import Shape, scaled

if TYPE_CHECKING:
    from simwright.formats.gltf.meshes import Stored

EXTENSION = "EXT_mesh_gpu_instancing"


def write_scatter(draft: Draft, members: list[tuple[Shape, Stored]], more: dict[str, Any]) -> None:
    """Nodes for copies of one mesh on one body: one for those that are mirrored, one for the others."""
    stored = members[0][1]
    scales = np.array([scaled(shape) for shape, _ in members])
    turns = matrices_from_quats(np.array([shape.pose.q for shape, _ in members]))
    places = np.array([shape.pose.p for shape, _ in members])
    places = places + np.einsum("nij,nj->ni", turns, scales * [mesh.origin for _, mesh in members])
    scales = scales * [mesh.unit for _, mesh in members]
    mirrored = np.prod(scales, axis=1) < 0.0
    first = members[0][0]
    name = first.instancer.rpartition("/")[2] or first.name
    for is_mirrored in (False, True):
        chosen = np.flatnonzero(mirrored == is_mirrored)
        if not len(chosen):
            continue
        sign = -1.0 if is_mirrored else 1.0
        rotations, sizes = _make_positive(turns[chosen], sign * scales[chosen])
        attributes = {
            "TRANSLATION": draft.buffer.add((sign * places[chosen]).astype(np.float32)),
            "ROTATION": draft.buffer.add(rotations[:, (1, 2, 3, 0)].astype(np.float32)),
            "SCALE": draft.buffer.add(sizes.astype(np.float32)),
        }
        size = np.full(3, sign)
        number = draft.add_node(
            name, draft.body_nodes[first.body], Pose(IDENTITY.p, IDENTITY.q), size, mesh=stored.number, **more
        )
        draft.extend(draft.nodes[number], EXTENSION, {"attributes": attributes})


def _make_positive(turns: Array, scales: Array) -> tuple[Array, Array]:
    """Rotations and positive scales of the same placements; two negative scales are half a turn."""
    flips = np.where(scales < 0.0, -1.0, 1.0)
    return quats_from_matrices(turns * flips[:, None, :]), np.abs(scales)

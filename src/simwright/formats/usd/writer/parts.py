# SPDX-License-Identifier: Apache-2.0
"""Convex parts of mesh colliders for ``collision_fidelity=decomposed``, made by CoACD (REP-0158 1.3.1)."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from simwright.core.errors import MissingExtraError
from simwright.formats.usd.writer.contact import Touchable
from simwright.formats.usd.writer.mesh_cache import Arrays, make_or_recall
from simwright.formats.usd.writer.meshes import Library, Stored, choose_word
from simwright.formats.usd.writer.solids import make_hull
from simwright.model.asset import Shape
from simwright.model.geometry import MeshData

_PACKAGE = "coacd"
_SEARCH = {
    "threshold": 0.05, "max_convex_hull": 32, "preprocess_resolution": 30, "resolution": 1000, "mcts_nodes": 10,
    "mcts_iterations": 60, "mcts_max_depth": 2, "seed": 0,
}  # fmt: skip
"""Concavity that is accepted, and how hard CoACD looks for better cuts: seconds a mesh, not minutes."""
_VERTICES = 64
"""Corners of one part: what PhysX takes on the GPU."""
_CONVEX = 0.98


class Decomposer:
    """Makes the parts; needs the extra ``decompose``."""

    def __init__(self) -> None:
        if find_spec("coacd") is None:
            raise MissingExtraError(_PACKAGE, "decompose", "convex decomposition (--decompose)")
        self._known: dict[str, list[Stored]] = {}

    def make(self, shape: Shape, touchable: Touchable, library: Library) -> list[Stored]:
        """The parts of a collider; none where it is convex, or has no finer form than its hull."""
        coarse, fine = touchable.coarse, touchable.fine
        if coarse is None or fine is None:
            return []
        if fine.path not in self._known:
            parts = [] if _is_convex(fine.data, coarse.data) else decompose(fine.data)
            word = f"{choose_word(shape)}_part"
            self._known[fine.path] = (
                [library.store_small(word, part) for part in parts] if len(parts) > 1 else []
            )
        return self._known[fine.path]


def decompose(data: MeshData) -> list[MeshData]:
    """Convex closed parts that cover a mesh."""
    arrays = make_or_recall(data, f"decompose {_SEARCH} {_VERTICES}", _PACKAGE, lambda: _run(data))
    meshes = []
    for number in range(len(arrays) // 2):
        part = MeshData(arrays[f"v{number}"].astype(np.float64), arrays[f"i{number}"].reshape(-1))
        hull = make_hull(part, np.ones(3))
        if hull is not None:
            meshes.append(hull)
    return meshes


def _run(data: MeshData) -> Arrays:
    import coacd

    coacd.set_log_level("off")
    mesh = coacd.Mesh(np.asarray(data.vertices, dtype=np.float64), data.triangles())
    found = coacd.run_coacd(mesh, max_ch_vertex=_VERTICES, decimate=True, **_SEARCH)
    arrays: Arrays = {}
    for number, (points, faces) in enumerate(found):
        arrays[f"v{number}"] = np.asarray(points, dtype=np.float32)
        arrays[f"i{number}"] = np.asarray(faces, dtype=np.int32)
    return arrays


def _is_convex(data: MeshData, hull: MeshData) -> bool:
    """Does a mesh fill its hull?"""
    return _find_volume(data) >= _CONVEX * _find_volume(hull)


def _find_volume(data: MeshData) -> float:
    corners = data.vertices[data.triangles()]
    corners = corners - corners.mean(axis=(0, 1))
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return abs(float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum())) / 6.0

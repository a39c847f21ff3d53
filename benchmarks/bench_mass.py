# SPDX-License-Identifier: Apache-2.0
"""Mass properties of closed meshes against trimesh, on the same arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Result, compare_cpu, growth
from simwright.model.moments import mesh_moments


def torus(rings: int, sides: int) -> tuple[np.ndarray, np.ndarray]:
    """A closed torus of ``2 * rings * sides`` triangles."""
    u, v = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")
    a, b = 2 * np.pi * u / rings, 2 * np.pi * v / sides
    radius = 1 + 0.3 * np.cos(b)
    points = np.stack((radius * np.cos(a), radius * np.sin(a), 0.3 * np.sin(b)), axis=-1).reshape(-1, 3)
    at = lambda i, j: (i % rings) * sides + j % sides  # noqa: E731
    p, q, r, s = at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)
    return points, np.stack((p, q, r, p, r, s), axis=-1).reshape(-1, 3).astype(np.int32)


def run() -> Iterator[Result]:
    from trimesh.triangles import mass_properties

    sizes, times = [], []
    for rings, sides in ((100, 50), (400, 125), (1000, 500)):
        points, faces = torus(rings, sides)
        ours, peer = compare_cpu(
            lambda p=points, f=faces: mesh_moments(p, f), lambda p=points, f=faces: mass_properties(p[f])
        )
        sizes.append(len(faces))
        times.append(ours)
        note = growth(sizes, times) if len(sizes) == 3 else ""
        yield Result(f"mass of a mesh, {len(faces):,} triangles", ours, "trimesh", peer, limit=1.0, note=note)

# SPDX-License-Identifier: Apache-2.0
"""Collision meshes are made of triangles.

Why: physics engines cook triangles.  A quad or n-gon is split by each engine in its own way, and contact changes
with it.

Fails: a Mesh with PhysicsCollisionAPI (or below a prim that has it) with `faceVertexCounts = [4, ...]`.
Passes: all counts are 3.  Visual meshes may have quads.

Reading: a collider is known by the API, not by its name or purpose; one that is switched off does not collide.
`holeIndices` are a warning, a subdivision scheme other than none is an info: physics engines read the control mesh.

Fix: unsafe.  Flat faces keep their shape, warped ones do not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simwright.checker.facts.meshes import as_ints, list_collision_meshes, read_mesh
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "geo-coll-tri",
    "3.4",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="split the faces into triangles, subsets and primvars with them",
)
def geo_coll_tri(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Meshes in prototypes count once."""
    smooth: list[PrimNode] = []
    for node in list_collision_meshes(snapshot):
        facts = read_mesh(node, snapshot)
        if not facts.is_triangulated and not facts.problem:
            counts = facts.faces.counts
            other = counts[counts != 3]
            yield Finding(
                f"{len(other)} of {facts.face_count} faces of a collision mesh are not triangles"
                f" (up to {int(np.max(other))} corners)",
                hint="triangulate the mesh before export",
                at=node,
                prop="faceVertexCounts",
            )
        holes = as_ints(node.authored("holeIndices"))
        if len(holes):
            yield Finding(
                f"{len(holes)} faces of a collision mesh are marked as holes, which physics engines do not read",
                hint="remove the faces from the mesh and holeIndices with them",
                at=node,
                prop="holeIndices",
                level=Level.WARNING,
            )
        # the fallback is catmullClark, so nearly every exporter forgets it: one finding for all
        if node.value("subdivisionScheme") not in ("none", None):
            smooth.append(node)
    if smooth:
        scheme = smooth[0].value("subdivisionScheme")
        yield Finding(
            f"{len(smooth)} collision meshes are subdivision surfaces ({scheme}); physics engines use the cage"
            " as it is",
            hint='write uniform token subdivisionScheme = "none"',
            at=smooth[0],
            prop="subdivisionScheme",
            level=Level.INFO,
        )

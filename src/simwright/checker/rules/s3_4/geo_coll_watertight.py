# SPDX-License-Identifier: Apache-2.0
"""Collision meshes are closed.

Why: an engine decides by the surface what is inside.  Through a hole bodies sink in and get stuck, and mass and
inertia derived from an open mesh are wrong.

Fails: a collision mesh with an edge that has one face (a hole), three faces or more (a fin), or two faces of
opposite winding.
Passes: a closed surface, several of them too.  Points at the same place, within a millionth of the mesh's size, are
one point: exporters split them at hard edges and texture seams.

Reading: a flat mesh is a floor or a wall, and a warning: a Plane or a thin box says it better.

Fix: unsafe.  Winding, doubled faces, fins and holes of convex meshes are mended.  A mesh that engines take as its
convex hull becomes that hull, and its triangles stay as a variant of collision_fidelity.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.meshes import list_collision_meshes, read_mesh
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.topology import describe_faults
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "geo-coll-watertight",
    "3.4",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="mend the mesh, or let its convex hull take its place",
)
def geo_coll_watertight(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Meshes in prototypes count once."""
    for node in list_collision_meshes(snapshot):
        facts = read_mesh(node, snapshot)
        if facts.problem:
            yield Finding(
                f"the collision mesh cannot be closed: {facts.problem}",
                hint="export the mesh again, or remove it",
                at=node,
                prop="faceVertexIndices",
            )
        elif not facts.topology.is_closed:
            # a plane cannot be closed, and as a floor it works
            flat = facts.is_flat
            yield Finding(
                f"the collision mesh is not closed: {describe_faults(facts.topology)}"
                + (" (it is flat)" if flat else ""),
                hint="use a Plane or a thin box as collider"
                if flat
                else "close the mesh, or use its convex hull",
                at=node,
                prop="faceVertexIndices",
                level=Level.WARNING if flat else None,
                data={"boundary": facts.topology.boundary, "crowded": facts.topology.crowded},
            )

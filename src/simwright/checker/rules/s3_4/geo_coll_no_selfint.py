# SPDX-License-Identifier: Apache-2.0
"""Collision meshes do not pass through themselves.

Why: where a surface crosses itself, inside and outside are undefined: contacts point the wrong way and volume is
counted twice.

Fails: two overlapping boxes merged into one mesh without a boolean union; a face pushed through the opposite side.
Passes: convex meshes; separate shells, also touching ones; faces that only share an edge or a plane.

Reading: the search is heuristic.  Triangles that touch or lie in one plane are not counted, meshes above
`max_self_intersection` triangles are not searched, and a stage gets `self_intersection_budget` triangles in
all; an info says what was left out.

Fix: unsafe.  Closed shells are united; a mesh that engines take as its convex hull becomes that hull, and its
triangles stay as a variant of collision_fidelity.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.crossings import search_stage
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level


@rule(
    "geo-coll-no-selfint",
    "3.4",
    "must",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="unite the parts, or let the convex hull take its place",
)
def geo_coll_no_selfint(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One pair per mesh is enough to know."""
    search = search_stage(snapshot)
    for node, first, second in search.crossing:
        yield Finding(
            f"triangles {first} and {second} of a collision mesh cross each other",
            hint="merge overlapping parts with a boolean union, or split them into colliders of their own",
            at=node,
            prop="faceVertexIndices",
        )
    # silence would look like a clean result
    left = [*search.too_large, *search.left_out]
    if left:
        yield Finding(
            f"{len(left)} collision meshes were not searched for self-intersections: {len(search.too_large)} are too"
            f" large, for {len(search.left_out)} the budget of the stage was used up",
            hint="raise max_self_intersection or self_intersection_budget in the settings to search them",
            at=left[0],
            level=Level.INFO,
            fix=Fixable.NO,
        )

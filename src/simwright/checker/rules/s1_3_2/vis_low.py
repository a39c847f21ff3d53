# SPDX-License-Identifier: Apache-2.0
"""mesh_low has no more triangles than mesh_medium, and that no more than mesh_high.

Why: who selects mesh_low does so to save work; variants that were mixed up do the opposite.

Fails: mesh_low with 800 triangles beside mesh_medium with 200.
Passes: 50, 200 and 800 triangles; or only some of the three.

Fix: no.  Which mesh belongs to which variant must be decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.variant_sets import MESH_TIERS, survey_visuals
from simwright.checker.rule import Finding, rule


@rule("vis-low", "1.3.2", "may", on="stage", heuristic=True)
def vis_low(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Triangles of each variant, counted on a private stage."""
    for one in survey_visuals(snapshot):
        tiers = [(tier, one.variants[tier].triangles) for tier in MESH_TIERS if tier in one.variants]
        # a variant without triangles holds primitives or a splat, which cannot be compared
        tiers = [(tier, count) for tier, count in tiers if count]
        for (lower, fewer), (higher, more) in pairwise(tiers):
            if fewer > more:
                yield Finding(
                    f"{lower} has {fewer} triangles, more than {higher} with {more}",
                    hint=f"give {lower} the coarser meshes",
                    at=one.node,
                    data={"triangles": dict(tiers)},
                )

# SPDX-License-Identifier: Apache-2.0
"""The layer with the meshes holds meshes only.

Why: pure geometry can be shared by robots with different physics, cached, and re-exported from CAD without
losing anything.

Fails: geometries.usdc whose meshes have PhysicsCollisionAPI.
Passes: the same meshes without it; physics.usda adds the API with an `over`.

Reading: "no schemas" is read as no physics, ROS, vendor or unknown ones.  MaterialBindingAPI, GeomModelAPI,
SkelBindingAPI, collections and the like describe geometry and stay.

Fix: unsafe.  The opinions are moved to an overlay layer.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import find_link_tree
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import tally_names
from simwright.checker.rule import Finding, rule

# neutral APIs that describe the shape, look or motion of geometry
_ABOUT_SHAPE = frozenset({
    "MaterialBindingAPI", "GeomModelAPI", "SkelBindingAPI", "CollectionAPI", "VisibilityAPI", "PrimvarsAPI",
    "MotionAPI", "XformCommonAPI", "CoordSysAPI", "ClipsAPI",
})  # fmt: skip


@rule(
    "layer-geometries-pure",
    "1.2.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the opinions to an overlay layer",
)
def layer_geometries_pure(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Everything in a mesh layer that is not about shape."""
    if not facts.is_mesh_library or find_link_tree(facts, snapshot):
        return
    strays = [(opinion.path, opinion.what) for opinion in facts.of(*facts.features)]
    strays += [
        (path, name) for path, name in facts.neutral_apis if name.partition(":")[0] not in _ABOUT_SHAPE
    ]
    if strays:
        yield Finding(
            f"the mesh layer {facts.name} also holds {tally_names(name for _, name in strays)}",
            hint="keep only geometry here; write the rest as `over` specs in physics.usda, ros.usda or a vendor layer",
            at=strays[0][0],
            layer=facts.layer,
            data={"count": len(strays)},
        )

# SPDX-License-Identifier: Apache-2.0
"""Classes that links, joints and ROS prims inherit are part of the asset.

Why: an inherited class is looked up by path in whatever stage the asset lands in.  If it is not in the asset's own
layers, the robot's physics depends on where it is loaded.

Fails: `inherits = </_class_link>` on a body, where only the scene that uses the robot defines `_class_link`.
Passes: the class is defined in one of the asset's layers.

Reading: classes inside the asset are recommended and never reported.  A class that does not exist has no effect now,
but could get one later: an info.  Only prims with kinematics, physics or ROS count.

Fix: unsafe.  The class is copied into the asset; an arc to a class that is nowhere is taken away.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.assets import AssetLayers, find_assets
from simwright.checker.facts.layers import Arc
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "arc-inherit-external",
    "1.2.3",
    "should not",
    on="stage",
    fix="unsafe",
    fix_title="copy the class into the asset",
)
def arc_inherit_external(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Inherit and specialize arcs whose target no layer of the asset specifies."""
    for asset in find_assets(snapshot):
        for facts in asset.layers:
            for arc in facts.arcs:
                if arc.kind in ("inherit", "specialize") and not _is_own(arc, asset):
                    yield from _judge(arc, asset, facts.layer, snapshot)


def _is_own(arc: Arc, asset: AssetLayers) -> bool:
    target = arc.target.StripAllVariantSelections()
    return any(facts.layer.GetPrimAtPath(target) for facts in asset.layers)


def _judge(arc: Arc, asset: AssetLayers, layer: Sdf.Layer, snapshot: StageSnapshot) -> Iterator[Finding]:
    # visual prims may inherit from a scene's class on purpose: looks do not change what the robot is
    holders = [node for node in snapshot.nodes if _holds(node, layer, arc)]
    if not any(_is_kinematic(node) for node in holders):
        return
    own = {facts.layer.identifier for facts in asset.layers}
    composed = snapshot.stage.GetPrimAtPath(arc.target.StripAllVariantSelections())
    stack = composed.GetPrimStack() if composed else []
    if any(spec.layer.identifier in own for spec in stack):
        return  # another arc of the asset brings the class in under this path
    if stack:
        message = (
            f"{arc.kind}s from {arc.target}, a class that is defined outside {asset.name} and its layers"
        )
    else:
        message = f"{arc.kind}s from {arc.target}, a class that is nowhere"
    yield Finding(
        message,
        hint="define the class in one of the asset's own layers, or write its opinions on the prim",
        at=arc.path,
        layer=layer,
        words=str(arc.target),
        level=None if stack else Level.INFO,
        data={"class": str(arc.target)},
    )


def _holds(node: PrimNode, layer: Sdf.Layer, arc: Arc) -> bool:
    """Is a node composed from the spec that has the arc?"""
    # the name is a cheap test before the prim stack, but a reference renames root prims
    if node.name != arc.path.StripAllVariantSelections().name and not arc.path.IsRootPrimPath():
        return False
    return any(spec.layer == layer and spec.path == arc.path for spec in node.prim.GetPrimStack())


def _is_kinematic(node: PrimNode) -> bool:
    if node.is_a("Xform") or node.is_a("PhysicsJoint"):
        return True
    return any(api.startswith(("Physics", "Ros", "ExtendedPhysics")) for api in node.apis)

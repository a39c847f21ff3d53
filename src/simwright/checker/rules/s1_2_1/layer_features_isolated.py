# SPDX-License-Identifier: Apache-2.0
"""Physics, ROS and other features are overlays, each in its own layer.

Why: an overlay says only what it adds, so it can be left out or replaced.  A layer that defines the links again, or
that mixes two features, can only be left out as a whole.

Fails: physics and ROS opinions in one overlay; `def Xform "link"` with PhysicsRigidBodyAPI; a `def` without a type
where `over` is meant.
Passes: `over "link"` with PhysicsRigidBodyAPI in physics.usda, and joints as `def` beside it: joints are new prims.

Reading: interfaces, materials, groups, scenes and joints are new prims and defined in their feature's layer.
`ros:joint:name` may be on the joint.  A small prop in one file is not reported.

Fix: unsafe.  The opinions are moved to overlays.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import AssetLayers, find_asset, find_link_tree, find_own_features
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things, tally_domains
from simwright.checker.rule import Finding, rule


@rule(
    "layer-features-isolated",
    "1.2.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the opinions to overlay layers",
)
def layer_features_isolated(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Two features in one overlay, and bodies defined where they should be overlaid."""
    if not facts.features:
        return
    asset = find_asset(snapshot, facts)
    if asset.is_small_prop(snapshot.settings.heavy_elements):
        return
    # a layer with shapes or links too is reported by layer-separation and layer-base-kinematic
    if not (facts.has_geometry or facts.render_materials or find_link_tree(facts, snapshot)):
        yield from _find_mixture(facts, asset)
    yield from _find_definitions(facts)


def _find_mixture(facts: LayerFacts, asset: AssetLayers) -> Iterator[Finding]:
    physics = facts.of(Domain.PHYSICS, Domain.EXTENDED)
    ros = find_own_features(facts, asset, Domain.ROS, Domain.CONTROL, Domain.SENSOR) if physics else []
    if ros:
        yield Finding(
            f"{facts.name} mixes features: {tally_domains([*physics, *ros])}",
            hint="split it into physics.usda and ros.usda",
            at=ros[0].path,
            layer=facts.layer,
        )


def _find_definitions(facts: LayerFacts) -> Iterator[Finding]:
    # joints, scenes and groups are new prims, which their feature's layer has to define
    typed = [path for path, is_typed in facts.defined_bodies if is_typed]
    bare = [path for path, is_typed in facts.defined_bodies if not is_typed]
    for paths, verdict, hint in (
        (
            typed,
            "in the specs that define them",
            "define the links in base.usda and add physics to them by `over`",
        ),
        (
            bare,
            "in `def` specs without a type",
            "write `over` instead of `def`: the base layer defines these prims",
        ),
    ):
        if paths:
            yield Finding(
                f"{facts.name} makes {count_things(len(paths), 'rigid body')} {verdict}",
                hint=hint,
                # the outermost: people look there first
                at=min(paths, key=lambda path: path.pathElementCount),
                layer=facts.layer,
            )

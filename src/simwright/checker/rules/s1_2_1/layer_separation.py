# SPDX-License-Identifier: Apache-2.0
"""Geometry and materials are kept apart from simulation and ROS schemas.

Why: a tool that only wants shapes should not meet schemas it does not know, and adding an interface should not
change the layer with the meshes.

Fails: a layer that defines a Mesh and applies RosTopicAPI, ExtendedPhysicsMimicAPI or PhysxRigidBodyAPI.
Passes: the Mesh in one layer, and an `over` with the API in another.

Reading: core UsdPhysics beside geometry is a warning, because every OpenUSD tool knows its schemas.  A small prop in
one file is not reported, nor is a context that a composing layer names.

Fix: unsafe.  The opinions are moved to an overlay layer.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import find_asset, find_own_features
from simwright.checker.facts.domains import FEATURES, Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import tally_domains
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "layer-separation",
    "1.2.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the opinions to an overlay layer",
)
def layer_separation(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per layer that holds both."""
    if not (facts.has_geometry or facts.render_materials) or not facts.features:
        return
    asset = find_asset(snapshot, facts)
    if asset.is_small_prop(snapshot.settings.heavy_elements):
        return
    shapes = "geometry" if facts.has_geometry else "materials"
    strange = find_own_features(
        facts, asset, *(domain for domain in FEATURES if domain is not Domain.PHYSICS)
    )
    # one finding per layer: with stranger schemas in it, core physics is the smaller fault
    known = [] if strange or facts.is_mesh_library else facts.of(Domain.PHYSICS)
    for opinions, level in ((strange, None), (known, Level.WARNING)):
        if opinions:
            yield Finding(
                f"{facts.name} defines {shapes} and also holds {tally_domains(opinions)}",
                hint=f"move them to an overlay layer, as `over` specs; here begins with {opinions[0].what}",
                at=opinions[0].path,
                layer=facts.layer,
                level=level,
            )

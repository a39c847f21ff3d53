# SPDX-License-Identifier: Apache-2.0
"""Physics without an interoperable schema is isolated in a feature layer of its own.

Why: deformables, cloth, particles or tendons of one engine must not get in the way of those who load the
neutral layers.

Fails: PhysxDeformableBodyAPI in physics.usda, beside rigid bodies.
Passes: the same opinions in a layer that holds nothing else, such as `physx.usda`.

Fix: unsafe.  The opinions are moved into a vendor layer.

Reading: a layer is judged by what it holds, not by its name.  Vendor schemas with a neutral equivalent are reported
by `extphys-use`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, OpinionContent
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.vendors import find_neutral_schema
from simwright.checker.rule import Finding, rule

# whole kinds of physics that UsdPhysics lacks; single parameters are reported by other rules
_FEATURES = re.compile(
    r"Deformable|SoftBody|Cloth|Particle|Fluid|Tendon|Muscle|Flex|Hair|Skin|Cable|Vehicle|ForceField|Hydro|Buoyan"
    r"|SurfaceVelocity|Vacuum|SurfaceGripper|Attachment"
)


@rule(
    "extphys-isolate",
    "1.3",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the opinions to a vendor layer",
)
def extphys_isolate(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per layer."""
    if not facts.counts[Domain.VENDOR]:
        return
    others = facts.features - {Domain.VENDOR}
    # nothing else in the layer: that is the isolation asked for
    if not others and not facts.defines[Domain.GEOMETRY]:
        return
    found = facts.find(_is_feature)
    if not found:
        return
    schemas = sorted({opinion.what.partition(":")[0] for opinion in found})
    beside = ", ".join(sorted(others)) or "geometry"
    yield Finding(
        f"{', '.join(schemas)} of {found[0].vendor} stands in a layer with {beside}",
        hint=f"move it to a layer of its own, such as {found[0].vendor}.usda",
        at=found[0].path,
        layer=facts.layer,
        data={"schemas": schemas, "prims": len(found)},
    )


def _is_feature(content: OpinionContent) -> bool:
    """Is it a vendor's schema for physics that no neutral one can say?"""
    return (
        bool(content.vendor)
        and content.kind != "property"
        and _FEATURES.search(content.what) is not None
        and find_neutral_schema(content.what) is None
    )

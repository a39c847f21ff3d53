# SPDX-License-Identifier: Apache-2.0
"""A payload holds geometry and materials, nothing else.

Why: a payload may be left unloaded.  Physics, controllers and vendor settings in it come and go with the meshes.

Fails: a payload layer with joints, controllers or `physx` attributes.
Passes: a payload layer with meshes and materials.

Reading: collision schemas on meshes inside a geometry payload are not clearly forbidden: an info.  Layers that are
also in use without payloads do not count.

Fix: unsafe.  The payload becomes a reference, and the mesh data in it a payload.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import Opinion
from simwright.checker.facts.payloads import compare_payloads
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import tally_domains
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

# exporters put these on the meshes themselves, and REP-0158 says nothing of it
_CONTACT = frozenset({
    "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsMaterialAPI", "physics:collisionEnabled",
    "physics:approximation", "physics:staticFriction", "physics:dynamicFriction", "physics:restitution",
    "physics:density", "material:binding:physics",
})  # fmt: skip


@rule(
    "payload-geo-only",
    "1.2.3",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="load the layer always, and its mesh data by payload",
)
def payload_geo_only(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Feature opinions in layers that only payloads bring in."""
    for facts in compare_payloads(snapshot).only_loaded:
        opinions = facts.of(*facts.features)
        if not opinions:
            continue
        only_contact = all(_is_contact(opinion) for opinion in opinions)
        first = next((opinion for opinion in opinions if not _is_contact(opinion)), opinions[0])
        yield Finding(
            f"the payload layer {facts.name} holds {tally_domains(opinions)} ({first.what} ...)",
            hint="keep geometry and materials in payloads; move the rest to layers that are always loaded",
            at=first.path,
            layer=facts.layer,
            level=Level.INFO if only_contact else None,
        )


def _is_contact(opinion: Opinion) -> bool:
    return opinion.domain is Domain.PHYSICS and opinion.what in _CONTACT

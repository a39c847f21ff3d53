# SPDX-License-Identifier: Apache-2.0
"""The physics layer holds core UsdPhysics and nothing else.

Why: it is the one layer that every engine reads.  What only some can read belongs beside it.

Fails: physics.usda with RosTopicAPI, an unknown API or unknown attributes.
Passes: bodies, joints, limits, masses, collision, physical materials, transforms and relationships.

Reading: REP-0158 does not say where ExtendedPhysics* belongs.  Here it is expected in a layer of its own,
extended_physics.usda: a warning.  `ros:joint:name` may be on its joint.  Vendor schemas are reported by
isol-physics-no-vendor.

Fix: unsafe.  The others are moved to layers of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import tally_names
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

# what a physics layer needs to bind materials and to form collision groups
_PLUMBING = ("MaterialBindingAPI", "CollectionAPI", "GeomModelAPI", "VisibilityAPI")


@rule(
    "isol-physics-core-only",
    "1.4",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the others to layers of their own",
)
def isol_physics_core_only(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Everything in the physics layer that is neither physics nor plumbing."""
    if not facts.is_neutral_physics:
        return
    # REP-0158 2.10 puts the ROS name of a joint on the joint itself
    ros = [o for o in facts.of(Domain.ROS, Domain.CONTROL, Domain.SENSOR) if o.what != "ros:joint:name"]
    foreign = [(opinion.path, opinion.what) for opinion in ros]
    foreign += [(path, name) for path, name in facts.neutral_apis if name.partition(":")[0] not in _PLUMBING]
    extended = [(opinion.path, opinion.what) for opinion in facts.of(Domain.EXTENDED)]
    unknown = [(path, name) for name, path in facts.unknown.items()]
    for found, what, home, level in (
        (foreign, "other schemas", "a layer of their own (ros.usda ...)", None),
        (extended, "extended physics", "extended_physics.usda", Level.WARNING),
        (unknown, "attributes that are not UsdPhysics", "a layer of their own", Level.WARNING),
    ):
        if found:
            yield _make_finding(facts, found, what, home, level)


def _make_finding(
    facts: LayerFacts, found: list[tuple[Sdf.Path, str]], what: str, home: str, level: Level | None
) -> Finding:
    return Finding(
        f"the physics layer {facts.name} also holds {what}: {tally_names(name for _, name in found)}",
        hint=f"move them to {home}",
        at=found[0][0],
        layer=facts.layer,
        level=level,
    )

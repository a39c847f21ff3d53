# SPDX-License-Identifier: Apache-2.0
"""Physics follows the UsdPhysics specification, as OpenUSD's own validators check it.

Why: engines differ in what they do with a body that has no transform, a scaled sphere or a joint with two targets.

Fails: PhysicsRigidBodyAPI on a Scope; a sphere collider scaled unevenly; a joint with more than one target per side,
or to a prim that is not there.
Passes: what OpenUSD's rigid body, collider, joint and articulation validators accept.

Reading: the validators of OpenUSD are run, and their findings are reported with their own messages.  A body below
another is fine: links are nested, and joints alone connect them.  Prims inside instances are checked once.

Fix: unsafe.  An inertia that no body can have becomes the nearest that one can; other remedies depend on the finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from simwright.checker.facts.kinematics import list_physics_nodes
from simwright.checker.facts.masses import NO_MASS
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.variant_sets import list_variant_nodes
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable

# the validators end their texts with the prim path, which a finding has anyway
_PLACE = re.compile(r",?\s*(prim path:|[Jj]oint ?[Pp]rim:?|prim:?)\s*/\S*\s*$")
_VALIDATORS = (
    "usdPhysicsValidators:RigidBodyChecker",
    "usdPhysicsValidators:ColliderChecker",
    "usdPhysicsValidators:PhysicsJointChecker",
    "usdPhysicsValidators:ArticulationChecker",
)


@rule(
    "isol-physics-spec",
    "1.4",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="write an inertia that a body can have",
)
def isol_physics_spec(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Run the validators on every prim with physics."""
    prims = [node.prim for node in list_physics_nodes(snapshot)]
    if not prims:
        return
    # imported late: only a stage with physics needs the validators
    from pxr import UsdValidation

    registry = UsdValidation.ValidationRegistry()
    validators = [registry.GetOrLoadValidatorByName(name) for name in _VALIDATORS]
    context = UsdValidation.ValidationContext([validator for validator in validators if validator])
    said: set[tuple[str, str]] = set()
    # the validators run in parallel, and what they find comes in any order
    found = sorted(
        (_find_site(error), error.GetMessage(), error.GetName()) for error in context.Validate(prims)
    )
    for (path, prop), message, name in found:
        node = snapshot.node(path)
        key = (path, message)
        if key not in said and node is not None:
            said.add(key)
            yield Finding(
                _PLACE.sub("", message).strip().rstrip("."),
                hint=f"see the UsdPhysics specification; OpenUSD calls this {name}",
                at=node,
                prop=prop,
                data={"fault": NO_MASS} if message.startswith("Mass ") else {},
                # the only one of their findings with a fix: the others depend on what was meant
                fix=None if "diagonalInertia" in message else Fixable.NO,
            )

    yield from _find_loose(snapshot, {path for path, _ in said})


def _find_loose(snapshot: StageSnapshot, known: set[str]) -> Iterator[Finding]:
    """Joints to prims that are not there, which the validators leave out where the prim is switched off."""
    # in an asset with variants variant-default-complete says it, and why
    if list_variant_nodes(snapshot):
        return
    for edge in snapshot.graph.edges:
        if edge.missing and edge.joint.path not in known:
            yield Finding(
                f"the joint's target {edge.missing[0]} does not exist: engines hold the other body to the world",
                hint="name the link that is meant, or remove the joint; for the world leave physics:body0 empty",
                at=edge.joint,
                fix=Fixable.NO,
            )


def _find_site(error: Any) -> tuple[str, str]:
    for site in error.GetSites():
        if site.IsProperty():
            return site.GetProperty().GetPrimPath().pathString, site.GetProperty().GetName()
        if site.IsPrim():
            return site.GetPrim().GetPath().pathString, ""
    return "", ""

# SPDX-License-Identifier: Apache-2.0
"""Physics follows the UsdPhysics specification, as OpenUSD's own validators check it.

Why: engines differ in what they do with a body inside a body, a scaled sphere or a joint with two targets.

Fails: a rigid body below another without a reset of the transform stack; a sphere collider scaled unevenly; a joint
with more than one target per side.
Passes: what OpenUSD's rigid body, collider, joint and articulation validators accept.

Reading: the validators of OpenUSD are run, and what they find is told in their words.  Prims inside instances are
checked once.

Fix: no.  The remedy depends on the finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from simwright.check.physics_prims import list_physics_nodes
from simwright.check.rule import Finding, rule
from simwright.check.snapshot import Snapshot

_PLACE = re.compile(r",? prim path: .*$", re.DOTALL)
_VALIDATORS = (
    "usdPhysicsValidators:RigidBodyChecker",
    "usdPhysicsValidators:ColliderChecker",
    "usdPhysicsValidators:PhysicsJointChecker",
    "usdPhysicsValidators:ArticulationChecker",
)


@rule("isol-physics-spec", "1.4", "must", on="stage")
def isol_physics_spec(snapshot: Snapshot) -> Iterator[Finding]:
    """Run the validators on every prim with physics."""
    prims = [node.prim for node in list_physics_nodes(snapshot)]
    if not prims:
        return
    from pxr import UsdValidation

    registry = UsdValidation.ValidationRegistry()
    validators = [registry.GetOrLoadValidatorByName(name) for name in _VALIDATORS]
    context = UsdValidation.ValidationContext([validator for validator in validators if validator])
    said: set[tuple[str, str]] = set()
    for error in context.Validate(prims):
        path, prop = _find_site(error)
        node = snapshot.node(path)
        key = (path, error.GetMessage())
        if key not in said and node is not None:
            said.add(key)
            yield Finding(
                _PLACE.sub("", error.GetMessage()).strip().rstrip("."),
                hint="see the UsdPhysics specification; OpenUSD calls this "
                f"{error.GetIdentifier().rpartition('.')[2] or error.GetName()}",
                at=node,
                prop=prop,
            )


def _find_site(error: Any) -> tuple[str, str]:
    for site in error.GetSites():
        if site.IsProperty():
            return site.GetProperty().GetPrimPath().pathString, site.GetProperty().GetName()
        if site.IsPrim():
            return site.GetPrim().GetPath().pathString, ""
    return "", ""

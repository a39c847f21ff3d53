# SPDX-License-Identifier: Apache-2.0
"""Physics that UsdPhysics lacks is written with ExtendedPhysics schemas.

Why: a mimic joint that is written with one engine's schema is lost in all other engines.

Fails: a joint with PhysxMimicJointAPI, NewtonMimicAPI, MjcEqualityJointAPI or MimicJointAPI only; a prim of type
NewtonActuator; an MjcActuator that is a plain motor or servo of a joint.
Passes: ExtendedPhysicsMimicAPI on the joint; a vendor's form may stand beside it in the vendor's layer; an MjcActuator
on a tendon, site or body, with a law of its own, or on a joint that has a drive.

Fix: unsafe.  The neutral schema is written beside the engine's, where the two mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.actuation import MJC, NEUTRAL, has_drives, has_neutral_form
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.vendors import NEUTRAL_APIS, NEUTRAL_TYPES
from simwright.checker.rule import Finding, rule

_APIS = {vendor: neutral for vendor, neutral in NEUTRAL_APIS.items() if neutral.startswith("ExtendedPhysics")}


@rule(
    "extphys-use",
    "1.3",
    "must",
    on=(*(f"api:{name}" for name in _APIS), *(f"type:{name}" for name in (*NEUTRAL_TYPES, MJC))),
    fix="unsafe",
    fix_title="say it with the ExtendedPhysics schema too",
)
def extphys_use(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Silent where the neutral form is there as well."""
    for vendor, neutral in _APIS.items():
        if node.has(vendor) and not node.has(neutral):
            yield Finding(
                f"{vendor} says what only one engine reads; {neutral} is missing",
                hint=f"apply {neutral} and carry its values over",
                at=node,
                data={"vendor": vendor, "neutral": neutral},
            )
    # a muscle or a motor on a tendon has no neutral form: nothing to ask of its author
    is_servo = node.type == MJC and has_neutral_form(node, snapshot) and not has_drives(node, snapshot)
    is_replaceable = node.type in NEUTRAL_TYPES or is_servo
    if is_replaceable and not node.has("ExtendedPhysicsActuatorAPI"):
        yield Finding(
            f"the prim type {node.type} is known to one engine only",
            hint=f"write {NEUTRAL_TYPES.get(node.type, NEUTRAL)}",
            at=node,
            data={"vendor": node.type},
        )

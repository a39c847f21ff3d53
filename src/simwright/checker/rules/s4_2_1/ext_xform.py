# SPDX-License-Identifier: Apache-2.0
"""An extension API is on the native type it is made for, or on an Xform.

Why: an API says more about a prim that every tool knows already.  On a prim without a type, or on a type it is not
made for, tools do not look for it.

Fails: RosControlDiffDriveAPI on a Mesh; ExtendedPhysicsFrictionAPI on an Xform (it is made for materials);
ExtendedPhysicsFooAPI on a prim without a type.
Passes: a controller on an Xform; an actuator on an Xform, a Scope or a joint, as its schema says.

Fix: none.  Only the author knows where the API belongs.

Reading: a controller on a Scope below /Robot/Controllers is plausible, so it is a warning.  Sensor*API and
ExtendedPhysicsMimicAPI are checked by other rules (sens-prim, ext-camera, xphys-mimic-valid).
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.schemas import allowed_types
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.vendors import vendor_of_schema
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule("ext-xform", "4.2.1", "must", on=("api:RosControl*", "api:ExtendedPhysics*"))
def ext_xform(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per prim for controllers, whose built-in APIs come along; one per API for physics."""
    found = node.type or "a prim without a type"
    control = [api for api in node.apis if api.startswith("RosControl") and not allowed_types(api)]
    if control and not node.is_a("Xform"):
        # a Scope below <robot>/Controllers is a plausible place for a controller
        is_scope = node.type == "Scope"
        yield Finding(
            f"{control[0]} is on {found}, it must be on an Xform",
            hint="write def Xform for the controller's prim",
            level=Level.WARNING if is_scope else None,
        )
    for api in node.apis:
        # where a mimic may be is part of what xphys-mimic-valid checks
        if api.startswith(("RosControl", "ExtendedPhysics")) and api != "ExtendedPhysicsMimicAPI":
            yield from _judge_api(api, node, found)


def _judge_api(api: str, node: PrimNode, found: str) -> Iterator[Finding]:
    """The types that the schema allows; for an unregistered physics API any type that physics describes."""
    wanted = allowed_types(api)
    if wanted and not any(node.is_a(name) for name in wanted) and _find_neutral_type(node) not in wanted:
        yield Finding(
            f"{api} is on {found}, its schema allows {', '.join(wanted)}",
            hint=f"apply it to a prim of type {' or '.join(wanted)}",
        )
    elif not wanted and api.startswith("ExtendedPhysics") and not _is_native(node):
        yield Finding(
            f"{api} is on {found}, which is neither an Xform nor a native type",
            hint="apply it to an Xform, or to the joint, material or collider that it describes",
        )


def _find_neutral_type(node: PrimNode) -> str:
    """The type of a prim without that of an engine, which its layer may give it."""
    if not vendor_of_schema(node.type):
        return node.type
    types = (spec.typeName for spec in node.prim.GetPrimStack())
    return next((name for name in types if name and not vendor_of_schema(name)), "")


def _is_native(node: PrimNode) -> bool:
    return any(node.is_a(name) for name in ("Xformable", "PhysicsJoint", "Material", "PhysicsScene"))

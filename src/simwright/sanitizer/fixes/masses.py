# SPDX-License-Identifier: Apache-2.0
"""Masses that bodies have but nobody writes down, and masses of 0 (REP-0158 1.3).

The mass that is written is the one that the asset has as it stands: of its colliders and their densities, with the
fallback of UsdPhysics where none is said.  Without a collider it is for a person to say.
"""

from __future__ import annotations

from pxr import Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.machine import read_inertials
from simwright.usd.edit import Editor, Refused

_MASS = "physics:mass"
_API = "PhysicsMassAPI"
_BODY = "PhysicsRigidBodyAPI"
_BODY_NAMES = (
    "physics:rigidBodyEnabled", "physics:kinematicEnabled", "physics:startsAsleep", "physics:velocity",
    "physics:angularVelocity", "physics:simulationOwner",
)  # fmt: skip
_MASS_NAMES = (
    _MASS, "physics:density", "physics:centerOfMass", "physics:diagonalInertia", "physics:principalAxes",
)  # fmt: skip
STANDING = ("bodies", "joints", "order", "poses", "masses", "motion", "limits", "constraints", "collisions",
            "visuals", "contacts", "frames", "sensors", "cameras", "lights", "keyframes")  # fmt: skip
"""What changes where a body becomes a part of the world."""


@fix("mass-positive", "anchor-mass")
def write_mass(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The mass that the body has now; one that only lacks its schema is made to count."""
    prim = editor.find_prim(finding.where.prim)
    said = prim.GetAttribute(_MASS).Get() if prim.GetAttribute(_MASS).HasAuthoredValue() else None
    if said is not None and said > 0.0 and _API not in prim.GetAppliedSchemas():
        editor.add_api(prim, _API)
        editor.shifts.changes.update(("masses", "motion"))
        return
    _write(editor, prim)


@fix("mass-no-zero-static")
def drop_zero(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """On a collider it says nothing; a body that a joint holds gets the mass it has, another one stands still."""
    prim = editor.find_prim(finding.where.prim)
    if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        editor.remove_property(prim, _MASS)
        if not any(prim.GetAttribute(name).HasAuthoredValue() for name in _MASS_NAMES if name != _MASS):
            editor.remove_api(prim, _API)
    elif is_jointed(prim):
        _write(editor, prim)
    else:
        make_static(editor, prim)


def make_static(editor: Editor, prim: Usd.Prim) -> None:
    """Take the body from a prim; its colliders stand still then."""
    drop_body(editor, prim)
    editor.shifts.changes.update(STANDING)


def drop_body(editor: Editor, prim: Usd.Prim) -> None:
    """Take the schemas of bodies and masses from a prim, with what they say."""
    editor.remove_api(prim, _BODY)
    editor.remove_api(prim, _API)
    for name in (*_BODY_NAMES, *_MASS_NAMES):
        if prim.GetAttribute(name).HasAuthoredValue() or prim.GetRelationship(name).HasAuthoredTargets():
            editor.remove_property(prim, name)


def is_jointed(prim: Usd.Prim) -> bool:
    """Does a joint name the body?"""
    path = prim.GetPath()
    for other in Usd.PrimRange(prim.GetStage().GetPseudoRoot(), Usd.PrimAllPrimsPredicate):
        joint = UsdPhysics.Joint(other)
        if joint and any(path in rel.GetTargets() for rel in (joint.GetBody0Rel(), joint.GetBody1Rel())):
            return True
    return False


def _write(editor: Editor, prim: Usd.Prim) -> None:
    found = read_inertials(editor).get(str(prim.GetPath()))
    if found is None or found.mass <= 0.0:
        raise Refused(
            "it has no collider that its mass could be computed from; write its mass, or make it a frame"
        )
    editor.add_api(prim, _API)
    editor.set_value(
        prim, _MASS, Sdf.ValueTypeNames.Float, found.mass / UsdPhysics.GetStageKilogramsPerUnit(editor.stage)
    )

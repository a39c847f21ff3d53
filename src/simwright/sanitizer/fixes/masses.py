# SPDX-License-Identifier: Apache-2.0
"""Masses of bodies, bodies that cannot move, and bodies that are only a place (REP-0158 1.3).

The mass that is written is the one that the asset has as it stands: of its colliders and their densities, with the
fallback of UsdPhysics where none is said.  A body without a collider that is welded to a link becomes a part of that;
the mass of another one is for a person to say (``--set mass.LINK=KILOGRAMS``).  Colliders without a body stand still by
definition; a frame that is only a place has no body and no weld, but RosFrameAPI.
"""

from __future__ import annotations

import math

import numpy as np
from pxr import Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.model.inertia import Inertial
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.welding import (
    MASS_NAMES,
    PIECES,
    drop_body,
    has_joint,
    join_link,
    read_inertials,
    write_inertial,
)
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import remove_prim

_MASS = "physics:mass"
_API = "PhysicsMassAPI"
_TOLD = "mass."
_DENSITY = 1000.0
"""The fallback of UsdPhysics [kg/m^3]."""
STANDING = ("bodies", "joints", "order", "poses", "masses", "motion", "limits", "constraints", "collisions",
            "visuals", "contacts", "frames", "sensors", "cameras", "lights", "keyframes")  # fmt: skip
"""Sections of the comparison that change where a body becomes a part of the world."""


@fix("mass-positive", "anchor-mass")
def write_mass(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """The mass that the body has now; one that only lacks its schema is made to count."""
    prim = editor.find_prim(finding.where.prim)
    said = prim.GetAttribute(_MASS).Get() if prim.GetAttribute(_MASS).HasAuthoredValue() else None
    # without the schema readers ignore the number; with it the body weighs what its author wrote
    if said is not None and said > 0.0 and _API not in prim.GetAppliedSchemas():
        editor.add_api(prim, _API)
        editor.expected.reweighed.add(str(prim.GetPath()))
        return
    _write_computed(editor, prim, given)


@fix("mass-no-zero-static")
def drop_zero(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """On a collider it says nothing; a body that a joint holds gets the mass it has, another one stands still."""
    prim = editor.find_prim(finding.where.prim)
    if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        editor.remove_property(prim, _MASS)
        if not any(prim.GetAttribute(name).HasAuthoredValue() for name in MASS_NAMES if name != _MASS):
            editor.remove_api(prim, _API)
    elif has_joint(prim):
        _write_computed(editor, prim, given)
    else:
        make_static(editor, prim)


def make_static(editor: Editor, prim: Usd.Prim) -> None:
    """Take the body from a prim; its colliders stand still then."""
    drop_body(editor, prim)
    editor.expected.sections.update(STANDING)


def _write_computed(editor: Editor, prim: Usd.Prim, given: UserValues) -> None:
    found = read_inertials(editor).get(str(prim.GetPath()))
    if found is None or found.mass <= 0.0:
        _weigh_empty(editor, prim, given)
        return
    editor.add_api(prim, _API)
    editor.set_value(
        prim, _MASS, Sdf.ValueTypeNames.Float, found.mass / UsdPhysics.GetStageKilogramsPerUnit(editor.stage)
    )


def _weigh_empty(editor: Editor, prim: Usd.Prim, given: UserValues) -> None:
    """A body that nothing gives a mass weighs what is told, or is made a part of its link if it cannot move."""
    value = f"{_TOLD}{prim.GetName()}"
    told = given.find(value)
    if told:
        write_inertial(editor, prim, _make_ball(_read_mass(value, told)))
        editor.expected.reweighed.add(str(prim.GetPath()))
        return
    try:
        join_link(editor, prim)
    except Refused as reason:
        raise Refused(
            f"it has no collider that its mass could be computed from, and {reason}; "
            f"say what it weighs with --set {value}=KILOGRAMS"
        ) from None


def _read_mass(name: str, text: str) -> float:
    """A mass that a user says [kg]."""
    try:
        mass = float(text)
    except ValueError:
        mass = math.nan
    if not 0.0 < mass < math.inf:
        raise Refused(f"{name} is {text!r}, which is not a mass [kg]")
    return mass


def _make_ball(mass: float) -> Inertial:
    """A ball about the origin, with the density that UsdPhysics takes: without an inertia engines differ in theirs."""
    radius = (3.0 * mass / (4.0 * math.pi * _DENSITY)) ** (1.0 / 3.0)
    return Inertial(mass, inertia=np.eye(3) * (0.4 * mass * radius * radius))


@fix("static-collision-only")
def drop_weld(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The body and the joint that welds it to the world go; what it is made of stays."""
    prim = editor.find_prim(finding.where.prim)
    joint = str(finding.data.get("joint", ""))
    if joint:
        if any(prim.GetAttribute(name).HasAuthoredValue() for name in MASS_NAMES):
            raise Refused("it has an authored mass: decide whether it is a prop or a robot on its stand")
        remove_prim(editor, editor.find_prim(joint))
    make_static(editor, prim)


_FRAME = "RosFrameAPI"


@fix("dummy-rosframe", changes=("ros", "frames"))
def publish_frame(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A place that has the name of a frame becomes one."""
    editor.add_api(editor.find_prim(finding.where.prim), _FRAME)


@fix("dummy-no-rigidbody", phase=1)
def make_frame(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A body that is only a place becomes a frame of its link."""
    prim = editor.find_prim(finding.where.prim)
    if not has_joint(prim):
        # as with a joint: another fix may have taken the last one, and a second run would go on where this one stopped
        if prim.HasAPI(UsdPhysics.ArticulationRootAPI):
            raise Refused("it is the root of an articulation; decide which link takes its place")
        drop_body(editor, prim)
        editor.expected.sections.update((*PIECES, "masses", "motion", "poses"))
    elif not join_link(editor, prim):
        return
    editor.add_api(prim, _FRAME)

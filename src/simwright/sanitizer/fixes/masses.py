# SPDX-License-Identifier: Apache-2.0
"""Masses that bodies have but nobody writes down, and masses of 0 (REP-0158 1.3).

The mass that is written is the one that the asset has as it stands: of its colliders and their densities, with the
fallback of UsdPhysics where none is said.  A body without a collider that is welded to a link becomes a part of that;
the mass of another one is for a person to say.
"""

from __future__ import annotations

from pxr import Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.welding import MASS_NAMES, drop_body, is_held, join_link, read_inertials
from simwright.usd.edit import Editor, Refused

_MASS = "physics:mass"
_API = "PhysicsMassAPI"
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
        editor.shifts.weighed.add(str(prim.GetPath()))
        return
    _write(editor, prim)


@fix("mass-no-zero-static")
def drop_zero(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """On a collider it says nothing; a body that a joint holds gets the mass it has, another one stands still."""
    prim = editor.find_prim(finding.where.prim)
    if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        editor.remove_property(prim, _MASS)
        if not any(prim.GetAttribute(name).HasAuthoredValue() for name in MASS_NAMES if name != _MASS):
            editor.remove_api(prim, _API)
    elif is_held(prim):
        _write(editor, prim)
    else:
        make_static(editor, prim)


def make_static(editor: Editor, prim: Usd.Prim) -> None:
    """Take the body from a prim; its colliders stand still then."""
    drop_body(editor, prim)
    editor.shifts.changes.update(STANDING)


def _write(editor: Editor, prim: Usd.Prim) -> None:
    found = read_inertials(editor).get(str(prim.GetPath()))
    if found is None or found.mass <= 0.0:
        _join(editor, prim)
        return
    editor.add_api(prim, _API)
    editor.set_value(
        prim, _MASS, Sdf.ValueTypeNames.Float, found.mass / UsdPhysics.GetStageKilogramsPerUnit(editor.stage)
    )


def _join(editor: Editor, prim: Usd.Prim) -> None:
    """What weighs nothing and cannot move is a part of its link."""
    try:
        join_link(editor, prim)
    except Refused as reason:
        raise Refused(f"it has no collider that its mass could be computed from, and {reason}") from None

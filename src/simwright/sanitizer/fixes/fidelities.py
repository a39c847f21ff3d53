# SPDX-License-Identifier: Apache-2.0
"""What colliders are for a solver: an approximation that is said, hulls by default, triangles as a choice (1.3.1)."""

from __future__ import annotations

from pxr import Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.choices import State, Value, make_choice
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

SET, BASELINE, ADVANCED = "collision_fidelity", "baseline", "advanced"
APPROXIMATION = "physics:approximation"
HULL, NONE = "convexHull", "none"
_TOKEN = Sdf.ValueTypeNames.Token
_API = "PhysicsMeshCollisionAPI"


@fix("coll-approx-none", changes=("collisions",))
def say_approximation(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """What is said, or "none", which OpenUSD takes where nothing is."""
    prim = editor.find_prim(finding.where.prim)
    editor.add_api(prim, _API)
    if not prim.GetAttribute(APPROXIMATION).HasAuthoredValue():
        editor.set_value(prim, APPROXIMATION, _TOKEN, NONE, uniform=True)


@fix("coll-dual-fidelity", changes=("collisions",), phase=0)
def offer_triangles(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Hulls for everybody, what the collider is now as a choice."""
    for path in finding.data["colliders"]:
        _offer(editor, editor.find_prim(str(path)))


def _offer(editor: Editor, prim: Usd.Prim) -> None:
    said = _read_said(prim)
    editor.add_api(prim, _API)
    finer = State(ADVANCED, {} if said else _say(NONE))
    make_choice(editor, prim, SET, State(BASELINE, _say(HULL)), finer)


def _say(approximation: str) -> dict[str, Value]:
    """The approximation as a value for a variant."""
    return {APPROXIMATION: (_TOKEN, approximation, True)}


def _read_said(prim: Usd.Prim) -> str:
    attribute = prim.GetAttribute(APPROXIMATION)
    return str(attribute.Get()) if attribute and attribute.HasAuthoredValue() else ""


@fix("coll-default-baseline", changes=("collisions",))
def make_baseline(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The variant that is there for it, or the hull."""
    prim = editor.find_prim(finding.where.prim)
    if prim.GetTypeName() != "Mesh":
        raise Refused(f"there is no hull of a {prim.GetTypeName()}; make a mesh or primitives of it")
    above = prim
    while above and not above.IsPseudoRoot():
        names = above.GetVariantSet(SET).GetVariantNames() if SET in above.GetVariantSets().GetNames() else []
        if BASELINE in names and above.GetVariantSet(SET).GetVariantSelection() != BASELINE:
            _choose_baseline(editor, above)
            return
        above = above.GetParent()
    if not prim.HasAPI(UsdPhysics.MeshCollisionAPI):
        editor.add_api(prim, _API)
    editor.set_value(prim, APPROXIMATION, _TOKEN, HULL, uniform=True)


def _choose_baseline(editor: Editor, prim: Usd.Prim) -> None:
    """Where the other one is chosen, or at home."""
    said = [spec for spec in prim.GetPrimStack() if SET in spec.variantSelections]
    spec = said[0] if said and said[0].layer.identifier in editor.own else editor.choose_home(prim)

    def apply() -> None:
        spec.variantSelections[SET] = BASELINE

    editor.add(spec.layer, spec.path, f'{SET} = "{BASELINE}"', apply)
    editor.shifts.changes |= {"stage", "visuals"}

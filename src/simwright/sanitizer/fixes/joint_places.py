# SPDX-License-Identifier: Apache-2.0
"""Joints beside their child link, inside their parent link (REP-0158 1.3).

Only the joint moves; relationships that lead to it follow, and readers meet the joints in the same order as far as
that can be.  Links that stand side by side are for a person to nest, since that changes the path of everything.
"""

from __future__ import annotations

from pxr import Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name, list_movable, map_path, move_prim

_NAME = "ros:joint:name"
_ORDER = "order of joints"


@fix("joint-placement", changes=("order",), phase=0)
def place_joints(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """All joints of a place that can be moved."""
    reasons = []
    for path in finding.data.get("joints", ()):
        count, shifts = len(editor.edits), editor.shifts.copy()
        try:
            _place(editor, editor.find_prim(str(path)))
        except Refused as reason:
            editor.drop_edits(count)
            editor.shifts = shifts
            reasons.append(str(reason))
    if len(reasons) == len(finding.data.get("joints", ())):
        raise Refused(reasons[0] if reasons else "the joints are not named")


def _place(editor: Editor, prim: Usd.Prim) -> None:
    child = _find_child(UsdPhysics.Joint(prim))
    parent = child.GetPath().GetParentPath()
    if prim.GetPath().GetParentPath() == parent:
        return
    name = _choose_name(editor, prim, parent)
    if name != prim.GetName() and not prim.GetAttribute(_NAME).HasAuthoredValue():
        _keep_name(editor, prim)
    target = parent.AppendChild(name)
    key = f"seats of {parent}"
    if key not in editor.memory:
        editor.memory[key] = _list_names(editor, parent)
    seats: list[str] = editor.memory[key]
    place = seats.index(child.GetName()) + (0 if _comes_first(editor, prim, child) else 1)
    move_prim(editor, prim, target, before=seats[place] if place < len(seats) else "")
    seats.insert(place, name)
    if sum(bool(spec.nameChildren) for spec in child.GetParent().GetPrimStack()) > 1:
        _keep_order(editor, prim, target, seats)


def _list_names(editor: Editor, path: Sdf.Path) -> list[str]:
    """Children as readers meet them."""
    prim = editor.stage.GetPrimAtPath(path)
    return [str(name) for name in prim.GetAllChildrenNames()]


def _comes_first(editor: Editor, joint: Usd.Prim, child: Usd.Prim) -> bool:
    """Do readers meet the joint before the joints inside its child link?  Then they are to do so again."""
    if _ORDER not in editor.known:
        every = Usd.PrimRange(editor.stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate)
        joints = (str(prim.GetPath()) for prim in every if prim.IsA(UsdPhysics.Joint))
        editor.known[_ORDER] = {path: number for number, path in enumerate(joints)}
    order: dict[str, int] = editor.known[_ORDER]
    inside = [number for path, number in order.items() if path.startswith(f"{child.GetPath()}/")]
    inside = [number for number in inside if number != order[str(joint.GetPath())]]
    return not inside or order[str(joint.GetPath())] < min(inside)


def _keep_order(editor: Editor, prim: Usd.Prim, target: Sdf.Path, seats: list[str]) -> None:
    """Children that several layers bring have an order of their own."""
    spec = list_movable(editor, prim)[0]
    place = map_path(spec.path, prim.GetPath(), target).GetParentPath()
    layer = spec.layer

    def apply() -> None:
        found = layer.GetPrimAtPath(place)
        if found is not None:
            found.nameChildrenOrder = seats

    editor.add(layer, place, "reorder nameChildren", apply, late=True)


def _find_child(joint: UsdPhysics.Joint) -> Usd.Prim:
    """The child link inside its parent link; for a joint to the world, the base."""
    first, second = (_find_body(joint.GetPrim(), rel) for rel in (joint.GetBody0Rel(), joint.GetBody1Rel()))
    if first is None or second is None:
        base = first or second
        if base is None:
            raise Refused("it holds no body")
        return base
    for parent, child in ((first, second), (second, first)):
        if _find_above(child) == parent:
            return child
    raise Refused(
        f"{second.GetPath()} is not inside {first.GetPath()}; decide whether links are to be nested"
    )


def _find_body(joint: Usd.Prim, rel: Usd.Relationship) -> Usd.Prim | None:
    targets = rel.GetTargets()
    prim = joint.GetStage().GetPrimAtPath(targets[0].GetPrimPath()) if targets else None
    if not prim:
        return None
    return prim if prim.HasAPI(UsdPhysics.RigidBodyAPI) else _find_above(prim)


def _find_above(prim: Usd.Prim) -> Usd.Prim | None:
    above = prim.GetParent()
    while above and not above.IsPseudoRoot():
        if above.HasAPI(UsdPhysics.RigidBodyAPI):
            return above
        above = above.GetParent()
    return None


def _choose_name(editor: Editor, prim: Usd.Prim, parent: Sdf.Path) -> str:
    """Its own name, with an ending where a link has that already."""
    name = str(prim.GetName())
    if claim_name(editor, parent, name) == name:
        return name
    return claim_name(editor, parent, name if name.endswith("_joint") else f"{name}_joint")


def _keep_name(editor: Editor, prim: Usd.Prim) -> None:
    """ROS goes on calling it what it was called."""
    home = editor.choose_home(prim)
    place, name = home.path.AppendProperty(_NAME), str(prim.GetName())

    def apply() -> None:
        spec = home.layer.GetAttributeAtPath(place)
        spec = spec or Sdf.AttributeSpec(home, _NAME, Sdf.ValueTypeNames.String)
        spec.custom = True
        spec.default = name

    editor.add(home.layer, place, f'custom string {_NAME} = "{name}"', apply)

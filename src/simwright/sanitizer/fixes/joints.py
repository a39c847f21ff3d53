# SPDX-License-Identifier: Apache-2.0
"""Joints: their place, name, limits and angles, and anchors to the world (REP-0158 1.1, 1.3, 2.10).

A joint belongs beside its child link, inside its parent link.  Only the joint moves; relationships that lead to it
follow, its name stays, and readers meet the joints in the same order as far as that can be.  Links that stand side by
side are for a person to nest, since that changes the path of everything.  Limits are never invented.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

from pxr import Gf, Sdf, Usd, UsdPhysics

from simwright.checker.facts.graph import NEXT_TO_NONE
from simwright.core.diag import Diagnostic
from simwright.core.math3d import Pose
from simwright.core.names import make_identifier
from simwright.sanitizer.conversion.index import read_index
from simwright.sanitizer.conversion.sites import rewrite
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name, list_movable, make_prim, map_path, move_prim
from simwright.usd.xform import read_world

_SCOPE = "joints"
_ORDER = "order of joints"


@fix("joint-placement", changes=("order",), phase=0)
def place_joints(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Move the joints of a finding to their places; refused only if none of them can be moved."""
    reasons = []
    for path in finding.data.get("joints", ()):
        count, expected = len(editor.edits), editor.expected.copy()
        try:
            _place_joint(editor, editor.find_prim(str(path)))
        except Refused as reason:
            editor.drop_edits(count)
            editor.expected = expected
            reasons.append(str(reason))
    if len(reasons) == len(finding.data.get("joints", ())):
        raise Refused(reasons[0] if reasons else "the joints are not named")


def _place_joint(editor: Editor, prim: Usd.Prim) -> None:
    child = _find_child(UsdPhysics.Joint(prim))
    parent = child.GetPath().GetParentPath()
    if prim.GetPath().GetParentPath() == parent or prim.GetPath().pathString in editor.expected.moved:
        return
    name = str(prim.GetName())
    target = parent.AppendChild(name)
    _make_room(editor, target)
    if _is_taken(editor, target):
        _put_in_scope(editor, prim, parent)
        return
    seats = _list_seats(editor, parent)
    place = seats.index(child.GetName()) + (0 if _comes_first(editor, prim, child) else 1)
    move_prim(editor, prim, target, before=seats[place] if place < len(seats) else "")
    seats.insert(place, name)
    _leave_seat(editor, prim)
    # with one layer the place in its list is the order; several layers need an order that is said
    if sum(bool(spec.nameChildren) for spec in child.GetParent().GetPrimStack()) > 1:
        _keep_order(editor, prim, target, seats)


def _list_seats(editor: Editor, path: Sdf.Path) -> list[str]:
    """Children as readers meet them, with those that come and without those that leave."""
    # joints of one place move one after the other: each has to know where the others are going to stand
    key = f"seats of {path}"
    if key not in editor.memory:
        editor.memory[key] = [str(name) for name in editor.stage.GetPrimAtPath(path).GetAllChildrenNames()]
    seats: list[str] = editor.memory[key]
    return seats


def _leave_seat(editor: Editor, prim: Usd.Prim) -> None:
    seats = _list_seats(editor, prim.GetPath().GetParentPath())
    if prim.GetName() in seats:
        seats.remove(prim.GetName())


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
    # body0 is not always the parent: what counts is which link is inside the other
    for parent, child in ((first, second), (second, first)):
        if _find_above(child) == parent:
            return child
    if _divides(first, second):
        return second
    raise Refused(
        f"{second.GetPath()} is not inside {first.GetPath()}; decide whether links are to be nested"
    )


def _divides(link: Usd.Prim, child: Usd.Prim) -> bool:
    """Does a link of next to no mass beside the child only divide a joint of several axes?  As the rule has it."""
    if link.GetAllChildren() or link.GetParent() != child.GetParent():
        return False
    own = link.GetAttribute("physics:mass").Get() or 0.0
    masses = [each.GetAttribute("physics:mass").Get() or 0.0 for each in link.GetParent().GetChildren()]
    return 0.0 < own < NEXT_TO_NONE * max(masses)


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


def _make_room(editor: Editor, target: Sdf.Path) -> None:
    """A joint of the same name that is to leave the place leaves it first."""
    other = editor.stage.GetPrimAtPath(target)
    if other and other.IsA(UsdPhysics.Joint):
        with contextlib.suppress(Refused):
            _place_joint(editor, other)


def _is_taken(editor: Editor, target: Sdf.Path) -> bool:
    """Is or comes a prim there that stays?"""
    comes = target.pathString in editor.expected.moved.values() or target.pathString in editor.expected.added
    stays = editor.stage.GetPrimAtPath(target) and target.pathString not in editor.expected.moved
    return comes or bool(stays)


def _put_in_scope(editor: Editor, prim: Usd.Prim, parent: Sdf.Path) -> None:
    """Below a scope in the parent link: engines know a joint by the name of its prim, and it is taken there."""
    scope = parent.AppendChild(_SCOPE)
    there = editor.stage.GetPrimAtPath(scope)
    if there and there.GetTypeName() != "Scope":
        raise Refused(f"{parent} has a prim of the joint's name, and another called {_SCOPE}")
    target = scope.AppendChild(prim.GetName())
    if _is_taken(editor, target):
        raise Refused(f"{target} is there already")
    if not there and scope.pathString not in editor.expected.added:
        specs = list_movable(editor, prim)
        spec = next((each for each in specs if each.specifier == Sdf.SpecifierDef), specs[0])
        home = map_path(spec.path, prim.GetPath(), scope)
        make_prim(editor, prim, home, "Scope", layer=spec.layer)
        editor.expected.added.discard(home.pathString)
        editor.expected.added.add(scope.pathString)
    move_prim(editor, prim, target)
    _leave_seat(editor, prim)


@fix("jname-aligned", phase=0)
def rename_joint(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The prim gets the name; what leads to it follows, and ROS keeps what it knows."""
    prim = editor.find_prim(finding.where.prim)
    wanted = make_identifier(str(finding.data["value"]))
    parent = prim.GetPath().GetParentPath()
    if claim_name(editor, parent, wanted) != wanted:
        raise Refused(f"something else is called {wanted} already")
    move_prim(editor, prim, parent.AppendChild(wanted))


_FREE = {
    "PhysicsRevoluteJoint": (("physics:lowerLimit", -math.inf), ("physics:upperLimit", math.inf)),
    "PhysicsPrismaticJoint": (("physics:lowerLimit", -math.inf), ("physics:upperLimit", math.inf)),
    "PhysicsSphericalJoint": (("physics:coneAngle0Limit", -1.0), ("physics:coneAngle1Limit", -1.0)),
}


@fix("joint-limits")
def say_free(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The fallbacks, in words."""
    prim = editor.find_prim(finding.where.prim)
    values = _FREE.get(str(prim.GetTypeName()), ())
    # where one end is said, the other is a fault that only the author can repair
    if not values or any(prim.GetAttribute(name).HasAuthoredValue() for name, _ in values):
        raise Refused("the limits of the real joint have to be known")
    for name, value in values:
        editor.set_value(prim, name, Sdf.ValueTypeNames.Float, value)


_ANGLES = ("physics:lowerLimit", "physics:upperLimit", "drive:angular:physics:targetPosition",
           "drive:angular:physics:targetVelocity")  # fmt: skip


@fix("xform-etl-radians", phase=2, changes=("limits", "drives", "actuators", "motion", "poses"))
def write_degrees(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Limits and targets of the whole mechanism; gains per degree cannot be told from gains per radian."""
    index = read_index(editor)
    for path in finding.data["joints"]:
        prim = editor.find_prim(path)
        if prim.IsInstanceProxy():
            raise Refused(f"{path} is part of what instances share; fix the part itself")
        for name in _ANGLES:
            rewrite(editor, index, prim, name, _to_degrees)


def _to_degrees(value: Any) -> Any:
    # infinity means no limit in any unit
    return math.degrees(value) if math.isfinite(value) else value


_KINDS = Sdf.ValueTypeNames
_FIRST, _SECOND = "physics:body0", "physics:body1"


@fix("anchor-fixedjoint")
def empty_first(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A fixed joint is the same seen from its other end; a prim that is not a body is the world at its place."""
    prim = editor.find_prim(finding.where.prim)
    joint = UsdPhysics.Joint(prim)
    first, second = joint.GetBody0Rel().GetTargets(), joint.GetBody1Rel().GetTargets()
    if first and not second:
        _swap_ends(editor, prim, first)
        return
    stands = editor.stage.GetPrimAtPath(first[0]) if len(first) == 1 else None
    if not stands or _is_on_body(stands):
        raise Refused("which body is meant has to be decided")
    place = read_world(stands)
    if not place.is_rigid:
        raise Refused(f"{first[0]} is scaled")
    turn = _read_value(prim, "physics:localRot0")
    here = Pose.of([float(v) for v in _read_value(prim, "physics:localPos0")], [turn.real, *turn.imaginary])
    there = place.pose @ here
    editor.remove_property(prim, _FIRST)
    editor.set_value(prim, "physics:localPos0", _KINDS.Point3f, Gf.Vec3f(*(float(v) for v in there.p)))
    editor.set_value(prim, "physics:localRot0", _KINDS.Quatf, Gf.Quatf(*(float(v) for v in there.q)))


def _swap_ends(editor: Editor, prim: Usd.Prim, body: list[Sdf.Path]) -> None:
    editor.set_targets(prim, _SECOND, body)
    editor.set_targets(prim, _FIRST, [])
    for name, kind in (("physics:localPos", _KINDS.Point3f), ("physics:localRot", _KINDS.Quatf)):
        first, second = (_read_value(prim, f"{name}{end}") for end in (0, 1))
        editor.set_value(prim, f"{name}0", kind, second)
        editor.set_value(prim, f"{name}1", kind, first)


def _is_on_body(prim: Usd.Prim) -> bool:
    """Is it a body, or a part of one?"""
    while prim and not prim.IsPseudoRoot():
        if prim.HasAPI(UsdPhysics.RigidBodyAPI):
            return True
        prim = prim.GetParent()
    return False


def _read_value(prim: Usd.Prim, name: str) -> Gf.Vec3f | Gf.Quatf:
    attribute = prim.GetAttribute(name)
    if attribute.GetNumTimeSamples():
        raise Refused(f"{name} changes over time")
    return attribute.Get()

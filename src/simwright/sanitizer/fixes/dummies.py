# SPDX-License-Identifier: Apache-2.0
"""Frames that are only a place (REP-0158 1.3): no body, no weld, but RosFrameAPI.

The weld goes; other fixed joints of the frame lead to its link instead, and what the frame weighs becomes a part of the
link.  The rigid piece that both were is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.core.math3d import Pose
from simwright.model.inertia import Inertial, combine
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.masses import drop_body
from simwright.sanitizer.machine import read_inertials
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import remove_prim
from simwright.usd.xform import read_local

_FRAME = "RosFrameAPI"
_ROOT = "PhysicsArticulationRootAPI"
_KINDS = Sdf.ValueTypeNames
_PIECES = ("bodies", "joints", "order", "frames", "ros", "keyframes")
"""Bodies are cut in another way; the rigid pieces that they make stay, and are compared."""
_merged: WeakKeyDictionary[Editor, dict[str, Inertial]] = WeakKeyDictionary()


@dataclass(slots=True)
class _End:
    """One end of a fixed joint: ``side`` is 0 or 1, ``other`` the body at the other end or None."""

    joint: UsdPhysics.Joint
    side: int
    other: Usd.Prim | None


@fix("dummy-rosframe", changes=("ros", "frames"))
def publish_frame(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A place that has the name of a frame becomes one."""
    editor.add_api(editor.find_prim(finding.where.prim), _FRAME)


@fix("dummy-no-rigidbody", phase=0)
def make_frame(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A body that is only a place becomes a frame of its link."""
    prim = editor.find_prim(finding.where.prim)
    if prim.HasAPI(UsdPhysics.ArticulationRootAPI):
        raise Refused("it is the root of an articulation; decide which link takes its place")
    ends = _find_ends(prim)
    weld = next((end for end in ends if end.other and prim.GetPath().HasPrefix(end.other.GetPath())), None)
    if ends and (weld is None or weld.other is None):
        raise Refused("it stands beside its link; put it below first")
    if weld is not None and weld.other is not None:
        _check_scale(prim, weld.other)
        pose = _read_pose(weld.joint, 1 - weld.side) @ ~_read_pose(weld.joint, weld.side)
        for end in ends:
            if end is not weld:
                _lead_to(editor, end, weld.other, pose)
        _add_mass(editor, prim, weld.other, pose)
        remove_prim(editor, weld.joint.GetPrim())
        editor.shifts.changes.update(_PIECES)
    else:
        editor.shifts.changes.update((*_PIECES, "masses", "motion", "poses"))
    drop_body(editor, prim)
    editor.add_api(prim, _FRAME)


def _find_ends(prim: Usd.Prim) -> list[_End]:
    """The joints that hold a body."""
    found = []
    stage = prim.GetStage()
    for other in Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate):
        joint = UsdPhysics.Joint(other)
        if not joint:
            continue
        targets = [rel.GetTargets() for rel in (joint.GetBody0Rel(), joint.GetBody1Rel())]
        for side in (0, 1):
            if targets[side] == [prim.GetPath()]:
                there = targets[1 - side]
                body = stage.GetPrimAtPath(there[0]) if there else None
                is_body = body is not None and body.HasAPI(UsdPhysics.RigidBodyAPI)
                found.append(_End(joint, side, body if is_body else None))
    return found


def _check_scale(prim: Usd.Prim, link: Usd.Prim) -> None:
    """Joint frames count in the units of their body."""
    above = prim
    while above and above != link.GetParent():
        if above.IsA(UsdGeom.Xformable) and not read_local(above).is_rigid:
            raise Refused(f"{above.GetPath()} is scaled")
        above = above.GetParent()


def _read_pose(joint: UsdPhysics.Joint, side: int) -> Pose:
    attributes = [joint.GetPrim().GetAttribute(f"physics:local{word}{side}") for word in ("Pos", "Rot")]
    if any(attribute.ValueMightBeTimeVarying() for attribute in attributes):
        raise Refused("a joint frame changes over time")
    place, turn = (attribute.Get() for attribute in attributes)
    return Pose.of([float(v) for v in place], [turn.real, *turn.imaginary])


def _lead_to(editor: Editor, end: _End, link: Usd.Prim, pose: Pose) -> None:
    """Let a joint hold the link where it held the frame."""
    prim = end.joint.GetPrim()
    moved = pose @ _read_pose(end.joint, end.side)
    editor.set_targets(prim, f"physics:body{end.side}", [link.GetPath()])
    place: Any = Gf.Vec3f(*(float(v) for v in moved.p))
    editor.set_value(prim, f"physics:localPos{end.side}", _KINDS.Point3f, place)
    turn = Gf.Quatf(*(float(v) for v in moved.q))
    editor.set_value(prim, f"physics:localRot{end.side}", _KINDS.Quatf, turn)


def _add_mass(editor: Editor, prim: Usd.Prim, link: Usd.Prim, pose: Pose) -> None:
    """What the frame weighs, on the link; frames of one link add up."""
    weights = read_inertials(editor)
    mine = weights.get(str(prim.GetPath()))
    if mine is None or mine.mass <= 0.0:
        return
    known = _merged.setdefault(editor, {})
    theirs = known.get(str(link.GetPath())) or weights.get(str(link.GetPath()))
    if theirs is None:
        raise Refused("its link has no mass that its own could be added to")
    length = UsdGeom.GetStageMetersPerUnit(editor.stage)
    total = combine([theirs, mine.moved(Pose(pose.p * length, pose.q))])
    known[str(link.GetPath())] = total
    _write_mass(editor, link, total, length)


def _write_mass(editor: Editor, link: Usd.Prim, total: Inertial, length: float) -> None:
    if link.GetAttribute("newton:inertia").HasAuthoredValue():
        raise Refused("its link has an inertia in an engine's words; translate it first")
    mass = UsdPhysics.GetStageKilogramsPerUnit(editor.stage)
    moments, axes = total.principal()
    editor.add_api(link, "PhysicsMassAPI")
    editor.set_value(link, "physics:mass", _KINDS.Float, total.mass / mass)
    center: Any = Gf.Vec3f(*(float(v) / length for v in total.com))
    editor.set_value(link, "physics:centerOfMass", _KINDS.Point3f, center)
    diagonal = Gf.Vec3f(*(float(v) / (mass * length * length) for v in moments))
    editor.set_value(link, "physics:diagonalInertia", _KINDS.Float3, diagonal)
    editor.set_value(link, "physics:principalAxes", _KINDS.Quatf, Gf.Quatf(*(float(v) for v in axes)))

# SPDX-License-Identifier: Apache-2.0
"""Anchors of robots (REP-0158 1.3): a fixed joint whose empty body0 is the world."""

from __future__ import annotations

from pxr import Gf, Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.core.math3d import Pose
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import read_world

_KINDS = Sdf.ValueTypeNames
_FIRST, _SECOND = "physics:body0", "physics:body1"


@fix("anchor-fixedjoint")
def empty_first(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A fixed joint is the same seen from its other end; a prim that is no body is the world at its place."""
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

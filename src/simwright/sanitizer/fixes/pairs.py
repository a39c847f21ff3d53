# SPDX-License-Identifier: Apache-2.0
"""Filtered pairs that do nothing (REP-0158 1.3.3)."""

from __future__ import annotations

from pxr import Sdf, Usd, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_PAIRS = "physics:filteredPairs"


@fix("selfcoll-pairs", changes=("contacts",))
def drop_idle_pairs(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Pairs that a joint filters anyway, and targets that are not there."""
    if "is paired with" in finding.message:
        raise Refused("which bodies a collision group is to hold has to be decided")
    prim = editor.find_prim(finding.where.prim)
    targets = UsdPhysics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets()
    book = editor.memory.get("joined") or _list_joined(editor.stage)
    joined = editor.memory.setdefault("joined", book).get(prim.GetPath(), set())
    left = [path for path in targets if path not in joined and editor.stage.GetObjectAtPath(path)]
    if left == targets:
        return
    editor.set_targets(prim, _PAIRS, left)
    if not left:
        editor.remove_api(prim, "PhysicsFilteredPairsAPI")


def _list_joined(stage: Usd.Stage) -> dict[Sdf.Path, set[Sdf.Path]]:
    """By body, those that a joint connects it with, and keeps from colliding with it."""
    found: dict[Sdf.Path, set[Sdf.Path]] = {}
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdPhysics.Joint):
            continue
        joint = UsdPhysics.Joint(prim)
        ends = {*joint.GetBody0Rel().GetTargets(), *joint.GetBody1Rel().GetTargets()}
        if joint.GetJointEnabledAttr().Get() and not joint.GetCollisionEnabledAttr().Get():
            for end in ends:
                found.setdefault(end, set()).update(ends - {end})
    return found

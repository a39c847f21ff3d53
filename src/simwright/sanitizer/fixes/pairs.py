# SPDX-License-Identifier: Apache-2.0
"""Filtered pairs that do nothing (REP-0158 1.3.3)."""

from __future__ import annotations

from pxr import Usd, UsdPhysics

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
    joined = _list_joined(editor.stage, prim)
    left = [path for path in targets if path not in joined and editor.stage.GetObjectAtPath(path)]
    if left == targets:
        return
    editor.set_targets(prim, _PAIRS, left)
    if not left:
        editor.remove_api(prim, "PhysicsFilteredPairsAPI")


def _list_joined(stage: Usd.Stage, prim: Usd.Prim) -> set[object]:
    """Bodies that a joint connects with a body, and keeps from colliding with it."""
    found: set[object] = set()
    for other in stage.Traverse(Usd.TraverseInstanceProxies()):
        if not other.IsA(UsdPhysics.Joint):
            continue
        joint = UsdPhysics.Joint(other)
        ends = {*joint.GetBody0Rel().GetTargets(), *joint.GetBody1Rel().GetTargets()}
        filters = joint.GetJointEnabledAttr().Get() and not joint.GetCollisionEnabledAttr().Get()
        if filters and prim.GetPath() in ends:
            found |= ends - {prim.GetPath()}
    return found

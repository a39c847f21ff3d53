# SPDX-License-Identifier: Apache-2.0
"""A frame that is animated says ros:frame:static = false.

Why: a static frame is sent once, to /tf_static.  If its prim moves by time samples, listeners keep the first
pose for ever.

Fails: RosFrameAPI on an Xform with `xformOp:translate.timeSamples` and no ros:frame:static (the fallback is true).
Passes: the same with `bool ros:frame:static = false`.

Fix: unsafe.  Authoring false is right if the animation is meant; the samples may also be left over.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import UsdGeom

from simwright.checker.facts.lineage import walk_up
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "frame-dynamic",
    "2.7",
    "must",
    on="api:RosFrameAPI",
    fix="unsafe",
    fix_title="author ros:frame:static = false",
)
def frame_dynamic(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Look at every transform between the frame and the frame above it."""
    static = node.authored("ros:frame:static")
    if static is not None and not isinstance(static, bool):
        yield Finding(
            f"ros:frame:static is {static!r}, it must be true or false",
            hint="write bool ros:frame:static = false for a moving frame, else leave it out",
            prop="ros:frame:static",
        )
        return
    moving = None if static is False else _find_moving(node, snapshot)
    if moving is not None:
        which = "its own transform" if moving is node else f"the transform of {moving.path} above it"
        yield Finding(
            f"the frame is static, but {which} has time samples",
            hint="write bool ros:frame:static = false, or remove the time samples",
            prop="ros:frame:static",
            # leftover samples that all hold one value look the same
            level=Level.WARNING,
        )


def _find_moving(node: PrimNode, snapshot: StageSnapshot) -> PrimNode | None:
    """The first prim with an animated transform, up to the next frame (aside)."""
    if _is_animated(node):
        return node
    frames = snapshot.names.frame_of
    for above in walk_up(node, snapshot):
        # tf2 has the transform to the next frame above; what moves beyond it is that frame's
        if above.path in frames:
            return None
        if _is_animated(above):
            return above
    return None


def _is_animated(node: PrimNode) -> bool:
    xformable = UsdGeom.Xformable(node.prim)
    return bool(xformable and xformable.TransformMightBeTimeVarying())

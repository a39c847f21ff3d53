# SPDX-License-Identifier: Apache-2.0
"""The origin of an asset that stands on the ground is at the bottom centre of its bounding box.

Why: a rack that is placed at z = 0 of a scene then stands on the floor at the place that was chosen, in every
simulator.

Fails: a component without joints whose lowest point is not at z = 0, or whose middle is not above the origin.
Passes: bottom at z = 0 and the origin in the middle; robots (they have joints); sensors, lamps, wall and ceiling
fixtures, floors, and what else the name says does not stand on the ground.

Geometry with purpose guide (colliders, helpers) does not count.  Only the selected variants are looked at.

Fix: unsafe.  The children are moved; every place where the asset is used has to be moved back.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Tf, Usd, UsdGeom

from simwright.checker.facts.bases import split_name
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.wording import show_numbers
from simwright.checker.rule import Finding, rule
from simwright.usd.silence import capture

# words of things that are mounted, carried, or the ground itself: their origin is where they are attached
_ELSEWHERE = frozenset({
    "sensor", "camera", "lidar", "radar", "imu", "gps", "wall", "ceiling", "lamp", "light", "sign", "hook", "bracket",
    "mount", "fixture", "tool", "gripper", "hand", "floor", "ground", "terrain", "plane", "part", "screw", "bolt",
    "propeller", "drone", "shelf", "door", "window", "link", "module",
})  # fmt: skip
# colliders have the purpose guide and often reach below the visible foot
_PURPOSES = (UsdGeom.Tokens.default_, UsdGeom.Tokens.render, UsdGeom.Tokens.proxy)


@rule(
    "pivot-ground",
    "1.1",
    "should",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="move the children so that the origin is at the bottom centre",
)
def pivot_ground(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Bounds of the default prim in its own frame."""
    root = snapshot.default_node
    top = snapshot.root_layer.pseudoRoot
    # where Y is said to be up, axis-up-z comes first: the bottom is another side
    if root is None or (top.HasInfo("upAxis") and top.GetInfo("upAxis") != UsdGeom.Tokens.z):
        return
    if not _stands_on_ground(root, snapshot):
        return
    bounds = _read_bounds(root)
    if bounds is None:
        return
    low, high = bounds
    size = [b - a for a, b in zip(low, high, strict=True)]
    middle = [(a + b) / 2.0 for a, b in zip(low, high, strict=True)]
    # a millimetre, or a hundredth of the height: rubber feet and modelling noise
    lifted = abs(low[2]) > max(0.001, 0.01 * size[2])
    aside = any(abs(middle[i]) > max(0.001, 0.05 * size[i]) for i in (0, 1))
    if lifted or aside:
        where = "the middle is" if aside and not lifted else "the bottom centre is"
        yield Finding(
            f"{where} at {show_numbers((middle[0], middle[1], low[2]))} from the origin",
            hint="move the geometry so that the origin is at the bottom centre of the bounding box",
            at=root,
            data={"min": low, "max": high},
        )


def _stands_on_ground(root: PrimNode, snapshot: StageSnapshot) -> bool:
    # a mechanism has its origin at base_link (pivot-rep105), a scene where its author likes it
    if Usd.ModelAPI(root.prim).GetKind() != "component" or snapshot.joints or snapshot.interfaces:
        return False
    return not _ELSEWHERE.intersection(split_name(root.name))


def _read_bounds(root: PrimNode) -> tuple[list[float], list[float]] | None:
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), list(_PURPOSES), useExtentsHint=True)
    try:
        # what OpenUSD prints about broken extents is not a finding of this rule
        with capture():
            box = cache.ComputeUntransformedBound(root.prim).ComputeAlignedRange()
    except Tf.ErrorException:
        return None
    return None if box.IsEmpty() else (list(box.GetMin()), list(box.GetMax()))

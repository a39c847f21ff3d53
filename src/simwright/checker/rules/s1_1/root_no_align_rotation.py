# SPDX-License-Identifier: Apache-2.0
"""The asset's root has no rotation.

Why: a root that is turned to make Y-up geometry stand upright loses the turn as soon as somebody places the
asset, because placing writes the root's transform.

Fails: `xformOp:rotateX = 90` on the default prim, or on an Xform that is above all bodies; the same as orient
or hidden in a matrix.
Passes: an identity orient on the root; turned children of an assembly (that is placement); turned links.

Fix: unsafe.  The rotation is baked into the children and set to none.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Usd

from simwright.checker.facts.kinematics import find_common_path
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import find_rotation, read_stack
from simwright.checker.facts.wording import show_number, show_numbers
from simwright.checker.rule import Finding, rule

_AGGREGATES = ("assembly", "group")


@rule(
    "root-no-align-rotation",
    "1.1",
    "must not",
    on="stage",
    fix="unsafe",
    fix_title="bake the rotation into the children",
)
def root_no_align_rotation(snapshot: StageSnapshot) -> Iterator[Finding]:
    """The root, and what stands between it and all bodies."""
    root = snapshot.default_node or _find_only_root(snapshot)
    if root is None:
        return
    for node in (root, *_list_shared_parents(root, snapshot)):
        found = find_rotation(node, snapshot)
        if found is None:
            continue
        angle, axis = found
        ops = read_stack(node, snapshot).ops
        turning = next((op.name for op in ops if op.is_euler or op.kind in ("orient", "transform")), "")
        what = "the asset's root" if node is root else "this Xform above all bodies"
        yield Finding(
            f"{what} is turned by {show_number(round(angle, 3))} degrees "
            f"about {show_numbers(round(v, 4) for v in axis)}",
            hint="apply the rotation to the geometry and to the poses below, and leave the identity here",
            at=node,
            prop=turning,
            data={"angle": angle, "axis": list(axis)},
        )


def _find_only_root(snapshot: StageSnapshot) -> PrimNode | None:
    roots = [node for node in snapshot.nodes if node.parent is None and node.is_a("Xformable")]
    return roots[0] if len(roots) == 1 else None


def _list_shared_parents(root: PrimNode, snapshot: StageSnapshot) -> list[PrimNode]:
    """Xforms below the root that are above every body; a model of its own is placed, not aligned."""
    inside = [body.path for body in snapshot.bodies if body.path.startswith(f"{root.path}/")]
    # the children of an assembly are placed, and placing includes turning
    if not inside or Usd.ModelAPI(root.prim).GetKind() in _AGGREGATES:
        return []
    deepest = snapshot.node(find_common_path(inside))
    found: list[PrimNode] = []
    for node in reversed(_list_upwards(deepest, root)):
        # from a body or a model downwards a rotation is its pose, not a correction of the up axis
        if node.has("PhysicsRigidBodyAPI") or Usd.ModelAPI(node.prim).GetKind() in (
            "component",
            *_AGGREGATES,
        ):
            break
        found.append(node)
    return found


def _list_upwards(node: PrimNode | None, root: PrimNode) -> list[PrimNode]:
    """The node and its ancestors below the root."""
    found: list[PrimNode] = []
    while node is not None and node is not root:
        found.append(node)
        node = node.parent
    return found if node is root else []

# SPDX-License-Identifier: Apache-2.0
"""Which prims are kinematic, which are leaf geometry, and which have physics (REP-0158 1.1)."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING

from simwright.checker.facts.transforms import read_stack

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


def walk_inheritors(node: PrimNode, snapshot: StageSnapshot) -> Iterator[PrimNode]:
    """Xformable prims below a node that its transform moves: the walk ends where the stack is reset."""
    pending = list(reversed(node.below()))
    while pending:
        below = pending.pop()
        if below.is_a("Xformable"):
            if read_stack(below, snapshot).resets:
                continue
            yield below
        pending.extend(reversed(below.below()))


def is_leaf_geometry(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Is it a shape that nothing Xformable hangs on, or the root of instanced or point-instanced shapes?"""
    if node.is_a("Gprim"):
        return not node.below() or not any(walk_inheritors(node, snapshot))
    holds_shapes = node.prototype is not None or node.is_a("PointInstancer")
    return holds_shapes and not any(is_frame(n) for n in walk_inheritors(node, snapshot))


class KinematicRole(enum.StrEnum):
    """Why a prim's transform is a kinematic one."""

    BODY = "rigid body"
    BETWEEN = "Xform between two bodies"
    FRAME = "TF frame"


def list_kinematic(snapshot: StageSnapshot) -> dict[int, tuple[PrimNode, KinematicRole]]:
    """Bodies, the Xformable prims between a body and the next one above, and frames, by ``id`` of the node."""
    return snapshot.shared("kinematics", _gather_kinematic)


def find_common_path(paths: list[str]) -> str:
    """The deepest path that is at or above all of them; empty when only the stage is.

    The first and the last in order of the alphabet are enough: what they share, all share.
    """
    if not paths:
        return ""
    first, last = min(paths).split("/"), max(paths).split("/")
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    return "/".join(first[:shared])


def is_frame(node: PrimNode) -> bool:
    """Is it a rigid body or a TF frame?"""
    return node.has("PhysicsRigidBodyAPI") or node.has("RosFrameAPI")


def _gather_kinematic(snapshot: StageSnapshot) -> dict[int, tuple[PrimNode, KinematicRole]]:
    found = {id(node): (node, KinematicRole.FRAME) for node in snapshot.frames}
    for body in snapshot.bodies:
        between: list[PrimNode] = []
        for above in body.ancestors():
            if above.has("PhysicsRigidBodyAPI"):
                found.update((id(node), (node, KinematicRole.BETWEEN)) for node in between)
                break
            if above.is_a("Xformable"):
                between.append(above)
    # last, so that a body that is also a frame is held to a body's rules
    found.update((id(node), (node, KinematicRole.BODY)) for node in snapshot.bodies)
    return found


def list_physics_nodes(snapshot: StageSnapshot) -> list[PrimNode]:
    """Nodes of a Physics type or with a Physics API, those in prototypes included."""
    return snapshot.shared("physics nodes", _list_physics_nodes)


def _list_physics_nodes(snapshot: StageSnapshot) -> list[PrimNode]:
    kinds = {
        kind
        for kind in snapshot.kinds()
        # by kind of prim: there are a few dozen on a stage of any size
        if kind[0].startswith("Physics") or any(api.startswith("Physics") for api in kind[1])
    }
    return [node for node in snapshot.nodes if node.kind_facts.kind in kinds]

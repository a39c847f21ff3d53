# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies and joints have no scale.

Why: a scaled body scales its shapes, its joint frames and everything below, but not its mass properties.
Engines bake, ignore or refuse it.

Fails: `xformOp:scale = (2, 2, 2)` on a body, at any time sample; a body's matrix that hides a scale; a scale
on a joint, which is not even transformable.
Passes: no scale op; the scale on the leaf geometry below the body.

Reading: a scale op of 1 (but for float noise such as 0.9999999) is tolerated and reported as an info.

Fix: safe for a scale of 1, which is removed; unsafe otherwise: the scale is pushed to leaf geometry and joint
frames.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import (
    find_scale,
    is_unit_scale,
    list_values,
    read_stack,
    read_transforms,
)
from simwright.checker.facts.wording import show_numbers, show_value
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level


@rule(
    "scale-kinematic-identity",
    "1.1",
    "must",
    on=("api:PhysicsRigidBodyAPI", "isa:PhysicsJoint"),
    fix="unsafe",
    fix_title="remove the scale, pushing it to the leaf geometry",
)
# one function: a scale op and a scale in a matrix are the two ways to say one thing, and exclude each other
# here
def scale_kinematic_identity(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Scale ops at every time, and the scale in a matrix."""
    # most bodies have translate and orient only, which the layers have told already
    if not read_transforms(snapshot).may_have(node):
        return
    if node.is_a("PhysicsJoint"):
        yield from _judge_joint(node)
        return
    stack = read_stack(node, snapshot)
    scales = [op for op in stack.ops if op.is_scale]
    for op in dict.fromkeys(scales):
        values = list_values(node, op)
        if not is_unit_scale(node, op):
            # an animated scale may be 1 at the default time: show a value that is wrong
            shown = next((v for v in values if show_value(v) != "(1, 1, 1)"), values[0])
            yield Finding(
                f"{op.name} of this rigid body is {show_value(shown)}, it must be (1, 1, 1) or absent",
                hint="put the scale on the leaf geometry, scale joint positions with it, and remove the op",
                at=node,
                prop=op.name,
            )
        else:
            yield Finding(
                f"{op.name} of this rigid body is 1: it does nothing",
                hint="remove it from xformOpOrder",
                at=node,
                prop=op.name,
                level=Level.INFO,
                fix=Fixable.SAFE,
            )
    matrix = next((op for op in stack.ops if op.kind == "transform"), None)
    # with a scale op beside it the product of both would be reported twice
    if matrix is not None and not scales:
        hidden = find_scale(node, snapshot)
        if hidden is not None:
            yield Finding(
                f"the matrix {matrix.name} of this rigid body hides a scale of {show_numbers(hidden)}",
                hint="write translate and orient, and put the scale on the leaf geometry",
                at=node,
                prop=matrix.name,
            )


def _judge_joint(node: PrimNode) -> Iterator[Finding]:
    value = node.authored("xformOp:scale")
    if value is not None and show_value(value) != "(1, 1, 1)":
        yield Finding(
            f"xformOp:scale of this joint is {show_value(value)}; joints have no scale, and OpenUSD ignores it",
            hint="remove the attribute; a joint's frames are physics:localPos and physics:localRot",
            at=node,
            prop="xformOp:scale",
            fix=Fixable.SAFE,
        )

# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies, and the Xforms between them, have the ops translate and orient, once each, in that order.

Why: that is exactly what geometry_msgs/Transform holds.  Anything else (pivots, Euler angles, matrices, reset
stacks) has to be worked out by every reader, and readers differ.

Fails: `xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]` on a body; `!resetXformStack!`; suffixed ops
such as `xformOp:translate:pivot`; orient before translate; ops that are authored but not in xformOpOrder.
Passes: `xformOpOrder = ["xformOp:translate", "xformOp:orient"]`, in half, float or double precision, also when
the order comes from a weaker layer.

Reading: a scale op is left to scale-kinematic-identity.  A body without any op is at its parent's origin: an info.
Joints have no transform.  The same on a frame (RosFrameAPI) is a warning.  In source assets (`asset-state =
"source"`) rotateXYZ may stand for orient.

Fix: safe where the local transform is a pose (it is written as translate and orient); unsafe where it holds
scale or shear, is animated, or resets the stack.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.kinematics import KinematicRole, list_kinematic
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import ORDER, OpStack, list_local, list_strays, read_stack
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level
from simwright.usd.questions import attribute_of, value_type_of

_QUATERNIONS = (Sdf.ValueTypeNames.Quatf, Sdf.ValueTypeNames.Quatd, Sdf.ValueTypeNames.Quath)
_WANTED = ["translate", "orient"]
_HINT = 'write xformOpOrder = ["xformOp:translate", "xformOp:orient"]'


@rule(
    "xform-minimal-stack",
    "1.1",
    "must",
    on="stage",
    fix="safe",
    fix_title="write the local transform as translate and orient",
)
def xform_minimal_stack(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare the ops, scale aside, with translate and orient."""
    # stacks are shared objects and there are few: each is judged once for thousands of links
    faults: dict[OpStack, str] = {}
    for node, role in list_kinematic(snapshot).values():
        stack = read_stack(node, snapshot)
        fault = faults.get(stack)
        if fault is None:
            fault = faults[stack] = _find_fault(stack, source=snapshot.settings.asset_state == "source")
        if fault:
            yield _make_finding(node, role, fault, snapshot)
        elif not stack.ops and node.is_a("Xformable"):
            yield from _judge_empty(node, role, snapshot)
        elif stack.ops:
            yield from _find_broken(node, role, stack)


# one function: the faults in the order in which a reader meets them, the first one counts
def _find_fault(stack: OpStack, *, source: bool) -> str:
    """What is wrong with a stack, or nothing."""
    if stack.resets:
        return "!resetXformStack! cuts the prim off from its parent's frame"
    moving = [op for op in stack.ops if not op.is_scale]
    odd = next((op for op in moving if not op.is_plain), None)
    if odd is not None:
        return f"{odd.token} is {'an inverse' if odd.inverse else 'a suffixed'} op"
    kinds = [op.kind for op in moving]
    # in a source asset rotateXYZ may stand for orient: the pipeline converts it later
    allowed = [_WANTED, ["translate", "rotateXYZ"]] if source else [_WANTED]
    if not stack.ops or kinds in allowed:
        return ""
    if sorted(kinds) == sorted(_WANTED):
        return "orient stands before translate, so that the translation is turned"
    return _list_faults(kinds)


def _list_faults(kinds: list[str]) -> str:
    """Which kinds of ops are too many, which are missing, in words."""
    groups = (
        ([kind for kind in kinds if kind not in _WANTED], "must not be there"),
        ([kind for kind in _WANTED if kind not in kinds], "missing"),
        ([kind for kind in _WANTED if kinds.count(kind) > 1], "more than once"),
    )
    return ", ".join(f"{' and '.join(words)} {verb}" for words, verb in groups if words)


def _make_finding(node: PrimNode, role: KinematicRole, fault: str, snapshot: StageSnapshot) -> Finding:
    stack = read_stack(node, snapshot)
    local = list_local(node, snapshot)
    # a reset stack cannot be kept: the pose would have to be recomputed against the parent
    easy = not stack.resets and len(local) <= 1 and all(found.is_rigid for found in local)
    return Finding(
        f"the ops of this {role} are {stack.tokens}: {fault}",
        hint=f"{_HINT} with the same pose",
        at=node,
        prop=ORDER,
        level=Level.WARNING if role is KinematicRole.FRAME else None,
        fix=None if easy else Fixable.UNSAFE,
        data={"ops": stack.tokens, "role": role.value},
    )


def _judge_empty(node: PrimNode, role: KinematicRole, snapshot: StageSnapshot) -> Iterator[Finding]:
    strays = list_strays(node, snapshot)
    if strays:
        yield Finding(
            f"{', '.join(strays)} of this {role} {'has' if len(strays) == 1 else 'have'} no effect: "
            "xformOpOrder does not name any op",
            hint=_HINT,
            at=node,
            prop=strays[0],
            level=Level.WARNING if role is KinematicRole.FRAME else None,
            fix=Fixable.UNSAFE,
        )
    elif role is KinematicRole.BODY:
        yield Finding(
            "this rigid body has no transform ops: it stands at its parent's origin",
            hint=f"{_HINT} with (0, 0, 0) and (1, 0, 0, 0), so that overrides and writers find the ops",
            at=node,
            level=Level.INFO,
        )


def _find_broken(node: PrimNode, role: KinematicRole, stack: OpStack) -> Iterator[Finding]:
    """Ops whose attribute is not there, or an orient that is not a quaternion: OpenUSD skips them."""
    for op in stack.ops:
        if op.kind not in ("translate", "orient"):
            continue
        attribute = attribute_of(node.prim, op.name)
        kind = value_type_of(attribute)
        # OpenUSD skips such an op without a word, so the composed pose is not what the file seems to say
        if not kind:
            fault = f"xformOpOrder names {op.name}, but there is no such attribute"
        elif op.kind == "orient" and kind not in _QUATERNIONS:
            fault = f"{op.name} is a {kind}, not a quaternion"
        else:
            continue
        yield Finding(
            f"{fault}: OpenUSD skips the op",
            hint=f"author {'quatf' if op.kind == 'orient' else 'double3'} {op.name}",
            at=node,
            prop=op.name if kind else ORDER,
            level=Level.WARNING if role is KinematicRole.FRAME else None,
            fix=Fixable.UNSAFE,
        )

# SPDX-License-Identifier: Apache-2.0
"""Joints: the joint stack of each body becomes one model joint to its parent, dofs in MuJoCo's order.

MuJoCo places the body in its parent, then moves it joint by joint: each joint turns about an axis through
an anchor that the joints before it have already moved.  That is the model's own rule, so the stack is
carried exactly.  The joint frame sits at the first anchor.  A free joint's coordinates are the pose in
the world.

Contacts: MuJoCo lets no body touch its parent, except where the parent is welded to the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, vec3
from simwright.core.names import NameScope
from simwright.formats.mjcf.context import Context, pose_of
from simwright.model.joint import Dof, Joint, JointKind, Motion

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)

_SINGLE = {
    Motion.HINGE: JointKind.REVOLUTE,
    Motion.SLIDE: JointKind.PRISMATIC,
    Motion.BALL: JointKind.BALL,
    Motion.FREE: JointKind.FLOATING,
}
_EXACT = 1e-12


def read_joints(context: Context) -> None:
    """One joint for every body that is no mocap body."""
    model = context.model
    scope = NameScope(context.names["joint"])
    for body in range(1, context.count("body")):
        if model.body_mocapid[body] >= 0:
            continue
        start, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        indices = list(range(start, start + count)) if count else []
        joint = _read_joint(context, body, indices, scope)
        context.asset.joints.append(joint)
        for index, dof in zip(indices, joint.dofs, strict=True):
            _keep_extras(context, index)
            place = dof.anchor + (0.0 if dof.motion is Motion.SLIDE else joint.child_frame.p)
            if dof.motion is not Motion.FREE:  # of a slide it says nothing, of others it may have lost its last bit
                context.keep("joint", index, "pos", model.jnt_pos[index], tuple(place))


def _read_joint(context: Context, body: int, indices: list[int], scope: NameScope) -> Joint:
    model = context.model
    dofs = [_read_dof(context, index) for index in indices]
    kind = classify(dofs)
    placed = pose_of(model.body_pos[body], model.body_quat[body])
    if kind is JointKind.FLOATING:
        placed = IDENTITY
    origin = next((dof.anchor for dof in dofs if dof.motion in (Motion.HINGE, Motion.BALL)), vec3())
    at_anchor = Pose.of(origin)
    for dof in dofs:
        dof.anchor = vec3() if dof.motion is Motion.SLIDE else dof.anchor - origin
    if len(dofs) == 1:
        name, where = dofs[0].name, context.where("joint", indices[0])
    else:
        name = scope.claim(f"{context.name('body', body)}_{'joint' if dofs else 'fixed'}")
        where = context.where("body", body)
    return Joint(
        name=name,
        kind=kind,
        parent=context.name("body", int(model.body_parentid[body])),
        child=context.name("body", body),
        parent_frame=placed @ at_anchor,
        child_frame=at_anchor,
        rest=placed,
        dofs=dofs,
        collide=_touches_parent(context, body),
        path=f"joint/{name}",
        source=where,
    )


def classify(dofs: list[Dof]) -> JointKind:
    """The kind whose dofs these are, exactly; ``d6`` for every other stack."""
    motions = [dof.motion for dof in dofs]
    if not dofs:
        return JointKind.FIXED
    if len(dofs) == 1:
        return _SINGLE[motions[0]]
    if motions == [Motion.HINGE, Motion.HINGE] and _is_universal(dofs):
        return JointKind.UNIVERSAL
    if motions == [Motion.SLIDE, Motion.SLIDE, Motion.HINGE] and _is_planar(dofs):
        return JointKind.PLANAR
    return JointKind.D6


def _is_universal(dofs: list[Dof]) -> bool:
    together = np.abs(dofs[0].anchor - dofs[1].anchor).max() <= _EXACT
    return bool(together and abs(dofs[0].axis @ dofs[1].axis) <= _EXACT)


def _is_planar(dofs: list[Dof]) -> bool:
    x, y, z = (dof.axis for dof in dofs)
    return bool(abs(x @ y) <= _EXACT and np.abs(np.cross(x, y) - z).max() <= _EXACT)


def _read_dof(context: Context, index: int) -> Dof:
    model = context.model
    motion = Motion(str(context.mujoco.mjtJoint(int(model.jnt_type[index])).name)[6:].lower())
    first, address = int(model.jnt_dofadr[index]), int(model.jnt_qposadr[index])
    dof = Dof(
        motion=motion,
        axis=vec3(model.jnt_axis[index]),
        name=context.name("joint", index),
        anchor=vec3(model.jnt_pos[index]),
        armature=float(model.dof_armature[first]),
        friction=float(model.dof_frictionloss[first]),
        damping=float(np.ravel(model.dof_damping[first])[0]),
        stiffness=float(np.ravel(model.jnt_stiffness[index])[0]),
    )
    if motion in (Motion.HINGE, Motion.SLIDE):
        dof.ref = float(model.qpos0[address])
        dof.spring_ref = float(model.qpos_spring[address])
    elif motion is Motion.FREE:
        dof.anchor = vec3()
        dof.position = [float(v) for v in model.qpos0[address : address + 7]]
    _read_limits(context, index, dof)
    return dof


def _read_limits(context: Context, index: int, dof: Dof) -> None:
    model = context.model
    low, high = (float(v) for v in model.jnt_range[index])
    if model.jnt_limited[index]:
        if dof.motion is Motion.BALL:
            dof.swing = (high, high)
        dof.lower, dof.upper = low, high
    if model.jnt_actfrclimited[index]:
        dof.effort_limit = max(abs(float(v)) for v in model.jnt_actfrcrange[index])


def _touches_parent(context: Context, body: int) -> bool:
    model = context.model
    parent_weld = int(model.body_weldid[model.body_parentid[body]])
    if int(model.body_weldid[body]) == parent_weld:
        return False
    unfiltered = int(context.mujoco.mjtDisableBit.mjDSBL_FILTERPARENT) & int(model.opt.disableflags)
    return bool(parent_weld == 0 or unfiltered)


def _keep_extras(context: Context, index: int) -> None:
    model = context.model
    first = int(model.jnt_dofadr[index])
    keep: dict[str, tuple[Any, Any]] = {
        "group": (model.jnt_group[index], 0),
        "margin": (model.jnt_margin[index], 0.0),
        "solreflimit": (model.jnt_solref[index], SOLREF),
        "solimplimit": (model.jnt_solimp[index], SOLIMP),
        "solreffriction": (model.dof_solref[first], SOLREF),
        "solimpfriction": (model.dof_solimp[first], SOLIMP),
        "actuatorgravcomp": (bool(model.jnt_actgravcomp[index]), False),
        "springyield": (context.field("jnt_springyield", index), 0.0),
    }
    for attribute, (value, default) in keep.items():
        context.keep("joint", index, attribute, value, default)
    _keep_polynomial(context, index, "stiffnesspoly", context.field("jnt_stiffnesspoly", index))
    _keep_polynomial(context, index, "dampingpoly", context.field("dof_dampingpoly", first))
    low, high = (float(v) for v in model.jnt_actfrcrange[index])
    if model.jnt_actfrclimited[index] and low != -high:
        context.keep("joint", index, "actuatorfrcrange", (low, high))
    context.keep_user("joint", index, "jnt_user")


def _keep_polynomial(context: Context, index: int, attribute: str, values: Array | None) -> None:
    if values is not None and np.any(values):
        context.keep("joint", index, attribute, values)

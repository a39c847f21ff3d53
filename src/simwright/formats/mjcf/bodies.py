# SPDX-License-Identifier: Apache-2.0
"""Bodies and the joints that move them.

Every body carries the compiled inertia (``inertial`` or inferred from geoms, bounded and balanced as the
compiler options say).  World poses are set afterwards by forward kinematics at MuJoCo's ``qpos0``.

The joint stack of each body becomes one model joint to its parent, dofs in MuJoCo's order.  MuJoCo places the body
in its parent, then moves it joint by joint: each joint turns about an axis through an anchor that the joints before
it have already moved.  That is the model's own rule, so the stack is carried exactly.  The joint frame sits at the
first anchor.  A free joint's coordinates are the pose in the world.

Contacts: MuJoCo lets no body touch its parent, except where the parent is welded to the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, vec3
from simwright.core.names import NameScope
from simwright.formats.mjcf.constraints import SOLIMP, SOLREF
from simwright.formats.mjcf.reader import MjcfReader
from simwright.model.asset import Body
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion


def read_bodies(reader: MjcfReader) -> None:
    """Bodies in MuJoCo's order, the world left out."""
    model = reader.model
    for index in range(1, reader.count("body")):
        # the compiled principal moments, bit for bit: rotating them into body axes would round them
        inertial = Inertial.from_principal(
            float(model.body_mass[index]),
            model.body_inertia[index],
            model.body_iquat[index],
            model.body_ipos[index],
        )
        reader.asset.bodies.append(
            Body(
                name=reader.name("body", index),
                pose=Pose.of(model.body_pos[index], model.body_quat[index]),
                inertial=inertial,
                kinematic=bool(model.body_mocapid[index] >= 0),
                # MuJoCo says how much gravity is compensated, the model how much is left
                gravity_scale=1.0 - float(model.body_gravcomp[index]),
                path=reader.key("body", index),
                source=reader.where("body", index),
            )
        )
        reader.keep_user("body", index, "body_user")
        gravcomp = float(model.body_gravcomp[index])
        # 1 - (1 - x) may differ from x in the last bit; the written number is kept then
        reader.keep("body", index, "gravcomp", gravcomp, 1.0 - (1.0 - gravcomp))
        _keep_sleep(reader, index)


def _keep_sleep(reader: MjcfReader, index: int) -> None:
    spec = reader.find_spec("body", index)
    policy = getattr(spec, "sleep", None)
    if policy is not None and int(policy) > 0:
        reader.keep("body", index, "sleep", str(getattr(policy, "name", policy)))


_SINGLE = {
    Motion.HINGE: JointKind.REVOLUTE,
    Motion.SLIDE: JointKind.PRISMATIC,
    Motion.BALL: JointKind.BALL,
    Motion.FREE: JointKind.FLOATING,
}
_EXACT = 1e-12


def read_joints(reader: MjcfReader) -> None:
    """One joint for every body that is no mocap body."""
    model = reader.model
    scope = NameScope(reader.names["joint"])
    for body in range(1, reader.count("body")):
        # mocap bodies are moved from outside; MuJoCo gives them no joint
        if model.body_mocapid[body] >= 0:
            continue
        start, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        indices = list(range(start, start + count)) if count else []
        joint = _read_joint(reader, body, indices, scope)
        reader.asset.joints.append(joint)
        for index, dof in zip(indices, joint.dofs, strict=True):
            _keep_joint_extras(reader, index)
            place = dof.anchor + (0.0 if dof.motion is Motion.SLIDE else joint.child_frame.p)
            if (
                dof.motion is not Motion.FREE
            ):  # of a slide it says nothing, of others it may have lost its last bit
                reader.keep("joint", index, "pos", model.jnt_pos[index], tuple(place))


def _read_joint(reader: MjcfReader, body: int, indices: list[int], scope: NameScope) -> Joint:
    model = reader.model
    dofs = [_read_dof(reader, index) for index in indices]
    kind = _classify(dofs)
    placed = Pose.of(model.body_pos[body], model.body_quat[body])
    # a free joint's coordinates are the pose in the world, so the place of the body does not count twice
    if kind is JointKind.FLOATING:
        placed = IDENTITY
    # a slide has no anchor that matters, so the first turning joint gives the frame
    origin = next((dof.anchor for dof in dofs if dof.motion in (Motion.HINGE, Motion.BALL)), vec3())
    at_anchor = Pose.of(origin)
    for dof in dofs:
        dof.anchor = vec3() if dof.motion is Motion.SLIDE else dof.anchor - origin
    if len(dofs) == 1:
        name, where = dofs[0].name, reader.where("joint", indices[0])
    else:
        # MuJoCo names single joints, not stacks: a stack gets the name of its body
        name = scope.claim(f"{reader.name('body', body)}_{'joint' if dofs else 'fixed'}")
        where = reader.where("body", body)
    return Joint(
        name=name,
        kind=kind,
        parent=reader.name("body", int(model.body_parentid[body])),
        child=reader.name("body", body),
        parent_frame=placed @ at_anchor,
        child_frame=at_anchor,
        rest=placed,
        dofs=dofs,
        collide=_touches_parent(reader, body),
        path=f"joint/{name}",
        source=where,
    )


def _classify(dofs: list[Dof]) -> JointKind:
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


# exact within rounding only: a joint that is nearly universal keeps its anchors as d6
def _is_universal(dofs: list[Dof]) -> bool:
    together = np.abs(dofs[0].anchor - dofs[1].anchor).max() <= _EXACT
    return bool(together and abs(dofs[0].axis @ dofs[1].axis) <= _EXACT)


def _is_planar(dofs: list[Dof]) -> bool:
    x, y, z = (dof.axis for dof in dofs)
    return bool(abs(x @ y) <= _EXACT and np.abs(np.cross(x, y) - z).max() <= _EXACT)


def _read_dof(reader: MjcfReader, index: int) -> Dof:
    model = reader.model
    motion = Motion(reader.read_word("mjtJoint", model.jnt_type[index]))
    first, address = int(model.jnt_dofadr[index]), int(model.jnt_qposadr[index])
    dof = Dof(
        motion=motion,
        axis=vec3(model.jnt_axis[index]),
        name=reader.name("joint", index),
        anchor=vec3(model.jnt_pos[index]),
        armature=float(model.dof_armature[first]),
        friction=float(model.dof_frictionloss[first]),
        # a row of coefficients in some versions of MuJoCo, of which the first is the linear one
        damping=float(np.ravel(model.dof_damping[first])[0]),
        stiffness=float(np.ravel(model.jnt_stiffness[index])[0]),
    )
    if motion in (Motion.HINGE, Motion.SLIDE):
        dof.ref = float(model.qpos0[address])
        dof.spring_ref = float(model.qpos_spring[address])
    elif motion is Motion.FREE:
        dof.anchor = vec3()
        # the free joint starts at qpos0, which is the place of its body in the text
        dof.position = [float(v) for v in model.qpos0[address : address + 7]]
    _read_limits(reader, index, dof)
    return dof


def _read_limits(reader: MjcfReader, index: int, dof: Dof) -> None:
    model = reader.model
    low, high = (float(v) for v in model.jnt_range[index])
    if model.jnt_limited[index]:
        if dof.motion is Motion.BALL:
            # MuJoCo limits the whole angle of a ball, the same in all directions; its lower end is always 0
            dof.swing = (high, high)
        dof.lower, dof.upper = low, high
    if model.jnt_actfrclimited[index]:
        # the model has one limit for both directions; a lopsided range is kept as an extra
        dof.effort_limit = max(abs(float(v)) for v in model.jnt_actfrcrange[index])


def _touches_parent(reader: MjcfReader, body: int) -> bool:
    model = reader.model
    parent_weld = int(model.body_weldid[model.body_parentid[body]])
    # bodies that are welded together are one body to MuJoCo's collision filter
    if int(model.body_weldid[body]) == parent_weld:
        return False
    unfiltered = int(reader.mujoco.mjtDisableBit.mjDSBL_FILTERPARENT) & int(model.opt.disableflags)
    # what is welded to the world is touched by everything, its children too
    return bool(parent_weld == 0 or unfiltered)


def _keep_joint_extras(reader: MjcfReader, index: int) -> None:
    model = reader.model
    first = int(model.jnt_dofadr[index])
    keep: dict[str, tuple[Any, Any]] = {
        "group": (model.jnt_group[index], 0),
        "margin": (model.jnt_margin[index], 0.0),
        "solreflimit": (model.jnt_solref[index], SOLREF),
        "solimplimit": (model.jnt_solimp[index], SOLIMP),
        "solreffriction": (model.dof_solref[first], SOLREF),
        "solimpfriction": (model.dof_solimp[first], SOLIMP),
        "actuatorgravcomp": (bool(model.jnt_actgravcomp[index]), False),
        "springyield": (reader.field("jnt_springyield", index), 0.0),
    }
    for attribute, (value, default) in keep.items():
        reader.keep("joint", index, attribute, value, default)
    _keep_polynomial(reader, index, "stiffnesspoly", reader.field("jnt_stiffnesspoly", index))
    _keep_polynomial(reader, index, "dampingpoly", reader.field("dof_dampingpoly", first))
    low, high = (float(v) for v in model.jnt_actfrcrange[index])
    if model.jnt_actfrclimited[index] and low != -high:
        reader.keep("joint", index, "actuatorfrcrange", (low, high))
    reader.keep_user("joint", index, "jnt_user")


def _keep_polynomial(reader: MjcfReader, index: int, attribute: str, values: Array | None) -> None:
    if values is not None and np.any(values):
        reader.keep("joint", index, attribute, values)

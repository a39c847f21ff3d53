# SPDX-License-Identifier: Apache-2.0
"""Changing a robot's specification as its manifest wants: base, limits, actuators, cameras, tool.

What has to be measured for it is measured once; every new specification of the robot is then changed in the same way.

A robot whose file has no actuators gets servos.  Their gains follow from the robot itself: stiff enough to answer
within a quarter of a second and to hold the links against gravity with little sag, damped critically.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.documents.tree import Document
from simwright.core.errors import InputError
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.engines.mujoco.queries import (
    FREE,
    HINGE,
    SLIDE,
    MjData,
    MjModel,
    compute_forward,
    compute_inertia,
)
from simwright.tasks.manifest import ActuatorEntry, FrameEntry, RobotManifest
from simwright.tasks.specs import MjBody, MjSpec, compile_spec

TOOL = "simwright_tool"
"""The site that is put where the tool is; in a scene it is called ``robot/simwright_tool``."""


@dataclass(slots=True)
class Amendment:
    """What is changed of a robot.

    ``fixed`` mounts it (True), frees it (False) or leaves it (None); ``sites`` are the poses of the robot's sites on
    their bodies; ``origin`` is the place in the robot's file that is put at the base pose.
    """

    where: Where
    fixed: bool | None = None
    manifest: RobotManifest | None = None
    document: Document | None = None
    sites: dict[str, Pose] = field(default_factory=dict)
    origin: Pose = IDENTITY
    tool: FrameEntry | None = None
    servos: int = 0
    """How many servos the last specification got because its file drives nothing."""
    _gains: dict[str, Gains] | None = None

    def apply(self, spec: MjSpec) -> None:
        """Change a new specification: base first, since mounting it changes which joints there are to drive."""
        if self.fixed is True:
            _mount(spec)
        elif self.fixed is False:
            _free(spec, self.where)
        self._drive_joints(spec)
        self._add_frames(spec)
        # last: everything that hangs on the world moves, what was added as well
        if not self.origin.is_identity():
            _shift(spec, ~self.origin)

    def _drive_joints(self, spec: MjSpec) -> None:
        if self.manifest is not None:
            _set_limits(spec, self.manifest)
        overrides = self.manifest.sim.actuators if self.manifest is not None else {}
        drop_idle_actuators(spec)
        # measured on the first specification only: compiling the robot is slow, and the gains do not change
        if self._gains is None and (overrides or not len(spec.actuators)):
            self._gains = choose_gains(spec, self.where)
        override_actuators(spec, overrides, self._gains or {})
        self.servos = add_servos(spec, self._gains or {})

    def _add_frames(self, spec: MjSpec) -> None:
        """The manifest's cameras, and a site where the tool is."""
        for camera in self.manifest.cameras if self.manifest is not None else ():
            body, pose = self._find_frame(spec, camera)
            body.add_camera(
                name=camera.name,
                pos=pose.p.tolist(),
                quat=pose.q.tolist(),
                fovy=camera.fovy,
                resolution=[camera.width, camera.height],
            )
        if self.tool is not None:
            body, pose = self._find_frame(spec, self.tool)
            body.add_site(
                name=TOOL,
                pos=pose.p.tolist(),
                quat=pose.q.tolist(),
                size=[0.005, 0.005, 0.005],
                rgba=[0, 0, 0, 0],
                group=5,
            )

    def _find_frame(self, spec: MjSpec, frame: FrameEntry) -> tuple[MjBody, Pose]:
        """The body that a frame is on, and its place there."""
        pose = Pose.of(frame.position, frame.rotation)
        body = next((b for b in spec.bodies if b.name == frame.frame and b.name != "world"), None)
        if body is not None:
            return body, pose
        site = next((s for s in spec.sites if s.name == frame.frame), None)
        if site is None:
            raise InputError(f"the robot has no body or site {frame.frame!r}", where=self.where)
        return site.parent, self.sites[frame.frame] @ pose


def measure_sites(model: MjModel) -> dict[str, Pose]:
    """Poses of sites with a name on their bodies."""
    return {
        model.site(index).name: Pose.of(model.site_pos[index], model.site_quat[index])
        for index in range(model.nsite)
        if model.site(index).name
    }


def _mount(spec: MjSpec) -> None:
    """Take the free joints of root bodies away, and their coordinates out of the keyframes."""
    free = [joint for body in spec.worldbody.bodies for joint in body.joints if int(joint.type) == FREE]
    if not free:
        return
    # MuJoCo refuses keyframes whose length does not fit the model
    if len(spec.keys):
        model = compile_spec(spec.copy(), "the robot", Where())
        gone_q, gone_v = _list_free(model)
        for key in spec.keys:
            key.qpos = np.delete(key.qpos, gone_q) if len(key.qpos) else key.qpos
            key.qvel = np.delete(key.qvel, gone_v) if len(key.qvel) else key.qvel
    for joint in free:
        spec.delete(joint)


def _free(spec: MjSpec, where: Where) -> None:
    """Give a mounted robot a free joint, and its keyframes the coordinates of it."""
    roots = list(spec.worldbody.bodies)
    # one floating root is enough: the robot can move about already
    if any(_floats(root) for root in roots):
        return
    if len(roots) != 1 or len(roots[0].joints):
        raise InputError(
            "the robot cannot be freed: it has several roots, or a root that moves on a joint already",
            hint="leave 'base' out of its manifest",
            where=where,
        )
    if len(spec.keys):
        model = compile_spec(spec.copy(), "the robot", where)
        # the pose that the root had as a fixed body
        start = np.concatenate([model.body_pos[1], model.body_quat[1]])
        for key in spec.keys:
            if len(key.qpos):
                key.qpos = np.concatenate([start, key.qpos])
            if len(key.qvel):
                key.qvel = np.concatenate([np.zeros(6), key.qvel])
    roots[0].add_freejoint()


def _floats(body: MjBody) -> bool:
    return any(int(joint.type) == FREE for joint in body.joints)


def _list_free(model: MjModel) -> tuple[list[int], list[int]]:
    """Places of the coordinates and velocities of free joints at the root."""
    coordinates: list[int] = []
    velocities: list[int] = []
    for joint in range(model.njnt):
        if model.jnt_type[joint] == FREE and model.body_parentid[model.jnt_bodyid[joint]] == 0:
            coordinates += range(model.jnt_qposadr[joint], model.jnt_qposadr[joint] + 7)
            velocities += range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + 6)
    return coordinates, velocities


def _set_limits(spec: MjSpec, manifest: RobotManifest) -> None:
    joints = {joint.name: joint for joint in spec.joints if joint.name}
    for said in manifest.joints:
        joint = joints[said.name]
        if said.effort is not None:
            joint.actfrcrange, joint.actfrclimited = [-said.effort, said.effort], True
        if said.lower is None and said.upper is None:
            continue
        turns = int(joint.type) == HINGE
        # ranges of hinges are in the unit of the file until it is compiled
        unit = float(np.degrees(1.0)) if spec.compiler.degree and turns else 1.0
        low, high = (float(value) for value in joint.range)
        joint.range = [
            low if said.lower is None else unit * said.lower,
            high if said.upper is None else unit * said.upper,
        ]
        joint.limited = True


def _shift(spec: MjSpec, pose: Pose) -> None:
    """Move everything of the robot by a pose: whatever hangs on the world gets one frame more around it."""
    world = spec.worldbody
    frame = world.add_frame(pos=pose.p.tolist(), quat=pose.q.tolist())
    moved = {id(frame)}
    for element in (*world.bodies, *world.geoms, *world.sites, *world.cameras, *world.lights):
        top = element
        # elements may be in frames of their own: the outermost one moves, with all that is in it
        while top.frame is not None and top.frame != frame:
            top = top.frame
        if top.frame is None and id(top) not in moved:
            top.set_frame(frame)


# natural frequency of a servo [rad/s]
_SERVO_FREQUENCY = 20.0
# how far gravity and friction may keep a servo from its target [rad or m]
_SAG = 0.02
# ... and how much of the range of a slide at most.
_SAG_SHARE = 0.05
_LEAST_INERTIA = 1e-4
_SAMPLED_POSES = 32


Gains = tuple[float, float, float | None]
"""Stiffness, damping and largest force."""


def override_actuators(
    spec: MjSpec, entries: Mapping[str, ActuatorEntry], gains: Mapping[str, Gains]
) -> None:
    """Drive the joints that a manifest names as it says: the first actuator of a joint changes, others of it go."""
    import mujoco

    for key in spec.keys if entries else ():
        # controls of keyframes are those of other actuators
        key.ctrl, key.act = [], []
    for name, entry in entries.items():
        own = [a for a in spec.actuators if a.target == name and a.trntype == mujoco.mjtTrn.mjTRN_JOINT]
        for actuator in own[1:]:
            spec.delete(actuator)
        kp, kd, force = gains[name]
        stiffness = kp if entry.kp is None else entry.kp
        # a given stiffness on its own is damped as much as the one it replaces
        damping = entry.kd if entry.kd is not None else kd * float(np.sqrt(stiffness / kp))
        actuator = own[0] if own else _add_actuator(spec, name)
        _integrate_stiffly(spec)
        _set_drive(spec, actuator, entry.kind, (stiffness, damping), entry.force or force)


def drop_idle_actuators(spec: MjSpec) -> None:
    """Take the actuators of a robot away where none of them gives any force: such a robot is driven by nothing.

    Transmissions of URDF name what drives a joint, and do not say how: that arrives as a servo without gains.
    """
    if not all(map(_is_idle, spec.actuators)):
        return
    for key in spec.keys if len(spec.actuators) else ():
        key.ctrl, key.act = [], []
    for actuator in list(spec.actuators):
        spec.delete(actuator)


def _is_idle(actuator: Any) -> bool:
    """No gain and no bias, of the sorts that are numbers?"""
    import mujoco

    fixed = actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
    plain = actuator.biastype in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)
    return bool(fixed and plain and not np.any(actuator.gainprm) and not np.any(actuator.biasprm))


def add_servos(spec: MjSpec, gains: Mapping[str, Gains]) -> int:
    """Servos for every single joint of a robot without actuators, but for joints that follow others; gives how many."""
    if len(spec.actuators):
        return 0
    # a joint that an equality moves already would be driven twice
    followers = {equality.name1 for equality in spec.equalities if _is_joint(equality)}
    added = [name for name in gains if name not in followers]
    for name in added:
        kp, kd, force = gains[name]
        _integrate_stiffly(spec)
        _set_drive(spec, _add_actuator(spec, name), "position", (kp, kd), force)
    return len(added)


def _integrate_stiffly(spec: MjSpec) -> None:
    """Euler's method takes the damping of actuators explicitly, which blows up where links are light."""
    import mujoco

    if spec.option.integrator == mujoco.mjtIntegrator.mjINT_EULER:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def _add_actuator(spec: MjSpec, joint: str) -> Any:
    import mujoco

    return spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)


def _set_drive(
    spec: MjSpec, actuator: Any, kind: str, gains: tuple[float, float], force: float | None
) -> None:
    """Make an actuator a position or velocity servo or a motor of its joint, whatever it was."""
    import mujoco

    kp, kd = gains
    # the old transmission may have scaled: controls are joint positions from here on
    actuator.gear = [1, 0, 0, 0, 0, 0]
    actuator.ctrlrange, actuator.ctrllimited, actuator.inheritrange = (
        [0, 0],
        mujoco.mjtLimited.mjLIMITED_FALSE,
        0.0,
    )
    if kind == "position":
        actuator.set_to_position(kp=kp, kv=kd)
        if _is_limited(spec, actuator.target):
            actuator.inheritrange, actuator.ctrllimited = 1.0, mujoco.mjtLimited.mjLIMITED_TRUE
    elif kind == "velocity":
        actuator.set_to_velocity(kv=kd)
    else:
        actuator.set_to_motor()
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE if force else mujoco.mjtLimited.mjLIMITED_FALSE
    if force:
        actuator.forcerange = [-force, force]
        if kind == "motor":
            actuator.ctrlrange, actuator.ctrllimited = [-force, force], mujoco.mjtLimited.mjLIMITED_TRUE


def _is_limited(spec: MjSpec, joint: str) -> bool:
    import mujoco

    found = spec.joint(joint)
    low, high = found.range
    return bool(low < high) and found.limited != mujoco.mjtLimited.mjLIMITED_FALSE


def choose_gains(spec: MjSpec, where: Where) -> dict[str, Gains]:
    """Gains of a servo for each single joint with a name."""
    model = compile_spec(spec.copy(), "the robot", where)
    data: MjData | None = None
    inertia, weight = np.zeros(model.nv), np.zeros(model.nv)
    rng = np.random.default_rng(0)
    for number in range(_SAMPLED_POSES):
        # inertia and weight change with the pose: the largest of many counts
        data = compute_forward(model, model.qpos0 if number == 0 else _sample_configuration(model, rng), data)
        diagonal = [compute_inertia(model, data, dof) for dof in range(model.nv)]
        inertia = np.maximum(inertia, diagonal)
        weight = np.maximum(weight, np.abs(data.qfrc_bias))
    gains: dict[str, Gains] = {}
    for joint in range(model.njnt):
        if model.jnt_type[joint] < SLIDE or not model.joint(joint).name:
            continue
        dof = int(model.jnt_dofadr[joint])
        mass = max(float(inertia[dof]), _LEAST_INERTIA)
        load = float(weight[dof]) + float(model.dof_frictionloss[dof])
        # fast enough, and stiff enough to hold its load
        kp = max(mass * _SERVO_FREQUENCY**2, load / _allow_sag(model, joint))
        low, high = (float(v) for v in model.jnt_actfrcrange[joint])
        force = max(abs(low), abs(high)) if model.jnt_actfrclimited[joint] else None
        # critical damping of the inertia that the joint carries at most
        gains[model.joint(joint).name] = (kp, 2.0 * float(np.sqrt(kp * mass)), force)
    return gains


def _allow_sag(model: MjModel, joint: int) -> float:
    """How far from its target a servo may stay: for fingers and other short slides, a part of their range."""
    low, high = model.jnt_range[joint]
    short = model.jnt_limited[joint] and model.jnt_type[joint] == SLIDE
    return min(_SAG, max(_SAG_SHARE * float(high - low), 1e-4)) if short else _SAG


def _sample_configuration(model: MjModel, rng: np.random.Generator) -> Array:
    """A configuration inside the limits."""
    qpos = np.array(model.qpos0)
    for joint in range(model.njnt):
        if model.jnt_type[joint] >= SLIDE:
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.pi, np.pi)
            qpos[model.jnt_qposadr[joint]] = rng.uniform(low, high)
    return qpos


def _is_joint(equality: Any) -> bool:
    import mujoco

    return bool(equality.type == mujoco.mjtEq.mjEQ_JOINT) and bool(equality.name2)

# SPDX-License-Identifier: Apache-2.0
"""Joints of the arrays as joints of the neutral model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simwright.core.math3d import vec3
from simwright.model.joint import WORLD, Dof, Drive, Joint, JointKind, Motion
from simwright.runtime.kinds import JointType, TargetMode
from simwright.runtime.model import Model
from simwright.scenes.builder_config import NO_BOUND, NO_LIMIT
from simwright.scenes.exporting_numbers import take_pose, widen

_KINDS = {
    JointType.PRISMATIC: JointKind.PRISMATIC,
    JointType.REVOLUTE: JointKind.REVOLUTE,
    JointType.BALL: JointKind.BALL,
    JointType.FIXED: JointKind.FIXED,
    JointType.FREE: JointKind.FLOATING,
    JointType.DISTANCE: JointKind.DISTANCE,
    JointType.D6: JointKind.D6,
}


class JointTaker:
    """Takes joints out of a model, with the names that bodies and joints are given."""

    def __init__(self, model: Model, bodies: Sequence[str], names: Sequence[str]) -> None:
        self._model = model
        self._bodies = bodies
        self._names = names
        self._carried: set[int] = set()

    def take(self, index: int) -> Joint:
        """One joint with its initial coordinates, drives and stops."""
        model = self._model
        kind = JointType(int(model.joint_type[index]))
        parent, child = int(model.joint_parent[index]), int(model.joint_child[index])
        closes = int(model.joint_articulation[index]) < 0 and child in self._carried
        self._carried.add(child)
        joint = Joint(
            self._names[index],
            _KINDS[kind],
            self._bodies[parent] if parent >= 0 else WORLD,
            self._bodies[child],
            take_pose(model.joint_X_p[index]),
            take_pose(model.joint_X_c[index]),
            self._list_dofs(index, kind),
            enabled=bool(model.joint_enabled[index]),
            closes_loop=closes,
        )
        if kind is JointType.DISTANCE:
            first = int(model.joint_qd_start[index])
            low, high = (
                float(widen(model.joint_limit_lower[first])),
                float(widen(model.joint_limit_upper[first])),
            )
            joint.distance = (max(0.0, low), high if high >= 0.0 else math.inf)
        return joint

    def _list_dofs(self, index: int, kind: JointType) -> list[Dof]:
        model = self._model
        q, qd = int(model.joint_q_start[index]), int(model.joint_qd_start[index])
        name = self._names[index]
        if kind in (JointType.FREE, JointType.DISTANCE):
            px, py, pz, x, y, z, w = widen(model.joint_q[q : q + 7]).tolist()
            rates = widen(model.joint_qd[qd : qd + 6]).tolist()
            free = Dof(Motion.FREE, name=name, position=[px, py, pz, w, x, y, z])
            free.velocity = rates if any(rates) else None
            return [free]
        if kind is JointType.BALL:
            x, y, z, w = widen(model.joint_q[q : q + 4]).tolist()
            ball = self._make_dof(Motion.BALL, qd, name)
            ball.lower, ball.upper = -math.inf, math.inf
            ball.position = [w, x, y, z]
            return [ball]
        linear, angular = (int(count) for count in model.joint_dof_dim[index])
        dofs = []
        for number in range(linear + angular):
            motion = Motion.SLIDE if number < linear else Motion.HINGE
            label = name if linear + angular == 1 else f"{name}_{number}"
            dof = self._make_dof(motion, qd + number, label)
            dof.position = float(widen(model.joint_q[q + number]))
            dof.velocity = float(widen(model.joint_qd[qd + number])) or None
            dofs.append(dof)
        return dofs

    def _make_dof(self, motion: Motion, entry: int, name: str) -> Dof:
        model = self._model
        lower, upper = (
            float(widen(model.joint_limit_lower[entry])),
            float(widen(model.joint_limit_upper[entry])),
        )
        dof = Dof(
            motion,
            vec3(widen(model.joint_axis[entry])),
            name,
            lower=lower if lower > -NO_LIMIT else -math.inf,
            upper=upper if upper < NO_LIMIT else math.inf,
            armature=float(widen(model.joint_armature[entry])) or None,
            friction=float(widen(model.joint_friction[entry])) or None,
            damping=float(widen(model.joint_damping[entry])) or None,
            stiffness=float(widen(model.joint_spring_ke[entry])) or None,
            effort_limit=_bound(model.joint_effort_limit[entry]),
            velocity_limit=_bound(model.joint_velocity_limit[entry]),
        )
        if dof.stiffness:
            dof.spring_ref = float(widen(model.joint_spring_ref[entry]))
        if dof.is_limited:
            dof.limit_stiffness = float(widen(model.joint_limit_ke[entry]))
            dof.limit_damping = float(widen(model.joint_limit_kd[entry]))
        dof.drive = self._make_drive(entry, dof.effort_limit)
        return dof

    def _make_drive(self, entry: int, effort: float | None) -> Drive | None:
        """The drive of a freedom, as its mode lets it work."""
        model = self._model
        mode = TargetMode(int(model.joint_target_mode[entry]))
        stiffness, damping = (
            float(widen(model.joint_target_ke[entry])),
            float(widen(model.joint_target_kd[entry])),
        )
        if mode is TargetMode.VELOCITY:
            stiffness = 0.0
        if mode is TargetMode.EFFORT:
            stiffness = damping = 0.0
        if mode is TargetMode.NONE or (mode is not TargetMode.EFFORT and not (stiffness or damping)):
            return None
        follows = mode is not TargetMode.POSITION
        return Drive(
            stiffness,
            damping,
            float(widen(model.joint_target_pos[entry])),
            float(widen(model.joint_target_vel[entry])) if follows else 0.0,
            math.inf if effort is None else effort,
        )


def _bound(value: float) -> float | None:
    return float(widen(value)) if value < NO_BOUND else None

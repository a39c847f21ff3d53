# SPDX-License-Identifier: Apache-2.0
"""Moving the tool: differential inverse kinematics by damped least squares, inside the joints' limits; or torques.

The tool follows a target pose that actions move.  Only joints that carry the tool and have an actuator take part.  The
place comes first, the turn is made as good as the place allows, and what is left of the joints' freedom draws them to
where they started.  Steps go on from the joints that were told last, not from where the arm sags to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import (
    IDENTITY,
    Array,
    Pose,
    cross,
    quat_from_axis_angle,
    quat_from_rotation_vector,
    quat_multiply,
    quat_rotate,
    rotation_vector_between,
)
from simwright.engines.mujoco.queries import (
    SLIDE,
    Ints,
    MjData,
    MjModel,
    compute_mass_block,
    compute_site_jacobians,
    list_overlaps,
    pose_bodies,
    read_site,
)

DOWN = np.array([0.0, 0.0, -1.0])

_DAMPING = 0.02
_TURN_DAMPING = 0.1
_ROUNDS = 8
# how far the target may run ahead of the tool [m]
_LEASH = 0.15
# how far told joints may run ahead of the real ones [rad or m]
_STRAY = 0.5
_REST = 0.02
# largest step of a joint in one round [rad or m]
_LONGEST = 0.3
# largest part of it that is for turning
_LONGEST_TURN = 0.15
# an error that is as good as none [m or rad]
_EXACT = 1e-5
# a joint that is nearer to the tool than this only rolls it [m]
_ACROSS = 0.04


@dataclass(slots=True)
class ToolMover:
    """Inverse kinematics of one tool site.  ``joints`` are ids of single joints that it may use."""

    model: MjModel = field(repr=False)
    site: int
    joints: npt.NDArray[np.intp]
    axis: Array | None = None
    """Only the direction of this axis of the tool counts, not how it is turned about it."""
    weight: float = 1.0
    """How eagerly the tool is turned, as far as its place allows; 0: how it is turned does not matter."""
    target: Pose = IDENTITY
    rest: Array = field(default_factory=lambda: np.zeros(0))
    told: Array = field(default_factory=lambda: np.zeros(0))
    """The joints' positions as told last [rad or m]."""
    _scratch: MjData | None = field(default=None, repr=False)

    def reset(self, data: MjData) -> None:
        """Start from where the tool is."""
        self.target = read_site(data, self.site)
        self.rest = np.array(data.qpos[self.model.jnt_qposadr[self.joints]])
        self.told = self.rest.copy()

    def move(self, data: MjData, shift: Array, turn: Array) -> dict[int, float]:
        """Move the target as :meth:`shift_target` does; gives positions for the joints, by id."""
        self.shift_target(data, shift, turn)
        return self.follow(data, self.target)

    def shift_target(self, data: MjData, shift: Array, turn: Array) -> None:
        """Move the target by ``shift`` [m] and turn it by the rotation vector ``turn`` [rad], both in the world's axes.

        It does not run far ahead of a tool that is held.
        """
        here = read_site(data, self.site)
        away = self.target.p + shift - here.p
        far = float(np.linalg.norm(away))
        position = here.p + away * min(1.0, _LEASH / far if far > 0 else 1.0)
        self.target = Pose.of(position, quat_multiply(quat_from_rotation_vector(turn), self.target.q))

    def follow(self, data: MjData, target: Pose) -> dict[int, float]:
        """Tell the joints to bring the tool to a pose that is near to the last one told."""
        real = np.asarray(data.qpos[self.model.jnt_qposadr[self.joints]])
        # from what was told, not from where the arm sags to; but not far from it when it is held fast
        start = real + np.clip(self.told - real, -_STRAY, _STRAY)
        self.told = self.find(data, target, start)
        return self._name(self.told)

    def solve(self, data: MjData, target: Pose, *, rounds: int = _ROUNDS) -> dict[int, float]:
        """Positions of the joints, by id, that bring the tool nearest to a pose, from where they are."""
        return self._name(
            self.find(data, target, data.qpos[self.model.jnt_qposadr[self.joints]], rounds=rounds)
        )

    def find(self, data: MjData, target: Pose, start: Array, *, rounds: int = _ROUNDS) -> Array:
        """Positions of the joints that bring the tool nearest to a pose, from a start; other joints are as they are."""
        model = self.model
        addresses, dofs = model.jnt_qposadr[self.joints], model.jnt_dofadr[self.joints]
        low, high = self.limits
        qpos = np.array(data.qpos)
        qpos[addresses] = np.clip(start, low, high)
        for _ in range(rounds):
            scratch = self._pose(qpos)
            place, spin = compute_site_jacobians(model, scratch, self.site)
            here = read_site(scratch, self.site)
            aside, turn = target.p - here.p, self.measure_turn(here, target)
            if max(np.abs(aside).max(), np.abs(turn).max()) < _EXACT:
                break
            now = qpos[addresses]
            step = self._step((place[:, dofs], aside), (spin[:, dofs], turn), now, low, high)
            qpos[addresses] = now + step
        return qpos[addresses]

    def locate(self, data: MjData, joints: Array) -> Pose:
        """Where the tool is when the joints are there."""
        return read_site(self.pose(data, joints), self.site)

    def pose(self, data: MjData, joints: Array) -> MjData:
        """All bodies when the joints are there, valid until the next question."""
        qpos = np.array(data.qpos)
        qpos[self.model.jnt_qposadr[self.joints]] = joints
        return self._pose(qpos)

    @property
    def limits(self) -> tuple[Array, Array]:
        """Least and largest positions of the joints."""
        limited = np.asarray(self.model.jnt_limited, dtype=bool)[self.joints]
        ranges = self.model.jnt_range[self.joints]
        return np.where(limited, ranges[:, 0], -np.inf), np.where(limited, ranges[:, 1], np.inf)

    def _name(self, joints: Array) -> dict[int, float]:
        return {int(j): float(q) for j, q in zip(self.joints, joints, strict=True)}

    def _pose(self, qpos: Array) -> MjData:
        self._scratch = pose_bodies(self.model, qpos, self._scratch)
        return self._scratch

    def measure_turn(self, here: Pose, target: Pose) -> Array:
        """The rotation vector from one turn of the tool to another, of what counts of it, in the world's axes [rad]."""
        if not self.weight:
            return np.zeros(3)
        if self.axis is None:
            return rotation_vector_between(here.q, target.q)
        points, wanted = quat_rotate(here.q, self.axis), quat_rotate(target.q, self.axis)
        across = cross(points, wanted)
        size = float(np.linalg.norm(across))
        angle = float(np.arctan2(size, float(points @ wanted)))
        return np.asarray(across * (angle / size)) if size > 1e-9 else np.zeros(3)

    def _step(
        self, place: tuple[Array, Array], turn: tuple[Array, Array], here: Array, low: Array, high: Array
    ) -> Array:
        """A step of the joints; those that would leave their limits stand still, and the others make up for them."""
        free = np.ones(len(here), dtype=bool)
        step = np.zeros(len(here))
        for _ in range(len(here)):
            step[:] = 0.0
            step[free] = self._spread(place, turn, here, free)
            outside = free & ((here + step < low - 1e-9) | (here + step > high + 1e-9))
            # only joints at their limit that go on outwards: others are merely shortened
            blocked = outside & (((here <= low + 1e-3) & (step < 0)) | ((here >= high - 1e-3) & (step > 0)))
            if not blocked.any():
                break
            free &= ~blocked
            if not free.any():
                return np.zeros(len(here))
        return np.clip(here + step, low, high) - here

    def _spread(
        self, place: tuple[Array, Array], turn: tuple[Array, Array], here: Array, free: npt.NDArray[np.bool_]
    ) -> Array:
        """The motion of the free joints: first the place, then the turn, then rest."""
        first = place[0][:, free]
        inverse = _invert(first, _DAMPING)
        # motions of the joints that leave the place as it is
        idle = np.eye(first.shape[1]) - inverse @ first
        step = _shorten(inverse @ place[1], _LONGEST)
        if self.weight:
            second = turn[0][:, free]
            if self.axis is not None:
                # motion about the axis itself is free
                wanted = turn[1]
                about = self._read_axis()
                across = np.eye(3) - np.outer(about, about)
                second, wanted = across @ second, across @ wanted
            else:
                wanted = turn[1]
            behind = _invert(second @ idle, _TURN_DAMPING)
            step = step + _shorten(self.weight * (idle @ behind @ (wanted - second @ step)), _LONGEST_TURN)
            idle = idle - idle @ behind @ second @ idle
        return np.asarray(step + idle @ (_REST * (self.rest - here)[free]))

    def _read_axis(self) -> Array:
        """The axis that counts, in the world."""
        assert self.axis is not None
        assert self._scratch is not None
        frame = np.asarray(self._scratch.site_xmat[self.site]).reshape(3, 3)
        return np.asarray(frame @ self.axis)


def _invert(matrix: Array, damping: float) -> Array:
    square = matrix @ matrix.T + damping**2 * np.eye(len(matrix))
    return np.asarray(matrix.T @ np.linalg.inv(square))


def _shorten(step: Array, longest: float) -> Array:
    largest = float(np.abs(step).max(initial=0.0))
    return step * min(1.0, longest / largest) if largest > 0 else step


def find_joints(model: MjModel, site: int, driven: set[int]) -> npt.NDArray[np.intp]:
    """Single joints between a site and the world that have an actuator."""
    body = int(model.site_bodyid[site])
    found: list[int] = []
    while body > 0:
        first = int(model.body_jntadr[body])
        joints = range(first, first + int(model.body_jntnum[body]))
        found += [joint for joint in joints if joint in driven and model.jnt_type[joint] >= SLIDE]
        body = int(model.body_parentid[body])
    return np.array(sorted(found), dtype=np.intp)


def find_approach(model: MjModel, home: Array, site: int, joints: npt.NDArray[np.intp]) -> Array:
    """The direction in which a tool reaches, in its own frame, told by the joints that move it.

    Along the axis of the last joint where that only rolls the tool, else away from the last joint that turns it across.
    """
    data = pose_bodies(model, home)
    tool = data.site_xpos[site]
    roll: Array | None = None
    away = np.zeros(3)
    for joint in reversed(joints.tolist()):
        away = np.asarray(tool - data.xanchor[joint])
        axis = np.asarray(data.xaxis[joint])
        across = away - axis * float(away @ axis)
        if np.linalg.norm(across) > _ACROSS:
            break
        roll = axis if roll is None else roll
    if roll is not None and abs(float(roll @ away)) > _ACROSS:
        away = roll * float(np.sign(roll @ away))
    frame = np.asarray(data.site_xmat[site]).reshape(3, 3)
    size = float(np.linalg.norm(away))
    return np.asarray(frame.T @ away / size) if size > 0 else np.array([0.0, 0.0, 1.0])


def point_along(pose: Pose, axis: Array, direction: Array) -> Array:
    """The orientation nearest to a pose's in which an axis of it points along a direction."""
    points = quat_rotate(pose.q, axis)
    across = np.cross(points, direction)
    size = float(np.linalg.norm(across))
    angle = math.atan2(size, float(points @ direction))
    if size < 1e-9:
        if angle < 1.0:
            return pose.q.copy()
        across, size = np.cross(points, np.eye(3)[int(np.argmin(np.abs(points)))]), 1.0
    return np.asarray(quat_multiply(quat_from_axis_angle(across / np.linalg.norm(across), angle), pose.q))


def list_touching(model: MjModel, data: MjData, last: int) -> set[tuple[int, int]]:
    """Pairs of bodies of a robot (1 to ``last``) that are inside each other where ``data`` has them."""
    pairs = list_overlaps(model, data)
    bodies = np.sort(np.asarray(model.geom_bodyid)[pairs], axis=1).reshape(-1, 2)
    return {(int(a), int(b)) for a, b in bodies if a >= 1 and b <= last}


# stiffness for each kilogram that the tool feels like [1/s^2], critically damped
_STIFFNESS = 400.0
# the same of what draws joints back to their start, which is to be weaker
_DRAWN = 10.0
# part of the dry friction from which on it is made up for; smaller values let joints chatter about their target
_STICK = 0.3
# directions in which the arm can accelerate its tool less than this part of the best are left alone: near singularities
# the inertia there is without bound
_WEAK = 1e-3


@dataclass(slots=True)
class ToolImpedance:
    """Operational space control: torques that let the tool behave like a mass on a spring and a damper.

    After Khatib, 1987: the error of the tool's pose becomes an acceleration, the inertia that the tool has through the
    arm makes a force of it, and the Jacobian torques of the joints.  Gravity, Coriolis forces and dry friction are made
    up for; what freedom is left draws the joints to where they started.  Unlike targets of servos this is soft: a tool
    that is held gives way, and what it touches is pressed with no more than the spring has.
    """

    mover: ToolMover
    stiffness: float = _STIFFNESS
    _dofs: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._dofs = np.asarray(self.mover.model.jnt_dofadr)[self.mover.joints]

    def find_torques(self, data: MjData) -> dict[int, float]:
        """Torques [N m] or forces [N] by joint id; ``data`` has to be computed forward."""
        mover, dofs = self.mover, self._dofs
        mass = compute_mass_block(mover.model, data, dofs)
        speeds = np.asarray(data.qvel)[dofs]
        parts = self._measure(data)
        torques = np.zeros(len(dofs))
        for jacobian, error in parts:
            # place and turn one by one: a light wrist turns a thousand times more easily than the arm moves, so that in
            # one matrix the place would count as a direction in which nothing can be done
            inertia = np.linalg.pinv(
                jacobian @ np.linalg.solve(mass, jacobian.T), rcond=_WEAK, hermitian=True
            )
            wanted = self.stiffness * error - 2.0 * math.sqrt(self.stiffness) * (jacobian @ speeds)
            torques += jacobian.T @ (inertia @ wanted)
        places = np.asarray(data.qpos)[mover.model.jnt_qposadr[mover.joints]]
        back = _DRAWN * (mover.rest - places) - 2.0 * math.sqrt(_DRAWN) * speeds
        free = _find_free(np.concatenate([jacobian for jacobian, _ in parts]))
        # the motion that is nearest to going back, by energy, of those that leave the tool alone
        torques += mass @ free @ np.linalg.solve(free.T @ mass @ free, free.T @ mass @ back)
        # dry friction holds small errors fast: most of it is made up for, in the direction in which the joint is to go
        loss = np.asarray(mover.model.dof_frictionloss)[dofs]
        torques += loss * np.tanh(torques / np.maximum(_STICK * loss, 1e-9))
        torques += np.asarray(data.qfrc_bias)[dofs]
        return dict(zip(mover.joints.tolist(), torques.tolist(), strict=True))

    def _measure(self, data: MjData) -> list[tuple[Array, Array]]:
        """How the joints move and turn the tool, and how far it is from its target; no turn where it does not count."""
        mover = self.mover
        place, spin = (part[:, self._dofs] for part in compute_site_jacobians(mover.model, data, mover.site))
        here = read_site(data, mover.site)
        found = [(place, mover.target.p - here.p)]
        if mover.weight:
            found.append((spin, mover.measure_turn(here, mover.target)))
        return found


def _find_free(jacobian: Array) -> Array:
    """Motions of the joints that do not move the tool (joints x n)."""
    _, sizes, rows = np.linalg.svd(jacobian)
    rank = int((sizes > _WEAK * sizes[0]).sum()) if len(sizes) else 0
    return np.asarray(rows[rank:].T)

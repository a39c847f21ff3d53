# SPDX-License-Identifier: Apache-2.0
"""What a robot reaches of a workspace, and drawing the workspace to the robot (``--fit``).

Reaching is tried out by inverse kinematics inside the joints' limits, from where the robot starts and from other
configurations; only the position of the tool counts, and nothing is in the way.  Working on a table asks for more: a
tool that points down, and an arm that is not folded into itself right before its base.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simwright.core.errors import InputError
from simwright.core.math3d import Array, Pose, quat_rotate
from simwright.engines.mujoco.actuation import list_actuators
from simwright.engines.mujoco.queries import (
    SLIDE,
    MjData,
    MjModel,
    compute_site_jacobians,
    find_site,
    leave_out_contacts,
    measure_bottom,
    pose_bodies,
    read_site,
)
from simwright.tasks.compose import PREFIX, compose_scene
from simwright.tasks.home import find_home
from simwright.tasks.inverse import DOWN, ToolMover, find_approach, find_joints, list_touching, point_along
from simwright.tasks.manifest import ControlMode
from simwright.tasks.robot import TaskRobot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import SceneOptions, TaskScene

NEAR = 0.01
"""The tool is there when it is this near [m]."""
_ROUNDS = 60
_TRIES = 6
# a try that has not come nearer by a hundredth in this many rounds has stalled, at limits or stretched out
_STALLED, _PROGRESS = 15, 0.99
_DAMPING = 0.03
# largest step of a joint in one round [rad or m]
_LONGEST = 0.4
_LEAST, _LARGEST, _STEPS = 0.1, 3.0, 30
# a fitted workspace stays this far inside of what is just reached, and this far before where an arm is just not folded
_MARGIN = 0.97
_ROOM = 1.1
# cosine of how far a tool may lean from the vertical and still work on a table
_LEANING = 0.64


@dataclass(slots=True)
class ReachTester:
    """Tries whether the tool of a robot gets to points of the world.  ``joints`` are those that move it."""

    model: MjModel = field(repr=False)
    start: Array
    site: int
    joints: npt.NDArray[np.intp]
    _data: MjData | None = field(default=None, repr=False)

    def test(self, points: Array) -> npt.NDArray[np.bool_]:
        """Which of the points (n x 3) are reached."""
        if not len(self.joints):
            return np.zeros(len(points), dtype=bool)
        origin, longest = self._measure_chain()
        # what is out of reach of the stretched chain needs no trying
        near = np.linalg.norm(points - origin, axis=1) <= longest + NEAR
        return np.array([bool(inside) and self._try(p) for inside, p in zip(near, points, strict=True)])

    def _measure_chain(self) -> tuple[Array, float]:
        """Where the first moving body is, and how long all that follows would be as a straight line [m]."""
        model = self.model
        body = int(model.site_bodyid[self.site])
        first = int(model.jnt_bodyid[self.joints[0]])
        longest = float(np.linalg.norm(model.site_pos[self.site]))
        while body != first:
            longest += float(np.linalg.norm(model.body_pos[body]))
            body = int(model.body_parentid[body])
        for joint in self.joints:
            longest += 2.0 * float(np.linalg.norm(model.jnt_pos[joint]))
            slides = model.jnt_type[joint] == SLIDE
            longest += float(np.abs(model.jnt_range[joint]).max()) if slides else 0.0
        return np.array(pose_bodies(model, self.start).xpos[first]), longest

    def _try(self, point: Array) -> bool:
        limited = np.asarray(self.model.jnt_limited, dtype=bool)[self.joints]
        low = np.where(limited, self.model.jnt_range[self.joints, 0], -np.pi)
        high = np.where(limited, self.model.jnt_range[self.joints, 1], np.pi)
        begin = np.array(self.start[self.model.jnt_qposadr[self.joints]])
        # the same tries for every point: a report does not change from run to run
        rng = np.random.default_rng(0)
        starts = [begin, *(rng.uniform(low, high) for _ in range(_TRIES))]
        bounds = np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
        return any(self._approach(point, q, *bounds) <= NEAR for q in starts)

    def _approach(self, point: Array, q: Array, low: Array, high: Array) -> float:
        """How near the tool gets from one start [m]: damped least squares, with joints at their limits left out."""
        model = self.model
        addresses, dofs = model.jnt_qposadr[self.joints], model.jnt_dofadr[self.joints]
        qpos = np.array(self.start)
        best, before = np.inf, np.inf
        for number in range(_ROUNDS):
            qpos[addresses] = q = np.clip(q, low, high)
            data = self._data = pose_bodies(model, qpos, self._data)
            away = point - data.site_xpos[self.site]
            best = min(best, float(np.linalg.norm(away)))
            if best <= NEAR:
                break
            if number % _STALLED == _STALLED - 1:
                if best > _PROGRESS * before:
                    break
                before = best
            jacobian = compute_site_jacobians(model, data, self.site)[0][:, dofs]
            pull = jacobian.T @ away
            # joints at a limit that pull outwards would eat the step
            jacobian[:, ((q <= low) & (pull < 0)) | ((q >= high) & (pull > 0))] = 0.0
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + _DAMPING**2 * np.eye(3), away)
            q = q + step * min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-9))
        return best


def make_reach_tester(robot: TaskRobot, base: Pose) -> ReachTester:
    """A robot alone, standing at ``base``."""
    composed = compose_scene(robot.source, lambda spec: None, base=base, amend_robot=robot.amend)  # noqa: ARG005
    home = find_home(composed, keyframe=robot.keyframe, joints=robot.home_joints)
    return make_reach_tester_in(robot, composed.model, home.qpos)


def make_reach_tester_in(robot: TaskRobot, model: MjModel, start: Array) -> ReachTester:
    """A robot in a compiled scene, from a start."""
    site = find_site(model, PREFIX + robot.tools[0]) if robot.tools else -1
    gripping = robot.gripper_actuators
    driven = {a.joint for a in list_actuators(model) if a.joint >= 0 and a.index not in gripping}
    joints = find_joints(model, site, driven) if site >= 0 else np.zeros(0, dtype=np.intp)
    return ReachTester(model, start, site, joints)


class WorkTester:
    """Tries whether a tool comes down on places: pointing down as the scripts have it, the arm not folded into itself.

    ``bodies`` is the number of the robot's bodies.
    """

    def __init__(self, reacher: ReachTester, bodies: int) -> None:
        self._last = bodies
        self._data = pose_bodies(reacher.model, reacher.start)
        self._mover: ToolMover | None = None
        if len(reacher.joints):
            approach = find_approach(reacher.model, reacher.start, reacher.site, reacher.joints)
            self._mover = ToolMover(reacher.model, reacher.site, reacher.joints, axis=approach)
            self._mover.reset(self._data)
            self._down = point_along(read_site(self._data, reacher.site), approach, DOWN)
            self._home = self._mover.rest.copy()
            self._own = self._list_touching(self._home)

    def count(self, points: Array, enough: int = 0) -> int:
        """At how many of the points (n x 3) the tool can work; fewer where it cannot become ``enough`` of them."""
        found = 0
        for left in range(len(points), 0, -1):
            if found + left < enough:
                break
            found += self.test(points[-left])
        return found

    def test(self, point: Array) -> bool:
        """Can the tool work there?"""
        mover = self._mover
        if mover is None:
            return False
        assert mover.axis is not None
        joints = mover.find(self._data, Pose.of(point, self._down), self._home, rounds=_ROUNDS)
        found = mover.locate(self._data, joints)
        if float(np.linalg.norm(found.p - point)) > NEAR:
            return False
        leaning = float(quat_rotate(found.q, mover.axis) @ DOWN)
        return leaning > _LEANING and not self._list_touching(joints) - self._own

    def _list_touching(self, joints: Array) -> set[tuple[int, int]]:
        assert self._mover is not None
        return list_touching(self._mover.model, self._mover.pose(self._data, joints), self._last)


@dataclass(frozen=True, slots=True)
class FittedScene:
    """Options of a scene that was drawn to a robot: ``factor`` of its distances from the base."""

    options: SceneOptions
    factor: float
    reached: int
    total: int


def fit_scene(
    scene: TaskScene, options: SceneOptions, robot: TaskRobot, base: Pose | None = None
) -> FittedScene:
    """Draw the workspace of a scene towards the base, or stand back from it, until the robot can work in it.

    That is: it reaches all corners, and its tool comes down on the places where the scene has it work
    (:attr:`TaskScene.work`).  A workspace that is as good already stays as it is; so does a scene without one.
    """
    if scene.workspace is None or scene.scale is None:
        return FittedScene(options, 1.0, 0, 0)
    if base is None:
        base = scene.base(options, robot.forward)
        if scene.mount is not None:
            options = scene.mount(options, _measure_lowest(make_reach_tester(robot, base)))
            base = scene.base(options, robot.forward)
    reacher = make_reach_tester(robot, base)
    worker = WorkTester(reacher, reacher.model.nbody - 1)
    best: Rank = (-1, -1)
    found = FittedScene(options, 1.0, 0, 0)
    for factor in _list_factors():
        scaled = _scale(scene, options, factor, base)
        rank = _rank(scene, scaled, reacher, worker, best)
        if rank > best:
            best, found = rank, FittedScene(scaled, factor, rank[0], len(scene.workspace(scaled)))
        if rank == (found.total, 0 if scene.work is None else len(scene.work(scaled))):
            break
    if found.reached == 0:
        raise InputError(
            f"the robot {robot.id!r} reaches nothing of the task {scene.name!r}, however small it is made",
            hint="move the base by --set robot_base_xyz=...",
        )
    return _leave_room(
        scene, options, (best, found), base, lambda inner: _rank(scene, inner, reacher, worker, best)
    )


def _measure_lowest(reacher: ReachTester) -> float:
    """How low the moving parts of a robot come where it starts [m]; shoulders of some reach below their base."""
    model, data = reacher.model, pose_bodies(reacher.model, reacher.start)
    lowest = np.inf
    for geom in range(model.ngeom):
        collides = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if collides and model.body_weldid[model.geom_bodyid[geom]]:
            lowest = min(lowest, measure_bottom(model, data, geom))
    return float(lowest)


Rank = tuple[int, int]
"""How many corners are reached, and at how many places the tool can work: reached by place alone comes first, because
without it there is nothing to work on."""


def _rank(
    scene: TaskScene, options: SceneOptions, reacher: ReachTester, worker: WorkTester, best: Rank
) -> Rank:
    """The rank of a workspace; where it is below ``best``, places to work are not all tried, which takes longest."""
    assert scene.workspace is not None
    reached = int(reacher.test(scene.workspace(options)).sum())
    if scene.work is None or not reached or reached < best[0]:
        return reached, 0
    return reached, worker.count(scene.work(options), best[1] if reached == best[0] else 0)


def _leave_room(
    scene: TaskScene,
    options: SceneOptions,
    best: tuple[Rank, FittedScene],
    base: Pose,
    rank: Callable[[SceneOptions], Rank],
) -> FittedScene:
    """The first workspace that will do is at the edge of what will do, where joints are at their limits.

    One that was drawn in is just reached with the arm stretched out: it is drawn in a little more.  One that was set
    back is where the arm is just not folded up: what it holds there tilts, so it is set back a little more.
    """
    found = best[1]
    if found.factor == 1.0:
        return found
    factor = found.factor * (_MARGIN if found.factor < 1.0 else _ROOM)
    inner = _scale(scene, options, factor, base)
    kept = rank(inner)
    return FittedScene(inner, factor, kept[0], found.total) if kept >= best[0] else found


def _scale(scene: TaskScene, options: SceneOptions, factor: float, base: Pose) -> SceneOptions:
    assert scene.scale is not None
    return options if factor == 1.0 else scene.scale(options, factor, base)


def _list_factors() -> list[float]:
    """Factors to try, the one nearest to 1 first, by ratio."""
    inward = np.geomspace(1.0, _LEAST, _STEPS)
    outward = np.geomspace(1.0, _LARGEST, _STEPS // 2)[1:]
    return sorted([*inward.tolist(), *outward.tolist()], key=lambda factor: abs(np.log(factor)))


# how far a joint is told to go [rad], [m], and how long it gets [s]
_TURN, _SHIFT, _SECONDS = 0.15, 0.02, 0.5
# of the way without contacts; what goes less is held, or creeps
_HELD = 0.8
# of the way it is told; what goes less stands still
_WEAK = 0.2


def find_held_joints(rollout: SimRollout) -> dict[str, float]:
    """Joints that carry a tool and do not go as far as they would without contacts: what part of it."""
    if rollout.mode is not ControlMode.POSITION:
        return {}
    found: dict[str, float] = {}
    for number, actuator in enumerate(rollout.actuators):
        if actuator.joint not in rollout.controller.arm_joints:
            continue
        with leave_out_contacts(rollout.model):
            free, _ = _move_joint(rollout, number)
        share = _move_joint(rollout, number)[0] / free if free > 0 else 1.0
        if share < _HELD:
            found[rollout.model.joint(actuator.joint).name.removeprefix(PREFIX)] = max(share, 0.0)
    return found


def find_weak_joints(rollout: SimRollout) -> dict[str, float]:
    """Joints that carry a tool and stand nearly still although nothing is in their way: what part of it they go."""
    if rollout.mode is not ControlMode.POSITION:
        return {}
    found: dict[str, float] = {}
    with leave_out_contacts(rollout.model):
        for number, actuator in enumerate(rollout.actuators):
            if actuator.joint not in rollout.controller.arm_joints:
                continue
            gone, told = _move_joint(rollout, number, gradually=True)
            if told > 0 and gone < _WEAK * told:
                found[rollout.model.joint(actuator.joint).name.removeprefix(PREFIX)] = max(gone / told, 0.0)
    return found


def _move_joint(rollout: SimRollout, number: int, *, gradually: bool = False) -> tuple[float, float]:
    """Tell an actuator to go on by a little, towards the side with more room: how far its joint gets, and should.

    ``gradually`` tells it step by step, as policies do, and leaves as much time again to arrive: a stiff servo whose
    force is bounded chatters on the spot when it is told all at once.
    """
    model, actuator = rollout.model, rollout.actuators[number]
    rollout.reset(seed=0)
    action = rollout.controller.hold()
    low, high = (bound[number] for bound in rollout.controller.bounds)
    address = int(model.jnt_qposadr[actuator.joint])
    start = float(rollout.qpos[address])
    step = abs(actuator.scale) * (_SHIFT if model.jnt_type[actuator.joint] == SLIDE else _TURN)
    side = 1.0 if high - action[number] >= action[number] - low else -1.0
    held = float(action[number])
    action[number] = np.clip(held + side * step, low, high)
    aim, count = float(action[number]), max(1, round(_SECONDS / rollout.composed.period))
    shares = np.minimum(np.arange(1, 2 * count + 1) / count, 1.0) if gradually else np.ones(count)
    for share in shares.tolist():
        action[number] = held + share * (aim - held)
        rollout.step(action)
    sign = side if actuator.scale >= 0 else -side
    return sign * (float(rollout.qpos[address]) - start), abs(float(action[number]) - held) / abs(
        actuator.scale
    )

# SPDX-License-Identifier: Apache-2.0
"""What can be told of a robot from its compiled model alone: base, sort, tool, gripper, reach, how it is driven.

Nothing here looks a name up to find a body; names only decide between sites that could all be the tool.  A manifest
that says otherwise is believed (:mod:`simwright.tasks.robot`).

A gripper is fingers that branch off one body at the end of a chain.  Which end of the control range is open is tried
out: without gravity, the fingers are driven both ways, and the way that takes them farther apart is open.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, VectorLike
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind, hold_controls, list_actuators
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import (
    FREE,
    HINGE,
    IMPLICITFAST,
    SLIDE,
    MjData,
    MjModel,
    compute_point_jacobian,
    list_tendon_joints,
    pose_bodies,
)
from simwright.formats.mjcf.quiet import quiet_mujoco
from simwright.tasks.manifest import ControlMode, RobotKind

# a fixed robot whose tips stay this near to its base is a hand or a gripper, not an arm [m]
_SMALL = 0.45
_LEG = 2
_LIMB = 3
_ARM = 4
_SAMPLES = 400
_STRETCHES = 60
_STRETCH = 0.5
_TOOL_WORDS = ("tcp", "tool", "grasp", "pinch", "attachment", "gripper", "ee", "eef", "effector", "hand")


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """What was found.  ``tool`` is the body of the tool, ``tool_site`` a site on it (-1: none); both are ids."""

    kind: RobotKind
    is_floating: bool
    roots: tuple[int, ...]
    tool: int
    tool_site: int
    grip: GripperFacts | None
    reach: float
    mode: ControlMode
    actuators: tuple[ActuatorInfo, ...]
    tool_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the tool is on its body: between the fingers, or at its far end [m]."""
    dofs: int = 0
    """Degrees of freedom of its joints; those of a floating base do not count."""


def infer_facts(model: MjModel, *, says_base: bool = True, kind: RobotKind | None = None) -> RobotFacts:
    """Look at a robot that was compiled alone.

    ``says_base`` tells that its file says whether the base floats.  URDF does not: there a single arm and a hand are
    taken as mounted, whatever has legs or wheels as floating.  ``kind`` is given where it is known already.
    """
    tree = _BodyTree(model)
    actuators = tuple(list_actuators(model))
    floating = any(model.jnt_type[joint] == FREE for joint in tree.joints_at_roots())
    grip = find_gripper(model, actuators)
    tool = grip.palm if grip is not None else tree.find_tip()
    site = _find_site(model, tool, tree)
    offset = find_offset(model, tool, grip)
    if kind is None:
        kind = _tell_kind(model, tree, actuators, floating=floating and says_base, grip=grip)
        if floating and not says_base:
            kind, floating = _tell_base(model, tree, kind)
    if site < 0:
        reach = measure_reach(model, tool, offset)
    else:
        reach = measure_reach(model, int(model.site_bodyid[site]), model.site_pos[site])
    return RobotFacts(
        kind,
        floating,
        tuple(tree.roots),
        tool,
        site,
        grip,
        reach,
        _tell_mode(actuators),
        actuators,
        offset,
        _count_dofs(model),
    )


def _count_dofs(model: MjModel) -> int:
    """Degrees of freedom, but for those of floating bases."""
    sizes = {0: 0, 1: 3, 2: 1, 3: 1}
    return sum(sizes[int(kind)] for kind in model.jnt_type)


class _BodyTree:
    """Bodies and what hangs on them."""

    def __init__(self, model: MjModel) -> None:
        self.model = model
        self.parents: npt.NDArray[np.int32] = np.array(model.body_parentid)
        self.roots = [body for body in range(1, model.nbody) if self.parents[body] == 0]
        self.children: dict[int, list[int]] = {}
        for body in range(1, model.nbody):
            self.children.setdefault(int(self.parents[body]), []).append(body)

    def joints_at_roots(self) -> list[int]:
        return [
            joint
            for root in self.roots
            for joint in range(
                self.model.body_jntadr[root], self.model.body_jntadr[root] + self.model.body_jntnum[root]
            )
        ]

    def count_joints(self, body: int) -> int:
        """Single joints from the root down to a body."""
        count = 0
        while body > 0:
            first = self.model.body_jntadr[body]
            kinds = self.model.jnt_type[first : first + self.model.body_jntnum[body]]
            count += int(np.sum(np.asarray(kinds) >= 1))
            body = int(self.parents[body])
        return count

    def measure_depth(self, body: int) -> int:
        """Single joints on the longest way down from a body, its own included."""
        below = max((self.measure_depth(child) for child in self.children.get(body, ())), default=0)
        first = self.model.body_jntadr[body]
        kinds = self.model.jnt_type[first : first + self.model.body_jntnum[body]]
        return below + int(np.sum(np.asarray(kinds) >= 1))

    def list_limbs(self, body: int = 0) -> list[int]:
        """The top bodies of arms, legs and fingers: branches of two joints or more that do not divide into such."""
        limbs: list[int] = []
        for child in self.children.get(body, ()):
            least = _LIMB if body else _LEG
            inner = [limb for limb in self.list_limbs(child) if self.measure_depth(limb) >= least]
            if len(inner) >= 2:
                limbs += inner
            elif self.measure_depth(child) >= _LEG:
                limbs.append(child)
        return limbs

    def find_tip(self) -> int:
        """The body at the end of the longest chain of joints; fixed bodies beyond it count as part of the chain."""
        best = max(range(1, self.model.nbody), key=lambda body: (self.count_joints(body), -body), default=0)
        while len(self.children.get(best, ())) == 1:
            best = self.children[best][0]
        return best


def _find_site(model: MjModel, tool: int, tree: _BodyTree) -> int:
    """A site on the tool, or on the fixed bodies around it, that is called like a tool; -1 without one."""
    near = {tool, *tree.children.get(tool, ())}
    if not model.body_jntnum[tool]:
        near.add(int(tree.parents[tool]))
    found = []
    for site in range(model.nsite):
        name = model.site(site).name.lower()
        rank = next((number for number, word in enumerate(_TOOL_WORDS) if word in name), None)
        if int(model.site_bodyid[site]) in near and rank is not None:
            found.append((rank, site))
    return min(found)[1] if found else -1


def _tell_kind(
    model: MjModel,
    tree: _BodyTree,
    actuators: tuple[ActuatorInfo, ...],
    *,
    floating: bool,
    grip: GripperFacts | None,
) -> RobotKind:
    limbs = tree.list_limbs()
    if floating:
        if actuators and all(actuator.transmission in ("site", "body") for actuator in actuators):
            return RobotKind.DRONE
        return _tell_walker(model, tree, limbs)
    bodies = range(1, model.nbody)
    if measure_spread(model) < _SMALL:
        if grip is not None and len(actuators) <= 2:
            return RobotKind.GRIPPER
        return RobotKind.HAND if len(limbs) >= 3 else RobotKind.OTHER
    deepest = max((tree.count_joints(body) for body in bodies), default=0)
    return RobotKind.ARM if deepest >= _ARM else RobotKind.OTHER


def _tell_base(model: MjModel, tree: _BodyTree, mounted: RobotKind) -> tuple[RobotKind, bool]:
    """Sort, and whether it floats, where the file leaves the base open; ``mounted`` is what it would be fixed."""
    if mounted in (RobotKind.HAND, RobotKind.GRIPPER):
        return mounted, False
    if _count_wheels(model, tree) >= 2:
        return RobotKind.MOBILE, True
    limbs = tree.list_limbs()
    if len(limbs) >= 2:
        return _tell_walker(model, tree, limbs), True
    # the free joint is its only one: nothing else could move
    return mounted, model.njnt == 1


def _count_wheels(model: MjModel, tree: _BodyTree) -> int:
    """Bodies at the root that turn without end and carry nothing that moves."""
    count = 0
    for body in range(1, model.nbody):
        joint = int(model.body_jntadr[body])
        if model.body_jntnum[body] != 1 or tree.measure_depth(body) != 1 or tree.count_joints(body) > 2:
            continue
        count += int(model.jnt_type[joint] == HINGE and not model.jnt_limited[joint])
    return count


def _tell_walker(model: MjModel, tree: _BodyTree, limbs: list[int]) -> RobotKind:
    """By the number of limbs: four alike are a quadruped, two legs a biped, two legs and more a humanoid."""
    depths = {tree.measure_depth(limb) for limb in limbs}
    if len(limbs) == 4 and len(depths) == 1 and len({int(tree.parents[limb]) for limb in limbs}) == 1:
        return RobotKind.QUADRUPED
    if len(limbs) in (2, 3):
        return RobotKind.BIPED
    if len(limbs) >= 4:
        return RobotKind.HUMANOID
    return RobotKind.MOBILE if model.njnt > 1 else RobotKind.OTHER


def _tell_mode(actuators: tuple[ActuatorInfo, ...]) -> ControlMode:
    """What most actuators take."""
    kinds = [actuator.kind for actuator in actuators]
    if not kinds or kinds.count(ActuatorKind.POSITION) * 2 >= len(kinds):
        return ControlMode.POSITION
    if kinds.count(ActuatorKind.VELOCITY) * 2 > len(kinds):
        return ControlMode.VELOCITY
    return ControlMode.TORQUE


def measure_reach(model: MjModel, body: int, point: VectorLike = (0.0, 0.0, 0.0)) -> float:
    """The farthest that a point of a body gets from the base inside the limits [m].

    Many configurations are tried, and the best of them is stretched further.
    """
    if not body:
        return 0.0
    root = int(model.body_rootid[body])
    span = _JointRanges(model)
    best, chosen = -1.0, span.low
    for q in span.sample():
        data = span.pose(q)
        far = float(np.linalg.norm(_find_point(data, body, point) - data.xpos[root]))
        if far > best:
            best, chosen = far, q
    for _ in range(_STRETCHES):
        data = span.pose(chosen)
        place = _find_point(data, body, point)
        away = place - data.xpos[root]
        best = max(best, float(np.linalg.norm(away)))
        jacobian = compute_point_jacobian(model, data, body, place)
        # uphill: along the gradient of the distance, inside the limits
        chosen = np.clip(chosen + _STRETCH * (jacobian[:, span.dofs].T @ away), span.low, span.high)
    return best


def _find_point(data: MjData, body: int, point: VectorLike) -> Array:
    return np.array(data.xpos[body] + np.asarray(data.xmat[body]).reshape(3, 3) @ np.asarray(point))


class _JointRanges:
    """What the single joints of a robot can do."""

    def __init__(self, model: MjModel) -> None:
        self.model = model
        single = np.flatnonzero(np.asarray(model.jnt_type) >= SLIDE)
        self.addresses = np.asarray(model.jnt_qposadr)[single]
        self.dofs = np.asarray(model.jnt_dofadr)[single]
        self.low, self.high = (np.array(model.jnt_range[single, side]) for side in (0, 1))
        free = ~np.asarray(model.jnt_limited, dtype=bool)[single]
        # one turn shows all that a joint without limits can do
        self.low[free], self.high[free] = -np.pi, np.pi
        self._data: MjData | None = None

    def sample(self) -> list[Array]:
        """The middle, and many others, the same at every call."""
        rng = np.random.default_rng(0)
        shares = [np.full(len(self.low), 0.5), *rng.random((_SAMPLES - 1, len(self.low)))]
        return [self.low + share * (self.high - self.low) for share in shares]

    def pose(self, q: Array) -> MjData:
        """Bodies where the joints put them, valid until the next question."""
        qpos = np.array(self.model.qpos0)
        qpos[self.addresses] = q
        self._data = pose_bodies(self.model, qpos, self._data)
        return self._data


def measure_spread(model: MjModel) -> float:
    """The farthest that any body gets from its root [m]."""
    span = _JointRanges(model)
    best = 0.0
    for q in span.sample():
        data = span.pose(q)
        best = max(best, float(np.linalg.norm(data.xpos - data.xpos[model.body_rootid], axis=1).max()))
    return best


_MOST_FINGERS = 4
# a single finger against a fixed one is told from a wrist by its name
_JAW_WORDS = ("jaw", "grip", "finger", "claw", "pinc")
# fingers are no longer than this, from the palm [m]
_FINGER_LENGTH = 0.25
_DRIVE_SECONDS = 1.0
# less than that between open and closed is not a gripper [m]
_LEAST_STROKE = 2e-3


@dataclass(frozen=True, slots=True)
class GripperFacts:
    """A gripper: the body its fingers branch off, its finger bodies, its actuators, and the controls at both ends."""

    palm: int
    fingers: tuple[int, ...]
    actuators: tuple[int, ...]
    open: float
    closed: float
    stroke: float


def find_gripper(model: MjModel, actuators: Sequence[ActuatorInfo]) -> GripperFacts | None:
    """The gripper of a robot that was compiled alone; None where there is none."""
    for palm, fingers in _list_palms(model):
        own = [a for a in actuators if _drives_only(model, a, fingers) and np.isfinite((a.low, a.high)).all()]
        # fingers with different ranges are those of a hand: one control cannot close them
        if len({(a.low, a.high) for a in own}) == 1:
            found = _try_gripper(model, palm, fingers, own)
            if found is not None:
                return found
    return None


def _try_gripper(
    model: MjModel, palm: int, fingers: list[list[int]], own: Sequence[ActuatorInfo]
) -> GripperFacts | None:
    """Drive the fingers to both ends of their range; None where that does not move them apart."""
    low, high = own[0].low, own[0].high
    indices = [actuator.index for actuator in own]
    # a single finger closes against the palm
    parts = fingers if len(fingers) > 1 else [*fingers, [palm]]
    apart = _drive_apart(model, parts, indices, (low, high))
    stroke = abs(apart[1] - apart[0])
    if stroke < _LEAST_STROKE:
        return None
    wide, narrow = (high, low) if apart[1] > apart[0] else (low, high)
    return GripperFacts(palm, tuple(branch[0] for branch in fingers), tuple(indices), wide, narrow, stroke)


def _list_palms(model: MjModel) -> list[tuple[int, list[list[int]]]]:
    """Bodies with a few short moving branches, and these; the one nearest to the base first."""
    found = []
    for body in range(1, model.nbody):
        fingers = _list_fingers(model, body)
        if 2 <= len(fingers) <= _MOST_FINGERS or (len(fingers) == 1 and _is_jaw(model, fingers[0])):
            found.append((body, fingers))
    return found


def _is_jaw(model: MjModel, branch: list[int]) -> bool:
    """One moving body, called a jaw or the like, or its joint is."""
    moving = [body for body in branch if model.body_jntnum[body]]
    if len(moving) != 1:
        return False
    names = (model.body(moving[0]).name, model.joint(int(model.body_jntadr[moving[0]])).name)
    return any(word in name.lower() for word in _JAW_WORDS for name in names)


def _list_fingers(model: MjModel, palm: int) -> list[list[int]]:
    """The moving branches below a body, each a list of bodies, if all of them are short."""
    branches = []
    for child in range(palm + 1, model.nbody):
        if model.body_parentid[child] != palm:
            continue
        below = [body for body in range(child, model.nbody) if _is_below(model, body, child)]
        if any(model.body_jntnum[body] for body in below):
            branches.append(below)
    data = pose_bodies(model, model.qpos0)
    # long branches are arms of a two-armed robot, not fingers
    reach = [np.linalg.norm(data.xpos[body] - data.xpos[palm]) for branch in branches for body in branch]
    return branches if reach and max(reach) <= _FINGER_LENGTH else []


def _is_below(model: MjModel, body: int, top: int) -> bool:
    while body > top:
        body = int(model.body_parentid[body])
    return body == top


def _drives_only(model: MjModel, actuator: ActuatorInfo, fingers: list[list[int]]) -> bool:
    """Does it move fingers and nothing else?"""
    allowed = {body for branch in fingers for body in branch}
    if actuator.transmission == "joint":
        return int(model.jnt_bodyid[actuator.joint]) in allowed
    if actuator.transmission != "tendon":
        return False
    tendon = int(model.actuator_trnid[actuator.index, 0])
    bodies = {int(model.jnt_bodyid[joint]) for joint in list_tendon_joints(model, tendon)}
    return bool(bodies) and bodies <= allowed


def _drive_apart(
    model: MjModel, fingers: list[list[int]], actuators: list[int], controls: Sequence[float]
) -> list[float]:
    """How far apart the tips are when the actuators are told each of the controls [m]: a world for each."""
    model = copy.copy(model)
    model.opt.gravity[:] = 0.0
    # whatever the rest of the robot does: stiff servos do not blow up with it
    model.opt.integrator = IMPLICITFAST
    with ModelBatch(model, len(controls)) as worlds:
        start = _move_inside(model, model.qpos0)
        worlds.view("qpos")[:] = start
        told = worlds.view("ctrl")
        told[:] = hold_controls(model, start)
        told[:, actuators] = np.array(controls)[:, None]
        with quiet_mujoco():
            worlds.step(max(1, round(_DRIVE_SECONDS / model.opt.timestep)))
        return [_measure_apart(model, worlds.look(world), fingers) for world in range(len(controls))]


def _move_inside(model: MjModel, qpos: Array) -> Array:
    """Coordinates inside of the limits: fingers that cross where their joints are zero would hold each other."""
    single = np.flatnonzero((model.jnt_type >= SLIDE) & np.asarray(model.jnt_limited, dtype=bool))
    places = model.jnt_qposadr[single]
    moved = np.array(qpos)
    moved[places] = np.clip(moved[places], model.jnt_range[single, 0], model.jnt_range[single, 1])
    return moved


def _measure_apart(model: MjModel, data: MjData, fingers: list[list[int]]) -> float:
    centers = [_find_center(model, data, branch) for branch in fingers]
    pairs = [np.linalg.norm(a - b) for number, a in enumerate(centers) for b in centers[number + 1 :]]
    return float(np.mean(pairs)) if np.isfinite(pairs).all() else 0.0


def _find_center(model: MjModel, data: MjData, branch: list[int]) -> Array:
    """The middle of the last body of a finger: of its geoms, else its own."""
    last = branch[-1]
    geoms = np.flatnonzero(np.asarray(model.geom_bodyid) == last)
    return np.array(data.geom_xpos[geoms].mean(axis=0) if len(geoms) else data.xipos[last])


def find_offset(model: MjModel, tool: int, grip: GripperFacts | None) -> tuple[float, float, float]:
    """Where the tool is on its body [m]: between the tips of the fingers, else the body's own frame."""
    if grip is None or not tool:
        return (0.0, 0.0, 0.0)
    data = pose_bodies(model, model.qpos0)
    turn = np.asarray(data.xmat[tool]).reshape(3, 3)
    tips = []
    for finger in grip.fingers:
        geoms = [g for g in range(model.ngeom) if _is_below(model, int(model.geom_bodyid[g]), finger)]
        tips += [_find_far_corner(model, data, geom, np.asarray(data.xpos[tool])) for geom in geoms]
    if not tips:
        return (0.0, 0.0, 0.0)
    local = (np.array(tips) - data.xpos[tool]) @ turn
    far = np.linalg.norm(local, axis=1)
    # the tips alone: knuckles would draw the tool back
    chosen = local[far >= 0.8 * far.max()].mean(axis=0)
    return tuple(float(v) for v in chosen)  # type: ignore[return-value]


def _find_far_corner(model: MjModel, data: MjData, geom: int, origin: Array) -> Array:
    """The corner of a geom's box that is farthest from a point, drawn back to the box's middle plane there."""
    center, half = np.asarray(model.geom_aabb[geom][:3]), np.asarray(model.geom_aabb[geom][3:])
    turn = np.asarray(data.geom_xmat[geom]).reshape(3, 3)
    middle = data.geom_xpos[geom] + turn @ center
    away = turn.T @ (middle - origin)
    axis = int(np.argmax(np.abs(away) * half))
    step = np.zeros(3)
    step[axis] = np.sign(away[axis]) * half[axis]
    return np.array(middle + turn @ step)

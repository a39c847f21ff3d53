# SPDX-License-Identifier: Apache-2.0
"""What can be told of a robot from its compiled model alone: base, sort, tool, gripper, reach, how it is driven.

Nothing here looks a name up to find a body; names only decide between sites that could all be the tool.  A manifest
that says otherwise is believed (:mod:`simwright.tasks.robot`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, VectorLike
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind, list_actuators
from simwright.engines.mujoco.queries import (
    FREE,
    HINGE,
    SLIDE,
    MjData,
    MjModel,
    compute_point_jacobian,
    pose_bodies,
)
from simwright.tasks.grippers import GripperFacts, find_gripper, find_offset, is_between
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
    offset = find_offset(model, tool, grip)
    site = _find_site(model, tool, tree, None if grip is None else np.asarray(offset))
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


def _find_site(model: MjModel, tool: int, tree: _BodyTree, fingertips: Array | None) -> int:
    """A site on the tool, or on the fixed bodies around it, that is called like a tool; -1 without one.

    Of a gripper it has to be between the fingers; ``fingertips`` is where these meet, on the body of the tool.
    """
    near = {tool, *tree.children.get(tool, ())}
    if not model.body_jntnum[tool]:
        near.add(int(tree.parents[tool]))
    data = pose_bodies(model, model.qpos0)
    turn = np.asarray(data.xmat[tool]).reshape(3, 3)
    found = []
    for site in range(model.nsite):
        name = model.site(site).name.lower()
        rank = next((number for number, word in enumerate(_TOOL_WORDS) if word in name), None)
        if int(model.site_bodyid[site]) not in near or rank is None:
            continue
        if fingertips is None or is_between((data.site_xpos[site] - data.xpos[tool]) @ turn, fingertips):
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

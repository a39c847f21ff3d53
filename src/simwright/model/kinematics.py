# SPDX-License-Identifier: Apache-2.0
"""The kinematic tree, built from joint relations alone, with loops found and forward kinematics.

Nothing here trusts the order or nesting of the file: the tree is what the joints say (REP-0158 1.3).  Every
body is reached by one *tree* joint (or stands free); a joint that would reach a body twice *closes a loop*.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import (
    IDENTITY,
    Array,
    Pose,
    VectorLike,
    quat_angle,
    quat_conjugate,
    quat_multiply,
    quat_rotate,
)
from simwright.model.joint import WORLD, Dof, EqualityKind, Joint, JointKind, Motion

if TYPE_CHECKING:
    from simwright.model.asset import Asset

_ROUNDS = 30
_EXACT = 1e-13
_LONGEST = 1.0
"""Largest step of a coordinate in one round [rad, m]."""


@dataclass(slots=True, eq=False)
class Edge:
    """A tree joint as it is walked; ``reversed`` when from its child to its parent."""

    joint: Joint
    parent: str
    child: str
    reversed: bool = False

    def transform(self, q: VectorLike) -> Pose:
        """Pose of ``child`` in ``parent`` at the joint's coordinates."""
        pose = self.joint.transform(q)
        return ~pose if self.reversed else pose


@dataclass(slots=True, eq=False)
class Tree:
    """A spanning forest: edges in breadth-first order from the roots, and what is left over.

    ``roots`` are bodies reached by no joint; ``loops`` the joints that close cycles; ``dangling`` joints
    that name a body that does not exist; ``extra`` enabled-but-shadowed parallel joints of the same pair.
    """

    edges: list[Edge] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    loops: list[Joint] = field(default_factory=list)
    dangling: list[Joint] = field(default_factory=list)
    disabled: list[Joint] = field(default_factory=list)

    @property
    def joints(self) -> list[Joint]:
        """Tree joints in walking order."""
        return [edge.joint for edge in self.edges]

    def parents(self) -> dict[str, Edge]:
        """The edge that leads to each body."""
        return {edge.child: edge for edge in self.edges}

    def children(self) -> dict[str, list[Edge]]:
        """The edges that leave each body (and the world)."""
        result: dict[str, list[Edge]] = {}
        for edge in self.edges:
            result.setdefault(edge.parent, []).append(edge)
        return result

    def positions(self) -> int:
        """Number of position coordinates of the tree joints."""
        return sum(edge.joint.positions for edge in self.edges)

    def velocities(self) -> int:
        """Degrees of freedom of the tree joints."""
        return sum(edge.joint.velocities for edge in self.edges)


def build_tree(asset: Asset) -> Tree:
    """The spanning forest of an asset.

    Bodies anchored to the world come first, then components in the order of their first body.  The root
    of a floating component is the body that is nobody's child; in a pure cycle, its first body.
    Joints marked as closing a loop, and distance joints, never carry a body.
    """
    tree = Tree()
    order = [body.name for body in asset.bodies]
    links: dict[str, list[Joint]] = {WORLD: [], **{name: [] for name in order}}
    held: set[str] = set()
    for joint in _sort_out(asset, tree, {WORLD, *order}):
        links[joint.parent].append(joint)
        links[joint.child].append(joint)
        held.add(joint.child)
    seen = {WORLD}
    used: set[int] = set()
    _walk(WORLD, links, seen, used, tree)
    # first those that no joint carries; what is left are cycles, which begin at their first body
    for candidates in ([n for n in order if n not in held], order):
        for name in candidates:
            if name not in seen:
                seen.add(name)
                tree.roots.append(name)
                _walk(name, links, seen, used, tree)
    return tree


def _sort_out(asset: Asset, tree: Tree, names: set[str]) -> Iterator[Joint]:
    """Joints that may carry a body; the others are put into their lists of ``tree``."""
    for joint in asset.joints:
        if not {joint.parent, joint.child} <= names or joint.parent == joint.child == WORLD:
            tree.dangling.append(joint)
        elif not joint.enabled:
            tree.disabled.append(joint)
        elif joint.closes_loop or joint.kind is JointKind.DISTANCE or joint.parent == joint.child:
            tree.loops.append(joint)
        else:
            yield joint


def _walk(start: str, links: Mapping[str, list[Joint]], seen: set[str], used: set[int], tree: Tree) -> None:
    """Breadth-first from ``start``, forwards as long as that reaches a body, then one joint backwards, and so on."""
    queue: deque[str] = deque([start])
    waiting: deque[tuple[Joint, str]] = deque()
    while queue or waiting:
        if queue:
            at = queue.popleft()
            ahead = [joint for joint in links[at] if joint.parent == at]
            # forwards first: a joint is walked backwards only where nothing else leads there
            waiting += [(joint, at) for joint in links[at] if joint.parent != at]
        else:
            joint, at = waiting.popleft()
            ahead = [joint]
        for joint in ahead:
            if id(joint) in used:
                continue
            used.add(id(joint))
            other = joint.child if joint.parent == at else joint.parent
            # reached already: the joint holds two bodies that the tree holds too
            if other in seen:
                tree.loops.append(joint)
                continue
            seen.add(other)
            tree.edges.append(Edge(joint, at, other, joint.parent != at))
            queue.append(other)


def forward_kinematics(
    asset: Asset, q: Mapping[str, VectorLike | float] | None = None, tree: Tree | None = None
) -> dict[str, Pose]:
    """World pose of every body when the joints named in ``q`` have those coordinates.

    Joints not named are at their initial coordinates.  Roots of floating components stay where the file
    puts them.  Unknown joints, and coordinates that a joint does not have, are errors.
    """
    tree = tree or build_tree(asset)
    known = {joint.name: joint for joint in asset.joints} if q else {}
    values = {name: _read_coordinates(known, name, given) for name, given in (q or {}).items()}
    poses: dict[str, Pose] = {WORLD: IDENTITY}
    rest = {body.name: body.pose for body in asset.bodies}
    for root in tree.roots:
        poses[root] = rest[root]
    for edge in tree.edges:
        given = values.get(edge.joint.name)
        poses[edge.child] = poses[edge.parent] @ edge.transform(
            edge.joint.initial() if given is None else given
        )
    del poses[WORLD]
    return poses


def _read_coordinates(known: Mapping[str, Joint], name: str, given: VectorLike | float) -> Array:
    if name not in known:
        raise UnknownNameError("joint", name, known)
    joint = known[name]
    try:
        values: Array = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.shape != (joint.positions,) or not np.isfinite(values).all():
        message = f"{str(given)[:60]} are not coordinates of the {joint.kind.value} joint {name!r}"
        raise UsageError(message, hint=f"it takes {joint.positions} finite number(s)")
    return values


_FULL_RANK = 1e-6
"""Singular values below this share of the largest count as none: files have single precision."""


def count_freedoms(asset: Asset) -> int:
    """In how many ways joints let the bodies begin to move from where they stand, with all loops closed.

    Two axes of a joint that are one count once, as do the joints of a loop that move together; where a loose base as a
    whole can go is not counted.  Held against another form of the same machine it says whether a freedom was lost.
    """
    tree = build_tree(asset)
    poses = {WORLD: IDENTITY, **{body.name: body.pose for body in asset.bodies}}
    size = max([1e-3, *(float(np.abs(pose.p).max()) for pose in poses.values())])
    columns: list[Array] = []
    paths: dict[str, list[int]] = {WORLD: []}
    parts = {WORLD: WORLD}
    for root in tree.roots:
        paths[root], parts[root] = [len(columns)], root
        columns.append(np.eye(6))
    for edge in tree.edges:
        paths[edge.child], parts[edge.child] = [*paths[edge.parent], len(columns)], parts[edge.parent]
        columns.append(_span_motion(edge.joint, poses[edge.joint.parent], size))
    loops = _list_closures(asset, tree, poses, size)
    for a, b, _ in loops:
        old, new = parts[a], parts[b]
        # the world stays what a part is known by: it is held
        old, new = (new, old) if old == WORLD else (old, new)
        parts = {body: new if part == old else part for body, part in parts.items()}
    widths = [int(column.shape[1]) for column in columns]
    loose = len(set(parts.values()) - {WORLD})
    return sum(widths) - 6 * loose - _count_held(loops, paths, columns)


_HOLDING = {EqualityKind.CONNECT: JointKind.BALL, EqualityKind.WELD: JointKind.FIXED}


def _list_closures(
    asset: Asset, tree: Tree, poses: Mapping[str, Pose], size: float
) -> list[tuple[str, str, Array]]:
    """What holds two bodies beside the tree: both names, and the motion that is left to them."""
    loops = [
        (joint.parent, joint.child, _span_motion(joint, poses[joint.parent], size))
        for joint in tree.loops
        if joint.kind is not JointKind.DISTANCE and joint.parent != joint.child
    ]
    for equality in asset.equalities:
        kind = _HOLDING.get(equality.kind)
        if kind is not None and equality.enabled and equality.a in poses and equality.b in poses:
            joint = Joint(equality.name, kind, equality.a, equality.b, equality.frame_a)
            if kind is JointKind.BALL:
                joint.dofs = [Dof(Motion.BALL)]
            loops.append((equality.a, equality.b, _span_motion(joint, poses[equality.a], size)))
    return loops


def _span_motion(joint: Joint, parent: Pose, size: float) -> Array:
    """An orthonormal basis of the twists that a joint allows, about the origin of the world, lengths in ``size``."""
    place = parent @ joint.parent_frame
    twists: list[Array] = []
    for dof in joint.dofs:
        if dof.motion is Motion.FREE:
            return np.eye(6)
        axes = np.eye(3) if dof.motion is Motion.BALL else np.atleast_2d(dof.axis)
        for axis in axes:
            unit = quat_rotate(place.q, axis)
            if dof.motion is Motion.SLIDE:
                twists.append(np.concatenate((np.zeros(3), unit)))
                continue
            # a turn about a point moves the origin of the world as well
            shift = np.cross(place.apply(dof.anchor), unit) + dof.pitch * unit
            twists.append(np.concatenate((unit, shift / size)))
    if not twists:
        return np.zeros((6, 0))
    left, values, _ = np.linalg.svd(np.array(twists).T, full_matrices=False)
    return np.asarray(left[:, values > _FULL_RANK * values[0]], dtype=np.float64)


def _count_held(
    loops: list[tuple[str, str, Array]], paths: Mapping[str, list[int]], columns: list[Array]
) -> int:
    """How many freedoms of the tree the loops take away."""
    used = sorted({number for a, b, _ in loops for number in {*paths[a]} ^ {*paths[b]}})
    start, starts = 0, {}
    for number in used:
        starts[number] = start
        start += columns[number].shape[1]
    rows = []
    for a, b, allowed in loops:
        block = np.zeros((6, start))
        for sign, body, other in ((1.0, b, a), (-1.0, a, b)):
            for number in {*paths[body]} - {*paths[other]}:
                block[:, starts[number] : starts[number] + columns[number].shape[1]] = sign * columns[number]
        # what the joint of the loop allows is not held
        rows.append(block - allowed @ (allowed.T @ block))
    if not rows or not start:
        return 0
    return int(np.linalg.matrix_rank(np.concatenate(rows), tol=_FULL_RANK))


def place_bodies(asset: Asset) -> None:
    """Set every body's pose by forward kinematics at the initial coordinates."""
    poses = forward_kinematics(asset)
    for body in asset.bodies:
        body.pose = poses[body.name]


def measure_joint_pose(joint: Joint, parent: Pose, child: Pose) -> Pose:
    """The child frame in the parent frame of a joint, for bodies at these poses."""
    return ~joint.parent_frame @ ~parent @ child @ joint.child_frame


def compute_joint_pose(joint: Joint, coordinates: Array) -> Pose:
    """The child frame in the parent frame at these coordinates."""
    pose, start = IDENTITY, 0
    for dof in joint.dofs:
        pose = pose @ dof.transform(coordinates[start : start + dof.positions])
        start += dof.positions
    return pose


def measure_gap(a: Pose, b: Pose) -> tuple[float, float]:
    """How far two poses are apart [m] and turned [rad]."""
    return float(np.linalg.norm(a.p - b.p)), quat_angle(a.q, b.q)


def solve_coordinates(joint: Joint, way: Pose) -> Array:
    """Coordinates at which a joint comes nearest to a way, in radians within half a turn or within its limits."""
    motions = [dof.motion for dof in joint.dofs]
    if motions == [Motion.FREE]:
        return np.concatenate((way.p, way.q))
    if motions == [Motion.BALL]:
        return np.array(way.q)
    if any(motion not in (Motion.HINGE, Motion.SLIDE) for motion in motions):
        return joint.neutral()
    found = joint.neutral()
    # most joints of a file stand at their reference
    if not joint.dofs or compute_joint_pose(joint, found).is_close(way, 1e-12):
        return found
    found = _descend(joint, way, _guess(joint, way))
    return np.array([_wind(dof, float(value)) for dof, value in zip(joint.dofs, found, strict=True)])


def _guess(joint: Joint, way: Pose) -> Array:
    """Each freedom as if it were the only one."""
    return np.array([dof.ref + _project(dof, way) for dof in joint.dofs])


def _project(dof: Dof, way: Pose) -> float:
    along = float(dof.axis @ way.p)
    if dof.motion is Motion.SLIDE:
        return along
    if dof.pitch:
        return along / dof.pitch
    return 2.0 * math.atan2(float(dof.axis @ way.q[1:]), float(way.q[0]))


def _descend(joint: Joint, way: Pose, start: Array) -> Array:
    """Least squares, step by step; the best coordinates on the way."""
    now, best, least = start, start, math.inf
    for _ in range(_ROUNDS):
        pose = compute_joint_pose(joint, now)
        error = subtract_poses(way, pose)
        size = float(error @ error)
        if size < least:
            best, least = now, size
        if size < _EXACT:
            break
        slopes = np.stack([_find_slope(joint, now, pose, number) for number in range(len(now))], axis=1)
        step, *_ = np.linalg.lstsq(slopes, error, rcond=1e-9)
        # a long step of a nearly singular joint would leave the neighbourhood of the solution
        now = now + np.clip(step, -_LONGEST, _LONGEST)
    return best


def _find_slope(joint: Joint, at: Array, pose: Pose, number: int) -> Array:
    """How the way changes with one coordinate."""
    # forward difference: the remainder is far below what single-precision transforms of stages hold
    small = 1e-6
    moved = at.copy()
    moved[number] += small
    return subtract_poses(compute_joint_pose(joint, moved), pose) / small


def subtract_poses(a: Pose, b: Pose) -> Array:
    """From one pose to another: shift [m], and turn as a vector [rad]."""
    turn = quat_multiply(a.q, quat_conjugate(b.q))
    turn = turn if turn[0] >= 0.0 else -turn
    size = float(np.linalg.norm(turn[1:]))
    # for tiny turns the vector part is half the angle
    factor = 2.0 * math.atan2(size, float(turn[0])) / size if size > 1e-12 else 2.0
    return np.concatenate((a.p - b.p, factor * turn[1:]))


def _wind(dof: Dof, value: float) -> float:
    """A hinge by whole turns into its limits, or else to within half a turn of its zero; screws count their turns."""
    if dof.motion is not Motion.HINGE or dof.pitch:
        return value
    turned = dof.ref + math.remainder(value - dof.ref, 2.0 * math.pi)
    # limits of a hinge may lie outside of one turn about zero
    for candidate in (turned, turned + 2.0 * math.pi, turned - 2.0 * math.pi):
        if dof.lower <= candidate <= dof.upper:
            return candidate
    return turned

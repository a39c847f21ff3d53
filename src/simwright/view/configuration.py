# SPDX-License-Identifier: Apache-2.0
"""Joint coordinates that a person changes one by one: mimics follow their leaders, loops are closed again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.model.asset import Asset
from simwright.model.joint import WORLD, Dof, Equality, EqualityKind, Joint, Motion
from simwright.model.kinematics import (
    build_tree,
    compute_joint_pose,
    forward_kinematics,
    measure_joint_pose,
    solve_coordinates,
    subtract_poses,
)

_STAY = 1e-3
"""How much a coordinate that closes a loop wants to stay, against a gap of one metre or radian."""
_TURN = math.pi
"""How far a hinge without limits may be turned to either side by a slider [rad]."""
_REACH = 1.0
"""The same for a slide [m]."""


@dataclass(frozen=True, slots=True)
class MovableDof:
    """A hinge or slide that can be moved: ``row`` is its place in the coordinates of its joint [rad or m]."""

    name: str
    joint: Joint
    dof: Dof
    row: int

    @property
    def range(self) -> tuple[float, float]:
        """Between which coordinates to move it: its limits, or a usual range where it has none."""
        free = _TURN if self.dof.motion is Motion.HINGE else _REACH
        lower = self.dof.lower if math.isfinite(self.dof.lower) else min(-free, self.dof.upper - 2 * free)
        upper = self.dof.upper if math.isfinite(self.dof.upper) else max(free, lower + 2 * free)
        return lower, upper


def choose_step(lower: float, upper: float) -> float:
    """Of a slider between two numbers: a thousandth of them or less, with one digit, so that labels stay short."""
    return max(10.0 ** math.floor(math.log10(max(upper - lower, 1e-6) / 1000)), 1e-6)


def mark_ends(lower: float, upper: float) -> tuple[tuple[float, str], ...]:
    """The labels below the ends of a slider; all digits of two limits would run into each other."""
    return ((lower, f"{lower:.4g}"), (upper, f"{upper:.4g}"))


class Configuration:
    """Where all joints of an asset are; it starts as the file says.

    ``dofs`` are the hinges and slides by name, in the order of the tree; ``followers`` the names of those that a mimic
    moves; ``gap`` the largest gap that is left in a loop [m or rad].
    """

    def __init__(self, asset: Asset) -> None:
        self.asset = asset
        self.tree = build_tree(asset)
        self.dofs = {dof.name: dof for dof in self._list_dofs()}
        # a joint of one dof is known by the name of either
        self._by_name = {dof.dof.name: dof for dof in self.dofs.values()} | self.dofs
        self._mimics = [
            mimic
            for mimic in asset.mimics
            if mimic.enabled and mimic.follower in self._by_name and mimic.leader in self._by_name
        ]
        self.followers = {self.find(mimic.follower).name for mimic in self._mimics}
        self._ties = [
            equality
            for equality in asset.equalities
            if equality.kind in (EqualityKind.CONNECT, EqualityKind.WELD) and equality.enabled
        ]
        self.gap = 0.0
        self.reset()

    def _list_dofs(self) -> Iterator[MovableDof]:
        for edge in self.tree.edges:
            row = 0
            for dof in edge.joint.dofs:
                if dof.motion in (Motion.HINGE, Motion.SLIDE):
                    single = len(edge.joint.dofs) == 1
                    yield MovableDof(edge.joint.name if single else dof.name, edge.joint, dof, row)
                row += dof.positions

    def find(self, name: str) -> MovableDof:
        """The dof of that name; a joint of one dof may be named instead."""
        found = self._by_name.get(name)
        if found is None:
            raise UnknownNameError("joint", name, self.dofs)
        return found

    def has(self, name: str) -> bool:
        """Is there a hinge or slide of that name?"""
        return name in self._by_name

    def reset(self) -> None:
        """Back to where the file puts everything."""
        self.values: dict[str, Array] = {
            edge.joint.name: np.array(edge.joint.initial(), dtype=np.float64) for edge in self.tree.edges
        }
        self.gap = 0.0

    def get(self, name: str) -> float:
        """A coordinate [rad or m]."""
        dof = self.find(name)
        return float(self.values[dof.joint.name][dof.row])

    def move(self, values: Mapping[str, float]) -> None:
        """Move joints, by name [rad or m]; what is coupled to them moves along."""
        if not values:
            return
        held = dict(self._lead(self.find(name).name, value) for name, value in values.items())
        for name, value in held.items():
            self._put(self.dofs[name], value)
        self._follow()
        if self.tree.loops or self._ties:
            self._close_loops(set(held))

    def _lead(self, name: str, value: float) -> tuple[str, float]:
        """Where the leader of a joint has to be for it to get there; the joint itself where none leads it."""
        for mimic in self._mimics:
            # a polynomial has no single inverse: its follower stays where the leader puts it
            if self.find(mimic.follower).name == name and mimic.multiplier and not mimic.polynomial:
                return self._lead(self.find(mimic.leader).name, (value - mimic.offset) / mimic.multiplier)
        return name, value

    def pose(self) -> dict[str, Pose]:
        """World poses of all bodies."""
        return forward_kinematics(self.asset, self.values, self.tree)

    def list_poses(self) -> Array:
        """The same as rows (bodies x 7): position [m], quaternion w, x, y, z."""
        return stack_poses(self.asset, self.pose())

    def _put(self, dof: MovableDof, value: float) -> None:
        self.values[dof.joint.name][dof.row] = value

    def _follow(self) -> None:
        # a follower may lead others: as often as there are mimics, since their order is the file's
        for _ in self._mimics:
            for mimic in self._mimics:
                leader = self.get(mimic.leader)
                terms = enumerate((mimic.offset, mimic.multiplier, *mimic.polynomial))
                self._put(self.find(mimic.follower), sum(factor * leader**power for power, factor in terms))

    def _close_loops(self, held: set[str]) -> None:
        """Move the joints that nobody holds until loops and ties meet, as little as possible."""
        # imported here: most robots have no loops, and it takes a while
        from scipy.optimize import least_squares  # type: ignore[import-untyped]

        free = [dof for name, dof in self.dofs.items() if name not in held and name not in self.followers]
        start = np.array([self.values[dof.joint.name][dof.row] for dof in free])
        if not free:
            self.gap = float(np.max(np.abs(self._measure_gaps()), initial=0.0))
            return
        lower = np.array([dof.dof.lower for dof in free])
        upper = np.array([dof.dof.upper for dof in free])
        # a file may start outside of its own limits
        start = np.clip(start, lower, np.maximum(upper, lower + 1e-9))

        def measure(candidate: Array) -> Array:
            for dof, value in zip(free, candidate, strict=True):
                self._put(dof, float(value))
            self._follow()
            return np.concatenate((self._measure_gaps(), _STAY * (candidate - start)))

        found = least_squares(measure, start, bounds=(lower, np.maximum(upper, lower + 1e-9)), max_nfev=40)
        measure(found.x)
        self.gap = float(np.max(np.abs(self._measure_gaps()), initial=0.0))

    def _measure_gaps(self) -> Array:
        """How far loops and ties are from meeting [m and rad]."""
        poses = {WORLD: IDENTITY, **self.pose()}
        gaps = [_measure_loop(joint, poses) for joint in self.tree.loops]
        gaps += [_measure_tie(tie, poses) for tie in self._ties if tie.a in poses and tie.b in poses]
        return np.concatenate(gaps) if gaps else np.zeros(0)


def stack_poses(asset: Asset, poses: Mapping[str, Pose]) -> Array:
    """Poses of all bodies of an asset as rows (bodies x 7): position [m], quaternion w, x, y, z."""
    rows = [np.concatenate((poses[body.name].p, poses[body.name].q)) for body in asset.bodies]
    return np.array(rows).reshape(-1, 7)


def _measure_loop(joint: Joint, poses: Mapping[str, Pose]) -> Array:
    way = measure_joint_pose(joint, poses[joint.parent], poses[joint.child])
    return subtract_poses(way, compute_joint_pose(joint, solve_coordinates(joint, way)))


def _measure_tie(tie: Equality, poses: Mapping[str, Pose]) -> Array:
    gap = subtract_poses(poses[tie.a] @ tie.frame_a, poses[tie.b] @ tie.frame_b)
    return gap[:3] if tie.kind is EqualityKind.CONNECT else gap


def parse_coordinates(given: Mapping[str, str]) -> dict[str, float]:
    """Coordinates as they stand on a command line, by joint [rad or m]."""
    values = {}
    for name, text in given.items():
        try:
            values[name] = float(text)
        except ValueError:
            values[name] = math.nan
        if not math.isfinite(values[name]):
            raise UsageError(
                f"{text!r} is not a coordinate of {name!r}", hint="a number in rad or m, such as elbow=0.5"
            )
    return values

# SPDX-License-Identifier: Apache-2.0
"""What couples coordinates and bodies beside the joints of the tree, as builders take it: mimics and equalities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Asset
from simwright.model.joint import WORLD, Equality, EqualityKind, Joint, Mimic


@dataclass(frozen=True, slots=True)
class Coupling:
    """A follower, the joint it follows in the end, and their relation; joints that are not there are None."""

    mimic: Mimic
    follower: Joint | None
    leader: Joint | None
    offset: float
    multiplier: float

    def find_indices(self, joints: Mapping[str, int]) -> tuple[int, int] | None:
        """Builder indices of both, where both are in the builder."""
        found = [None if joint is None else joints.get(joint.name) for joint in (self.follower, self.leader)]
        follower, leader = found
        return None if follower is None or leader is None else (follower, leader)

    @property
    def is_bent(self) -> bool:
        """Is the relation more than linear?"""
        return any(self.mimic.polynomial)


def list_couplings(asset: Asset) -> Iterator[Coupling]:
    """Every mimic that is switched on; one that follows a follower follows its leader instead."""
    owners = {dof.name or joint.name: joint for joint in asset.joints for dof in joint.dofs}
    # of two relations for one follower the last counts, as in the file's order
    by_follower = {mimic.follower: mimic for mimic in asset.mimics if mimic.enabled}
    for mimic in by_follower.values():
        leader, offset, multiplier = _follow_chain(mimic, by_follower)
        yield Coupling(mimic, owners.get(mimic.follower), owners.get(leader), offset, multiplier)


def _follow_chain(mimic: Mimic, by_follower: dict[str, Mimic]) -> tuple[str, float, float]:
    """The first independent leader, and the relation to it; the follower itself for a circle."""
    leader, offset, multiplier = mimic.leader, mimic.offset, mimic.multiplier
    # as many steps as there are relations: after that it is a circle
    for _ in by_follower:
        above = by_follower.get(leader)
        if above is None:
            return leader, offset, multiplier
        offset += multiplier * above.offset
        multiplier *= above.multiplier
        leader = above.leader
    return mimic.follower, offset, multiplier


@dataclass(frozen=True, slots=True)
class Closure:
    """An equality as a joint that closes a loop: builder indices (-1 is the world), frames; a point, or all of it."""

    equality: Equality
    parent: int
    child: int
    parent_frame: Pose
    child_frame: Pose
    is_point: bool


def plan_closures(
    asset: Asset, bodies: Mapping[str, int], stand: Pose
) -> tuple[list[Closure], list[Equality]]:
    """Connects and welds of an asset that stands at a pose, and the equalities that are neither."""
    closures, lost = [], []
    for equality in asset.equalities:
        ends = {name: bodies.get(name, -1) for name in (equality.a, equality.b)}
        # an end may have been left out of the import
        known = all(name == WORLD or name in bodies for name in ends)
        if equality.kind not in (EqualityKind.CONNECT, EqualityKind.WELD) or not known or len(ends) < 2:
            lost.append(equality)
            continue
        if not equality.enabled:
            continue
        parent, child, on_parent, on_child = equality.a, equality.b, equality.frame_a, equality.frame_b
        # joints of builders have a body as their child
        if child == WORLD:
            parent, child, on_parent, on_child = child, parent, on_child, on_parent
        frame = (stand if parent == WORLD else IDENTITY) @ on_parent
        is_point = equality.kind is EqualityKind.CONNECT
        closures.append(Closure(equality, ends[parent], ends[child], frame, on_child, is_point))
    return closures, lost


def shift_polynomial(coefficients: Any, follower_ref: float, leader_ref: float) -> list[float]:
    """Coefficients of ``y = y0 + p(x - x0)`` in powers of ``x``, from those of ``p`` (five at most)."""
    p = Polynomial(np.asarray(coefficients, dtype=np.float64))
    if leader_ref != 0.0:
        # composition expands p(x - x0) exactly
        p = p(Polynomial((-leader_ref, 1.0)))
    values = [float(v) for v in p.coef] + [0.0] * (5 - len(p.coef))
    values[0] += follower_ref
    return values

# SPDX-License-Identifier: Apache-2.0
"""Joint coordinates: counted from another zero, and coupled by mimics and equalities.

MJCF lets a joint start at a reference coordinate; UsdPhysics counts from where the joint frames meet.  Everything that
speaks of a coordinate (limits, springs, drives, mimics, tendons over joints, actuators, keyframes) moves along.

Mimics and equalities couple coordinates and bodies beside the joints of the tree; here they are as flat builders take
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Actuator, Asset
from simwright.model.joint import WORLD, Dof, Equality, EqualityKind, Joint, Mimic
from simwright.model.servo import classify

_LENGTH_LAWS = frozenset({"fixed", "affine", "none", "muscle"})


def find_references(asset: Asset) -> dict[str, float]:
    """Reference coordinates that are not zero, by freedom."""
    return {dof.name: dof.ref for joint in asset.joints for dof in joint.dofs if dof.ref}


def shift_coordinates(asset: Asset, shifts: Mapping[str, float]) -> list[str]:
    """Add to the coordinates of hinges and slides, by freedom; gives the actuators whose law cannot follow.

    Elements are changed in place.  Shifting back gives the former numbers.
    """
    if not shifts:
        return []
    for joint in asset.joints:
        for dof in joint.dofs:
            if dof.name in shifts:
                _shift_dof(dof, shifts[dof.name])
    _shift_mimics(asset, shifts)
    commands, stuck = _shift_actuators(asset, shifts, _shift_tendons(asset, shifts))
    for keyframe in asset.keyframes:
        for table, moves in ((keyframe.positions, shifts), (keyframe.controls, commands)):
            for name, by in moves.items():
                if isinstance(table.get(name), (int, float)):
                    table[name] += by
    return stuck


def _shift_actuators(
    asset: Asset, shifts: Mapping[str, float], lengths: Mapping[str, float]
) -> tuple[dict[str, float], list[str]]:
    """How much the commands of position servos move, and the actuators that cannot follow."""
    commands: dict[str, float] = {}
    stuck = []
    for actuator in asset.actuators:
        by = shifts.get(actuator.target, 0.0) if actuator.transmission.startswith("joint") else 0.0
        by = lengths.get(actuator.target, 0.0) if actuator.transmission == "tendon" else by
        if not by:
            continue
        if not _shift_actuator(actuator, actuator.gear[0] * by, by):
            stuck.append(actuator.name)
        elif actuator.kind == "position":
            commands[actuator.name] = actuator.gear[0] * by
    return commands, stuck


def _shift_dof(dof: Dof, by: float) -> None:
    dof.ref += by
    dof.lower += by
    dof.upper += by
    if dof.spring_ref is not None:
        dof.spring_ref += by
    if isinstance(dof.position, (int, float)):
        dof.position += by
    if dof.drive is not None:
        dof.drive.target_position += by


def _shift_mimics(asset: Asset, shifts: Mapping[str, float]) -> None:
    for mimic in asset.mimics:
        follower, leader = shifts.get(mimic.follower, 0.0), shifts.get(mimic.leader, 0.0)
        if follower or leader:
            values = (mimic.offset, mimic.multiplier, *mimic.polynomial)
            moved = shift_polynomial(values, follower, leader)
            mimic.offset, mimic.multiplier = moved[0], moved[1]
            mimic.polynomial = tuple(moved[2:]) if mimic.polynomial else ()


def _shift_tendons(asset: Asset, shifts: Mapping[str, float]) -> dict[str, float]:
    """How much longer tendons over joints get, by name."""
    lengths: dict[str, float] = {}
    for tendon in asset.tendons:
        by = sum(point.value * shifts.get(point.name, 0.0) for point in tendon.path if point.kind == "joint")
        if by:
            lengths[tendon.name] = by
            tendon.lower += by
            tendon.upper += by
            if tendon.rest_length is not None:
                tendon.rest_length = (tendon.rest_length[0] + by, tendon.rest_length[1] + by)
    return lengths


def _shift_actuator(actuator: Actuator, by: float, step: float) -> bool:
    """``by`` is the shift of what the motor measures, ``step`` that of its target."""
    # the one list of settings that hold a coordinate
    settings = actuator.settings
    if {settings.get("gain_type", "none"), settings.get("bias_type", "none")} - _LENGTH_LAWS:
        return False
    if "length_range" in settings:
        settings["length_range"] = [value + by for value in settings["length_range"]]
    if "effort_table" in settings:  # its positions are those of the dof, before the gear
        table = settings["effort_table"]
        settings["effort_table"] = {**table, "positions": [value + step for value in table["positions"]]}
    if actuator.kind == "position":
        if actuator.control_range is not None:
            low, high = actuator.control_range
            actuator.control_range = (low + by, high + by)
    elif actuator.kind == "general":
        for key in ("gain", "bias"):
            if settings.get(f"{key}_type") == "affine":
                numbers = list(settings[key])
                # force = a + b length + ...: with the length shifted, a makes up for it
                numbers[0] -= numbers[1] * by
                settings[key] = numbers
        if "gain_type" in settings and settings.get("mjcf") not in ("adhesion", "plugin"):
            actuator.kind, settings["mjcf"] = classify(settings)
    return True


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

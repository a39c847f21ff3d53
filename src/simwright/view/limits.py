# SPDX-License-Identifier: Apache-2.0
"""Limits of joints, drawn where the joint is: a sector for a hinge, a rail for a slide, a hand on what it carries."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from simwright.core.math3d import Array, quat_from_axis_angle, quat_rotate
from simwright.model.joint import Dof, Motion
from simwright.model.kinematics import Tree
from simwright.view.overlay import Overlay, OverlayBuilder

_SECTOR, _HAND = (140, 90, 200), (90, 30, 160)
_STEP = math.radians(6.0)


def draw_limits(tree: Tree, rows: Mapping[str, int], reach: float) -> list[Overlay]:
    """Sectors, rails and hands of all joints with limits; ``reach`` is the radius of a sector [m].

    Of a joint with several dofs only the first has a place of its own on a body, and no hand.
    """
    surfaces, lines = OverlayBuilder("surface"), OverlayBuilder("lines")
    for edge in tree.edges:
        joint = edge.joint
        dof = joint.dofs[0] if joint.dofs else None
        if dof is None or not dof.is_limited or dof.motion not in (Motion.HINGE, Motion.SLIDE):
            continue
        parent, child = rows[joint.parent], rows[joint.child]
        aside = _find_aside(dof.axis)
        if dof.motion is Motion.HINGE:
            rim = _list_rim(dof, aside, reach)
            points = joint.parent_frame.apply(np.concatenate((dof.anchor[None], rim)))
            count = len(rim)
            numbers = np.arange(1, count, dtype=np.uint32)
            faces = np.stack((np.zeros_like(numbers), numbers, numbers + 1), axis=1)
            surfaces.add(points, parent, _SECTOR, faces)
            lines.add(points[[0, 1, 0, count]], parent, _HAND)
            hand = np.stack((dof.anchor, dof.anchor + 1.15 * reach * aside))
        else:
            ends = np.array(
                [dof.anchor + _bound(value, dof, 1.0) * dof.axis for value in (dof.lower, dof.upper)]
            )
            ticks = [(end - reach / 4 * aside, end + reach / 4 * aside) for end in ends]
            lines.add(joint.parent_frame.apply(np.concatenate((ends, *ticks))), parent, _HAND)
            hand = np.stack((dof.anchor, dof.anchor + reach / 2 * aside))
        if len(joint.dofs) == 1:
            lines.add(joint.child_frame.apply(hand), child, _HAND)
    return surfaces.build() + lines.build()


def _bound(value: float, dof: Dof, free: float) -> float:
    """A limit from where the joint is drawn at zero; one that is not there is a usual one."""
    if math.isfinite(value):
        return value - dof.ref
    return -free if value < 0.0 else free


def _list_rim(dof: Dof, aside: Array, reach: float) -> Array:
    lower, upper = _bound(dof.lower, dof, math.pi), _bound(dof.upper, dof, math.pi)
    # more than a turn would only cover itself
    upper = min(upper, lower + 2 * math.pi)
    count = max(2, math.ceil((upper - lower) / _STEP) + 1)
    turns = [quat_from_axis_angle(dof.axis, angle) for angle in np.linspace(lower, upper, count)]
    return np.array([dof.anchor + reach * quat_rotate(turn, aside) for turn in turns])


def _find_aside(axis: Array) -> Array:
    """A direction across an axis: the axis of the frame that it is least along."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    across = np.cross(axis, other)
    return np.asarray(across / max(float(np.linalg.norm(across)), 1e-12))

# SPDX-License-Identifier: Apache-2.0
"""Initial coordinates of joints from where bodies stand.

UsdPhysics has no coordinates: where the transforms have the bodies is where they begin.  Joint states that a stage
states beside it count for their joints; what stands elsewhere then is told.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Array
from simwright.model.asset import Asset
from simwright.model.branches import Plan
from simwright.model.joint import WORLD, Joint, JointKind, Motion
from simwright.model.posing import make_way, measure_gap, measure_way, solve_coordinates
from simwright.scenes.importing_messages import POSE_OVERRULED, POSE_UNREACHABLE, list_names

_APART = 1e-4
"""Bodies nearer to their place than this are there [m]."""
_TURNED = 1e-3
"""The same for turns [rad]."""
_ZERO = 1e-6
"""Coordinates that are rounding of single precision [m, rad]."""


def pose_joints(asset: Asset, plan: Plan, reporter: Reporter) -> None:
    """Give the joints of all branches the coordinates that their bodies' poses mean."""
    poses = {WORLD: IDENTITY} | {body.name: body.pose for body in asset.bodies}
    overruled: list[Joint] = []
    for joint in (step.joint for branch in plan.branches for step in branch.steps if step.joint is not None):
        way = measure_way(joint, poses[joint.parent], poses[joint.child])
        if joint.kind is JointKind.DISTANCE or any(dof.motion is Motion.FREE for dof in joint.dofs):
            continue
        stated = any(dof.position is not None for dof in joint.dofs)
        coordinates = joint.initial() if stated else solve_coordinates(joint, way)
        apart, turned = measure_gap(make_way(joint, coordinates), way)
        missed = apart > _APART or turned > _TURNED
        if stated:
            overruled += [joint] if missed else []
            continue
        _set_positions(joint, coordinates)
        if missed:
            degrees = round(math.degrees(turned), 3)
            reporter.report(
                POSE_UNREACHABLE, joint.source, name=joint.name, apart=round(apart, 6), degrees=degrees
            )
    if overruled:
        names = list_names(overruled)
        reporter.report(POSE_OVERRULED, overruled[0].source, count=len(overruled), names=names)


def _set_positions(joint: Joint, coordinates: Array) -> None:
    """Write coordinates that differ from the neutral ones."""
    neutral, start = joint.neutral(), 0
    for dof in joint.dofs:
        part = slice(start, start + dof.positions)
        if np.any(np.abs(coordinates[part] - neutral[part]) > _ZERO):
            dof.position = coordinates[part] if dof.motion is Motion.BALL else float(coordinates[start])
        start += dof.positions

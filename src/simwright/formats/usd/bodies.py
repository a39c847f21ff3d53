# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies (UsdPhysicsRigidBodyAPI) and articulation roots.

A body's pose is rigid; the scale of its prim goes to the shapes and frames on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import UsdGeom

from simwright.core.diag import Kind, Level, declare
from simwright.core.math3d import Array, Pose
from simwright.core.units import DEGREE
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.placement import Placement, decompose_many
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import ZERO, BodyFrame, Source
from simwright.model.asset import Articulation, Body

BODY_MIRRORED = declare(
    "usd-body-mirrored",
    Level.WARNING,
    "the world transform of rigid body {name!r} is mirrored",
    hint="bake the mirroring into the geometry; bodies need a rotation without scale",
    doc="A rigid body sits under a negative scale. Its shapes are mirrored, its axes stay right-handed.",
    section="1.1",
)
BODY_SHEARED = declare(
    "usd-body-sheared",
    Level.WARNING,
    "the world transform of rigid body {name!r} is sheared; the nearest rotation is used",
    hint="remove non-uniform scale above the body",
    doc="A rigid body sits under a rotated, unevenly scaled ancestor.",
    section="1.1",
)
BODY_NESTED = declare(
    "usd-body-nested",
    Level.INFO,
    "rigid body {name!r} lies below rigid body {outer!r} without resetting its transform",
    hint="if a tool refuses it, put !resetXformStack! in its xformOpOrder, or make the two siblings",
    doc="OpenUSD before 26 wants nested bodies to reset their transform. Both are read as bodies of their own.",
)
BODY_ANIMATED = declare(
    "usd-body-animated",
    Level.INFO,
    "rigid body {name!r} has an animated transform; its pose at time {time} is read",
    hint="choose another time code to read at",
    doc="Time samples are not carried into the model; one moment is.",
)
BODY_ASLEEP = declare(
    "usd-body-asleep",
    Level.WARNING,
    "rigid body {name!r} starts asleep, which the model does not carry",
    doc="physics:startsAsleep is true.",
    loss=True,
)


def read_bodies(source: Source, scan: Scan) -> None:
    """Add every rigid body."""
    names = name_prims(scan.bodies, noted=source.noted)
    matrices = source.world_matrices(scan.bodies)
    placements = decompose_many(matrices)
    frames: dict[str, BodyFrame] = {}
    for number, (found, placement) in enumerate(zip(scan.bodies, placements, strict=True)):
        name = names[found.path]
        frames[found.path] = BodyFrame(
            name, placement.pose, placement.scale, number, placement.is_exact, placement.is_unscaled
        )
    source.add_frames(frames)
    for found, placement, matrix in zip(scan.bodies, placements, matrices, strict=True):
        name = names[found.path]
        _report_oddities(source, scan, found, placement, name)
        source.asset.bodies.append(_read_body(source, found, name, matrix, placement.pose))


def _read_body(source: Source, found: Found, name: str, matrix: Array, pose: Pose) -> Body:
    linear, angular = _read_velocity(source, found, matrix, pose)
    return Body(
        name=name,
        pose=pose,
        kinematic=source.get_flag(found, "physics:kinematicEnabled", False),
        enabled=source.get_flag(found, "physics:rigidBodyEnabled", True),
        linear_velocity=linear,
        angular_velocity=angular,
        path=found.path,
        source=source.where(found),
    )


def _report_oddities(source: Source, scan: Scan, found: Found, placement: Placement, name: str) -> None:
    def report(kind: Kind, **data: Any) -> None:
        source.reporter.report(kind, source.where(found), name=name, **data)

    if placement.is_mirrored:
        report(BODY_MIRRORED)
    if placement.stretch is not None:
        report(BODY_SHEARED)
    if found.parent_owner and not _resets_transform(scan, found):
        report(BODY_NESTED, outer=scan.all[found.parent_owner].name)
    if source.animated and _is_placed(found) and UsdGeom.Xformable(found.prim).TransformMightBeTimeVarying():
        report(BODY_ANIMATED, time=source.time)
    if source.get_flag(found, "physics:startsAsleep", False):
        report(BODY_ASLEEP)


def _read_velocity(
    source: Source, found: Found, matrix: Array, pose: Pose
) -> tuple[Array | None, Array | None]:
    """Velocities are authored in the prim's own space, angular ones in degrees per second."""
    velocity = source.get_finite(found, "physics:velocity", ZERO)
    spin = source.get_finite(found, "physics:angularVelocity", ZERO)
    return (
        matrix[:3, :3] @ np.array(velocity) * source.units.length if any(velocity) else None,
        pose.rotation @ np.array(spin) * DEGREE if any(spin) else None,
    )


def _resets_transform(scan: Scan, found: Found) -> bool:
    """Is the transform stack reset somewhere between the prim and the outer body?"""
    path, outer = found.path, found.parent_owner
    while path != outer:
        at = scan.all[path]
        if _is_placed(at) and UsdGeom.Xformable(at.prim).GetResetXformStack():
            return True
        path = path.rpartition("/")[0]
    return False


def _is_placed(found: Found) -> bool:
    """Can it have a transform of its own?"""
    return found.sort.is_xformable and found.may_author("xformOpOrder")


def read_articulations(source: Source, scan: Scan) -> None:
    """Add every articulation root; ``root`` is the body it is on, else its prim path."""
    names = name_prims(scan.articulations, noted=source.noted)
    for found in scan.articulations:
        body = source.bodies.get(found.path)
        source.asset.articulations.append(
            Articulation(
                name=names[found.path],
                root=body.name if body else found.path,
                path=found.path,
                source=source.where(found),
            )
        )

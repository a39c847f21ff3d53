# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies (UsdPhysicsRigidBodyAPI) and articulation roots.

A body's pose is rigid; the scale of its prim goes to the shapes and frames on it.
"""

from __future__ import annotations

import numpy as np
from pxr import Usd, UsdGeom

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, Pose
from simwright.core.units import DEGREE
from simwright.formats.usd.naming import choose_names
from simwright.formats.usd.placement import decompose
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import BodyFrame, Source
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
    Level.INFO,
    "rigid body {name!r} starts asleep, which the model does not carry",
    doc="physics:startsAsleep is true.",
)


def read_bodies(source: Source, scan: Scan) -> None:
    """Add every rigid body."""
    names = choose_names(found.path for found in scan.bodies)
    for found in scan.bodies:
        source.asset.bodies.append(_read_body(source, scan, found, names[found.path]))


def _read_body(source: Source, scan: Scan, found: Found, name: str) -> Body:
    prim, where = found.prim, source.where(found.prim)
    matrix = source.world_matrix(prim)
    placement = decompose(matrix)
    source.bodies[found.path] = BodyFrame(name, placement.pose, placement.scale)
    report = source.reporter.report
    if placement.is_mirrored:
        report(BODY_MIRRORED, where, name=name)
    if placement.stretch is not None:
        report(BODY_SHEARED, where, name=name)
    if found.parent_owner and not _resets_transform(prim, found.parent_owner):
        report(BODY_NESTED, where, name=name, outer=scan.all[found.parent_owner].prim.GetName())
    if prim.IsA(UsdGeom.Xformable) and UsdGeom.Xformable(prim).TransformMightBeTimeVarying():
        report(BODY_ANIMATED, where, name=name, time=source.time)
    if source.get_flag(prim, "physics:startsAsleep", False):
        report(BODY_ASLEEP, where, name=name)
    linear, angular = _read_velocity(source, prim, matrix[:3, :3], placement.pose)
    return Body(
        name=name,
        pose=placement.pose,
        kinematic=source.get_flag(prim, "physics:kinematicEnabled", False),
        enabled=source.get_flag(prim, "physics:rigidBodyEnabled", True),
        linear_velocity=linear,
        angular_velocity=angular,
        path=found.path,
        source=where,
    )


def _read_velocity(
    source: Source, prim: Usd.Prim, linear: Array, pose: Pose
) -> tuple[Array | None, Array | None]:
    """Velocities are authored in the prim's own space, angular ones in degrees per second."""
    velocity = source.get_vector(prim, "physics:velocity")
    spin = source.get_vector(prim, "physics:angularVelocity")
    return (
        linear @ velocity * source.units.length if np.any(velocity) else None,
        pose.rotation @ spin * DEGREE if np.any(spin) else None,
    )


def _resets_transform(prim: Usd.Prim, outer: str) -> bool:
    """Is the transform stack reset somewhere between the prim and the outer body?"""
    while prim and str(prim.GetPath()) != outer:
        if prim.IsA(UsdGeom.Xformable) and UsdGeom.Xformable(prim).GetResetXformStack():
            return True
        prim = prim.GetParent()
    return False


def read_articulations(source: Source, scan: Scan) -> None:
    """Add every articulation root; ``root`` is the body it is on, else its prim path."""
    names = choose_names(found.path for found in scan.articulations)
    for found in scan.articulations:
        body = source.bodies.get(found.path)
        source.asset.articulations.append(
            Articulation(
                name=names[found.path],
                root=body.name if body else found.path,
                path=found.path,
                source=source.where(found.prim),
            )
        )

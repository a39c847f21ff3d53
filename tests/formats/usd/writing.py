"""Writing an asset and reading it back, and what has to be the same then."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
from pxr import Usd

import simwright
from simwright.core.diag import Reporter
from simwright.formats.format import WriteOptions
from simwright.formats.usd.writer.entry import write
from simwright.formats.usd.writer.prepare import prepare
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.geometry import box_bounds
from simwright.model.joint import Joint, Motion

SINGLE, EXACT = 2e-7, 1e-12
"""Masses, frames, limits and gains are floats in OpenUSD; with notes of the doubles they come back as those."""


@dataclass
class Trip:
    """An asset, what was written of it, and what was read back."""

    asset: Asset
    back: Asset
    entry: Path
    said: Reporter
    tolerance: float = SINGLE

    @cached_property
    def stage(self) -> Usd.Stage:
        return Usd.Stage.Open(str(self.entry))

    @property
    def kinds(self) -> set[str]:
        return {d.kind for d in self.said}


def make_trip(asset: Asset, folder: Path, *, exact: bool = False) -> Trip:
    said = Reporter()
    entry = write(asset, folder, WriteOptions(exact=exact), said)
    tolerance = EXACT if exact else SINGLE
    return Trip(prepare(asset, Reporter()), simwright.load(entry), entry, said, tolerance)


def find_joint(back: Asset, name: str) -> Joint:
    """By the name ROS knows, which survives where a prim name cannot."""
    return next(j for j in back.joints if j.public_name == name)


def assert_same_bodies(trip: Trip) -> None:
    bodies = {body.name: body for body in trip.back.bodies}
    assert bodies.keys() == {body.name for body in trip.asset.bodies}
    for body in trip.asset.bodies:
        found = bodies[body.name]
        assert found.pose.is_close(body.pose, 1e-9), body.name
        assert (found.kinematic, found.enabled) == (body.kinematic, body.enabled)
        if body.inertial is None:
            continue
        a, b = body.inertial, found.inertial
        assert b is not None
        rtol = trip.tolerance
        assert np.isclose(a.mass, b.mass, rtol=rtol, atol=0.0)
        assert np.allclose(a.com, b.com, rtol=rtol, atol=1e-12)
        assert np.allclose(a.inertia, b.inertia, rtol=0.0, atol=4 * rtol * np.abs(a.inertia).max())


def assert_same_joints(trip: Trip) -> None:
    assert [j.public_name for j in trip.back.joints] == [j.public_name for j in trip.asset.joints]
    for joint in trip.asset.joints:
        found = find_joint(trip.back, joint.public_name)
        assert found.kind is joint.kind, joint.name
        assert (found.parent, found.child) == (joint.parent, joint.child)
        assert len(found.dofs) == len(joint.dofs), joint.name
        assert (found.enabled, found.collide) == (joint.enabled, joint.collide)
        assert_same_motion(joint, found, max(trip.tolerance, 1e-9))
        for dof, other in zip(joint.dofs, found.dofs, strict=True):
            assert (dof.motion, dof.name) == (other.motion, other.name)
            if dof.motion in (Motion.HINGE, Motion.SLIDE):
                limits, others = (dof.lower, dof.upper), (other.lower, other.upper)
                assert np.allclose(limits, others, rtol=trip.tolerance, atol=1e-15)
                assert dof.ref == other.ref
                assert_same_drive(dof.drive, other.drive, trip.tolerance)


def assert_same_motion(joint: Joint, found: Joint, tolerance: float) -> None:
    """The child is at the same place in the parent, wherever the joint is moved."""
    for number in range(4):
        q = joint.neutral() + 0.3 * number * _steps(joint)
        other = found.neutral() + 0.3 * number * _steps(joint)
        assert joint.transform(q).is_close(found.transform(other), tolerance), joint.name


def _steps(joint: Joint) -> np.ndarray:
    scalar = all(dof.motion in (Motion.HINGE, Motion.SLIDE) for dof in joint.dofs)
    return np.arange(1.0, joint.positions + 1.0) if scalar else np.zeros(joint.positions)


def assert_same_drive(drive, other, tolerance: float) -> None:
    if drive is None:
        assert other is None or (other.stiffness, other.damping) == (0.0, 0.0)
        return
    for name in ("stiffness", "damping", "target_position", "target_velocity", "max_force"):
        assert np.isclose(getattr(drive, name), getattr(other, name), rtol=tolerance, atol=1e-12), name
    assert drive.acceleration == other.acceleration


def describe_shapes(asset: Asset) -> list[tuple]:
    """Each face of every shape (seen, touched), placed and sized, in an order of its own."""
    rows = []
    for shape in asset.shapes:
        for role, is_used in (("seen", shape.visual), ("touched", shape.collision)):
            if is_used:
                rows.append((shape.body, role, shape.geometry.kind, shape.enabled, *_measure(shape)))
    return sorted(rows)


def _measure(shape: Shape) -> tuple[float, ...]:
    """Bounds in the body frame of the shape's turned box; an endless plane is drawn 100 m wide."""
    bounds = box_bounds(shape.geometry) or (np.array((-50.0, -50.0, 0.0)), np.array((50.0, 50.0, 0.0)))
    ends = (np.array(bounds) * scaled(shape)).T
    corners = np.array([shape.pose.apply(corner) for corner in product(*ends)])
    # minus zero must not decide the order
    return tuple(float(v) + 0.0 for v in np.round([*corners.min(axis=0), *corners.max(axis=0)], 5))


def assert_same_shapes(trip: Trip) -> None:
    expected, found = describe_shapes(trip.asset), describe_shapes(trip.back)
    assert [row[:4] for row in expected] == [row[:4] for row in found]
    numbers = [np.array([row[4:] for row in rows], dtype=np.float64) for rows in (expected, found)]
    assert np.allclose(*numbers, rtol=0.0, atol=2.1e-5)

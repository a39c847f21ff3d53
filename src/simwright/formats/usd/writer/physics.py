# SPDX-License-Identifier: Apache-2.0
"""``physics.usda``: bodies, mass, colliders, contact materials, filters (REP-0158 1.3).

Only core UsdPhysics is said here; what it has no word for is in ``extended_physics.usda`` or a vendor layer.
"""

from __future__ import annotations

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Array, quat_conjugate, quat_rotate
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.colliders import write_colliders
from simwright.formats.usd.writer.equalities import write_equalities
from simwright.formats.usd.writer.filters import write_filters
from simwright.formats.usd.writer.joints import write_joints
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Body
from simwright.model.filtering import find_components, list_articulated
from simwright.model.inertia import find_nearest_moments, principal_axes
from simwright.model.joint import WORLD, JointKind

_EARTH = np.array((0.0, 0.0, -9.81))
_ABOUT = 0.05


def write_physics(layout: Layout, reporter: Reporter) -> Sheet:
    """All that UsdPhysics says."""
    sheet = Sheet(layout.root, f"Bodies, joints and contact of {layout.asset.name}.", exact=layout.exact)
    _write_scene(layout, sheet)
    _write_contacts(layout, sheet)
    roots = find_articulation_roots(layout)
    for body in layout.asset.bodies:
        if body.name in roots:
            sheet.apply(layout.bodies[body.name], "PhysicsArticulationRootAPI")
        _write_body(layout, sheet, body)
    write_colliders(layout, sheet, reporter)
    write_joints(layout, sheet, reporter)
    write_equalities(layout, sheet)
    write_filters(layout, sheet)
    return sheet


def find_articulation_roots(layout: Layout) -> set[str]:
    """One base link for each articulated tree; without articulations, for each tree that moves."""
    component = find_components(layout.tree)
    asset = layout.asset
    if asset.articulations:
        return {
            component[name] for a in asset.articulations for name in list_articulated(asset, a, layout.tree)
        }
    moving = (e for e in layout.tree.edges if e.joint.kind not in (JointKind.FIXED, JointKind.FLOATING))
    return {component[edge.child] for edge in moving if edge.parent != WORLD or edge.joint.dofs}


def _write_scene(layout: Layout, sheet: Sheet) -> None:
    """Gravity belongs to the world; it is said where it is not the earth's, or the source had a scene."""
    gravity = layout.asset.environment.gravity
    if gravity is None:
        return
    if np.allclose(gravity, _EARTH, atol=_ABOUT):
        return
    path = f"{layout.root}/PhysicsScene"
    strength = float(np.linalg.norm(gravity))
    sheet.define(path, "PhysicsScene")
    if strength > 0.0:
        sheet.set(path, "physics:gravityDirection", "vector3f", np.asarray(gravity) / strength)
    sheet.set(path, "physics:gravityMagnitude", "float", strength)


def _write_contacts(layout: Layout, sheet: Sheet) -> None:
    if layout.contacts:
        sheet.define(f"{layout.root}/physics_materials", "Scope")
    for material in layout.asset.physics_materials:
        path = layout.contacts[material.name]
        sheet.define(path, "Material")
        sheet.name(path, material.name)
        sheet.apply(path, "PhysicsMaterialAPI")
        sheet.set(path, "physics:staticFriction", "float", material.static_friction)
        sheet.set(path, "physics:dynamicFriction", "float", material.dynamic_friction)
        sheet.set(path, "physics:restitution", "float", material.restitution)
        if material.density is not None:
            sheet.set(path, "physics:density", "float", material.density)


def _write_body(layout: Layout, sheet: Sheet, body: Body) -> None:
    path = layout.bodies[body.name]
    sheet.apply(path, "PhysicsRigidBodyAPI")
    if body.kinematic:
        sheet.set(path, "physics:kinematicEnabled", "bool", True)
    if not body.enabled:
        sheet.set(path, "physics:rigidBodyEnabled", "bool", False)
    back = quat_conjugate(body.pose.q)
    if body.linear_velocity is not None:
        sheet.set(path, "physics:velocity", "vector3f", quat_rotate(back, body.linear_velocity))
    if body.angular_velocity is not None:
        spin = quat_rotate(back, body.angular_velocity) / DEGREE
        sheet.set(path, "physics:angularVelocity", "vector3f", spin)
    if body.inertial is None:
        return
    # found anew: the axes of the source may be turned, and single precision would blur slender bodies
    moments, axes = principal_axes(body.inertial.inertia)
    sheet.apply(path, "PhysicsMassAPI")
    sheet.set(path, "physics:mass", "float", body.inertial.mass)
    sheet.set(path, "physics:centerOfMass", "point3f", body.inertial.com)
    if np.any(moments):  # all zero means "not said" in UsdPhysics
        possible = find_nearest_moments(moments)
        rounded = _round_moments(possible)
        is_rounded = np.allclose(rounded, moments, rtol=1e-6, atol=0.0)
        if not is_rounded or (layout.exact and not np.array_equal(rounded, possible)):
            sheet.note(path, moments=moments.tolist())
        sheet.set(path, "physics:diagonalInertia", "float3", rounded)
        sheet.set(path, "physics:principalAxes", "quatf", axes)
    else:
        sheet.note(path, moments=moments.tolist())


def _round_moments(moments: Array) -> Array:
    """Moments whose single-precision values are possible if they are.

    MuJoCo refuses a moment that exceeds the sum of the others by anything, also by what rounding adds.
    """
    largest = int(np.argmax(moments))
    others = np.delete(moments, largest)
    if moments[largest] > others.sum():
        return moments
    single = np.float32(moments[largest])
    while float(single) > np.float32(others).astype(np.float64).sum():
        single = np.nextafter(single, np.float32(0.0))
    settled = moments.copy()
    if single != np.float32(moments[largest]):
        settled[largest] = float(single)
    return settled

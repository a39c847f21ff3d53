# SPDX-License-Identifier: Apache-2.0
"""``physics.usda``: bodies, mass, articulation roots, colliders, contact materials, filters (REP-0158 1.3).

Only core UsdPhysics is authored here (joints: see ``joints``); what it has no attribute for is in
``extended_physics.usda`` or a vendor layer, or noted on the prim.
"""

from __future__ import annotations

import dataclasses
import json

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import DEGREE, IDENTITY_QUAT, Array, quat_conjugate, quat_rotate
from simwright.formats.usd.writer.contacts import write_filters
from simwright.formats.usd.writer.joints import (
    write_equalities,
    write_joints,
    write_loop_points,
    write_servos,
    write_springs,
)
from simwright.formats.usd.writer.layer import LayerWriter, join
from simwright.formats.usd.writer.meshes import MESH
from simwright.formats.usd.writer.messages import COLLIDER_ROUND, COLLIDER_SIMPLIFIED
from simwright.formats.usd.writer.plan import (
    ADVANCED,
    BASELINE,
    COLLISION_SET,
    DECOMPOSED,
    WritePlan,
    find_articulation_root,
)
from simwright.model.asset import Body, Light, LightKind, Shape, Site
from simwright.model.filtering import find_components, list_articulated
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from simwright.model.inertia import LEAST_MASS, POINT_INERTIA, principal_axes, settle_moments
from simwright.model.joint import WORLD, JointKind
from simwright.model.kinematics import Edge

_CONVEX = frozenset({"convexHull", "boundingSphere", "boundingCube"})


# colliders first, then one finding for each way their default differs from the source
def write_colliders(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Every collider, and what its default leaves out."""
    shapes = [shape for shape in plan.asset.shapes if shape.name in plan.colliders]
    for shape in shapes:
        _write_collider(plan, layer, shape)
    forms = plan.forms
    hulls = [s for s in shapes if s.name in forms and forms[s.name].fine and _find_token(s) not in _CONVEX]
    round_ = [
        s for s in shapes if s.name in forms and not isinstance(s.geometry, Mesh) and not forms[s.name].fine
    ]
    for kind, found in ((COLLIDER_SIMPLIFIED, hulls), (COLLIDER_ROUND, round_)):
        if found:
            reporter.report(kind, found[0].source, count=len(found), first=found[0].name)


def _find_token(shape: Shape) -> str:
    return "none" if shape.approximation is None else shape.approximation.token


def _write_collider(plan: WritePlan, layer: LayerWriter, shape: Shape) -> None:
    path, prim = plan.colliders[shape.name], plan.collider_prims[shape.name]
    layer.apply(path, "PhysicsCollisionAPI")
    if not shape.enabled:
        layer.set(path, "physics:collisionEnabled", "bool", False)
    if shape.mass or shape.density:
        layer.apply(path, "PhysicsMassAPI")
        if shape.mass:
            layer.set(path, "physics:mass", "float", shape.mass)
        if shape.density:
            layer.set(path, "physics:density", "float", shape.density)
    form = plan.forms.get(shape.name)
    # the material is bound to the instance, not in the prototype, so that instances may differ
    for place in (prim, *(form.parts if form is not None else ())):
        layer.apply(place, "MaterialBindingAPI")
        layer.relate(place, "material:binding:physics", [plan.contacts[shape.physics_material]])
        # MuJoCo's reader (4.0.0) looks for friction at the material of all purposes only
        if plan.is_for_mujoco and plan.visuals.get(shape.name) != place:
            layer.relate(place, "material:binding", [plan.contacts[shape.physics_material]])
    if form is not None:
        _write_fidelity(plan, layer, shape)


def _write_fidelity(plan: WritePlan, layer: LayerWriter, shape: Shape) -> None:
    """The hull by default, the triangles as a choice; each is said by name."""
    form, path, prim = plan.forms[shape.name], plan.colliders[shape.name], plan.collider_prims[shape.name]
    token = _find_token(shape)
    coarse = token if token in _CONVEX else "convexHull"
    layer.apply(path, "PhysicsMeshCollisionAPI")
    # in a prototype there are no variants: the finer class says the finer approximation
    if not form.fine or path != prim:
        layer.set(path, "physics:approximation", "token", coarse, uniform=True)
        if form.finer:
            layer.set(f"{form.finer}/{MESH}", "physics:approximation", "token", _refine(token), uniform=True)
        return
    scope, name = prim.rsplit("/", 1)
    variants = {BASELINE: coarse, ADVANCED: _refine(token)}
    if plan.is_decomposed:
        variants[DECOMPOSED] = "convexHull"
    for variant, word in variants.items():
        inside = join(layer.vary(scope, COLLISION_SET, variant), name)
        layer.set(inside, "physics:approximation", "token", word, uniform=True)


def _refine(token: str) -> str:
    return token if token not in _CONVEX else "none"


# a list of notes by family; none depends on another
def write_remarks(plan: WritePlan, layer: LayerWriter) -> None:
    """Safety limits of joints, sizes of images, reaches of lights, planes without end, frames."""
    for joint in plan.asset.joints:
        for dof in joint.dofs:
            if dof.safety and dof.name in plan.freedoms:
                text = json.dumps({dof.name: dof.safety}, sort_keys=True)
                layer.note(plan.freedoms[dof.name][0], safety=text)
    for camera in plan.asset.cameras:
        if any(camera.resolution) and camera.name in plan.cameras:
            layer.note(plan.cameras[camera.name], resolution=[*camera.resolution])
    for light in plan.asset.lights:
        _note_light(plan, layer, light)
    for shape in plan.asset.shapes:
        if isinstance(shape.geometry, Plane) and shape.geometry.size is None:
            for path in (plan.colliders.get(shape.name), plan.visuals.get(shape.name)):
                if path:
                    layer.note(path, endless=True)
    for site in plan.asset.sites:
        _note_site(layer, plan.sites[site.name], site)


def _note_site(layer: LayerWriter, path: str, site: Site) -> None:
    """The marker that a frame has, and the body that it was."""
    sizes = None if site.geometry is None else measure(site.geometry)
    if sizes is not None and site.geometry is not None:
        layer.note(path, marker=site.geometry.kind, marker_size=sizes)
    if site.folded is not None:
        layer.note(path, folded=json.dumps(dataclasses.asdict(site.folded), sort_keys=True))


def _note_light(plan: WritePlan, layer: LayerWriter, light: Light) -> None:
    """How far a light reaches, and how large the bulb of one is that OpenUSD has at an infinite distance."""
    path = plan.lights.get(light.name)
    if path and light.range is not None:
        layer.note(path, reach=float(light.range))
    if path and light.radius and light.kind not in (LightKind.POINT, LightKind.SPOT):
        layer.note(path, bulb=float(light.radius))


def measure(geometry: Geometry) -> list[float] | None:
    """The sizes of a primitive; None for other geometry."""
    match geometry:
        case Sphere():
            return [geometry.radius]
        case Capsule() | Cylinder():
            return [geometry.radius, geometry.length]
        case Box():
            return [float(v) for v in geometry.size]
        case Ellipsoid():
            return [float(v) for v in geometry.radii]
        case Plane():
            return [] if geometry.size is None else [float(v) for v in np.ravel(geometry.size)]
    return None


_EARTH = np.array((0.0, 0.0, -9.81))
# 9.8, 9.80665 and 9.81 are all the earth: an asset should not bring a scene for the difference
_ABOUT = 0.05
# but what one engine opens by itself should move as the source does
_EXACTLY = 1e-6


def write_physics(plan: WritePlan, reporter: Reporter) -> LayerWriter:
    """All that UsdPhysics says."""
    layer = LayerWriter(plan.root, f"Bodies, joints and contact of {plan.asset.name}.", exact=plan.exact)
    _write_scene(plan, layer)
    _write_contacts(plan, layer)
    for base in find_articulated_bases(plan):
        layer.apply(find_articulation_root(plan, base), "PhysicsArticulationRootAPI")
    for body in plan.asset.bodies:
        _write_body(plan, layer, body)
    write_colliders(plan, layer, reporter)
    write_joints(plan, layer, reporter)
    write_servos(plan, layer)
    write_springs(plan, layer)
    write_equalities(plan, layer)
    write_loop_points(plan, layer)
    write_filters(plan, layer, reporter)
    return layer


def find_articulated_bases(plan: WritePlan) -> list[str]:
    """One base link for each articulated tree; without articulations, for each tree that moves.

    For Newton and PhysX, for both: Newton (1.7) refuses a joint outside of articulations, one that is fixed too, and
    PhysX has no coordinate for it.
    """
    component = find_components(plan.tree)
    asset = plan.asset
    # by component: several articulations of one tree have one base
    bases = {component[name] for a in asset.articulations for name in list_articulated(asset, a, plan.tree)}
    if not asset.articulations or plan.is_for_newton or plan.is_for_physx:
        bases |= {component[edge.child] for edge in plan.tree.edges if _moves(edge)}
    if plan.is_for_newton:
        bases |= {component[edge.child] for edge in plan.tree.edges if edge.parent != WORLD}
    return [body.name for body in asset.bodies if body.name in bases]


def _moves(edge: Edge) -> bool:
    """Does an edge of the tree let its child move on its parent, other than freely?"""
    moving = edge.joint.kind not in (JointKind.FIXED, JointKind.FLOATING)
    return moving and (edge.parent != WORLD or bool(edge.joint.dofs))


def _write_scene(plan: WritePlan, layer: LayerWriter) -> None:
    """Gravity belongs to the world; it is said where it is not the earth's, or the source had a scene."""
    gravity = plan.asset.environment.gravity
    if gravity is None:
        return
    if np.allclose(gravity, _EARTH, rtol=0.0, atol=_EXACTLY if plan.is_for_engine else _ABOUT):
        return
    path = f"{plan.root}/PhysicsScene"
    strength = float(np.linalg.norm(gravity))
    layer.define(path, "PhysicsScene")
    if strength > 0.0:
        layer.set(path, "physics:gravityDirection", "vector3f", np.asarray(gravity) / strength)
    layer.set(path, "physics:gravityMagnitude", "float", strength)


def _write_contacts(plan: WritePlan, layer: LayerWriter) -> None:
    if plan.contacts:
        layer.define(f"{plan.root}/physics_materials", "Scope")
    for material in plan.asset.physics_materials:
        path = plan.contacts[material.name]
        layer.define(path, "Material")
        layer.name(path, material.name)
        layer.apply(path, "PhysicsMaterialAPI")
        layer.set(path, "physics:staticFriction", "float", material.static_friction)
        layer.set(path, "physics:dynamicFriction", "float", material.dynamic_friction)
        layer.set(path, "physics:restitution", "float", material.restitution)
        if material.density is not None:
            layer.set(path, "physics:density", "float", material.density)


def _write_body(plan: WritePlan, layer: LayerWriter, body: Body) -> None:
    path = plan.bodies[body.name]
    layer.apply(path, "PhysicsRigidBodyAPI")
    if body.kinematic:
        layer.set(path, "physics:kinematicEnabled", "bool", True)
    if not body.enabled:
        layer.set(path, "physics:rigidBodyEnabled", "bool", False)
    # UsdPhysics counts velocities in the space of the prim, the model in that of the asset
    back = quat_conjugate(body.pose.q)
    if body.linear_velocity is not None:
        layer.set(path, "physics:velocity", "vector3f", quat_rotate(back, body.linear_velocity))
    if body.angular_velocity is not None:
        spin = quat_rotate(back, body.angular_velocity) / DEGREE
        layer.set(path, "physics:angularVelocity", "vector3f", spin)
    if body.inertial is None:
        # a stage that says nothing leaves the mass to engines; other sources say that there is none
        if plan.asset.provenance.format != "usd" and body.enabled and not body.kinematic:
            _write_least_mass(layer, path)
        return
    # found anew: the axes of the source may be turned, and single precision would blur slender bodies
    moments, axes = principal_axes(body.inertial.inertia)
    layer.apply(path, "PhysicsMassAPI")
    layer.set(path, "physics:mass", "float", body.inertial.mass)
    layer.set(path, "physics:centerOfMass", "point3f", body.inertial.com)
    # all zero means "not said" in UsdPhysics, and engines would take the inertia of the colliders
    possible = settle_moments(moments) if np.any(moments) else np.full(3, POINT_INERTIA)
    rounded = _round_moments(possible)
    is_rounded = np.allclose(rounded, moments, rtol=1e-6, atol=0.0)
    if not is_rounded or (plan.exact and not np.array_equal(rounded, possible)):
        layer.note(path, moments=moments.tolist())
    layer.set(path, "physics:diagonalInertia", "float3", rounded)
    layer.set(path, "physics:principalAxes", "quatf", axes)


def _write_least_mass(layer: LayerWriter, path: str) -> None:
    """What stands for no mass: a body that says nothing weighs what its colliders do as solid water."""
    layer.apply(path, "PhysicsMassAPI")
    layer.note(path, mass=0.0)
    layer.set(path, "physics:mass", "float", LEAST_MASS)
    layer.set(path, "physics:centerOfMass", "point3f", (0.0, 0.0, 0.0))
    layer.set(path, "physics:diagonalInertia", "float3", (POINT_INERTIA,) * 3)
    layer.set(path, "physics:principalAxes", "quatf", IDENTITY_QUAT)


def _round_moments(moments: Array) -> Array:
    """Moments whose single-precision values are possible if they are.

    MuJoCo refuses a moment that exceeds the sum of the others by anything, also by what rounding adds.
    """
    largest = int(np.argmax(moments))
    others = np.delete(moments, largest)
    if moments[largest] > others.sum():
        return moments
    single = np.float32(moments[largest])
    # at most a few steps of the last bit
    while float(single) > np.float32(others).astype(np.float64).sum():
        single = np.nextafter(single, np.float32(0.0))
    settled = moments.copy()
    if single != np.float32(moments[largest]):
        settled[largest] = float(single)
    return settled

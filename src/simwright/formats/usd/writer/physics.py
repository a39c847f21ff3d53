# SPDX-License-Identifier: Apache-2.0
"""``physics.usda``: bodies, mass, articulation roots, colliders, contact materials, filters (REP-0158 1.3).

Only core UsdPhysics is authored here (joints: see ``joints``); what it has no attribute for is in
``extended_physics.usda`` or a vendor layer, or noted on the prim.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import combinations_with_replacement, product

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Array, quat_conjugate, quat_rotate
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.joints import write_equalities, write_joints
from simwright.formats.usd.writer.layer import Sheet, join
from simwright.formats.usd.writer.meshes import MESH
from simwright.formats.usd.writer.messages import COLLIDER_ROUND, COLLIDER_SIMPLIFIED
from simwright.formats.usd.writer.plan import ADVANCED, BASELINE, COLLISION_SET, DECOMPOSED, Layout
from simwright.model.asset import Body, Light, LightKind, Shape, Site
from simwright.model.filtering import find_components, list_articulated
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from simwright.model.inertia import find_nearest_moments, principal_axes
from simwright.model.joint import WORLD, JointKind

_CONVEX = frozenset({"convexHull", "boundingSphere", "boundingCube"})


def write_colliders(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every collider, and what its default leaves out."""
    shapes = [shape for shape in layout.asset.shapes if shape.name in layout.colliders]
    for shape in shapes:
        _write_collider(layout, sheet, shape)
    forms = layout.forms
    hulls = [s for s in shapes if s.name in forms and forms[s.name].fine and _find_token(s) not in _CONVEX]
    round_ = [
        s for s in shapes if s.name in forms and not isinstance(s.geometry, Mesh) and not forms[s.name].fine
    ]
    for kind, found in ((COLLIDER_SIMPLIFIED, hulls), (COLLIDER_ROUND, round_)):
        if found:
            reporter.report(kind, found[0].source, count=len(found), first=found[0].name)


def _find_token(shape: Shape) -> str:
    return "none" if shape.approximation is None else shape.approximation.token


def _write_collider(layout: Layout, sheet: Sheet, shape: Shape) -> None:
    path, prim = layout.colliders[shape.name], layout.touched[shape.name]
    sheet.apply(path, "PhysicsCollisionAPI")
    if not shape.enabled:
        sheet.set(path, "physics:collisionEnabled", "bool", False)
    if shape.mass or shape.density:
        sheet.apply(path, "PhysicsMassAPI")
        if shape.mass:
            sheet.set(path, "physics:mass", "float", shape.mass)
        if shape.density:
            sheet.set(path, "physics:density", "float", shape.density)
    form = layout.forms.get(shape.name)
    for place in (prim, *(form.parts if form is not None else ())):
        sheet.apply(place, "MaterialBindingAPI")
        sheet.relate(place, "material:binding:physics", [layout.contacts[shape.physics_material]])
    if form is not None:
        _write_fidelity(layout, sheet, shape)


def _write_fidelity(layout: Layout, sheet: Sheet, shape: Shape) -> None:
    """The hull by default, the triangles as a choice; each is said by name."""
    form, path, prim = layout.forms[shape.name], layout.colliders[shape.name], layout.touched[shape.name]
    token = _find_token(shape)
    coarse = token if token in _CONVEX else "convexHull"
    sheet.apply(path, "PhysicsMeshCollisionAPI")
    if not form.fine or path != prim:
        sheet.set(path, "physics:approximation", "token", coarse, uniform=True)
        if form.finer:
            sheet.set(f"{form.finer}/{MESH}", "physics:approximation", "token", _refine(token), uniform=True)
        return
    scope, name = prim.rsplit("/", 1)
    variants = {BASELINE: coarse, ADVANCED: _refine(token)}
    if layout.is_decomposed:
        variants[DECOMPOSED] = "convexHull"
    for variant, word in variants.items():
        inside = join(sheet.vary(scope, COLLISION_SET, variant), name)
        sheet.set(inside, "physics:approximation", "token", word, uniform=True)


def _refine(token: str) -> str:
    return token if token not in _CONVEX else "none"


Bits = tuple[int, int]
_USUAL = (1, 1)


def write_filters(layout: Layout, sheet: Sheet) -> None:
    """Who does not touch whom."""
    _write_groups(layout, sheet)
    _write_articulations(layout, sheet)
    _write_bits(layout, sheet)
    _write_pairs(layout, sheet)


def _write_groups(layout: Layout, sheet: Sheet) -> None:
    groups = layout.asset.collision_groups
    paths = {group.name: layout.names.claim(layout.root, group.name, "_group") for group in groups}
    for group in groups:
        members = [_find(layout, member) for member in group.members]
        path = paths[group.name]
        filtered = [paths[name] for name in group.filtered if name in paths]
        _write_group(sheet, path, (member for member in members if member), filtered)
        sheet.name(path, group.name)
        if group.inverted:
            sheet.set(path, "physics:invertFilteredGroups", "bool", True)
        if group.merge:
            sheet.set(path, "physics:mergeGroup", "string", group.merge)


def _find(layout: Layout, member: str) -> str:
    return layout.touched.get(member) or layout.bodies.get(member, "")


def _write_group(sheet: Sheet, path: str, members: Iterable[str], filtered: Iterable[str]) -> None:
    sheet.define(path, "PhysicsCollisionGroup")
    sheet.relate(path, "collection:colliders:includes", members)
    sheet.relate(path, "physics:filteredGroups", filtered)


def _write_articulations(layout: Layout, sheet: Sheet) -> None:
    for articulation in layout.asset.articulations:
        if articulation.self_collide:
            continue
        members = list_articulated(layout.asset, articulation, layout.tree)
        touching = {shape.body for shape in layout.asset.shapes if shape.name in layout.colliders}
        bodies = [layout.bodies[name] for name in members if name in touching]
        if len(bodies) > 1:
            path = layout.names.claim(layout.root, f"{articulation.name}_self_collision")
            _write_group(sheet, path, [f"{body}/collision" for body in bodies], [path])


def _write_bits(layout: Layout, sheet: Sheet) -> None:
    classes: dict[Bits, list[Shape]] = {}
    for shape in layout.asset.shapes:
        if shape.name in layout.colliders:
            bits = (_bits(shape.category_bits), _bits(shape.collide_bits))
            classes.setdefault(bits, []).append(shape)
    filtered: dict[Bits, list[Bits]] = {}
    for a, b in combinations_with_replacement(sorted(classes), 2):
        if not (a[0] & b[1] or b[0] & a[1]):
            filtered.setdefault(a, []).append(b)
    special = {bits for bits in classes if bits != _USUAL}
    involved = sorted({*filtered, *(b for others in filtered.values() for b in others), *special})
    paths = {
        bits: layout.names.claim(layout.root, f"bits_{bits[0] & 0xFFFFFFFF:x}_{bits[1] & 0xFFFFFFFF:x}")
        for bits in involved
    }
    for bits in involved:
        members = [layout.touched[shape.name] for shape in classes[bits]]
        others = [paths[b] for b in filtered.get(bits, ())]
        _write_group(sheet, paths[bits], members, others)
        sheet.note(paths[bits], bits=[*bits], members=len(members), filtered=len(others))


def _bits(value: int | None) -> int:
    return 1 if value is None else value


def _find_ends(layout: Layout, kind: str, name: str) -> list[str]:
    """The prims that one end of a pair stands for; for the world, its colliders."""
    if kind == "body" and name == WORLD:
        return [
            layout.touched[s.name]
            for s in layout.asset.shapes
            if s.body == WORLD and s.name in layout.touched
        ]
    path = (layout.bodies if kind == "body" else layout.touched).get(name)
    return [path] if path else []


def _write_pairs(layout: Layout, sheet: Sheet) -> None:
    pairs: dict[str, list[str]] = {}
    for pair in layout.asset.contact_filters:
        for first, second in product(*(_find_ends(layout, pair.of, name) for name in (pair.a, pair.b))):
            if second not in pairs.setdefault(first, []):
                pairs[first].append(second)
    for path, targets in pairs.items():
        if targets:
            sheet.apply(path, "PhysicsFilteredPairsAPI")
            sheet.relate(path, "physics:filteredPairs", targets)


def write_remarks(layout: Layout, sheet: Sheet) -> None:
    """Safety limits of joints, sizes of images, reaches of lights, planes without end, frames."""
    for joint in layout.asset.joints:
        for dof in joint.dofs:
            if dof.safety and dof.name in layout.freedoms:
                text = json.dumps({dof.name: dof.safety}, sort_keys=True)
                sheet.note(layout.freedoms[dof.name][0], safety=text)
    for camera in layout.asset.cameras:
        if any(camera.resolution) and camera.name in layout.cameras:
            sheet.note(layout.cameras[camera.name], resolution=[*camera.resolution])
    for light in layout.asset.lights:
        _note_light(layout, sheet, light)
    for shape in layout.asset.shapes:
        if isinstance(shape.geometry, Plane) and shape.geometry.size is None:
            for path in (layout.colliders.get(shape.name), layout.visuals.get(shape.name)):
                if path:
                    sheet.note(path, endless=True)
    for site in layout.asset.sites:
        _note_marker(sheet, layout.sites[site.name], site)


def _note_marker(sheet: Sheet, path: str, site: Site) -> None:
    sizes = None if site.geometry is None else measure(site.geometry)
    if sizes is not None and site.geometry is not None:
        sheet.note(path, marker=site.geometry.kind, marker_size=sizes)


def _note_light(layout: Layout, sheet: Sheet, light: Light) -> None:
    """How far a light reaches, and how large the bulb of one is that OpenUSD has at an infinite distance."""
    path = layout.lights.get(light.name)
    if path and light.range is not None:
        sheet.note(path, reach=float(light.range))
    if path and light.radius and light.kind not in (LightKind.POINT, LightKind.SPOT):
        sheet.note(path, bulb=float(light.radius))


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

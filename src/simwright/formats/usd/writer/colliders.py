# SPDX-License-Identifier: Apache-2.0
"""Colliders in ``physics.usda``: what is touched, how meshes are simplified, with which contact (REP-0158 1.3.1)."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import ADVANCED, BASELINE, COLLISION_SET, DECOMPOSED, Layout
from simwright.formats.usd.writer.meshes import MESH
from simwright.formats.usd.writer.messages import COLLIDER_ROUND, COLLIDER_SIMPLIFIED
from simwright.formats.usd.writer.sheet import Sheet, join
from simwright.model.asset import Shape
from simwright.model.geometry import Mesh

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

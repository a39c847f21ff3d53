# SPDX-License-Identifier: Apache-2.0
"""Mass properties of shapes and bodies, from their geometry and densities."""

from __future__ import annotations

import math

from simwright.model.asset import Asset, Body, Shape
from simwright.model.inertia import Inertial, combine
from simwright.model.material import PhysicsMaterial
from simwright.model.moments import NOTHING, Moments, compute_moments
from simwright.model.shell import measure_surface, measure_wall

DEFAULT_DENSITY = 1000.0
"""Density where nothing says otherwise [kg/m^3], as UsdPhysics, MuJoCo and Newton have it."""


def measure_shape(shape: Shape) -> Moments:
    """What a density fills: the solid, or the wall of a shell (``mass_model`` of the shape's settings).

    A shell without a thickness is its surface: weighed by area if ``shell_density`` is ``"area"``, or to spread
    the shape's own mass; otherwise nothing.  A wall that leaves no hollow is the solid.
    """
    if shape.settings.get("mass_model") != "shell":
        return compute_moments(shape.geometry, shape.scale)
    thickness = find_thickness(shape)
    if thickness > 0.0:
        wall = measure_wall(shape.geometry, shape.scale, thickness)
        return compute_moments(shape.geometry, shape.scale) if wall is None else wall
    # a wall of no thickness has no volume for a density per volume
    if shape.mass is None and shape.settings.get("shell_density") != "area":
        return NOTHING
    return measure_surface(shape.geometry, shape.scale)


def find_thickness(shape: Shape) -> float:
    """Thickness of a shell's wall [m]: its own, else (unless it is weighed by area) the contact margin."""
    own = shape.settings.get("shell_thickness")
    if own is not None and 0.0 <= own < math.inf:
        return float(own)
    return 0.0 if shape.settings.get("shell_density") == "area" else shape.margin or 0.0


def shape_inertial(shape: Shape, density: float | None = None) -> Inertial:
    """Mass properties of one shape in its body's frame; the shape's own mass or density wins."""
    moments = measure_shape(shape)
    # a mass is a density too: so it spreads as the shape does
    if shape.mass is not None and moments.volume > 0.0:
        rho = shape.mass / moments.volume
    elif shape.density is not None:
        rho = shape.density
    else:
        rho = DEFAULT_DENSITY if density is None else density
    return moments.inertial(rho).moved(shape.pose)


def body_inertial(asset: Asset, body: Body) -> Inertial:
    """Mass properties of one body (see :func:`body_inertials`, which is faster for all of them)."""
    if body.inertial is not None:
        return body.inertial
    colliders = [shape for shape in asset.shapes_of(body.name) if shape.collision and shape.enabled]
    return _collider_inertial(body, colliders, {m.name: m for m in asset.physics_materials})


def body_inertials(asset: Asset, default_density: float = DEFAULT_DENSITY) -> dict[str, Inertial]:
    """Mass properties of every body: the authored ones, or those of its enabled colliders.

    Density of a collider: its own, else the body's, else its physics material's, else the default [kg/m^3].
    """
    materials = {material.name: material for material in asset.physics_materials}
    colliders: dict[str, list[Shape]] = {}
    for shape in asset.shapes:
        if shape.collision and shape.enabled:
            colliders.setdefault(shape.body, []).append(shape)
    return {
        body.name: body.inertial
        or _collider_inertial(body, colliders.get(body.name, []), materials, default_density)
        for body in asset.bodies
    }


def _collider_inertial(
    body: Body,
    colliders: list[Shape],
    materials: dict[str, PhysicsMaterial],
    default_density: float = DEFAULT_DENSITY,
) -> Inertial:
    parts = []
    for shape in colliders:
        material = materials.get(shape.physics_material)
        # "or": UsdPhysics reads a density of 0 as "not said"
        said = body.density or (material.density if material else None)
        parts.append(shape_inertial(shape, default_density if said is None else said))
    return combine(parts)

# SPDX-License-Identifier: Apache-2.0
"""What the OpenUSD samples share: entry layer, scopes of a link, mass, contact (REP 0158, 1.2, 1.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samples.text import short
from samples.usdtext import (
    Block,
    apis,
    layer,
    mesh_collider,
    place,
    prim,
    variant_meta,
    variant_set,
    vector,
    visual_piece,
)
from simwright.model.inertia import Inertial

VERSION = "1.0.0"
DETAILS = ("mesh_medium", "mesh_high", "mesh_low")
BASELINE, ADVANCED = "baseline", "advanced"


def entry_layer(name: str, kind: str, doc: str, layers: Sequence[str]) -> bytes:
    """``<name>.usda``: identity and arcs only; the strongest layer comes first."""
    uri = f"package://simwright_samples/{name}/{name}.usda"
    arcs = ", ".join(f"@./{file}@" for file in layers)
    meta = [
        "assetInfo = {",
        f'    string identifier = "{uri}"',
        f'    string name = "{name}"',
        "    dictionary ros = {",
        f'        string package_uri = "{uri}"',
        "    }",
        f'    string version = "{VERSION}"',
        "}",
        f'kind = "{kind}"',
        f"prepend references = [{arcs}]",
    ]
    return layer(name, doc, prim(f'def Xform "{name}"', meta))


def base_prop(name: str, doc: str) -> bytes:
    """``base.usda`` of a single-body prop: the root's frame and its two scopes."""
    scopes = [*prim('def Scope "visual"'), *prim('def Scope "collision"')]
    body = [*place(), "", *scopes]
    return layer(name, doc, prim(f'def Xform "{name}"', ["prepend references = @./instances.usda@"], body))


def materials_scope() -> Block:
    """The asset's looks, by payload."""
    return prim('def Scope "materials"', ["prepend payload = @./materials.usda@"])


def visual_scope(asset: str, pieces: Sequence[tuple[str, str, str, Sequence[float] | None]]) -> Block:
    """The ``visual`` scope with its three levels of detail.

    A piece is ``(name, geometry, look, position)``; each level loads ``<geometry>_<level>``.
    """
    variants = {}
    for detail in DETAILS:
        suffix = detail.removeprefix("mesh_")
        body: Block = []
        for name, geometry, look, xyz in pieces:
            body += visual_piece(asset, name, f"{geometry}_{suffix}", look, xyz)
        variants[detail] = body
    meta = variant_meta("visual_representation", DETAILS[0])
    return prim('def Scope "visual"', meta, variant_set("visual_representation", variants))


def collision_scope(baseline: Sequence[str], advanced: Mapping[str, str]) -> Block:
    """The ``collision`` scope: ``baseline`` blocks by default, or ``advanced`` meshes {name: geometry}."""
    fine: Block = []
    for name, geometry in advanced.items():
        fine += mesh_collider(name, geometry)
    meta = variant_meta("collision_fidelity", BASELINE)
    return prim(
        'def Scope "collision"', meta, variant_set("collision_fidelity", {BASELINE: baseline, ADVANCED: fine})
    )


def collision_physics(
    asset: str, material: str, primitives: Sequence[str], hulls: Sequence[str], advanced: Sequence[str]
) -> Block:
    """Physics over the ``collision`` scope: colliders, their approximation and their contact material."""
    coarse: Block = []
    for name in primitives:
        coarse += _collider(asset, material, name, "")
    for name in hulls:
        coarse += _collider(asset, material, name, "convexHull")
    fine: Block = []
    for name in advanced:
        fine += _collider(asset, material, name, "none")
    meta = ['prepend variantSets = "collision_fidelity"']
    return prim(
        'over "collision"', meta, variant_set("collision_fidelity", {BASELINE: coarse, ADVANCED: fine})
    )


def contact_material(name: str, static: float, dynamic: float, restitution: float) -> Block:
    """A material that says how surfaces rub and bounce, nothing else."""
    body = [
        f"float physics:dynamicFriction = {short(dynamic)}",
        f"float physics:restitution = {short(restitution)}",
        f"float physics:staticFriction = {short(static)}",
    ]
    return prim(
        'def Scope "physics_materials"',
        [],
        prim(f'def Material "{name}"', [apis("PhysicsMaterialAPI")], body),
    )


def mass_lines(inertial: Inertial) -> Block:
    """Mass, centre and principal inertia: the eigendecomposed form OpenUSD asks for."""
    moments, axes = inertial.principal()
    return [
        f"point3f physics:centerOfMass = {vector(inertial.com, 7)}",
        f"float3 physics:diagonalInertia = {vector(moments, 7)}",
        f"float physics:mass = {short(inertial.mass)}",
        f"quatf physics:principalAxes = {vector(axes, 8)}",
    ]


def _collider(asset: str, material: str, name: str, approximation: str) -> Block:
    schemas = ["PhysicsCollisionAPI"]
    body = [f"rel material:binding:physics = </{asset}/physics_materials/{material}>"]
    if approximation:
        schemas.append("PhysicsMeshCollisionAPI")
        body.append(f'uniform token physics:approximation = "{approximation}"')
    return prim(f'over "{name}"', [apis(*schemas)], body)

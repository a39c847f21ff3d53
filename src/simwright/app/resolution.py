# SPDX-License-Identifier: Apache-2.0
"""Resolved solver values of an asset as plain data: what ``simwright resolve --format json`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simwright.app.describe import to_plain
from simwright.core.errors import UsageError
from simwright.model.asset import Asset
from simwright.model.joint import Joint, Motion
from simwright.model.origins import Origin, Resolved
from simwright.resolve.axes import find_axis
from simwright.resolve.resolve import ResolverOrder
from simwright.resolve.table import PrimType, Scale

VERSION = 1


def describe_resolution(
    asset: Asset, order: ResolverOrder, *, prim: str = "", defaults: bool = False
) -> dict[str, Any]:
    """Values by prim and key; with ``defaults``, also those that only a schema's fallback gives."""
    elements = _list_elements(asset)
    prims = []
    for path, types in elements.items():
        if prim and path != prim and not path.startswith(f"{prim.rstrip('/')}/"):
            continue
        known = asset.origins.get(path, {})
        values = {k: v for k, v in known.items() if defaults or v.origin is not Origin.SCHEMA}
        if defaults:
            values |= {k: v for k, v in _list_defaults(asset, order, path, types) if k not in values}
        if values:
            prims.append(_describe_prim(path, types, values))
    if prim and not prims and prim not in elements:
        raise UsageError(
            f"there is no scene, body, joint, collider, material or articulation at or below {prim}",
            hint="`simwright inspect FILE --format json` lists them with their paths",
        )
    return {
        "version": VERSION,
        "file": asset.provenance.file,
        "order": [resolver.name for resolver in order.resolvers],
        "prims": prims,
    }


def _describe_prim(path: str, types: list[PrimType], values: dict[str, Resolved]) -> dict[str, Any]:
    rows = []
    for key, found in values.items():
        lost = [hit._asdict() | {"value": to_plain(hit.value)} for hit in found.lost]
        rows.append(
            {
                "key": key,
                "value": to_plain(found.value),
                "origin": found.origin.value,
                "namespace": found.namespace,
                "attribute": found.attribute,
                "lost": lost,
            }
        )
    return {"path": path, "types": [kind.value for kind in types], "values": rows}


def _list_elements(asset: Asset) -> dict[str, list[PrimType]]:
    """Paths of everything that has keys, and what it is."""
    found: dict[str, list[PrimType]] = {}

    def add(path: str, kind: PrimType) -> None:
        if path:
            found.setdefault(path, []).append(kind)

    for articulation in asset.articulations:
        add(articulation.path, PrimType.ARTICULATION)
    for body in asset.bodies:
        add(body.path, PrimType.BODY)
    for joint in asset.joints:
        add(joint.path, PrimType.JOINT)
    for shape in asset.shapes:
        if shape.collision:
            add(shape.path, PrimType.SHAPE)
    for material in asset.physics_materials:
        add(material.source.prim, PrimType.MATERIAL)
    scene = asset.provenance.info.get("physicsScene")
    return {scene: [PrimType.SCENE], **found} if scene else found


def _list_defaults(
    asset: Asset, order: ResolverOrder, path: str, types: list[PrimType]
) -> Iterator[tuple[str, Resolved]]:
    info = asset.provenance.info
    scale = Scale(info.get("metersPerUnit", 1.0), info.get("kilogramsPerUnit", 1.0))
    joint = next((joint for joint in asset.joints if joint.path == path), None)
    for kind in types:
        for key in order.keys(kind):
            if joint is not None and not _concerns(order, joint, key):
                continue
            angular = joint is not None and any(dof.motion is not Motion.SLIDE for dof in joint.dofs)
            resolved = order.resolve({}, kind, key, scale=scale, angular=angular)
            if resolved.namespace:
                yield key, resolved


def _concerns(order: ResolverOrder, joint: Joint, key: str) -> bool:
    """Does the joint have the axis of the key?"""
    rows = [row for resolver in order.resolvers for row in resolver.rows_of(PrimType.JOINT, key)]
    axes = {find_axis(joint, dof) for dof in joint.dofs}
    return bool(joint.dofs) and any(not row.axis or row.axis in axes for row in rows)

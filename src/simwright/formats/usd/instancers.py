# SPDX-License-Identifier: Apache-2.0
"""Point instancers: one shape per instance and prototype part, sharing geometry (REP-0158 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pxr import UsdGeom

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array
from simwright.core.names import NameScope
from simwright.formats.usd.bindings import Bindings
from simwright.formats.usd.scan import Found, Scan, scan_prims
from simwright.formats.usd.shapes import Tally, build_shape, place_geometry
from simwright.formats.usd.source import Source, as_matrix, as_rows
from simwright.formats.usd.transforms import are_sound

INSTANCES_MANY = declare(
    "usd-instances-many",
    Level.WARNING,
    "point instancer {name!r} makes {count} shapes; the first {limit} are read",
    hint="split the scene, or simulate the scatter natively",
    doc="The model holds one shape per instance, so their number is bounded.",
)
INSTANCES_INVALID = declare(
    "usd-instances-invalid",
    Level.ERROR,
    "point instancer {name!r} cannot be read: {why}",
    hint="protoIndices, positions and prototypes must fit together",
    doc="The arrays of a point instancer do not fit together.",
)
INSTANCES_BODY = declare(
    "usd-instances-body",
    Level.WARNING,
    "prototype {prototype} of point instancer {name!r} holds a {what}, which is not scattered",
    hint="place physics bodies as prims of their own; nested instancers as one",
    doc="Only geometry is scattered: bodies, joints and instancers inside a prototype are left out.",
    section="3.5",
    loss=True,
)

MAX_SHAPES = 20_000
"""Largest number of shapes one instancer may make."""


@dataclass(slots=True, eq=False)
class Scatter:
    """An instancer with the geometry of its prototypes, each relative to its prototype's placement."""

    found: Found
    prototypes: list[list[tuple[Found, Array]]]


def scan_instancers(source: Source, scan: Scan) -> list[Scatter]:
    """Look below the prototypes of every instancer."""
    scatters = []
    for found in scan.instancers:
        targets = source.get_targets(found, "prototypes")
        prototypes = [_scan_prototype(source, found, target) for target in targets]
        scatters.append(Scatter(found, prototypes))
    return scatters


def list_geometry(scatters: list[Scatter]) -> list[Found]:
    """All geometry prims of all prototypes."""
    return [found for s in scatters for parts in s.prototypes for found, _ in parts]


def _scan_prototype(source: Source, instancer: Found, target: str) -> list[tuple[Found, Array]]:
    root = source.stage.GetPrimAtPath(target)
    if not root:
        _refuse(source, instancer, f"its prototype {target} does not exist")
        return []
    inner = scan_prims(source, root)
    for what, prims in (
        ("rigid body", inner.bodies),
        ("joint", inner.joints),
        ("instancer", inner.instancers),
    ):
        if prims:
            source.reporter.report(
                INSTANCES_BODY,
                source.where(prims[0]),
                prototype=target,
                name=instancer.name,
                what=what,
            )
    outer = as_matrix(source.xforms.GetParentToWorldTransform(root))
    if not are_sound(outer.T[None]):
        _refuse(source, instancer, f"its prototype {target} stands where a scale is zero or not finite")
        return []
    above = np.linalg.inv(outer)
    parts = []
    for found in inner.geometry:
        found.visible = found.visible and instancer.visible
        found.purpose = instancer.purpose if found.purpose == "default" else found.purpose
        parts.append((found, above @ as_matrix(source.xforms.GetLocalToWorldTransform(found.prim))))
    return parts


def read_instancers(source: Source, scatters: list[Scatter], bindings: Bindings) -> None:
    """Add the scattered shapes."""
    scope = NameScope(shape.name for shape in source.asset.shapes)
    for scatter in scatters:
        tally = Tally()
        body = source.body_of(scatter.found.owner)
        copies = list(_list_copies(source, scatter))
        worlds = source.units.convert_matrices(np.array([m for _, _, m in copies]).reshape(-1, 4, 4))
        placements = place_geometry(source, [f for _, f, _ in copies], [body] * len(copies), worlds)
        for (number, found, _), placement in zip(copies, placements, strict=True):
            shape = build_shape(source, found, bindings, tally, body=body, placement=placement)
            if shape is None:
                continue
            shape.name = scope.claim(f"{scatter.found.name}_{number}_{shape.name}")
            shape.instancer = scatter.found.path
            source.asset.shapes.append(shape)
        tally.report(source)


def _list_copies(source: Source, scatter: Scatter) -> Iterator[tuple[int, Found, Array]]:
    """Instance number, prototype part and its stage matrix, masked instances left out."""
    usd = UsdGeom.PointInstancer(scatter.found.prim)
    indices = as_rows(usd.GetProtoIndicesAttr().Get(source.time), 1)[:, 0].astype(np.int64)
    matrices = _compute_matrices(source, usd, len(indices))
    if matrices is None or bool(np.any((indices < 0) | (indices >= len(scatter.prototypes)))):
        _refuse(source, scatter.found, "its arrays have different lengths or name no prototype")
        return
    shown = _compute_mask(source, usd, len(indices))
    total = sum(len(scatter.prototypes[i]) for i in indices[shown])
    if total > MAX_SHAPES:
        source.reporter.report(
            INSTANCES_MANY,
            source.where(scatter.found),
            name=scatter.found.name,
            count=total,
            limit=MAX_SHAPES,
        )
    base = as_matrix(source.xforms.GetLocalToWorldTransform(scatter.found.prim))
    odd = [number for number in np.flatnonzero(shown) if not np.isfinite(base @ matrices[number]).all()]
    if odd:
        _refuse(source, scatter.found, f"{len(odd)} instances, the first number {odd[0]}, are not finite")
        shown[odd] = False
    made = 0
    for number in np.flatnonzero(shown):
        for found, part in scatter.prototypes[indices[number]]:
            if made >= MAX_SHAPES:
                return
            made += 1
            yield int(number), found, base @ matrices[number] @ part


def _compute_matrices(source: Source, usd: UsdGeom.PointInstancer, count: int) -> list[Array] | None:
    time = source.time
    if count == 0:
        return []
    if len(as_rows(usd.GetPositionsAttr().Get(time), 3)) != count:
        return None
    found = usd.ComputeInstanceTransformsAtTime(
        time, time, UsdGeom.PointInstancer.ExcludeProtoXform, UsdGeom.PointInstancer.IgnoreMask
    )
    return [as_matrix(m) for m in found] if found is not None and len(found) == count else None


def _compute_mask(source: Source, usd: UsdGeom.PointInstancer, count: int) -> np.ndarray:
    mask = usd.ComputeMaskAtTime(source.time)
    return np.array(mask, dtype=bool) if len(mask) == count else np.ones(count, dtype=bool)


def _refuse(source: Source, found: Found, why: str) -> None:
    source.reporter.report(INSTANCES_INVALID, source.where(found), name=found.name, why=why)

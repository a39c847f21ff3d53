# SPDX-License-Identifier: Apache-2.0
"""The mass properties that colliders give their bodies, for all bodies at once.

The moments of a geometry are computed once, however many shapes have it: by object, and meshes of different
prims by their content.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, matrices_from_quats
from simwright.formats.usd.mass_authored import read_authored
from simwright.formats.usd.meshes import load_solid
from simwright.formats.usd.placement import decompose
from simwright.formats.usd.scan import MASS, Scan
from simwright.formats.usd.shells import measure_shell
from simwright.formats.usd.source import Source
from simwright.model.asset import Body, Shape
from simwright.model.geometry import Faces, Mesh
from simwright.model.inertia import Inertial, rotate_inertia
from simwright.model.mass import DEFAULT_DENSITY
from simwright.model.moments import MANY_TRIANGLES, Moments, compute_moments, meshes_moments

COLLIDER_WITHOUT_VOLUME = declare(
    "usd-collider-without-volume",
    Level.WARNING,
    "collider {name!r} encloses no volume and adds nothing to the mass of body {body!r}",
    hint="close the mesh, or author mass properties on the body",
    doc="The mass of a body has to be computed from a collider that is not a solid.",
    section="3.4",
)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What one collider adds: moments at a density, or (``own``) mass properties in the body's frame."""

    body: int
    shape: Shape
    moments: Moments
    density: float = 0.0
    own: Inertial | None = None


class ColliderSums:
    """Collects bodies and their colliders, then sums them in a few array operations."""

    def __init__(self, source: Source, scan: Scan) -> None:
        self._source = source
        self._scan = scan
        self._densities = {m.name: m.density for m in source.asset.physics_materials}
        self._asked: list[tuple[Body, list[Shape]]] = []
        self._parts: list[_Part] = []
        self._moments: dict[tuple[int, tuple[float, ...]], Moments] = {}

    def add(self, body: Body, shapes: list[Shape]) -> None:
        """Ask for the sum of a body's colliders."""
        self._asked.append((body, shapes))

    def compute(self) -> dict[str, Inertial]:
        """Mass properties by body, in the body's frame; of no mass where nothing has a volume."""
        self._measure_all()
        for number, (body, shapes) in enumerate(self._asked):
            self._parts.extend(self._measure_part(number, body, shape) for shape in shapes)
        result = {body.name: Inertial(0.0) for body, _ in self._asked}
        if not self._parts:
            return result
        mass, com, inertia = self._place_parts()
        rows = np.array([part.body for part in self._parts])
        starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
        total = np.add.reduceat(mass, starts)
        center = np.add.reduceat(mass[:, None] * com, starts) / np.where(total == 0.0, 1.0, total)[:, None]
        offset = com - np.repeat(center, np.diff(np.r_[starts, len(rows)]), axis=0)
        square = np.einsum("ni,ni->n", offset, offset)[:, None, None] * np.eye(3)
        shifted = inertia + mass[:, None, None] * (square - offset[:, :, None] * offset[:, None, :])
        summed = np.add.reduceat(shifted, starts)
        numbers = rows[starts].tolist()
        for number, one, where, tensor in zip(numbers, total.tolist(), center, summed, strict=True):
            result[self._asked[number][0].name] = Inertial(one, where, tensor)
        return result

    def _place_parts(self) -> tuple[Array, Array, Array]:
        """Mass, centre and central inertia of every part in its body's frame."""
        parts = self._parts
        density = np.array([part.density for part in parts])
        turn = matrices_from_quats(np.array([part.shape.pose.q for part in parts]))
        center = np.array([part.moments.center for part in parts])
        second = np.array([part.moments.second for part in parts]) * density[:, None, None]
        trace = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        mass = np.array([part.moments.volume for part in parts]) * density
        com = np.einsum("nij,nj->ni", turn, center) + np.array([part.shape.pose.p for part in parts])
        inertia = turn @ (trace - second) @ turn.transpose(0, 2, 1)
        inertia = (inertia + inertia.transpose(0, 2, 1)) * 0.5
        for number, part in enumerate(parts):
            if part.own is not None:
                mass[number], com[number], inertia[number] = part.own.mass, part.own.com, part.own.inertia
        return mass, com, inertia

    def _measure_part(self, number: int, body: Body, shape: Shape) -> _Part:
        moments = self._measure(shape)
        found = self._scan.all.get(shape.path)
        has_own = found is not None and MASS in found.apis and found.path != found.owner
        own = self._read_own(body, shape, moments) if has_own else None
        if own is not None:
            return _Part(number, shape, moments, own=own)
        if moments.volume <= 0.0:
            where = shape.source
            self._source.reporter.report(COLLIDER_WITHOUT_VOLUME, where, name=shape.name, body=body.name)
            return _Part(number, shape, moments)
        return _Part(number, shape, moments, self._choose_density(shape, body.density, moments.volume))

    def _read_own(self, body: Body, shape: Shape, moments: Moments) -> Inertial | None:
        """What a collider's own mass API fixes beyond its density; None if nothing."""
        found = self._scan.all[shape.path]
        authored = read_authored(self._source, found)
        inertia = authored.inertia() if authored.mass is not None else None
        if inertia is None and (authored.center is None or moments.volume <= 0.0):
            return None
        place = decompose((~body.pose).matrix @ self._source.world_matrix(found))
        own = authored.com(place.scale)
        com = shape.pose.apply(moments.center) if own is None else place.pose.apply(own)
        if inertia is not None:
            assert authored.mass is not None
            return Inertial(authored.mass, com, rotate_inertia(inertia, place.pose.rotation))
        density = self._choose_density(shape, body.density, moments.volume)
        part = moments.inertial(density).moved(shape.pose)
        return Inertial(part.mass, com, part.about(com))

    def _choose_density(self, shape: Shape, body: float | None, volume: float) -> float:
        if shape.mass is not None:
            return shape.mass / volume
        for density in (shape.density, body, self._densities.get(shape.physics_material)):
            if density is not None:
                return density
        return DEFAULT_DENSITY

    def _measure(self, shape: Shape) -> Moments:
        if shape.settings.get("mass_model") == "shell":
            return measure_shell(self._source, shape)
        plain = self._moments[id(shape.geometry), ()]
        if shape.scale is None:
            return plain
        scale = tuple(shape.scale.tolist())
        key = id(shape.geometry), scale
        if key not in self._moments:
            self._moments[key] = plain.scaled(scale)
        return self._moments[key]

    def _measure_all(self) -> None:
        """Moments of every geometry, unscaled; meshes in batches, of equal ones only the first."""
        geometries = {id(s.geometry): s.geometry for _, shapes in self._asked for s in shapes}
        keys: dict[int, bytes] = {}
        waiting: dict[bytes, tuple[Array, Faces]] = {}
        known: dict[bytes, Moments] = {}
        size = 0
        for number, geometry in geometries.items():
            if not isinstance(geometry, Mesh):
                self._moments[number, ()] = compute_moments(geometry)
                continue
            solid = load_solid(self._source, geometry)
            keys[number] = key = _digest(*solid)
            if key in known or key in waiting:
                continue
            waiting[key] = solid
            size += len(solid[1])
            if size > MANY_TRIANGLES:  # measured and let go, so that meshes do not pile up
                known |= zip(waiting, meshes_moments(list(waiting.values())), strict=True)
                waiting, size = {}, 0
        known |= zip(waiting, meshes_moments(list(waiting.values())), strict=True)
        self._moments |= {(number, ()): known[key] for number, key in keys.items()}


def _digest(*arrays: np.ndarray[Any, Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(array.tobytes())
    return digest.digest()

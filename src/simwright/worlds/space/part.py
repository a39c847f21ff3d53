# SPDX-License-Identifier: Apache-2.0
"""An asset in the making: outlines raised to solids, with one look and one contact material each.

The origin is at the bottom centre, so that what stands on the ground does so wherever it is put; ``shift`` tells how
far the origin went from where the outlines had it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from simwright.core.math3d import Pose
from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Approximation, Box, Mesh, box_bounds
from simwright.model.inertia import Inertial, combine
from simwright.model.joint import WORLD
from simwright.model.mass import shape_inertial
from simwright.model.material import PhysicsMaterial, RenderMaterial, Rgb
from simwright.worlds.space.convex import Geometry, cut_convex
from simwright.worlds.space.prisms import raise_prism

DENSITY = 300.0
"""Of what says no mass [kg/m^3]: between a filled carton and a mug."""
FRICTION = 0.8
MIN_HEIGHT = 1e-4
_DIGITS = 6
_HULL = Approximation("convexHull")


@dataclass(slots=True)
class SolidPart:
    """Solids with names and colours, on one body or (``body`` empty) as part of the ground."""

    name: str
    body: str = WORLD
    friction: float = FRICTION
    round_shapes: bool = True
    kinematic: bool = False
    shapes: list[Shape] = field(default_factory=list)
    looks: dict[Rgb, RenderMaterial] = field(default_factory=dict)
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    _meshes: dict[bytes, Mesh] = field(default_factory=dict)

    def raise_outline(self, name: str, outline: Geometry, bottom: float, top: float, color: Rgb) -> None:
        """Solids on an outline of any shape between two heights [m]."""
        if top - bottom < MIN_HEIGHT:
            return
        pieces = cut_convex(outline)
        for number, piece in enumerate(pieces):
            geometry, pose = raise_prism(piece, bottom, top, is_round=self.round_shapes)
            if isinstance(geometry, Mesh):  # equal ones are kept once
                geometry = self._meshes.setdefault(geometry.data.vertices.tobytes(), geometry)
            label = name if len(pieces) == 1 else f"{name}_{number}"
            look = self._find_look(color)
            self.shapes.append(
                Shape(
                    label,
                    geometry,
                    self.body,
                    pose,
                    collision=True,
                    material=look.name,
                    physics_material="contact",
                    approximation=_HULL if isinstance(geometry, Mesh) else None,
                )
            )

    def settle(self) -> None:
        """Move the origin to the bottom centre."""
        low, high = find_bounds(self.shapes)
        x, y = (low[:2] + high[:2]) / 2.0
        self.shift = (float(x), float(y), float(low[2]))
        away = Pose.of((-x, -y, -low[2]))
        for shape in self.shapes:
            shape.pose = away @ shape.pose

    def spell(self) -> tuple[object, ...]:
        """The same for parts that are alike."""
        rows: list[object] = list(self.looks)
        for shape in self.shapes:
            geometry = shape.geometry
            if isinstance(geometry, Mesh):
                size = geometry.data.vertices.tobytes()
            else:
                bounds = box_bounds(geometry)
                assert bounds is not None
                size = np.round(bounds[1], _DIGITS).tobytes()
            place = np.round((*shape.pose.p, *shape.pose.q), _DIGITS) + 0.0
            rows += [shape.name, geometry.kind, size, place.tobytes()]
        return tuple(rows)

    def weigh(self, mass: float | None, known: Inertial | None = None) -> Inertial:
        """Mass properties: those known where the outlines were, or of all solids; for a mass [kg] that is said."""
        if known is None:
            whole = combine([shape_inertial(shape, DENSITY) for shape in self.shapes])
        else:
            whole = known.moved(~Pose.of(self.shift))
        return whole if mass is None else whole.scaled_to(mass)

    def finish(self, inertial: Inertial | None = None) -> Asset:
        """The asset; with ``inertial`` a single free body."""
        asset = Asset(self.name, shapes=_number(self.shapes), materials=list(self.looks.values()))
        asset.physics_materials = [PhysicsMaterial("contact", self.friction, self.friction, restitution=0.0)]
        if self.body:
            asset.bodies = [Body(self.body, inertial=inertial, kinematic=self.kinematic)]
        return asset

    def _find_look(self, color: Rgb) -> RenderMaterial:
        look = self.looks.get(color)
        if look is None:
            name = "paint" if not self.looks else f"paint_{len(self.looks) + 1}"
            look = self.looks[color] = RenderMaterial(name, diffuse=color, roughness=0.8)
        return look


def mix(color: Rgb, other: Rgb, share: float) -> Rgb:
    """A colour between two."""
    red, green, blue = (round(a + (b - a) * share, 4) for a, b in zip(color, other, strict=True))
    return red, green, blue


def find_bounds(shapes: Iterable[Shape]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of boxes, upright cylinders and prisms [m]."""
    lows, highs = [], []
    for shape in shapes:
        if isinstance(shape.geometry, Mesh):
            corners = shape.pose.apply(shape.geometry.data.vertices)
        else:
            bounds = box_bounds(shape.geometry)
            assert bounds is not None
            reach = np.maximum(np.abs(bounds[0]), np.abs(bounds[1]))
            if isinstance(shape.geometry, Box):
                reach = np.abs(shape.pose.rotation) @ reach
            corners = np.stack((shape.pose.p - reach, shape.pose.p + reach))
        lows.append(corners.min(axis=0))
        highs.append(corners.max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _number(shapes: list[Shape]) -> list[Shape]:
    """Names that are there several times get numbers."""
    from simwright.core.names import NameScope

    scope = NameScope()
    for shape in shapes:
        shape.name = scope.claim(shape.name)
    return shapes

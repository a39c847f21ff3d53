# SPDX-License-Identifier: Apache-2.0
"""Shapes of the arrays as shapes, sites and contact materials of the neutral model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simwright.core.math3d import vec3
from simwright.model.asset import Asset, Shape, Site
from simwright.model.geometry import Approximation
from simwright.model.joint import WORLD
from simwright.model.material import PhysicsMaterial
from simwright.runtime.kinds import ShapeFlag, ShapeType
from simwright.runtime.model import Model
from simwright.scenes.builder_shape import make_geometry
from simwright.scenes.exporting_looks import LookTaker
from simwright.scenes.exporting_numbers import take_pose, widen


class ShapeTaker:
    """Takes shapes out of a model into an asset, contact materials shared by equal ones."""

    def __init__(self, model: Model, asset: Asset, bodies: Sequence[str], names: Sequence[str]) -> None:
        self._model = model
        self._bodies = bodies
        self.names = names
        self._asset = asset
        self._materials: dict[tuple[float, ...], PhysicsMaterial] = {}
        self._looks = LookTaker(model, asset)

    def add(self, index: int) -> None:
        """One shape, or a site where it is marked as one."""
        model = self._model
        kind, flags = ShapeType(int(model.shape_type[index])), int(model.shape_flags[index])
        a, b, c = widen(model.shape_scale[index]).tolist()
        source = model.source_of(index)
        geometry = make_geometry(kind, (a, b, c), source)
        owner = int(model.shape_body[index])
        body = self._bodies[owner] if owner >= 0 else WORLD
        pose = take_pose(model.shape_transform[index])
        if flags & ShapeFlag.SITE:
            marker = geometry if source is None and flags & ShapeFlag.VISIBLE else None
            self._asset.sites.append(Site(self.names[index], body, pose, marker))
            return
        collides = bool(flags & ShapeFlag.COLLIDE_SHAPES) and int(model.shape_collision_group[index]) != 0
        color = model.color_of(index)
        shape = Shape(
            self.names[index],
            geometry,
            body,
            pose,
            vec3(a, b, c) if source is not None and (a, b, c) != (1.0, 1.0, 1.0) else None,
            visual=bool(flags & ShapeFlag.VISIBLE),
            collision=collides,
            color=None if color is None else (*color, 1.0),
        )
        if collides:
            shape.margin = float(widen(model.shape_margin[index])) or None
            shape.gap = float(widen(model.shape_gap[index])) or None
            shape.physics_material = self._choose_material(index)
            if kind is ShapeType.CONVEX_MESH:
                shape.approximation = Approximation("convexHull")
        self._looks.dress(shape, index)
        self._asset.shapes.append(shape)

    def _choose_material(self, index: int) -> str:
        model = self._model
        key = tuple(
            float(widen(getattr(model, f"shape_material_{name}")[index]))
            for name in ("mu", "restitution", "mu_torsional", "mu_rolling", "ke", "tau")
        )
        key = tuple(-1.0 if math.isnan(value) else value for value in key)
        if key not in self._materials:
            mu, restitution, torsional, rolling, stiffness, tau = key
            self._materials[key] = PhysicsMaterial(
                f"contact_{len(self._materials)}",
                static_friction=mu,
                dynamic_friction=mu,
                torsional_friction=torsional,
                rolling_friction=rolling,
                restitution=restitution,
                stiffness=stiffness,
                damping=stiffness * tau if tau >= 0.0 else None,
            )
            self._asset.physics_materials.append(self._materials[key])
        return self._materials[key].name

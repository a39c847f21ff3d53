# SPDX-License-Identifier: Apache-2.0
"""What a shape or a freedom is created with: defaults of the builder, overridden step by step."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simwright.runtime.kinds import ShapeFlag

NO_LIMIT = 1e10
"""A stop this far away is none [m, rad]."""
NO_BOUND = 1e6
"""Effort and velocity limits that are not said [N, N m, m/s, rad/s]."""

ALIASES = {
    "contact_margin": "margin",
    "shape_margin": "margin",
    "shape_gap": "gap",
    "shape_mu": "mu",
    "shape_ke": "ke",
    "shape_tau": "tau",
    "relaxation_time": "tau",
}
"""Other words for fields of a shape's configuration."""
MATERIAL_FIELDS = ("margin", "gap", "mu", "ke", "tau")
"""The fields that may also stand directly on a body, a shape or an asset."""


# defaults are SAP Warp's, field by field, so that files mean the same in both loaders
@dataclass(slots=True)
class ShapeConfig:
    """Material and collision of a shape.  ``gap`` None is the builder's ``rigid_gap``, ``tau`` None is "not said"."""

    density: float = 1000.0
    ke: float = 2500.0
    tau: float | None = 0.01
    mu: float = 1.0
    restitution: float = 0.0
    mu_torsional: float = 0.005
    mu_rolling: float = 1e-4
    margin: float = 0.0
    gap: float | None = None
    is_solid: bool = True
    collision_group: int = 1
    collision_filter_parent: bool = True
    has_shape_collision: bool = True
    has_particle_collision: bool = True
    is_visible: bool = True
    is_site: bool = False
    is_hydroelastic: bool = False
    kh: float = 1e10
    sdf_narrow_band_range: tuple[float, float] = (-0.1, 0.1)
    sdf_target_voxel_size: float | None = None
    sdf_max_resolution: int | None = None
    sdf_texture_format: str = "uint16"

    def with_values(self, values: Mapping[str, Any]) -> ShapeConfig:
        """A copy with other values, by field name or alias; None changes nothing; ``is_site`` makes it no collider.

        ``flags`` (see ``shape_flags``) sets what its bits say.
        """
        # null cannot reset a default: the format has no such word, and SAP Warp skips nulls too
        given = {ALIASES.get(name, name): value for name, value in values.items() if value is not None}
        flags = given.pop("flags", None)
        known = {name: value for name, value in given.items() if name in SHAPE_FIELDS}
        config = dataclasses.replace(self, **known)
        if flags is not None:
            config._take_flags(int(flags))
        # after flags, whose SITE bit means the same
        if config.is_site:
            config.has_shape_collision = config.has_particle_collision = False
            config.density, config.collision_group = 0.0, 0
        return config

    def _take_flags(self, flags: int) -> None:
        self.is_visible = bool(flags & ShapeFlag.VISIBLE)
        self.has_shape_collision = bool(flags & ShapeFlag.COLLIDE_SHAPES)
        self.has_particle_collision = bool(flags & ShapeFlag.COLLIDE_PARTICLES)
        self.is_hydroelastic = bool(flags & ShapeFlag.HYDROELASTIC)
        self.is_site = bool(flags & ShapeFlag.SITE)

    @property
    def flags(self) -> int:
        """The bits of ``shape_flags``."""
        bits = ShapeFlag(0)
        for said, bit in (
            (self.is_visible, ShapeFlag.VISIBLE),
            (self.has_shape_collision, ShapeFlag.COLLIDE_SHAPES),
            (self.has_particle_collision, ShapeFlag.COLLIDE_PARTICLES),
            (self.is_site, ShapeFlag.SITE),
            (self.is_hydroelastic, ShapeFlag.HYDROELASTIC),
        ):
            bits |= bit if said else ShapeFlag(0)
        return int(bits)


# as above; damping, spring_ke and spring_ref are ours: SAP Warp has no place for them
@dataclass(slots=True)
class DofConfig:
    """Drive, stops and losses of one freedom.  Angles [rad], lengths [m]; ``axis`` in the joint frame."""

    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    target_pos: float = 0.0
    target_vel: float = 0.0
    target_ke: float = 0.0
    target_kd: float = 0.0
    limit_lower: float = -NO_LIMIT
    limit_upper: float = NO_LIMIT
    limit_ke: float = 1e4
    limit_kd: float = 10.0
    armature: float = 0.0
    effort_limit: float = NO_BOUND
    velocity_limit: float = NO_BOUND
    friction: float = 0.0
    actuator_mode: int = 0
    damping: float = 0.0
    spring_ke: float = 0.0
    spring_ref: float = 0.0

    def with_values(self, values: Mapping[str, Any]) -> DofConfig:
        """A copy with other values, by field name; None changes nothing."""
        # records of the document have more keys (id, type ...) than a freedom has fields
        known = {name: value for name, value in values.items() if value is not None and name in DOF_FIELDS}
        return dataclasses.replace(self, **known)


FREE_DOF = DofConfig(limit_ke=0.0, limit_kd=0.0)
"""A freedom of a free joint: nothing drives or stops it."""
SHAPE_FIELDS = frozenset(field.name for field in dataclasses.fields(ShapeConfig))
DOF_FIELDS = frozenset(field.name for field in dataclasses.fields(DofConfig))


def as_number(value: float | None) -> float:
    """A number, NaN where it is not said."""
    return math.nan if value is None else float(value)

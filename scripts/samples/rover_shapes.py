# SPDX-License-Identifier: Apache-2.0
"""The rover's parts in their links' frames [m]: visual meshes by look, collision solids, masses [kg]."""

from __future__ import annotations

import math

import numpy as np

from samples.arm_shapes import LinkShape
from samples.meshes import (
    Mesh,
    chamfered_cylinder,
    lathe,
    loft,
    merge,
    revolve_loop,
    rim_profile,
    rounded_box,
    rounded_rectangle,
)
from samples.solids import Solid
from simwright.core.math3d import Pose
from simwright.model.geometry import Box, Cylinder, Sphere

WHEEL_RADIUS = 0.09
WHEEL_WIDTH = 0.046
TRACK = 0.376
CASTER_RADIUS = 0.035
CASTER_X = -0.23
LIDAR_X, LIDAR_Z = 0.06, 0.206


def rover_shapes() -> dict[str, LinkShape]:
    """Chassis, wheel, caster and lidar; the two wheels are alike."""
    return {"base_link": _chassis(), "wheel": _wheel(), "caster": _caster(), "lidar_link": _lidar()}


def _stack(sections: list[tuple[float, float, float, float]], radius: float, x: float) -> Mesh:
    """A body of rounded rectangles: ``(z, length, width, forward shift)`` from bottom to top."""
    rings = []
    for z, length, width, shift in sections:
        outline = rounded_rectangle(length, width, min(radius, 0.45 * width), 4) + np.array((x + shift, 0.0))
        rings.append(np.column_stack((outline, np.full(len(outline), z))))
    return loft(rings)


def _chassis() -> LinkShape:
    pan = _stack(
        [
            (-0.055, 0.44, 0.24, 0.0),
            (-0.048, 0.46, 0.262, 0.0),
            (0.004, 0.5, 0.3, 0.0),
            (0.012, 0.5, 0.3, 0.0),
        ],
        0.05,
        -0.07,
    )
    hood = _stack(
        [
            (0.02, 0.52, 0.316, 0.0), (0.028, 0.53, 0.322, 0.0), (0.07, 0.53, 0.322, 0.0),
            (0.098, 0.512, 0.308, -0.004), (0.116, 0.47, 0.278, -0.012), (0.124, 0.43, 0.24, -0.018),
        ],
        0.085,
        -0.07,
    )  # fmt: skip
    band = _stack([(0.011, 0.515, 0.312, 0.0), (0.021, 0.515, 0.312, 0.0)], 0.08, -0.07)
    deck = rounded_box((0.3, 0.17, 0.006), 0.03, 0.002, 1).at(x=-0.115, z=0.124)
    mast = lathe([(0.045, 0.12), (0.045, 0.126), (0.034, 0.15), (0.031, 0.178), (0.033, 0.182)], 28).at(
        x=LIDAR_X
    )
    bumper = rounded_box((0.02, 0.24, 0.03), 0.0098, 0.005, 2).at(x=0.194, z=0.034)
    eye = lathe(rim_profile(0.011, 0.006, 0.002, 2), 16).along("x")
    return LinkShape(
        9.6,
        [
            ("graphite", merge((pan, mast, deck))),
            ("shell", hood),
            ("amber", band),
            ("rubber", bumper),
            ("glass", merge((eye.at(0.1905, 0.065, 0.066), eye.at(0.1905, -0.065, 0.066)))),
        ],
        [
            Solid(Box.of(0.53, 0.322, 0.172), Pose.of((-0.07, 0.0, 0.038))),
            Solid(Cylinder(0.034, 0.06), Pose.of((LIDAR_X, 0.0, 0.152))),
        ],
    )


def _wheel() -> LinkShape:
    half, radius = WHEEL_WIDTH / 2.0, WHEEL_RADIUS
    tread = [
        (0.064, -half + 0.004), (0.07, -half), (radius - 0.006, -half), (radius - 0.0012, -half + 0.006),
        (radius, -0.009), (radius - 0.003, -0.007), (radius - 0.003, -0.003), (radius, -0.001),
        (radius, 0.001), (radius - 0.003, 0.003), (radius - 0.003, 0.007), (radius, 0.009),
        (radius - 0.0012, half - 0.006), (radius - 0.006, half), (0.07, half), (0.064, half - 0.004),
    ]  # fmt: skip
    tyre = revolve_loop(tread, 24)
    disc = [
        (0.065, -0.018), (0.065, 0.018), (0.06, 0.018), (0.056, 0.008), (0.034, 0.006), (0.03, 0.013),
        (0.014, 0.016), (0.0, 0.016),
    ]  # fmt: skip
    half_disc = lathe(disc, 18)
    bolts = []
    for k in range(5):
        angle = k * 2.0 * math.pi / 5.0
        bolt = chamfered_cylinder(0.0042, 0.004, 0.001, 8, 1)
        bolts += [bolt.at(0.021 * math.cos(angle), 0.021 * math.sin(angle), 0.0135)]
    outside = merge((half_disc, *bolts))
    visuals = [("rubber", tyre.along("y")), ("steel", outside.along("y"))]
    solid = Solid(Cylinder(radius, WHEEL_WIDTH), Pose.from_rpy((0.0, 0.0, 0.0), (-math.pi / 2, 0.0, 0.0)))
    return LinkShape(0.85, visuals, [solid])


def _caster() -> LinkShape:
    angles = [k * math.pi / 12 for k in range(1, 12)]
    arc = [(CASTER_RADIUS * math.sin(a), -CASTER_RADIUS * math.cos(a)) for a in angles]
    ball = lathe([(0.0, -CASTER_RADIUS), *arc, (0.0, CASTER_RADIUS)], 18)
    return LinkShape(0.28, [("steel", ball)], [Solid(Sphere(CASTER_RADIUS))])


def _lidar() -> LinkShape:
    skirt = lathe(
        [(0.034, -0.024), (0.0365, -0.022), (0.0365, -0.009), (0.035, -0.0075), (0.033, -0.0075)], 28
    )
    window = chamfered_cylinder(0.0335, 0.02, 0.0, 28, 0, -0.0085)
    crown = lathe(
        [(0.035, 0.0105), (0.0365, 0.012), (0.0365, 0.016), (0.032, 0.021), (0.018, 0.0232), (0.0, 0.0236)],
        28,
    )
    return LinkShape(
        0.19,
        [("graphite", merge((skirt, crown))), ("glass", window)],
        [Solid(Cylinder(0.0365, 0.0476))],
    )

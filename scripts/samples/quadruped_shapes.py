# SPDX-License-Identifier: Apache-2.0
"""The quadruped's parts in their bodies' frames [m]: visual meshes, collision solids, masses [kg]."""

from __future__ import annotations

import numpy as np

from samples.arm_shapes import LinkShape
from samples.meshes import (
    Mesh,
    bar_between,
    chamfered_cylinder,
    circle,
    lathe,
    merge,
    rim_profile,
    rounded_box,
    rounded_rectangle,
)
from samples.solids import Solid
from simwright.core.math3d import Pose
from simwright.model.geometry import Box, Capsule, Cylinder, Sphere

THIGH = 0.2
CALF = 0.2
FOOT = 0.023
HIP_X, HIP_Y = 0.185, 0.06
OFFSET_Y = 0.084
"""From the abduction axis out to the leg's plane."""


def quadruped_shapes() -> dict[str, LinkShape]:
    """Torso and the three bodies of a left leg; a right leg is its mirror image in Y."""
    return {"torso": _torso(), "hip": _hip(), "thigh": _thigh(), "calf": _calf()}


def _hull(sections: list[tuple[float, float, float, float]], radius: float) -> Mesh:
    """A body lofted along X: ``(x, width, height, z of the middle)``, rear to front."""
    low, high = sections[0][0], sections[-1][0]
    rings = []
    for x, width, height, middle in sections:
        outline = rounded_rectangle(height, width, min(radius, 0.49 * height, 0.49 * width), 5)
        rings.append(((x - low) / (high - low), outline - np.array((middle, 0.0))))
    return bar_between((low, 0.0, 0.0), (high, 0.0, 0.0), rings)


def _torso() -> LinkShape:
    shell = _hull(
        [
            (-0.225, 0.09, 0.05, 0.006), (-0.218, 0.12, 0.075, 0.006), (-0.195, 0.146, 0.098, 0.006),
            (-0.15, 0.154, 0.106, 0.004), (0.12, 0.154, 0.106, 0.004), (0.18, 0.146, 0.1, 0.008),
            (0.212, 0.132, 0.088, 0.014), (0.222, 0.12, 0.078, 0.016),
        ],
        0.036,
    )  # fmt: skip
    head = _hull(
        [
            (0.215, 0.112, 0.07, 0.018), (0.25, 0.114, 0.074, 0.022), (0.285, 0.1, 0.066, 0.026),
            (0.3, 0.084, 0.05, 0.028), (0.304, 0.07, 0.038, 0.028),
        ],
        0.03,
    )  # fmt: skip
    visor = _hull(
        [
            (0.258, 0.1165, 0.026, 0.031),
            (0.287, 0.102, 0.025, 0.031),
            (0.302, 0.086, 0.023, 0.031),
            (0.3075, 0.07, 0.018, 0.031),
        ],
        0.01,
    )
    spine = rounded_box((0.25, 0.05, 0.016), 0.012, 0.005, 2).at(x=-0.02, z=0.058)
    pack = rounded_box((0.2, 0.11, 0.03), 0.02, 0.008, 2).at(x=-0.01, z=-0.052)
    flank = rounded_box((0.14, 0.006, 0.018), 0.0028, 0.0012, 1)
    return LinkShape(
        6.4,
        [
            ("shell", shell),
            ("graphite", merge((head, spine, pack))),
            ("glass", visor),
            ("amber", merge((flank.at(x=-0.02, y=0.0765, z=0.012), flank.at(x=-0.02, y=-0.0765, z=0.012)))),
        ],
        [
            Solid(Box.of(0.44, 0.154, 0.106), Pose.of((0.0, 0.0, 0.004))),
            Solid(Box.of(0.09, 0.11, 0.07), Pose.of((0.26, 0.0, 0.022))),
        ],
    )


def _hip() -> LinkShape:
    motor = lathe(rim_profile(0.043, 0.066, 0.006, 3, -0.033), 24).along("x")
    arm = chamfered_cylinder(0.037, OFFSET_Y - 0.032, 0.004, 28, 2).along("y").at(y=0.004)
    return LinkShape(
        0.62,
        [("graphite", merge((motor, arm)))],
        [Solid(Cylinder(0.043, 0.066), Pose.from_rpy((0.0, 0.0, 0.0), (0.0, 1.5707963267948966, 0.0)))],
    )


def _thigh() -> LinkShape:
    rings = [
        (0.0, rounded_rectangle(0.072, 0.034, 0.0165, 4)),
        (0.25, rounded_rectangle(0.062, 0.034, 0.0165, 4)),
        (0.6, rounded_rectangle(0.048, 0.031, 0.015, 4)),
        (1.0, rounded_rectangle(0.044, 0.028, 0.0135, 4)),
    ]
    blade = bar_between((0.0, 0.0, 0.0), (0.0, 0.0, -THIGH), rings)
    hub = chamfered_cylinder(0.043, 0.05, 0.007, 24, 2, -0.025).along("y")
    knee = chamfered_cylinder(0.027, 0.036, 0.005, 24, 2, -0.018).along("y").at(z=-THIGH)
    cap = lathe([(0.032, 0.024), (0.032, 0.0265), (0.029, 0.0285), (0.014, 0.0298), (0.0, 0.03)], 24)
    return LinkShape(
        0.98,
        [("shell", merge((blade, hub, knee))), ("amber", cap.along("y"))],
        [
            Solid(Cylinder(0.043, 0.05), Pose.from_rpy((0.0, 0.0, 0.0), (-1.5707963267948966, 0.0, 0.0))),
            Solid(Capsule(0.02, THIGH - 0.06), Pose.of((0.0, 0.0, -THIGH / 2 - 0.015))),
        ],
    )


def _calf() -> LinkShape:
    shin = bar_between(
        (0.0, 0.0, 0.012),
        (0.0, 0.0, -CALF),
        [
            (0.0, circle(0.0155, 18)),
            (0.12, circle(0.0165, 18)),
            (0.5, circle(0.0125, 18)),
            (1.0, circle(0.011, 18)),
        ],
    )
    foot = lathe(
        [
            (0.0, -0.023), (0.0088, -0.02125), (0.0163, -0.0163), (0.02125, -0.0088), (0.023, 0.0),
            (0.0215, 0.009), (0.0165, 0.02), (0.0145, 0.03), (0.0, 0.03),
        ],
        20,
    ).at(z=-CALF)  # fmt: skip
    return LinkShape(
        0.22,
        [("graphite", shin), ("rubber", foot)],
        [
            Solid(Capsule(0.0135, CALF - 0.06), Pose.of((0.0, 0.0, -CALF / 2 + 0.01))),
            Solid(Sphere(FOOT), Pose.of((0.0, 0.0, -CALF))),
        ],
    )

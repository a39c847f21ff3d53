# SPDX-License-Identifier: Apache-2.0
"""The six-axis arm's parts: visual meshes by look, collision solids, all in their link's frame [m]."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

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
from simwright.model.geometry import Box, Cylinder

SEGMENTS = 24


@dataclass(frozen=True, slots=True)
class LinkShape:
    """What one link looks like, collides as, and weighs [kg]."""

    mass: float
    visuals: list[tuple[str, Mesh]]
    solids: list[Solid] = field(default_factory=list)


def arm_shapes() -> dict[str, LinkShape]:
    """The links of the arm, base to flange."""
    return {
        "base_link": _base(),
        "shoulder_link": _shoulder(),
        "upper_arm_link": _upper_arm(),
        "forearm_link": _forearm(),
        "wrist_1_link": _wrist_1(),
        "wrist_2_link": _wrist_2(),
        "wrist_3_link": _wrist_3(),
    }


def finger_hull() -> Mesh:
    """The convex collision mesh of the left finger."""
    return _finger_blade(steps=1)


def gripper_shapes() -> dict[str, LinkShape]:
    """Palm and left finger; the right finger is the left one mirrored in Y."""
    body = rounded_box((0.064, 0.122, 0.058), 0.016, 0.006, 2).at(z=0.043)
    stripe = rounded_box((0.0654, 0.05, 0.006), 0.003, 0.001, 1).at(z=0.052)
    coupler = chamfered_cylinder(0.034, 0.016, 0.002, SEGMENTS)
    rail = rounded_box((0.018, 0.112, 0.006), 0.004, 0.001, 1).at(z=0.073)
    palm = LinkShape(
        0.78,
        [("graphite", body), ("steel", merge((coupler, rail))), ("accent", stripe)],
        [Solid(Box.of(0.064, 0.122, 0.076), Pose.of((0.0, 0.0, 0.038)))],
    )
    carriage = rounded_box((0.03, 0.03, 0.014), 0.004, 0.0015, 1).at(y=0.0155, z=0.007)
    pad = rounded_box((0.019, 0.003, 0.034), 0.0014, 0.0006, 1).at(y=0.0012, z=0.072)
    finger = LinkShape(0.062, [("steel", _finger_blade(3)), ("graphite", carriage), ("rubber", pad)])
    return {"gripper_palm": palm, "finger": finger}


def camera_parts() -> list[tuple[str, Mesh]]:
    """The wrist camera in its link's frame (X forward): housing, two lenses, a status light."""
    housing = rounded_box((0.09, 0.026, 0.022), 0.0125, 0.004, 2, 4)
    housing = housing.moved(Pose.from_rpy((0.0, 0.0, 0.0), (math.pi / 2, 0.0, math.pi / 2)))
    barrel = [(0.0, 0.0), (0.0085, 0.0), (0.0085, 0.003), (0.007, 0.0034), (0.006, 0.0022), (0.0, 0.0028)]
    lens = lathe(barrel, 16).along("x").at(x=0.0105)
    return [
        ("shell", housing),
        ("glass", merge((lens.at(y=0.03), lens.at(y=-0.03)))),
        ("accent", lathe(rim_profile(0.003, 0.001, 0.0004, 1), 12).along("x").at(x=0.0107)),
    ]


def _barrel(radius: float, low: float, high: float, z: float = 0.0) -> Mesh:
    """A joint housing across the arm: a rounded cylinder along Y."""
    return chamfered_cylinder(radius, high - low, 0.007, SEGMENTS, 2).along("y").at(y=low, z=z)


def _cap(radius: float, y: float, outward: int, z: float = 0.0) -> Mesh:
    """A slightly domed cover on the end of a barrel, facing ``outward`` (+1 or -1) along Y."""
    profile = [
        (radius, -0.001),
        (radius, 0.002),
        (radius * 0.94, 0.0042),
        (radius * 0.5, 0.0058),
        (0.0, 0.0064),
    ]
    cap = lathe(profile, SEGMENTS).along("y")
    return (cap if outward > 0 else cap.mirrored("y")).at(y=y, z=z)


def _seam(radius: float, low: float, high: float, axis: str = "y") -> Mesh:
    """The dark gap between two housings."""
    return chamfered_cylinder(radius, high - low, 0.0, SEGMENTS, 0, low).along(axis)


def _tube(low: float, high: float, radii: tuple[float, ...]) -> Mesh:
    """A tapered arm segment along Z."""
    count = len(radii) - 1
    rings = [(i / count, circle(radius, SEGMENTS)) for i, radius in enumerate(radii)]
    return bar_between((0.0, 0.0, low), (0.0, 0.0, high), rings)


def _base() -> LinkShape:
    shell = lathe(
        [
            (0.089, 0.014), (0.089, 0.02), (0.084, 0.03), (0.0795, 0.045), (0.077, 0.065), (0.0765, 0.088),
            (0.0745, 0.0915),
        ],
        SEGMENTS,
    )  # fmt: skip
    flange = lathe(rim_profile(0.1, 0.0145, 0.003, 2), SEGMENTS)
    socket = rounded_box((0.03, 0.07, 0.04), 0.008, 0.004, 2).at(x=-0.077, z=0.042)
    bolt = lathe(
        [(0.0075, 0.0), (0.0075, 0.005), (0.0065, 0.006), (0.004, 0.006), (0.0035, 0.004), (0.0, 0.004)], 12
    )
    bolts = merge(
        bolt.at(0.0945 * math.cos(a), 0.0945 * math.sin(a), 0.0128)
        for a in (math.radians(45 + 90 * k) for k in range(4))
    )
    return LinkShape(
        4.2,
        [("shell", shell), ("graphite", merge((flange, socket))), ("steel", bolts)],
        [Solid(Cylinder(0.1, 0.0915), Pose.of((0.0, 0.0, 0.04575)))],
    )


def _shoulder() -> LinkShape:
    column = lathe(
        [
            (0.0745, 0.008), (0.0765, 0.0105), (0.0765, 0.09), (0.075, 0.12), (0.069, 0.15), (0.058, 0.172),
            (0.04, 0.184), (0.02, 0.189), (0.0, 0.19),
        ],
        SEGMENTS,
    )  # fmt: skip
    shell = merge((column, _barrel(0.072, -0.08, 0.068, 0.11)))
    dark = _seam(0.0715, -0.001, 0.009, "z")
    return LinkShape(
        3.8,
        [("shell", shell), ("graphite", dark), ("accent", _cap(0.058, -0.08, -1, 0.11))],
        [
            Solid(Cylinder(0.0765, 0.17), Pose.of((0.0, 0.0, 0.093))),
            Solid(Cylinder(0.072, 0.148), Pose.from_rpy((0.0, -0.006, 0.11), (-math.pi / 2, 0.0, 0.0))),
        ],
    )


def _upper_arm() -> LinkShape:
    shell = merge(
        (
            _barrel(0.072, -0.056, 0.056),
            _tube(0.0, 0.36, (0.061, 0.058, 0.0525, 0.05, 0.0495, 0.05, 0.051)),
            _barrel(0.061, -0.052, 0.052, 0.36),
        )
    )
    sleeve = chamfered_cylinder(0.0535, 0.018, 0.001, SEGMENTS, 1, 0.168)
    return LinkShape(
        5.9,
        [
            ("shell", shell),
            ("graphite", merge((_seam(0.067, -0.065, -0.055), sleeve))),
            ("accent", merge((_cap(0.058, 0.056, 1), _cap(0.049, 0.052, 1, 0.36)))),
        ],
        [
            Solid(Cylinder(0.072, 0.12), Pose.from_rpy((0.0, -0.002, 0.0), (-math.pi / 2, 0.0, 0.0))),
            Solid(Cylinder(0.055, 0.27), Pose.of((0.0, 0.0, 0.185))),
            Solid(Cylinder(0.061, 0.112), Pose.from_rpy((0.0, 0.002, 0.36), (-math.pi / 2, 0.0, 0.0))),
        ],
    )


def _forearm() -> LinkShape:
    shell = merge(
        (_barrel(0.061, -0.052, 0.052), _tube(0.0, 0.27, (0.054, 0.0515, 0.047, 0.0445, 0.0435, 0.0435)))
    )
    sleeve = chamfered_cylinder(0.047, 0.014, 0.001, SEGMENTS, 1, 0.15)
    return LinkShape(
        3.1,
        [
            ("shell", shell),
            ("graphite", merge((_seam(0.056, 0.051, 0.061), sleeve))),
            ("accent", _cap(0.049, -0.052, -1)),
        ],
        [
            Solid(Cylinder(0.061, 0.118), Pose.from_rpy((0.0, 0.001, 0.0), (-math.pi / 2, 0.0, 0.0))),
            Solid(Cylinder(0.049, 0.215), Pose.of((0.0, 0.0, 0.1625))),
        ],
    )


def _wrist_column(low: float, top: float) -> Mesh:
    """The standing half of a wrist housing, domed over the barrel."""
    return lathe(
        [
            (0.0425, low), (0.0435, low + 0.0015), (0.0435, top - 0.04), (0.041, top - 0.024),
            (0.034, top - 0.01), (0.02, top - 0.002), (0.0, top),
        ],
        SEGMENTS,
    )  # fmt: skip


def _wrist_1() -> LinkShape:
    shell = merge((_wrist_column(0.0, 0.106), _barrel(0.0435, -0.05, 0.046, 0.06)))
    return LinkShape(
        1.25,
        [
            ("shell", shell),
            ("graphite", _seam(0.0395, -0.009, 0.001, "z")),
            ("accent", _cap(0.034, -0.05, -1, 0.06)),
        ],
        [
            Solid(Cylinder(0.0435, 0.095), Pose.of((0.0, 0.0, 0.0475))),
            Solid(Cylinder(0.0435, 0.096), Pose.from_rpy((0.0, -0.002, 0.06), (-math.pi / 2, 0.0, 0.0))),
        ],
    )


def _wrist_2() -> LinkShape:
    neck = lathe([(0.0435, -0.01), (0.0435, 0.0625), (0.0425, 0.064)], SEGMENTS)
    shell = merge((_barrel(0.0435, -0.046, 0.046), neck))
    return LinkShape(
        1.2,
        [("shell", shell), ("graphite", _seam(0.0395, -0.055, -0.045)), ("accent", _cap(0.034, 0.046, 1))],
        [
            Solid(Cylinder(0.0435, 0.098), Pose.from_rpy((0.0, -0.003, 0.0), (-math.pi / 2, 0.0, 0.0))),
            Solid(Cylinder(0.0435, 0.064), Pose.of((0.0, 0.0, 0.032))),
        ],
    )


def _wrist_3() -> LinkShape:
    shell = lathe(
        [(0.0415, 0.0), (0.0425, 0.0015), (0.0425, 0.016), (0.0395, 0.019), (0.0325, 0.0195)], SEGMENTS
    )
    flange = chamfered_cylinder(0.0315, 0.008, 0.001, SEGMENTS, 1, 0.018)
    arm = bar_between(
        (0.036, 0.0, 0.009),
        (0.058, 0.0, 0.009),
        [(0.0, rounded_rectangle(0.01, 0.04, 0.003, 2)), (1.0, rounded_rectangle(0.008, 0.034, 0.003, 2))],
    )
    return LinkShape(
        0.36,
        [("shell", shell), ("graphite", merge((_seam(0.039, -0.009, 0.001, "z"), arm))), ("steel", flange)],
        [Solid(Cylinder(0.0425, 0.026), Pose.of((0.0, 0.0, 0.013)))],
    )


def _finger_blade(steps: int) -> Mesh:
    """A tapered finger, convex: wide at the carriage, slim at the tip; its inner face stays near Y = 0."""
    rings = []
    for z, width, depth in (
        (0.012, 0.026, 0.026),
        (0.04, 0.024, 0.018),
        (0.088, 0.021, 0.0095),
        (0.092, 0.018, 0.0065),
    ):
        outline = rounded_rectangle(width, depth, min(width, depth) * 0.2, steps)
        rings.append((z, outline + np.array((0.0, depth / 2.0 + 0.002))))
    base, top = rings[0][0], rings[-1][0]
    return bar_between(
        (0.0, 0.0, base), (0.0, 0.0, top), [((z - base) / (top - base), outline) for z, outline in rings]
    )

# SPDX-License-Identifier: Apache-2.0
"""The four-bar linkage's dimensions and meshes.

Every pin lies on a multiple of 1/128 m, so the loop closes exactly even in single precision.
"""

from __future__ import annotations

import math

import numpy as np

from samples.meshes import (
    Mesh,
    bar_between,
    chamfered_cylinder,
    extrude,
    lathe,
    link_outline,
    merge,
    rounded_box,
    rounded_rectangle,
)
from simwright.core.math3d import Array, Pose

PIN_HEIGHT = 0.1875
HALF_GROUND = 0.15625
CRANK = (0.0625, 0.0, 0.078125)
COUPLER = (0.25, 0.0, 0.125)
ROCKER = (0.0, 0.0, 0.203125)
"""From a link's first pin to its second, in the pose the asset is drawn in [m]."""
LINK_Y, COUPLER_Y = -0.0234375, -0.0390625
"""Middle planes of crank and rocker, and of the coupler [m]."""
THICKNESS = 0.01
PLATE = (0.46, 0.14, 0.024)
TOWER = 0.03
LEVELS = {"low": (4, 0, 10), "medium": (8, 1, 16), "high": (14, 2, 28)}
"""Level of detail: segments of an eye, steps of a rim, segments of a turned part."""
BARS = {
    "crank": (CRANK, 0.02, 0.017, 0.0125),
    "coupler": (COUPLER, 0.018, 0.018, 0.011),
    "rocker": (ROCKER, 0.02, 0.018, 0.0125),
}
"""Vector, eye radii, half width of the waist."""


def fourbar_meshes() -> dict[str, Mesh]:
    """Every mesh by name: ``<part>_<level>`` to look at, ``<part>_hull`` and ``<part>_solid`` to touch."""
    meshes = {"base_solid": _base_solid()}
    for name in BARS:
        meshes[f"{name}_hull"] = bar(name, 4, 0, convex=True)
        meshes[f"{name}_solid"] = bar(name, 8, 0)
    for level, (arc, steps, segments) in LEVELS.items():
        for name in BARS:
            meshes[f"{name}_{level}"] = bar(name, arc, steps)
        meshes[f"plate_{level}"] = rounded_box(PLATE, 0.02, 0.004, steps, max(arc // 3, 1)).at(z=PLATE[2] / 2)
        meshes[f"tower_{level}"] = _tower(arc, steps)
        meshes[f"motor_{level}"] = _motor(segments, steps)
        meshes[f"bolt_{level}"] = _bolt(segments)
        meshes[f"pin_{level}"] = chamfered_cylinder(0.006, 0.026, 0.0, segments, 0, -0.013).along("y")
    return meshes


def bar(name: str, arc: int, steps: int, convex: bool = False) -> Mesh:
    """A link bar in its link's frame: first pin at the origin, thickness along Y."""
    vector, radius, tip, waist = BARS[name]
    length = math.hypot(*vector)
    eyes = link_outline(length, radius, tip, waist, arc)
    outline = _stadium(length, max(radius, tip), arc) if convex else eyes
    solid = extrude(outline, THICKNESS, 0.0015, steps, ladder=True).at(z=-THICKNESS / 2)
    x = np.array(vector) / length
    z = np.array((0.0, 1.0, 0.0))
    frame = np.eye(4)
    frame[:3, 0], frame[:3, 1], frame[:3, 2] = x, np.cross(z, x), z
    return solid.moved(Pose.from_matrix(frame))


def _stadium(length: float, radius: float, arc: int) -> Array:
    """A convex outline around both eyes, its first point on the axis."""
    angles = [-math.pi / 2 + k / arc * math.pi for k in range(arc + 1)]
    right = [(length + radius * math.cos(a), radius * math.sin(a)) for a in angles]
    left = [(-radius * math.cos(a), -radius * math.sin(a)) for a in angles]
    return np.roll(np.array(right + left), -(arc // 2), axis=0)


def _tower(arc: int, steps: int) -> Mesh:
    """A bearing stand on the plate, its upper eye around the pin, at X = 0."""
    foot = PLATE[2] + 0.02
    outline = link_outline(PIN_HEIGHT - foot, 0.04, 0.026, 0.024, arc)
    slab = extrude(outline, TOWER, 0.002, steps, ladder=True).at(z=-TOWER / 2)
    frame = np.eye(4)
    frame[:3, 0], frame[:3, 1], frame[:3, 2] = (0, 0, 1), (1, 0, 0), (0, 1, 0)
    return slab.moved(Pose.from_matrix(frame)).at(z=foot)


def _motor(segments: int, steps: int) -> Mesh:
    """The gear motor behind the crank's stand, along +Y from Y = 0."""
    body = chamfered_cylinder(0.024, 0.052, 0.003, segments, steps, 0.012).along("y")
    flange = rounded_box((0.056, 0.056, 0.012), 0.008, 0.002, steps, 2).moved(
        Pose.from_rpy((0.0, 0.006, 0.0), (-math.pi / 2, 0.0, 0.0))
    )
    rear = chamfered_cylinder(0.019, 0.014, 0.003, segments, steps, 0.0635).along("y")
    return merge((flange, body, rear))


def _bolt(segments: int) -> Mesh:
    """A flat cap screw with a socket, head towards -Y, seated on Y = 0."""
    profile = [
        (0.0095, 0.0),
        (0.0095, 0.0028),
        (0.0086, 0.0038),
        (0.005, 0.0038),
        (0.0042, 0.0018),
        (0.0, 0.0018),
    ]
    return lathe(profile, segments).along("y").mirrored("y")


def _base_solid() -> Mesh:
    """The base's collision mesh: plate, stands and motor as shells that touch nowhere."""
    plate = rounded_box(PLATE, 0.02, 0.0, 0, 2).at(z=PLATE[2] / 2)
    rings = [
        (0.0, rounded_rectangle(0.08, TOWER, 0.004, 1)),
        (1.0, rounded_rectangle(0.046, TOWER, 0.004, 1)),
    ]
    stand = bar_between((0.0, 0.0, PLATE[2] + 0.0005), (0.0, 0.0, PIN_HEIGHT + 0.024), rings)
    motor = chamfered_cylinder(0.027, 0.077, 0.0, 12, 0, TOWER / 2 + 0.0005).along("y")
    return merge(
        (plate, stand.at(x=-HALF_GROUND), stand.at(x=HALF_GROUND), motor.at(x=-HALF_GROUND, z=PIN_HEIGHT))
    )


def rocker_range() -> tuple[float, float, float, float]:
    """Least and greatest turn [deg] of the rocker, and of the rocker pin, over a full turn of the crank.

    Turns are measured from the drawn pose, positive about +Y.
    """
    ground = 2 * HALF_GROUND
    crank, coupler, rocker = (math.hypot(v[0], v[2]) for v in (CRANK, COUPLER, ROCKER))
    rocker_turns, pin_turns = [], []
    start = math.atan2(CRANK[2], CRANK[0])
    before = (math.atan2(ROCKER[2], ROCKER[0]), math.atan2(COUPLER[2], COUPLER[0]))
    for degree in range(361):
        angle = start + math.radians(degree)
        bx, bz = crank * math.cos(angle) - ground, crank * math.sin(angle)
        reach = math.hypot(bx, bz)
        bend = math.acos((reach**2 + rocker**2 - coupler**2) / (2 * reach * rocker))
        turn = math.atan2(bz, bx) - bend
        cx, cz = rocker * math.cos(turn), rocker * math.sin(turn)
        lean = math.atan2(cz - bz, cx - bx)
        # a positive turn about +Y runs from Z to X, against these angles
        rocker_turns.append(_wrap(before[0] - turn))
        pin_turns.append(_wrap((before[0] - turn) - (before[1] - lean)))
    ends = (min(rocker_turns), max(rocker_turns), min(pin_turns), max(pin_turns))
    low, high, pin_low, pin_high = (math.degrees(v) for v in ends)
    return low, high, pin_low, pin_high


def _wrap(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)

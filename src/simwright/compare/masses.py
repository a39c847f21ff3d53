# SPDX-License-Identifier: Apache-2.0
"""Gravity and mass properties: body by body, or piece by piece where the sides cut a rigid piece differently."""

from __future__ import annotations

import math

import numpy as np

from simwright.compare.difference import Figure, Item, Section
from simwright.compare.pairing import Pairing
from simwright.compare.values import Ruler, measure
from simwright.model.dynamics import GRAVITY
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD


def compare_gravity(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """The vector; where a file says nothing it is 9.81 m/s^2 downwards."""
    section.compared = 1
    values = []
    for side, name in ((pairing.a, "first"), (pairing.b, "second")):
        gravity = side.asset.environment.gravity
        values.append(np.asarray(GRAVITY if gravity is None else gravity, dtype=np.float64))
        if gravity is None:
            section.notes.append(f"not said by the {name}")
    ruler.compare(section, "world", "gravity", values[0], values[1])


def compare_masses(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Mass, centre of mass and inertia; the centre against the size of the body, inertia by its norm."""
    worst = {"mass": (0.0, ""), "centre of mass": (0.0, ""), "inertia": (0.0, "")}
    for element, a, b in _list_pieces(section, pairing):
        section.compared += 1
        for what, found in zip(worst, measure_inertials(a, b), strict=True):
            error = math.inf if math.isnan(found) else found
            worst[what] = max(worst[what], (error, element), key=lambda pair: pair[0])
            if error > ruler.rtol:
                values = {"mass": a.mass, "centre of mass": a.com, "inertia": a.six}[what]
                others = {"mass": b.mass, "centre of mass": b.com, "inertia": b.six}[what]
                section.items.append(Item(element, what, values, others, error=error))
    for what, (error, where) in worst.items():
        section.figures.append(Figure(what, error, ruler.rtol, where))
    totals = [math.fsum(part.mass for part in side.inertials.values()) for side in (pairing.a, pairing.b)]
    section.figures.append(
        Figure("total mass", measure(*totals), ruler.rtol, f"{totals[0]:g} and {totals[1]:g} kg")
    )


def _list_pieces(section: Section, pairing: Pairing) -> list[tuple[str, Inertial, Inertial]]:
    pieces = []
    lumped = 0
    for group, (other, frame_a, frame_b) in pairing.anchors.items():
        bodies = pairing.a.groups.get(group, [])
        twins = pairing.b.groups.get(other, [])
        same = {pairing.bodies.get(name, WORLD) for name in bodies} == set(twins)
        if same:
            pieces += [
                (f"body {name!r}", pairing.a.inertials[name], pairing.b.inertials[pairing.bodies[name]])
                for name in bodies
            ]
        elif group and other:
            lumped += 1
            a, b = pairing.a.lump(group), pairing.b.lump(other)
            pieces.append((f"piece of {group!r}", a.moved(~frame_a), b.moved(~frame_b)))
        else:
            # what stands on the world does not move: only bodies that both sides have are held together
            pieces += [
                (f"body {name!r}", pairing.a.inertials[name], pairing.b.inertials[pairing.bodies[name]])
                for name in bodies
                if name in pairing.bodies
            ]
    if lumped:
        section.notes.append(f"cut into bodies differently, compared as a whole: {lumped} rigid piece(s)")
    return pieces


def measure_inertials(a: Inertial, b: Inertial) -> tuple[float, float, float]:
    """Relative errors of mass, centre and inertia."""
    heavy = max(abs(a.mass), abs(b.mass))
    if heavy == 0.0:
        return 0.0, 0.0, _norm_error(a.inertia, b.inertia)
    spread = max(math.sqrt(max(float(np.trace(i.inertia)), 0.0) / heavy) for i in (a, b))
    size = max(spread, float(np.abs(a.com).max()), float(np.abs(b.com).max()), 1e-300)
    center = float(np.linalg.norm(a.com - b.com)) / size
    return abs(a.mass - b.mass) / heavy, center, _norm_error(a.inertia, b.inertia)


def _norm_error(a: np.ndarray, b: np.ndarray) -> float:
    size = max(float(np.linalg.norm(a)), float(np.linalg.norm(b)))
    return float(np.linalg.norm(a - b)) / size if size > 0.0 else 0.0

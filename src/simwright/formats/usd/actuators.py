# SPDX-License-Identifier: Apache-2.0
"""Actuators: those of Newton and MuJoCo, and the neutral ExtendedPhysicsActuatorAPI (REP-0158 4.2.2).

Each schema has a file of its own; all give the same vocabulary.  Drives of UsdPhysics are not here: they sit
on the freedoms of joints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from simwright.formats.usd.motors import ACTUATOR_INVALID, Motors, RefusedError
from simwright.formats.usd.motors_extended import read_extended_motors
from simwright.formats.usd.motors_mjc import read_mjc_motor
from simwright.formats.usd.motors_newton import read_newton_motor
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.asset import Actuator

EXTENDED = "ExtendedPhysicsActuatorAPI"
_Reader = Callable[[Motors, Found, str], list[Actuator]]
_EXTENDED: tuple[str, _Reader] = ("ext_physics:actuator:targets", read_extended_motors)
_TYPES: dict[str, tuple[str, _Reader]] = {
    "NewtonActuator": (
        "newton:targets",
        lambda motors, found, name: [read_newton_motor(motors, found, name)],
    ),
    "MjcActuator": ("mjc:target", lambda motors, found, name: [read_mjc_motor(motors, found, name)]),
}


def read_actuators(source: Source, scan: Scan) -> None:
    """Add every actuator; one that its own solver would refuse is reported and left out."""
    prims = list(_find_prims(scan))
    if not prims:
        return
    names = name_prims([found for found, _, _ in prims], noted=source.noted)
    motors = Motors(source, scan, {joint.path: joint for joint in source.asset.joints})
    for found, relationship, read in prims:
        try:
            source.asset.actuators += read(motors, found, names[found.path])
        except RefusedError as why:
            where = source.where(found, relationship)
            source.reporter.report(
                ACTUATOR_INVALID, where, name=names[found.path], why=why, relationship=relationship
            )


def _find_prims(scan: Scan) -> Iterator[tuple[Found, str, _Reader]]:
    for found in scan.all.values():
        if EXTENDED in found.apis:
            yield found, *_EXTENDED
        elif found.type in _TYPES:
            yield found, *_TYPES[found.type]

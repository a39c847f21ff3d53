# SPDX-License-Identifier: Apache-2.0
"""What the three actuator schemas have in common: a law, a target, units, and tables of effort limits.

A law is MuJoCo's affine one (see ``model.servo``).  It comes in radians or stage lengths; here it is brought
to SI and becomes an actuator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader, as_rows
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Joint, Motion
from simwright.model.servo import classify

ACTUATOR_INVALID = declare(
    "usd-actuator-invalid",
    Level.ERROR,
    "actuator {name!r} is left out: {why}",
    hint="point {relationship} at what the actuator drives, and give it one control law",
    doc="An actuator has no usable target or no law; the solver it is written for would refuse it.",
    loss=True,
)
ACTUATOR_TARGETS = declare(
    "usd-actuator-targets",
    Level.WARNING,
    "{relationship} of actuator {name!r} has {count} targets; the first, {target}, is used",
    hint="use one actuator per target",
    doc="This actuator schema drives one target.",
)
ACTUATOR_TABLE = declare(
    "usd-actuator-table",
    Level.ERROR,
    "the effort table of actuator {name!r} is left out: {why}",
    hint="author as many efforts as positions; positions increase, efforts are not negative",
    doc="The lookup table of a position-based clamping does not fit together.",
    section="4.2.2",
    loss=True,
)
ACTUATOR_UNITS = declare(
    "usd-actuator-units",
    Level.WARNING,
    "the law of actuator {name!r} is kept in stage units: it cannot be brought to SI",
    hint="author the stage in metres and kilograms",
    doc="Laws with muscles, activation dynamics of their own or no joint target have no simple unit.",
)

Law = dict[str, Any]
# mjNGAIN and mjNBIAS of MuJoCo
_SIZE = 10
_AFFINE = frozenset({"fixed", "affine", "none"})


class ActuatorRefusedError(Exception):
    """The actuator cannot be read; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class ActuatorContext:
    """The stage being read, and its joints by path."""

    reader: StageReader
    scan: StageScan
    joints: dict[str, Joint]


@dataclass(frozen=True, slots=True)
class TargetUnits:
    """SI in one stage unit of a target's effort and of its motion."""

    effort: float = 1.0
    step: float = 1.0

    @property
    def is_plain(self) -> bool:
        """Is the stage in SI as far as the target goes?"""
        return self.effort == 1.0 and self.step == 1.0


def find_scale(reader: StageReader, dof: Dof) -> TargetUnits:
    """The scale of a freedom; angles are radians."""
    units = reader.units
    return (
        TargetUnits(units.force, units.length)
        if dof.motion is Motion.SLIDE
        else TargetUnits(units.inertia, 1.0)
    )


def make_law(gain: float, bias: tuple[float, ...] = (), lag: float = 0.0) -> Law:
    """A law of fixed gain and affine bias, with an optional first-order lag [s]."""
    return {
        "gain_type": "fixed",
        "gain": pad((gain,)),
        "bias_type": "affine" if any(bias) else "none",
        "bias": pad(bias),
        "dynamics_type": "filter" if lag > 0.0 else "none",
        "dynamics": pad((lag if lag > 0.0 else 1.0,)),
    }


def pad(values: tuple[float, ...]) -> list[float]:
    """As many numbers as MuJoCo keeps."""
    # + 0.0 makes zero of minus zero, which would show up in written files
    return [float(v) + 0.0 for v in values] + [0.0] * (_SIZE - len(values))


def scale_law(law: Law, scale: TargetUnits) -> tuple[Law, float]:
    """The law in SI, and the SI of one unit of its command.

    Servos and motors command a motion or an effort; the command of other laws has no known unit and stays.
    """
    kind, _ = classify(law)
    # the gain of a motor has no unit: command and effort have the same
    if kind == "motor" or scale.is_plain:
        return law, scale.effort
    command = scale.step if kind in ("position", "velocity") else 1.0
    # gain and bias are [constant, per position, per velocity]
    steps = (command, scale.step, scale.step)
    gain = [g * scale.effort / s for g, s in zip(law["gain"][:3], steps, strict=True)]
    steps = (1.0, scale.step, scale.step)
    bias = [b * scale.effort / s for b, s in zip(law["bias"][:3], steps, strict=True)]
    return {**law, "gain": gain + law["gain"][3:], "bias": bias + law["bias"][3:]}, command


def has_units(law: Law) -> bool:
    """Is it a law that ``scale_law`` can bring to SI?"""
    return law["gain_type"] in _AFFINE and law["bias_type"] in _AFFINE


def build_actuator(reader: StageReader, found: FoundPrim, name: str, target: str, law: Law) -> Actuator:
    """An actuator with its kind, gains and law."""
    kind, word = classify(law)
    actuator = Actuator(
        name=name,
        kind=kind,
        target=target,
        settings={"mjcf": word, **law},
        path=found.path,
        source=reader.where(found),
    )
    if kind == "position":
        actuator.stiffness, actuator.damping = law["gain"][0], -law["bias"][2] + 0.0
    elif kind == "velocity":
        actuator.damping = law["gain"][0]
    return actuator


def read_table(
    reader: StageReader, found: FoundPrim, name: str, space: str, scale: TargetUnits
) -> dict[str, list[float]] | None:
    """The largest effort over the position, from ``SPACE:lookupPositions`` and ``lookupEfforts``."""
    positions, efforts = (
        as_rows(reader.get(found, f"{space}:lookup{word}"), 1)[:, 0] for word in ("Positions", "Efforts")
    )
    why = ""
    if len(positions) != len(efforts) or len(positions) == 0:
        why = f"it has {len(positions)} positions and {len(efforts)} efforts"
    elif not np.all(np.isfinite(positions)) or np.any(np.isnan(efforts)):
        why = "it holds something that is not a number"
    elif np.any(np.diff(positions) <= 0.0):
        why = "its positions do not increase"
    elif np.any(efforts < 0.0):
        why = "an effort is negative"
    if why:
        where = reader.where(found, f"{space}:lookupPositions")
        reader.reporter.report(ACTUATOR_TABLE, where, name=name, why=why)
        return None
    return {
        "positions": [float(v) for v in positions * scale.step],
        "efforts": [float(v) for v in efforts * scale.effort],
    }

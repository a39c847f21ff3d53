# SPDX-License-Identifier: Apache-2.0
"""What an import into a scene may have to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simwright.core.diag import NOWHERE, Kind, Level, Reporter, declare

JOINT_APPROXIMATED = declare(
    "scene-joint-approximated",
    Level.WARNING,
    "joint {name!r} goes into the arrays as {as_what}: {why}",
    hint="joints of the arrays slide along up to three axes, then turn about up to three",
    doc="A joint of an asset has no exact counterpart among the joints of the runtime arrays.",
)
JOINT_CONE = declare(
    "scene-joint-cone",
    Level.WARNING,
    "the cone limit of ball joint {name!r} is left out",
    doc="Ball joints of the runtime arrays have no limits.",
    loss=True,
)
DRIVE_ACCELERATION = declare(
    "scene-drive-acceleration",
    Level.WARNING,
    "the drive of {name!r} is an acceleration drive; its gains are used as those of a force drive",
    hint="author a force drive with gains that include the mass",
    doc="The runtime arrays know force drives only.",
)
GEOMETRY_LOST = declare(
    "scene-geometry-lost",
    Level.WARNING,
    "shape {name!r} is left out: {why}",
    hint="convert it to a mesh",
    doc="A geometry that the runtime arrays have no shape for.",
    loss=True,
)
DECOMPOSITION_SKIPPED = declare(
    "scene-approximation-skipped",
    Level.WARNING,
    "mesh {name!r} asks for {token}, which is not done here: it collides as {as_what}",
    hint="decompose it before: simwright convert --decompose",
    doc="A mesh collider asks for an approximation that has to be computed beforehand.",
)
MIMIC_LOST = declare(
    "scene-mimic-lost",
    Level.WARNING,
    "joint {follower!r} does not follow {leader!r}: {why}",
    doc="A mimic relation that the runtime arrays cannot hold.",
    loss=True,
)
ELEMENTS_LOST = declare(
    "scene-elements-lost",
    Level.WARNING,
    "{count} {what} of the asset are not in the arrays, and it moves without them: {names}",
    doc="Elements that have no array and act on bodies: tendons, contact pairs, constraints, general motors.",
    loss=True,
)
EQUIPMENT_LOST = declare(
    "scene-equipment-lost",
    Level.INFO,
    "{count} {what} of the asset are not in the arrays: {names}",
    doc="Elements that have no array and move nothing: sensors, cameras, lights, keyframes.",
    loss=True,
)
ATTRIBUTE_LOST = declare(
    "scene-attribute-lost",
    Level.WARNING,
    "custom attribute {name!r} is left out: {why}",
    doc="A custom attribute whose type or values have no array.",
    loss=True,
)
BODY_ALONE = declare(
    "scene-body-alone",
    Level.WARNING,
    "no joint carries body {name!r}: it stays where it is",
    hint="add a joint of type free, or another one",
    doc="An inline body of a scene has no joint; bodies move by their joints.",
)
ARTICULATION_MADE = declare(
    "scene-articulation-made",
    Level.INFO,
    "joint {name!r} is in no articulation: one is created for it and its descendants",
    hint="list the joints of every mechanism under articulations, from the root to the leaves",
    doc="Inline joints of a scene that no articulation lists; they would close loops instead of carrying bodies.",
)
POSE_UNREACHABLE = declare(
    "scene-pose-unreachable",
    Level.WARNING,
    "the bodies of joint {name!r} stand {apart:g} m and {degrees:g} degrees apart from where any of its coordinates "
    "has them; they begin where the joint has them",
    hint="let localPos0, localRot0, localPos1 and localRot1 meet where the bodies stand, but for the joint's motion",
    doc="A joint of a stage has frames that the transforms of its bodies do not fit to.",
)
POSE_OVERRULED = declare(
    "scene-pose-overruled",
    Level.INFO,
    "the states of {count} joints put bodies elsewhere than their transforms do: {names}; the states count",
    doc="A stage states positions of joints and transforms of bodies that are not the same configuration.",
)
SHOWN = 3


def report_lost(reporter: Reporter, what: str, elements: Sequence[Any], kind: Kind = ELEMENTS_LOST) -> None:
    """Say once that elements of a sort have no array."""
    if elements:
        names = list_names(elements)
        where = getattr(elements[0], "source", NOWHERE)
        reporter.report(kind, where, count=len(elements), what=what, names=names)


def list_names(elements: Sequence[Any]) -> str:
    """The first few names."""
    names = ", ".join(repr(element.name) for element in elements[:SHOWN])
    return names + (", ..." if len(elements) > SHOWN else "")

# SPDX-License-Identifier: Apache-2.0
"""What an import into a scene may have to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simwright.core.diag import NOWHERE, Level, Reporter, declare

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
    "the cone limit of ball joint {name!r} is not carried",
    doc="Ball joints of the runtime arrays have no limits.",
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
    "shape {name!r} is not carried: {why}",
    hint="convert it to a mesh",
    doc="A geometry that the runtime arrays have no shape for.",
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
)
ELEMENTS_LOST = declare(
    "scene-elements-lost",
    Level.INFO,
    "{count} {what} of the asset are not in the arrays: {names}",
    doc="Elements that have no array: tendons, contact pairs, general motors, sensors, cameras, lights, keyframes.",
)
ATTRIBUTE_LOST = declare(
    "scene-attribute-lost",
    Level.WARNING,
    "custom attribute {name!r} is not carried: {why}",
    doc="A custom attribute whose type or values have no array.",
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
    "joint {name!r} is in no articulation: one is made for it and what hangs on it",
    hint="list the joints of every mechanism under articulations, from the root to the leaves",
    doc="Inline joints of a scene that no articulation lists; they would close loops instead of carrying bodies.",
)
SHOWN = 3


def report_lost(reporter: Reporter, what: str, elements: Sequence[Any]) -> None:
    """Say once that elements of a kind have no array."""
    if elements:
        names = ", ".join(repr(element.name) for element in elements[:SHOWN])
        names += ", ..." if len(elements) > SHOWN else ""
        where = getattr(elements[0], "source", NOWHERE)
        reporter.report(ELEMENTS_LOST, where, count=len(elements), what=what, names=names)

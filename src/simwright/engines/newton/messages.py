# SPDX-License-Identifier: Apache-2.0
"""What Newton has no place for, said once per element, and what Newton itself says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from simwright.core.diag import Level, Reporter, Where, declare

JOINT_APPROXIMATED = declare(
    "newton-joint-approximated",
    Level.WARNING,
    "joint {name!r} goes to Newton as {as_what}: {why}",
    hint="Newton's joints slide along up to three axes, then turn about up to three",
    doc="A joint of the model has no exact counterpart in Newton.",
)
JOINT_CONE = declare(
    "newton-joint-cone",
    Level.WARNING,
    "the cone limit of ball joint {name!r} is left out; Newton's ball joints are free",
    doc="Newton's ball joints have no limits.",
    loss=True,
)
DRIVE_ACCELERATION = declare(
    "newton-drive-acceleration",
    Level.WARNING,
    "the drive of {name!r} is an acceleration drive; Newton uses its gains as those of a force drive",
    hint="author a force drive with gains that include the mass",
    doc="Newton knows force drives only.",
)
SPRING_LOST = declare(
    "newton-spring-lost",
    Level.WARNING,
    "the passive spring of {name!r} is left out; the builder has no attribute for it",
    hint="call SolverMuJoCo.register_custom_attributes(builder) before",
    doc="Passive joint stiffness is a custom attribute of Newton's MuJoCo solver.",
    loss=True,
)
BODY_NOT_KINEMATIC = declare(
    "newton-body-not-kinematic",
    Level.WARNING,
    "body {name!r} is kinematic but is the child of another body; it becomes dynamic in Newton",
    hint="only bodies attached to the world can be kinematic in Newton",
    doc="Newton allows kinematic bodies at the root of an articulation only.",
)
GRAVITY_SCALE = declare(
    "newton-gravity-scale",
    Level.WARNING,
    "body {name!r} has gravity scale {scale:g}, which is left out",
    hint="call SolverMuJoCo.register_custom_attributes(builder) before",
    doc="Newton has one gravity; its MuJoCo solver can compensate it per body.",
    loss=True,
)
GEOMETRY_LOST = declare(
    "newton-geometry-lost",
    Level.WARNING,
    "shape {name!r} is left out: {why}",
    hint="convert it to a mesh",
    doc="A geometry that Newton has no shape for.",
    loss=True,
)
GEOMETRY_MESHED = declare(
    "newton-geometry-meshed",
    Level.INFO,
    "{kind} {name!r} has uneven scale; a mesh of 32 segments stands in for it",
    doc="Newton's round primitives have one radius.",
)
APPROXIMATION_UNUSED = declare(
    "newton-approximation-unused",
    Level.WARNING,
    "mesh {name!r} collides with a signed distance field (SDF); its approximation {token!r} is left out",
    hint="author one of the two",
    doc="NewtonSDFCollisionAPI and an approximation are two ways to collide.",
    loss=True,
)
MIMIC_LOST = declare(
    "newton-mimic-lost",
    Level.WARNING,
    "{follower!r} does not follow {leader!r} in Newton: {why}",
    hint="mimic joints need one degree of freedom each, in one articulation",
    doc="A mimic relation that Newton cannot express.",
    loss=True,
)
MIMIC_SOFTNESS = declare(
    "newton-mimic-softness",
    Level.WARNING,
    "{follower!r} follows {leader!r} as Newton's solver has it; {what} of the source is left out",
    hint="Newton's mimic joints have two coefficients and no softness of their own",
    doc="A joint equality says how soft it is (solref, solimp); a mimic relation in Newton cannot.",
    loss=True,
)
ELEMENTS_LOST = declare(
    "newton-elements-lost",
    Level.WARNING,
    "{count} {what} are left out, the first is {first!r}",
    doc="Elements of the model that Newton's builder has no place for.",
    loss=True,
)
ATTRIBUTE_LOST = declare(
    "newton-attribute-lost",
    Level.WARNING,
    "custom attribute {name!r} is left out: {why}",
    hint="Newton's custom attributes are float, int, bool, vectors of 2 to 4 and quaternions",
    doc="A custom attribute whose type, frequency or assignment Newton does not have.",
    loss=True,
)
EQUALITY_LOST = declare(
    "newton-equality-lost",
    Level.WARNING,
    "equality {name!r} is left out: {why}",
    hint="name the bodies or the leading joint in the equality",
    doc="An equality of MuJoCo whose ends are not in the builder.",
    loss=True,
)
POLYNOMIAL_KEPT = declare(
    "newton-polynomial-kept",
    Level.WARNING,
    "joint equality {name!r} has higher-order polycoef terms; SolverMuJoCo has them, a mimic the linear part only",
    hint="use SolverMuJoCo, or a linear relation",
    doc="Newton's mimic relation has two coefficients; the row of the MuJoCo solver has five.",
)
ACTUATOR_LOST = declare(
    "newton-actuator-lost",
    Level.WARNING,
    "actuator {name!r} is left out: {why}",
    hint="apply one drive API (NewtonPDControlAPI, NewtonPIDControlAPI, NewtonNeuralControlAPI) to it",
    doc="A NewtonActuator prim from which Newton makes no actuator.",
    loss=True,
)
COMPOSED_PARTLY = declare(
    "newton-composed-partly",
    Level.WARNING,
    "a part of the stage does not compose and is not imported: {error}",
    hint="correct the reference, payload or sublayer",
    doc="Newton's own importer raises here. What composes is imported.",
    loss=True,
)
HANDED_OVER = declare(
    "newton-handed-over",
    Level.INFO,
    "the stage has deformables or particles; Newton's own importer takes all of it",
    doc="Cables, cloth, soft bodies, attachments and particles are not in the model; Newton reads them itself.",
)
LEGACY_WORD = declare(
    "newton-legacy-word",
    Level.WARNING,
    "{name} is deprecated and will be removed in Newton 1.8: {meaning}",
    hint="correct the asset and drop the argument",
    doc="An argument of add_usd that restores how an older version read a value; Newton deprecates it too.",
)
NEWTON_SAYS = declare(
    "newton-says",
    Level.WARNING,
    "Newton: {message}",
    doc="A warning that Newton gives while its builder is filled, for example about a missing package.",
)


@contextmanager
def listen(reporter: Reporter, where: Where) -> Iterator[None]:
    """Turn the warnings that Newton gives in the block into findings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message, category in dict.fromkeys((str(found.message), found.category) for found in caught):
        deprecated = issubclass(category, DeprecationWarning)
        reporter.report(NEWTON_SAYS, where, message=message, deprecated=deprecated)


def report_lost(reporter: Reporter, what: str, elements: list[Any]) -> None:
    """One finding for all elements of a kind that have no place."""
    if elements:
        first = elements[0]
        reporter.report(ELEMENTS_LOST, first.source, what=what, count=len(elements), first=first.name)

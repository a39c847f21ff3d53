# SPDX-License-Identifier: Apache-2.0
"""Colliders that are hollow: ``newton:massModel = "shell"`` and ``mjc:shellinertia``.

The wall is ``newton:shellThickness`` thick, else as thick as the contact margin.  MuJoCo knows no thickness:
where its attribute makes the shell and nobody authors one, density is per area [kg/m^2], as in MuJoCo.
"""

from __future__ import annotations

import math

from simwright.core.diag import Level, declare
from simwright.formats.usd.source import Source
from simwright.model.asset import Shape
from simwright.model.mass import find_thickness, measure_shape
from simwright.model.moments import Moments
from simwright.model.shell import measure_wall

SHELL_FULL = declare(
    "usd-shell-full",
    Level.WARNING,
    "the wall of shell {name!r} is {thickness} m thick, which leaves no hollow; it is weighed as a solid",
    hint="author a smaller newton:shellThickness",
    doc="A hollow collider whose wall is as thick as half its size or more.",
)
SHELL_THIN = declare(
    "usd-shell-without-thickness",
    Level.WARNING,
    "shell {name!r} has neither a thickness nor a contact margin; it adds nothing to the mass of its body",
    hint="author newton:shellThickness, or a mass",
    doc="A hollow collider whose wall has no thickness weighs nothing at any density.",
)
SHELL_INVALID = declare(
    "usd-shell-thickness-invalid",
    Level.ERROR,
    "newton:shellThickness of {name!r} is {thickness} m; the contact margin is used",
    hint="author a finite, non-negative thickness",
    doc="The wall of a hollow collider cannot be negative.",
)


def measure_shell(source: Source, shape: Shape) -> Moments:
    """What a density fills of a hollow collider."""
    report = source.reporter.report
    own = shape.settings.get("shell_thickness")
    if own is not None and not 0.0 <= own < math.inf:
        report(SHELL_INVALID, shape.source, name=shape.name, thickness=own)
    thickness = find_thickness(shape)
    moments = measure_shape(shape)
    if (
        thickness > 0.0
        and moments.volume > 0.0
        and measure_wall(shape.geometry, shape.scale, thickness) is None
    ):
        report(SHELL_FULL, shape.source, name=shape.name, thickness=thickness)
    if thickness == 0.0 and moments.volume == 0.0:
        report(SHELL_THIN, shape.source, name=shape.name)
    return moments

# SPDX-License-Identifier: Apache-2.0
"""What may have to be said when a world becomes a scene."""

from __future__ import annotations

from simwright.core.diag import Level, declare

TILT_LEFT = declare(
    "world-build-tilt",
    Level.WARNING,
    "{name!r} is turned about x or y, which the plane does not know; it stands upright in the scene",
    hint="use yaw only",
    doc="Footprints are turned by the yaw alone. A piece of furniture that leans would not be where the plane has it.",
)
NO_SOLID = declare(
    "world-build-no-solid",
    Level.WARNING,
    "{name!r} has no height or no area and is not in the scene",
    hint="give its footprint a height",
    doc="A thing of no volume can be neither seen nor touched.",
)
THING_TIGHT = declare(
    "world-build-overlap",
    Level.WARNING,
    "{name!r} and {other!r} fill the same space",
    hint="move one of them, or make the compartment higher",
    doc="Surfaces that lie over each other or share their outline are not looked at in the plane; simulators push "
    "apart what overlaps.",
)
FLOATING = declare(
    "world-build-floating",
    Level.INFO,
    "{name!r} starts {height:.3g} m above its surface and will fall",
    hint="leave z out, to let it stand",
    doc="The z of an object is counted from its surface.",
)

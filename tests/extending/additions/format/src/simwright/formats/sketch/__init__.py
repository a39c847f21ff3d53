# SPDX-License-Identifier: Apache-2.0
"""Sketches: the names of bodies, one a line."""

from simwright.formats.format import Format

FORMAT = Format(
    name="sketch",
    title="Sketch",
    extensions=(".sketch",),
    reader="simwright.formats.sketch.read:read",
    writer="simwright.formats.sketch.read:write",
)

# SPDX-License-Identifier: Apache-2.0
"""URDF 1.0 and xacro."""

from simwright.formats.format import Format

FORMAT = Format(
    name="urdf",
    title="URDF",
    extensions=(".urdf", ".urdf.xacro", ".xacro"),
    reader="simwright.formats.urdf.read:read",
    writer="simwright.formats.urdf.writer.entry:write",
    table="simwright.formats.urdf.holds:HOLDS",
    root_tags=("robot",),
    carries_fine_colliders=True,
)

# SPDX-License-Identifier: Apache-2.0
"""MJCF, as MuJoCo compiles it."""

from simwright.formats.format import Format

FORMAT = Format(
    name="mjcf",
    title="MJCF",
    extensions=(".mjcf",),
    reader="simwright.formats.mjcf.read:read",
    writer="simwright.formats.mjcf.writer.entry:write",
    table="simwright.formats.mjcf.holds:HOLDS",
    root_tags=("mujoco",),
    shared_extensions=(".xml",),
    carries_fine_colliders=True,
)

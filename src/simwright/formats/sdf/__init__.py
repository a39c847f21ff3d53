# SPDX-License-Identifier: Apache-2.0
"""SDFormat 1.4 to 1.12: models and worlds."""

from simwright.formats.format import Format

FORMAT = Format(
    name="sdf",
    title="SDFormat",
    extensions=(".sdf", ".world"),
    reader="simwright.formats.sdf.read:read",
    writer="simwright.formats.sdf.writer.entry:write",
    table="simwright.formats.sdf.holds:HOLDS",
    root_tags=("sdf",),
    carries_fine_colliders=True,
)

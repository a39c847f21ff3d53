# SPDX-License-Identifier: Apache-2.0
"""glTF 2.0: .glb and .gltf, for the web, viewers and engines (REP-0158 3)."""

from simwright.formats.format import Format

FORMAT = Format(
    name="gltf",
    title="glTF 2.0",
    extensions=(".glb", ".gltf"),
    writer="simwright.formats.gltf.write:write",
    table="simwright.formats.gltf.holds:HOLDS",
    magic=(b"glTF",),
)

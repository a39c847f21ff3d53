# SPDX-License-Identifier: Apache-2.0
"""glTF 2.0: .glb and .gltf, for the web, viewers and engines (REP-0158 3).  Written only.

write      the entry: files, the JSON document, colours made linear, the physics block, what is lost
scene      nodes: bodies, shapes, instances, sites, cameras, lights, animation
meshes     one mesh for each geometry and look; primitives as triangles
vertices   polygons to triangles, normals and tangents, corners to vertices; the binary buffer
materials  UsdPreviewSurface as metallic-roughness and the Khronos extensions
textures   images copied or baked, samplers, texture transforms
document   the lists of rows that a document is made of
holds      what glTF has a place for
messages   what the writer may report
"""

from simwright.formats.format import Format

FORMAT = Format(
    name="gltf",
    title="glTF 2.0",
    extensions=(".glb", ".gltf"),
    writer="simwright.formats.gltf.write:write",
    table="simwright.formats.gltf.holds:HOLDS",
    magic=(b"glTF",),
)

# SPDX-License-Identifier: Apache-2.0
"""MJCF, as MuJoCo compiles it: read into the model, written from it, and compiled in memory for engines.

read      the reader's table of contents; refuses absurd numbers; materials, textures, cameras and lights
reader    MjcfReader: the compiled model, names and places of its elements, and the asset being built
source    the text before MuJoCo sees it: includes, files, sizes that it asks for
places    where each element stands in the text
compiler  MuJoCo's compiler with errors that have a place; meshes that it need not load
quiet     MuJoCo without its prints
options   options, visual settings, statistics, sizes and custom data
bodies    bodies with their inertia, joints, equalities, tendons and contacts; MuJoCo's defaults of constraints
geoms     geoms, meshes, height fields and sites
control   actuators, sensors and keyframes
holds     what MJCF can hold of an asset, as a table
memory    an asset as a compiled MuJoCo model, without files
writer    the writer
"""

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

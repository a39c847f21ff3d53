# SPDX-License-Identifier: Apache-2.0
"""OpenUSD: .usda, .usdc, .usd and .usdz, read into the neutral model and written as the layers of REP-0158 1.2.

Reader (every ``read_*`` function takes a ``StageReader`` and adds to its asset):

read               ``read`` and ``read_stage``; ``_read_all`` is the table of contents; collision filters
stage_reader       one stage being read: typed values, world placement, names given so far
prims              a prim as the walk finds it, with its authored names; schemas and opinions that prims share
scan               the one walk over the stage: every prim once, sorted by kind; variants to select or to carry
naming             model names from prim paths
units              stage units and up axis, and their factors to SI
transforms         world matrices: checked, and taken apart into pose, scale and shear
attributes         solver and custom attributes, kept as extras; USD values as plain Python
bodies             rigid bodies, articulation roots, and whether the joints make trees
mass               mass, centre and inertia: authored, or from the colliders
joints             joints: bodies, frames, freedoms, limits, drives
couplings          mimics, loop-closing equalities, several joints between the same bodies
actuators          actuators of ExtendedPhysics, MuJoCo and Newton
actuator_laws      what their laws have in common: units, kinds, effort tables
mujoco             tendons, keyframes, contact pairs and root options of MuJoCo's schemas
solvers            the physics scene, and what solver schemas say in order of priority
custom_attributes  Newton's custom attributes: declarations and values
shapes             visuals and colliders; point instancers
primitives         primitive geometry; ellipsoids and heightfields that notes tell
meshes             meshes, loaded when first looked at
materials          bindings, surfaces with images, contact materials
sensors            sites, cameras, lights, sensor prims of other tools; ROS contexts, interfaces and controllers
time_samples       first samples as defaults; movement over time
notes              what notes on prims say about assets that Simwright wrote

Both ways:

writer             the writer; ``writer/entry.py`` is its table of contents
delivery           a stage as one file: a .usdz package, or one flattened layer
holds              what the layers can hold, as data
"""

from simwright.formats.format import Format

FORMAT = Format(
    name="usd",
    title="OpenUSD",
    extensions=(".usda", ".usdc", ".usdz", ".usd"),
    reader="simwright.formats.usd.read:read",
    writer="simwright.formats.usd.writer.entry:write",
    table="simwright.formats.usd.holds:HOLDS",
    magic=(b"#usda", b"PXR-USDC"),
)

# SPDX-License-Identifier: Apache-2.0
"""Scene files (YAML or JSON): assets, bodies, joints and edits, built into flat arrays of many worlds, run by engines.

load               a scene file to arrays, in the order of the format
document           the validated document and its JSON Schema; its sections:
document_values    vectors, transforms, axes, colours
document_assets    external assets and their options
document_sources   where the file of an asset comes from
document_mechanics inline bodies, joints, articulations, initial positions
document_shapes    inline shapes and the fields of material and collision
document_settings  simulation, builder defaults, ground, replication, control
sources            from a source to a file: beside the scene, in its text, from git
builder            one world while it is built: lists by array name
builder_config     what shapes and freedoms are created with
builder_shape      shapes as type and three numbers: mass, bounds, geometry
builder_inline     inline bodies, joints and shapes, put into the builder
importing          an asset put into the builder: order, labels, masses, initial poses
importing_options  which parts of an asset are wanted, and what SAP Warp makes of them
importing_elements its joints, motors, mimics and equalities, shapes and sites
importing_custom   its custom attributes as arrays
importing_messages what an import may have to say
selectors          what operations act on: ranges and labels
ops                operations on the built world, one file each
finish             the builder as arrays: derived values, filters, bounds
replicate          many worlds from one
exporting          a scene as a neutral asset, for a file or for an engine
exporting_parts    one world out of many, which worlds are equal; its shapes, materials and contacts
simulation         a loaded scene in an engine, and states back in the arrays
control            targets and controls over time, from a file
format             the row of scene files in the format table
sap                the names of SAP Warp's loader
messages           diagnostics and errors of scene files
"""

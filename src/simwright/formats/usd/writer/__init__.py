# SPDX-License-Identifier: Apache-2.0
"""The OpenUSD writer: an asset becomes the functional layers of REP-0158 1.2, one file per layer or concern.

entry             ``build_layers`` is the table of contents; folder, one file, stage in memory; ``base.usda``, the entry
prepare           a copy of the asset made ready: frames that are no bodies, contact materials, mass
plan              the prim path of every element, and the order of elements
layer             ``LayerWriter``: one layer, its prims, attributes and arcs; attribute types from values
instances         ``instances.usda``: visuals, colliders, cameras, lights, prototypes of instances
meshes            ``geometries.usdc``: every mesh once
solids            primitive prims; meshes for contact: triangles, hulls, round bodies
mesh_variants     meshes of colliders by fidelity, convex parts, levels of detail, and their cache
materials         ``materials.usda`` and the images
physics           ``physics.usda``: bodies, mass, articulation roots, colliders, contact materials, notes
contacts          who touches whom: collision groups, filtered pairs, MJCF's contact pairs
joints            joints and equalities in ``physics.usda``: prim types, frames, axes, limits, drives
extended_physics  ``extended_physics.usda``: joint dynamics, mimics, actuators
ros               ``ros.usda``: contexts, interfaces, frames, controllers
sensors           ``sensors.usda``: sensors in the registry's words; what is left of them for engine layers
vendor            the engine layers: table of contents; Newton's states and custom attributes, world options
mujoco            ``mujoco.usda``: tendons, actuators, keyframes
extras            solver attributes by the resolvers' rows, or moved from the asset that was read
assembly          a scene as an assembly of components
messages          every finding of the writer
"""

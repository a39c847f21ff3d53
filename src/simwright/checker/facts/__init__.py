# SPDX-License-Identifier: Apache-2.0
"""What rules ask about a stage: gathered once, shared by many rules, without a verdict.

:mod:`~simwright.checker.facts.snapshot` walks the stage; every other module derives one family of facts from it and
keeps it in ``StageSnapshot.shared``.

snapshot       every prim of the stage as a node, sorted by type and API
types          schema types a prim type derives from
layers         what each layer holds: domains, arcs, asset paths, sizes, role
layer_walk     the walk over the specs of a layer that fills the layer facts
domains        what an opinion is about, by its name: geometry, physics, ROS, a vendor
vendors        whose an engine-specific name is, and the neutral name for the same
schemas        the schema registry and core OpenUSD as look-up tables
extensions     properties of extension schemas
assets         which layers make up one asset; its assetInfo
paths          asset paths: their form, where they lead, and attributes used instead of references
payloads       what is only there while payloads are loaded
variant_sets   variant sets, their selection, and what their variants hold
kinds          the model hierarchy by kind
owners         which prims hold certain properties, found through the layers
attributes     authored values and declared types of single attributes
lineage        what is above a node, also beyond an instance: robot, body, purpose
graph          bodies and joints as a graph: components, trees, loops, articulation roots
kinematics     which prims are kinematic, leaf geometry, or have physics
transforms     transform operations and the local transforms they give
bases          base frames and wheels of mechanisms; names that mean left, right, forward
masses         authored masses, and what they can be derived from
body_shapes    visuals and colliders of each body; the form of a collider
bindings       materials bound for physics
actuation      MuJoCo actuators and vendor values that have a neutral form
clones         identical copies of mechanisms
sources        which prims reference other assets, and which assets are there twice
names          ROS namespaces, interface names and TF frames
interfaces     ROS interface types: form, existence, meaning
bridges        ROS names in execution graphs and plugin texts
controllers    controllers and what they are connected to
sensors        sensor prims; cameras and their optical frames
shading        materials, their shader networks and textures
material_uses  which geometry is rendered with which material; shapes that emit light
textures       image files by their first bytes
texcoords      texture coordinates as textures use them
meshes         mesh analysis: triangulated, closed, convex
mesh_memory    what was found out about meshes, kept by their content
topology       edges of polygon meshes, and points at the same place
wording        numbers, lists and counts in messages
"""

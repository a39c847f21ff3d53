# SPDX-License-Identifier: Apache-2.0
"""The fixes: modules by subject, each with functions decorated by :func:`~simwright.sanitizer.fixer.fix`.

Every :class:`~simwright.sanitizer.fixer.Fixer` in a module here is found by itself; no table has to be edited.

structure           default prim, kind, assetInfo, variants, instances, one robot
units               units, up axis and time of whole assets
scale               scale on leaf geometry only
frames              the frame of the root, and meshes that were left turned
transforms          translate and orient instead of matrices and angles
masses              masses, bodies that cannot move, bodies that are only a place
inertia             principal moments that a body can have
joints              place, name, limits and angles of joints; anchors
physics             bodies, colliders, articulations, filtered pairs
contact             friction, bounce and physics materials
collision_meshes    approximations, triangles, closed meshes, hulls
meshes              winding and subsets
prototypes          equal meshes as instances of one prototype
visuals             what is seen and what is touched
looks               one UsdPreviewSurface for every material
textures            8-bit PNG, no tiles
layers              opinions moved between layers: functional layers, payloads, references, inherited classes
lights              lights that every simulator computes
paths               addresses of files
property_names      names that schemas have
ros_names           namespaces, frame ids, ROS prims outside of payloads
ros_values          types and spelling of ROS attributes
interfaces          topics, services, actions and optical frames on the right prims
controllers         controllers outside of bodies, drives, frame ids
translation/        engines' words in neutral form
"""

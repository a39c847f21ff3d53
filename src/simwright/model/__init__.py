# SPDX-License-Identifier: Apache-2.0
"""The neutral model: what a file says, in SI units and by names, free of any file format and of OpenUSD.

asset        Asset: all elements of a robot, a prop or a scene
elements     bodies, shapes, sites, cameras, lights, sensors, actuators, contacts, keyframes, recorded movement
joint        joints as ordered dofs; drives, mimics, equalities, tendons
geometry     primitives and meshes, shared between shapes; equal points
material     how surfaces look and how they touch; display colours and linear ones
ros_sides    what an asset is to ROS, carried into another one that has its bodies already
ros          interfaces, namespaces and controllers of ROS; optical frames, frames of messages (REP-0158)
extras       attributes kept without a translation; custom attributes; where a value came from
display      how elements show themselves in a terminal and in a notebook
scene        assets placed beside each other
merging      a scene as one asset
attaching    an asset put onto a body or site of another
detaching    a part taken out of an asset
renaming     other names for all elements of an asset; its frame moved
folding      bodies without mass as frames of others, and as bodies again
coordinates  the same mechanism counted from other zeros; mimics and equalities as flat builders have them
servo        MuJoCo's affine law of actuators, and the plain servos in it
inertia      inertia algebra
moments      volume, centre and second moments of every geometry
shell        the same for walls and surfaces
thinning     meshes with fewer triangles, for pages that show them
mass         mass properties of shapes and bodies
kinematics   the kinematic tree, forward kinematics, coordinates from poses
mechanism    the tree compiled for many configurations at once
filtering    which colliders never touch; members of articulations
branches     the order in which bodies and joints go into flat builders
flat_joints  joints, drives and servos as flat builders have them
selection    options that importers into flat builders share
"""

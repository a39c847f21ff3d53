# SPDX-License-Identifier: Apache-2.0
"""Are two assets the same mechanism?  Structure, kinematics, dynamics and geometry are compared section by section.

run          the comparison: a table of sections; sections sensors, cameras, lights, keyframes, ros, gravity, options
pairing      what corresponds to what in the two assets: bodies, joints, dofs, rigid groups
difference   what is compared, the answer of a comparison, and how far two values are apart
structure    sections bodies, frames, masses, joints, order and limits
constraints  sections constraints, drives, actuators and materials
dynamics     sections poses and motion; mass matrix and bias at many configurations
shapes       sections visuals, collisions and contacts
"""

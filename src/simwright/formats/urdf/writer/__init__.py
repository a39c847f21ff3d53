# SPDX-License-Identifier: Apache-2.0
"""The URDF writer (REP-0158 section 3): a model becomes a folder with a URDF file, meshes and images.

entry     the table of contents; <link> with inertia, shapes and materials; reports what URDF has no place for
document  UrdfDocument: the document being written, names, files; UrdfJoint, a joint of the planned tree
plan      the one tree that URDF wants: links, joints with one freedom each, frames
joints    <joint>, <transmission> and <ros2_control>
messages  what the writer may have to say
"""

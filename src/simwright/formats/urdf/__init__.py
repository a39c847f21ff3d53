# SPDX-License-Identifier: Apache-2.0
"""URDF 1.0 and xacro: read into the model, and written from it.

read          the reader's table of contents; links with inertia and shapes; checks the tree of links at the end
reader        UrdfReader: typed access to elements, and the asset being built; materials of the robot and of visuals
joints        joints with limits, dynamics and mimics
control       transmissions, ros2_control blocks, and Gazebo plugins that are controllers or ROS interfaces
gazebo        Gazebo's extensions of links and joints, and sensors
xacro         xacro files expanded, with everything they read held against the gate
expressions   the expressions of xacro, evaluated so that they stay arithmetic
holds         what URDF can hold of an asset, as a table
writer        the writer
"""

from simwright.formats.format import Format

FORMAT = Format(
    name="urdf",
    title="URDF",
    extensions=(".urdf", ".urdf.xacro", ".xacro"),
    reader="simwright.formats.urdf.read:read",
    writer="simwright.formats.urdf.writer.entry:write",
    table="simwright.formats.urdf.holds:HOLDS",
    root_tags=("robot",),
    carries_fine_colliders=True,
)

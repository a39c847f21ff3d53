# SPDX-License-Identifier: Apache-2.0
"""SDFormat 1.4 to 1.12: models and worlds.

read            the entry: a file becomes an asset; models, frames and the world
document        one file: its version, typed values of child elements, poses
include         XML to the model tree, every <include> replaced by what it includes, in URDF too
tree            the model tree: models and the named elements in them
poses           the frame graph: what every pose is relative to, what every frame is attached to
context         what the element readers share; where leftovers are kept
links           links with mass, collisions with their surface, visuals
materials       <material> of a visual (colours, scripts, images), and <light>
geometry        <geometry>: primitives, meshes, outlines, height maps and floor plans
joints          joints, their axes, mimics and loops
sensors         sensors, their cameras and topics
plugins         which plugin means what
controllers     plugins that are controllers or publishers
sensor_plugins  sensor plugins of Gazebo Classic
holds           what SDFormat has a place for
writer          the asset to SDFormat
"""

from simwright.formats.format import Format

FORMAT = Format(
    name="sdf",
    title="SDFormat",
    extensions=(".sdf", ".world"),
    reader="simwright.formats.sdf.read:read",
    writer="simwright.formats.sdf.writer.entry:write",
    table="simwright.formats.sdf.holds:HOLDS",
    root_tags=("sdf",),
    carries_fine_colliders=True,
)

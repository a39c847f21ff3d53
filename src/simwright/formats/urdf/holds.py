# SPDX-License-Identifier: Apache-2.0
"""What URDF can hold (see ``simwright.formats.holds``): what is not named here has no place in it."""

from __future__ import annotations

from simwright.formats.holds import YES, Table, no, otherwise, partly, rows

# what a robot never touches and its named poses belong to MoveIt's second file
_SRDF = no("MoveIt has them in its SRDF file")
_MASS = otherwise("counted into the mass of the link")

HOLDS: Table = {
    **rows(YES, "bodies", "bodies: inertial"),
    # URDF has no place for the robot: it starts where the simulator puts it
    "bodies.pose": partly("a base that floats starts at the origin, unless a frame stands there"),
    "bodies.density": _MASS,
    **rows(YES, "joints", "joints: parent_frame", "joints.dofs: axis safety"),
    "joints.kind": otherwise(
        "URDF joints have one degree of freedom: balls and joints with several are chains of them",
        only=(
            "fixed",
            "revolute",
            "prismatic",
            "ball",
            "universal",
            "planar",
            "floating",
            "screw",
            "gearbox",
            "d6",
        ),
    ),
    "joints.child_frame": otherwise("the child link begins at the joint"),
    "joints.closes_loop": partly("a robot is a tree; joints that close a loop are left out"),
    "joints.ros_name": otherwise("it is the name of the joint"),
    "joints.dofs.motion": otherwise("a ball is three hinges"),
    "joints.dofs.anchor": otherwise("a link stands there"),
    "joints.dofs.pitch": otherwise("a slide that follows the hinge"),
    "joints.dofs.ref": otherwise("the frame of the joint is turned"),
    **rows(
        partly("other degrees of freedom have none", where="hinges and slides"),
        "joints.dofs: lower upper friction damping effort_limit velocity_limit",
    ),
    # the writer says where no transmission has a place for it
    "joints.dofs.armature": partly(
        "the rotor of a transmission, which Drake reads", where="hinges and slides"
    ),
    # gains are in the configuration of controllers, not in URDF
    "joints.dofs.drive": partly("its largest force is the effort limit", where="drives without gains"),
    "shapes": partly("shapes of the world need something that is fixed to it"),
    **rows(YES, "shapes: pose visual collision color", "shapes.geometry.data: normals subsets"),
    "shapes.geometry": otherwise("boxes, cylinders, spheres and meshes; others become those"),
    "shapes.geometry.data.uvs": otherwise("one for each corner"),
    "shapes.scale": otherwise("counted into the size"),
    **rows(_MASS, "shapes: mass density"),
    "sites": otherwise("a link without anything, fixed to its own"),
    **rows(otherwise("of the link"), "sites: pose"),
    "sites.ros_frame": otherwise("it is the name of the link"),
    "sites.folded": otherwise("a link without mass again"),
    "cameras": no("their optical frames are written, what they see is not"),
    "sensors": no("their frames are written where they have a place of their own"),
    "actuators": otherwise("a command of ros2_control, or a transmission"),
    "actuators.kind": partly("a command has no law", where="commands and transmissions"),
    "actuators.transmission": partly("joints alone are driven", only=("joint",)),
    **rows(partly("of a <transmission>", where="transmissions"), "actuators: gear settings"),
    "actuators.control_range": partly(
        "a command counts in units of the joint", where="actuators without a gear"
    ),
    "actuators.force_range": otherwise("the effort limit of the joint, where that says none"),
    "equalities": no("add them in the simulator, or export MJCF"),
    **rows(_SRDF, "contact_filters", "collision_groups", "keyframes"),
    "mimics": partly("one for each follower"),
    **rows(YES, "mimics: multiplier offset"),
    **rows(YES, "materials", "materials: diffuse opacity"),
    "materials.textures": partly("the image of the colour", only=("diffuse",)),
    **rows(no("the launch file says it"), "contexts: namespace domain_id"),
    "interfaces": no("nodes of the robot declare their interfaces themselves"),
    "controllers": partly("blocks of ros2_control"),
    "controllers.kind": partly(
        "others are in the configuration of the controller manager", only=("ros2_control",)
    ),
    **rows(otherwise("as the block has them"), "controllers: joints interfaces settings"),
    "extras": partly("attributes of simulators are not injected"),
}

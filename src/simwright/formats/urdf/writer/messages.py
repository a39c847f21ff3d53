# SPDX-License-Identifier: Apache-2.0
"""What the writer has to say: everything that does not arrive in URDF, and every change of form."""

from __future__ import annotations

from simwright.core.diag import Level, declare

EXTRAS_LOST = declare(
    "urdf-write-extras",
    Level.WARNING,
    "{count} attribute(s) of {space} have no place in URDF, the first {first!r}",
    hint="keep the source file for the tool they are meant for",
    doc="Attributes of simulators are discarded, not injected; <gazebo> blocks are not written (REP-0158 3.8).",
    section="3.8",
    loss=True,
)
INERTIA_ADJUSTED = declare(
    "urdf-write-inertia-adjusted",
    Level.WARNING,
    "{count} inertia(s) are physically impossible, the first of link {first!r} ({found}); {written} is written",
    hint="correct the inertia: each moment is at most the sum of the other two",
    doc="Simulators refuse or replace inertias that break the triangle inequality, each in its own way (Drake 1.51 "
    "takes a ball, PyBullet 3.2 none); the nearest possible one is written, as in the other formats.",
)
LOOP_LEFT_OUT = declare(
    "urdf-write-loop",
    Level.WARNING,
    "{count} joint(s) that close a loop are left out, the first {first!r}: a URDF robot is a tree",
    hint="add the constraint in the simulator, or export MJCF or SDF",
    doc="URDF has no loops; the spanning tree is written and what closes it is reported.",
    section="1.3",
    loss=True,
)
JOINT_EXPANDED = declare(
    "urdf-write-joint-expanded",
    Level.INFO,
    "joint {name!r} is written as {count} joints with massless links between them: {why}",
    hint="the links between have no <inertial>: parsers for kinematics take them, some simulators want a mass",
    doc="URDF joints have one degree of freedom and move about the origin of their child link.",
)
# a warning, because coordinates of the joint mean something else afterwards
BALL_EXPANDED = declare(
    "urdf-write-ball",
    Level.WARNING,
    "ball joint {name!r} is written as three revolute joints; its coordinates are angles about x, y and z now",
    hint="the middle angle at a quarter turn is singular",
    doc="URDF has no ball joint.",
)
JOINT_REVERSED = declare(
    "urdf-write-joint-reversed",
    Level.INFO,
    "joint {name!r} is written from its child to its parent; its coordinates keep their meaning",
    doc="The tree of links reaches the joint's child first; axis and frames are turned round.",
)
# the number is UNBOUNDED of document.py: urdfdom does not read "inf"
LIMIT_CHOSEN = declare(
    "urdf-write-limit",
    Level.INFO,
    "{count} joint(s) have no {what}, the first {first!r}; 1e+100 (no limit) is written",
    hint="write the limit of the real joint: planners need it",
    doc="URDF wants position, effort and velocity limits of every revolute and prismatic joint, as numbers.",
)
FLOATS = declare(
    "urdf-write-floats",
    Level.INFO,
    "{count} part(s) move freely in the world, the first {first!r}; each has a floating joint to the link 'world'",
    hint="robot_state_publisher does not publish floating joints; localisation does",
    doc="A URDF file has one root: what floats beside other things hangs on the world link.",
)
BODY_STILL = declare(
    "urdf-write-still",
    Level.INFO,
    "body {name!r} {why}; it is fixed to the world where it stands",
    doc="URDF has no bodies that are moved from outside or switched off.",
)
SHAPE_COMPOSED = declare(
    "urdf-write-composed",
    Level.INFO,
    "{count} capsule(s) are written as a cylinder and two spheres, the first {first!r}",
    doc="URDF has boxes, cylinders, spheres and meshes; the union of the three is the capsule exactly.",
)
SHAPE_MESHED = declare(
    "urdf-write-meshed",
    Level.INFO,
    "{count} shape(s) are written as meshes, the first {first!r} ({kind}): URDF has no such geometry",
    doc="URDF has boxes, cylinders, spheres and meshes.",
)
GEOMETRY_LEFT_OUT = declare(
    "urdf-write-geometry",
    Level.WARNING,
    "the {kind} of shape {name!r} is left out: {why}",
    hint="{advice}",
    doc="A geometry that URDF cannot take.",
    loss=True,
)
LOOKS_LEFT_OUT = declare(
    "urdf-write-looks",
    Level.WARNING,
    "{count} mesh(es) have several materials, which {format} has no place for: they are left out, the first {first!r}",
    hint="choose OBJ, COLLADA or glTF for the meshes",
    doc="STL files have no materials, and a URDF visual has one only.",
    loss=True,
)
LOOK_UNREADABLE = declare(
    "urdf-write-look-unreadable",
    Level.WARNING,
    "the materials of mesh file {file!r} are left out: {why}",
    doc="A mesh file whose materials cannot be read.",
    loss=True,
)
TEXTURE_LEFT_OUT = declare(
    "urdf-write-texture",
    Level.WARNING,
    "the image {file!r} of material {name!r} is not written: {why}",
    hint="check the path; the material keeps its colour",
    doc="An image that cannot be read.",
    loss=True,
)
RENAMED = declare(
    "urdf-write-renamed",
    Level.INFO,
    "{count} {family} name(s) are changed because another one has it already, the first {old!r} to {new!r}",
    doc="Names of links and of joints are unique in a robot, and 'world' is the link that stands for the world.",
)
# mock_components is part of ros2_control, so the file works as it is
CONTROL_ASSUMED = declare(
    "urdf-write-control",
    Level.INFO,
    "the ros2_control block names the hardware plugin {plugin!r}, which only mirrors its commands",
    hint="put the plugin of the robot or of the simulator there",
    doc="Actuators become a ros2_control block; which hardware drives them the model does not know.",
)
EMPTY = declare(
    "urdf-write-empty",
    Level.WARNING,
    "the asset {name!r} has no bodies; the link 'world' alone is written",
    doc="A URDF robot has at least one link.",
)

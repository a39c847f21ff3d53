# SPDX-License-Identifier: Apache-2.0
"""What the writer has to say: everything that does not arrive in SDFormat, and every change of form."""

from __future__ import annotations

from simwright.core.diag import Level, declare

EXTRAS_LOST = declare(
    "sdf-write-extras",
    Level.WARNING,
    "{count} attribute(s) of {space} have no place in SDFormat, the first {first!r}",
    hint="keep the source file for the tool they are meant for",
    doc="Attributes of other simulators are discarded, not injected (REP-0158 3.8).",
    section="3.8",
    loss=True,
)
ROS_DISCARDED = declare(
    "sdf-write-ros",
    Level.INFO,
    "{count} ROS interface(s) have no place in SDFormat, the first {first!r}",
    hint="Gazebo has no plugin for them; nodes of the robot declare their interfaces themselves",
    doc="ROS interfaces become <topic> and <plugin> where Gazebo has one, and are discarded elsewhere (REP-0158 3.8).",
    section="3.8",
    loss=True,
)
VERSION_TOO_OLD = declare(
    "sdf-write-version",
    Level.WARNING,
    "{count} {what} need SDFormat {needed} and are left out of version {version}, the first {first!r}",
    hint="let the writer choose the version",
    doc="The version that was asked for has no element for something of the model.",
    loss=True,
)
MASS_INVENTED = declare(
    "sdf-write-mass-invented",
    Level.WARNING,
    "{count} link(s) have no mass, which SDFormat requires; {mass:g} kg is written, the first {first!r}",
    hint="give the links their real mass: 1 kg is what SDFormat takes for a link that says nothing",
    doc="Links without mass that hang on nothing with a mass, and links between the degrees of freedom of a joint.",
)
INERTIA_ADJUSTED = declare(
    "sdf-write-inertia-adjusted",
    Level.WARNING,
    "{count} inertia(s) are physically impossible, the first of link {first!r} ({found}); {written} is written",
    hint="correct the inertia: each moment is at most the sum of the other two",
    doc="libsdformat refuses inertias that break the triangle inequality; the nearest possible one is written.",
)
LINK_AS_FRAME = declare(
    "sdf-write-link-frame",
    Level.INFO,
    "{count} link(s) without mass that are fixed to others are written as frames, the first {first!r}",
    doc="A link of SDFormat has a mass; what has none and does not move on its own is a frame on its neighbour.",
)
JOINT_EXPANDED = declare(
    "sdf-write-joint-expanded",
    Level.WARNING,
    "joint {name!r} has {count} degrees of freedom and is written as {count} joints with light links between them",
    hint="the links between weigh {share:g} of the body they lead to",
    doc="SDFormat has joints with one degree of freedom, balls, and two hinges through one point.",
)
JOINT_REVERSED = declare(
    "sdf-write-joint-reversed",
    Level.INFO,
    "joint {name!r} is written with parent and child exchanged: the child of a joint cannot be the world{but}",
    doc="Frames and axes are exchanged, so that coordinates of hinges and slides keep their meaning.",
)
JOINT_REDUCED = declare(
    "sdf-write-joint-reduced",
    Level.WARNING,
    "{what} of joint {name!r} cannot be expressed in SDFormat and is left out",
    hint="keep the source file, or model it by hand",
    doc="A part of a joint that SDFormat has no element for.",
    loss=True,
)
LOOP_OPEN = declare(
    "sdf-write-loop-open",
    Level.WARNING,
    "joint {name!r} closes a loop and is left out: its frames lie {distance:g} m and {angle:g} rad apart at zero",
    hint="measure the joints of the loop from a pose in which it is closed",
    doc="SDFormat places a joint once, in the pose of the file; a loop that is open there cannot be said exactly.",
    loss=True,
)
LOOP_LEFT_OUT = declare(
    "sdf-write-loop-left-out",
    Level.WARNING,
    "{count} joint(s) or constraint(s) that close a loop are left out, the first {first!r}: the engine refuses them",
    hint="close the loop by a constraint in the engine, such as AddBallConstraint of Drake's MultibodyPlant",
    doc="An engine that the file is written for takes no joints that close a loop.",
    loss=True,
)
EQUALITY_AS_JOINT = declare(
    "sdf-write-equality",
    Level.INFO,
    "{count} constraint(s) between bodies are written as joints that close a loop, the first {first!r}",
    doc="Points held together are a ball joint, frames held together a fixed joint; both are rigid in SDFormat.",
)
MOVED_TO_ZERO = declare(
    "sdf-write-zero-pose",
    Level.WARNING,
    "{count} joint(s) do not start at zero, the first {first!r}; the start is left out",
    hint="set the joints when the model is spawned",
    doc="The links of an SDFormat model stand where all its joints are at zero.",
    loss=True,
)
CAMERA_AS_SENSOR = declare(
    "sdf-write-camera",
    Level.INFO,
    "{count} camera(s) are written as camera sensors, the first {first!r}; {bare} say no resolution and get 640 x 480",
    doc="A camera of SDFormat is a sensor, and has a resolution.",
)
SHAPE_MESHED = declare(
    "sdf-write-shape-meshed",
    Level.INFO,
    "{count} shape(s) are written as meshes, the first {first!r} ({kind})",
    doc="Stretched primitives, and cones below SDFormat 1.11, have no geometry of their own.",
)
PLANE_BOUNDED = declare(
    "sdf-write-plane",
    Level.INFO,
    "{count} visible plane(s) have no end, the first {first!r}; {size:g} m are written",
    doc="A visual plane of SDFormat has a size; a colliding one has none.",
)
GEOMETRY_LEFT_OUT = declare(
    "sdf-write-geometry",
    Level.WARNING,
    "the {kind} of shape {name!r} is not written: {why}",
    hint="{advice}",
    doc="A geometry that cannot be written.",
    loss=True,
)
HEIGHTS_ROUNDED = declare(
    "sdf-write-heightmap",
    Level.INFO,
    "the heights of {count} terrain(s) are written in 65535 steps, the first {first!r}",
    doc="A height map is an image; its samples have sixteen bits.",
)
FRICTION_APPROXIMATED = declare(
    "sdf-write-friction",
    Level.WARNING,
    "{count} contact material(s) have different static and dynamic friction, the first {first!r}; "
    "the dynamic one is written",
    doc="REP-0158 1.3.4: Gazebo's engines have one coefficient for each direction, which is approximated.",
    section="1.3.4",
    loss=True,
)
FILTERS_LEFT_OUT = declare(
    "sdf-write-filters",
    Level.WARNING,
    "{count} filtered contact pair(s) are left out, the first {first!r}: sixteen collision bits are not enough",
    hint="use fewer groups, or let the model not touch itself",
    doc="Contact filters become bitmasks, which have sixteen bits.",
    loss=True,
)
TEXTURE_LEFT_OUT = declare(
    "sdf-write-texture",
    Level.WARNING,
    "the image {file!r} of material {name!r} is not written: {why}",
    hint="check the path; the material keeps its colour",
    doc="An image that cannot be read.",
    loss=True,
)
LOOK_UNREADABLE = declare(
    "sdf-write-look-unreadable",
    Level.WARNING,
    "the materials of mesh file {file!r} are left out: {why}",
    doc="A mesh file whose materials cannot be read.",
    loss=True,
)
LOOKS_LEFT_OUT = declare(
    "sdf-write-looks",
    Level.WARNING,
    "{count} mesh(es) have several materials, which STL has no place for: they are left out, the first {first!r}",
    hint="choose OBJ, COLLADA or glTF for the meshes",
    doc="STL files have no materials, and an SDFormat visual has one only.",
    loss=True,
)
RENAMED = declare(
    "sdf-write-renamed",
    Level.INFO,
    "{count} {family} name(s) are changed, the first {old!r} to {new!r}",
    hint="links, joints, frames and models beside each other have different names, without '::', 'world' and '__'",
    doc="Names are unique among siblings of all kinds in SDFormat.",
)
SYSTEMS_ADDED = declare(
    "sdf-write-systems",
    Level.INFO,
    "the world gets the systems that run its sensors: {names}",
    hint="without them Gazebo loads the sensors and they publish nothing",
    doc="Sensors of Gazebo are updated by systems of the world, which the source did not name.",
)
SYSTEMS_NEEDED = declare(
    "sdf-write-systems-needed",
    Level.INFO,
    "the sensors of the model publish only in a world with the systems {names}",
    hint="name them as <plugin> in the world that includes the model, or write a world: --world",
    doc="Sensors of Gazebo are updated by systems of the world; a model cannot bring them.",
)

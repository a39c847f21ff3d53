# SPDX-License-Identifier: Apache-2.0
"""What the writer has to say: everything that does not arrive in the layers, and every guess it makes."""

from __future__ import annotations

from simwright.core.diag import Level, declare

NOT_CARRIED = declare(
    "usd-write-not-carried",
    Level.WARNING,
    "{count} {what} cannot be said in the layers and are left out, the first {first!r}",
    hint="keep the source file; OpenUSD has no neutral schema for them",
    doc="Elements of the model without a place in UsdPhysics, ExtendedPhysics or the ROS schemas.",
)
SETTING_LOST = declare(
    "usd-write-setting-lost",
    Level.INFO,
    "{what} of {count} element(s) has no neutral attribute and is left out, the first {first!r}",
    doc="A single value of an element that is written otherwise.",
)
FRAME_FOLDED = declare(
    "usd-write-frame-folded",
    Level.INFO,
    "body {name!r} has no mass and no shape and is fixed to {host}; it becomes a frame",
    doc="REP-0158 1.3: frames that are only a place are Xforms with RosFrameAPI, not rigid bodies.",
    section="1.3",
)
JOINT_IMPLIED = declare(
    "usd-write-joint-implied",
    Level.INFO,
    "the floating joint {name!r} is not written: a body that nothing holds is free",
    doc="UsdPhysics has no floating joint; bodies are free unless a joint holds them.",
)
JOINT_REDUCED = declare(
    "usd-write-joint-reduced",
    Level.WARNING,
    "{what} of joint {name!r} cannot be said by UsdPhysics and is left out",
    hint="keep the source file, or model the coupling by a controller",
    doc="Screw pitches, gears and references have no UsdPhysics attribute.",
    section="1.3",
)
JOINT_SPLIT = declare(
    "usd-write-joint-split",
    Level.WARNING,
    "the freedoms of joint {name!r} do not fit the axes of one generic joint; they are {count} parallel joints",
    hint="insert bodies with small masses between the freedoms, for simulators that lock parallel joints",
    doc="Hinges of a generic joint turn about X, then Y, then Z of one frame.  Other orders become joints side "
    "by side, which our reader and Newton take as one.",
    section="1.3",
)
MASS_MISSING = declare(
    "usd-write-mass-missing",
    Level.WARNING,
    "nothing says how heavy body {name!r} is; no mass is written",
    hint="give it a mass, or a collider with a volume",
    doc="A dynamic body without mass and without solid colliders; a mass is never invented.",
    section="1.3",
)
INERTIA_MISSING = declare(
    "usd-write-inertia-missing",
    Level.WARNING,
    "body {name!r} has a mass of {mass:g} kg and an inertia of zero; no inertia is written",
    hint="give it an inertia; without one, simulators take that of the colliders",
    doc="UsdPhysics takes an inertia of zero as not authored.",
    section="1.3",
)
CONTACT_GUESSED = declare(
    "usd-write-contact-guessed",
    Level.WARNING,
    "{count} collider(s) say nothing about friction, the first {first!r}; 0.5, and no bounce, is written",
    hint="give the colliders a contact material",
    doc="REP-0158 1.3.4 wants a physics material on every collider; the values are a guess.",
    section="1.3.4",
)
CONTACT_COMPLETED = declare(
    "usd-write-contact-completed",
    Level.INFO,
    "{what} of {count} contact material(s) is not said, the first {first!r}; {value:g} is written",
    doc="REP-0158 1.3.4 wants static friction, dynamic friction and restitution to be authored.",
    section="1.3.4",
)
RATE_GUESSED = declare(
    "usd-write-rate-guessed",
    Level.WARNING,
    "{count} published topic(s) have no rate, the first {first!r}; {rate:g} Hz is written",
    hint="give the topic the rate that its users expect",
    doc="REP-0158 2.4 wants a publish rate on every published topic; the value is a guess.",
    section="2.4",
)
FRAME_OVERRIDDEN = declare(
    "usd-write-frame-override",
    Level.WARNING,
    "topic {name!r} is said to be in frame {override!r}, which is elsewhere in the asset; it is in {frame!r}, "
    "where its sensor is",
    hint="place the sensor at the frame, or the frame at the sensor",
    doc="REP-0158 2.4: a frame name that overrides the sensor's own must not be another frame of the asset.",
    section="2.4",
)
DRIVE_EMPTY = declare(
    "usd-write-drive-empty",
    Level.WARNING,
    "{count} joint(s) are commanded by a controller but have no drive, the first {first!r}; a drive without "
    "gains is written",
    hint="choose stiffness and damping of the drives",
    doc="Set points of a controller reach the physics through a drive; its gains cannot be guessed.",
    section="4.2.3",
)
GEOMETRY_LEFT_OUT = declare(
    "usd-write-geometry",
    Level.WARNING,
    "the {kind} of shape {name!r} is not written: {why}",
    hint="convert it to a mesh",
    doc="A geometry that OpenUSD has no type for, or an empty mesh.",
)
COLLIDER_SIMPLIFIED = declare(
    "usd-write-collider-hull",
    Level.INFO,
    "{count} mesh collider(s) are convex hulls by default, the first {first!r}; the variant "
    "collision_fidelity=advanced has the triangles",
    doc="REP-0158 1.3.1: the default fidelity works in every engine, the finer one is a choice.",
    section="1.3.1",
)
TEXTURE_LEFT_OUT = declare(
    "usd-write-texture",
    Level.WARNING,
    "the image {file!r} of material {name!r} is not written: {why}",
    hint="provide it as PNG or JPEG",
    doc="REP-0158 3.2 allows PNG and JPEG images that are inside the asset's folder.",
    section="3.2",
)
EXTRAS_LOST = declare(
    "usd-write-extras",
    Level.WARNING,
    "{count} attribute(s) of {space} have no place in the layers, the first {first!r}",
    hint="keep the source file for the tool they are meant for",
    doc="Solver attributes of elements that are not written, or of a namespace without a vendor layer.",
    section="1.4",
)

# SPDX-License-Identifier: Apache-2.0
"""What the writer has to say: everything that does not arrive in the layers, and every guess it makes."""

from __future__ import annotations

from simwright.core.diag import Level, declare

NOT_CARRIED = declare(
    "usd-write-not-carried",
    Level.WARNING,
    "{count} {what} cannot be expressed in the layers and are left out, the first {first!r}",
    hint="keep the source file; OpenUSD has no neutral schema for them",
    doc="Elements of the model without a place in UsdPhysics, ExtendedPhysics or the ROS schemas.",
    loss=True,
)
SETTING_LOST = declare(
    "usd-write-setting-lost",
    Level.WARNING,
    "{what} of {count} element(s) has no neutral attribute and is left out, the first {first!r}",
    doc="One value of an element; the rest of the element is written.",
    loss=True,
)
FRAME_FOLDED = declare(
    "usd-write-frame-folded",
    Level.INFO,
    "body {name!r} has no mass and is fixed to {host}; it becomes a frame there, with all that is on it",
    doc="REP-0158 1.3: frames that are only a place are Xforms with RosFrameAPI, not rigid bodies.",
    section="1.3",
)
JOINT_REDUCED = declare(
    "usd-write-joint-reduced",
    Level.WARNING,
    "{what} of joint {name!r} cannot be expressed in UsdPhysics and is left out",
    hint="keep the source file, or model the coupling by a controller",
    doc="Something about a joint that no schema and no note can hold.",
    section="1.3",
    loss=True,
)
NOTED = declare(
    "usd-write-noted",
    Level.INFO,
    "{what} of {name!r} has no schema; it is kept in customData for Simwright; other tools do not see it",
    doc="A value without a schema is kept in the custom data of its prim, so that nothing is lost on the way back.",
)
JOINT_REORDERED = declare(
    "usd-write-joint-order",
    Level.WARNING,
    "the degrees of freedom of joint {name!r} come in an order that no generic joint has; other tools see {words}, "
    "the exact ones are kept in customData for Simwright",
    hint="insert bodies with small masses between them, if other simulators are to move them in that order",
    doc="Hinges of a generic joint turn about X, then Y, then Z of one frame, after all slides.  A stack of another "
    "order is written as the nearest generic joint, with its own degrees of freedom noted, so it reads back the same.",
    section="1.3",
)
MASS_MISSING = declare(
    "usd-write-mass-missing",
    Level.WARNING,
    "body {name!r} has no mass; {written}",
    hint="give it a mass, or a collider with a volume",
    doc="A dynamic body without mass: engines weigh the colliders of a body that says nothing, so what comes nearest "
    "to no mass is written, as in MJCF and SDFormat, and is read back as none.  Nothing is added to an OpenUSD source.",
    section="1.3",
)
INERTIA_MISSING = declare(
    "usd-write-inertia-missing",
    Level.WARNING,
    "body {name!r} has a mass of {mass:g} kg and zero inertia, which OpenUSD cannot express; {value:g} kg m^2 about "
    "each axis is written",
    hint="give it the inertia of the part",
    doc="UsdPhysics takes an inertia of zero as not authored, and then every simulator computes one from the "
    "colliders.  Simwright reads the zero back.",
    section="1.3",
)
INERTIA_IMPOSSIBLE = declare(
    "usd-write-inertia-impossible",
    Level.WARNING,
    "body {name!r} has moments of inertia {moments} that no solid body can have; {nearest} is written, and the "
    "source's values are noted beside it",
    hint="compute the inertia again from the part; all moments are above zero, none is above the sum of the other two",
    doc="Engines reject impossible inertia or repair it, each in its own way.  The nearest distribution of mass that "
    "a solid body can have is written; along each axis it has at least a ten-thousandth of its largest spread.",
    section="1.3",
)
BODY_BARE = declare(
    "usd-write-body-bare",
    Level.WARNING,
    "{count} body(ies) that are named like frames have a mass, the first {first!r}; they stay bodies",
    hint="if it is only a frame, remove its mass; it is then written as a frame",
    doc="REP-0158 1.3: dummy frames are no rigid bodies.  Mass is never taken away from a robot.",
    section="1.3",
)
CONTACT_GUESSED = declare(
    "usd-write-contact-guessed",
    Level.WARNING,
    "{count} collider(s) have no friction values, the first {first!r}; friction 0.5 and restitution 0 are written",
    hint="give the colliders a contact material",
    doc="REP-0158 1.3.4 wants a physics material on every collider; the values are a guess.",
    section="1.3.4",
)
CONTACT_COMPLETED = declare(
    "usd-write-contact-completed",
    Level.INFO,
    "{what} of {count} contact material(s) is not given, the first {first!r}; {value:g} is written",
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
    "topic {name!r} has the frame {override!r}, which is elsewhere in the asset; other tools see it in "
    "{frame!r}, where its sensor is",
    hint="place the sensor at the frame, or the frame at the sensor",
    doc="REP-0158 2.4: a frame name that overrides the sensor's own must not be another frame of the asset.  The "
    "source's name is noted for Simwright.",
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
    loss=True,
)
COLLIDER_SIMPLIFIED = declare(
    "usd-write-collider-hull",
    Level.INFO,
    "{count} mesh collider(s) are convex hulls by default, the first {first!r}; the variant "
    "collision_fidelity=advanced has the triangles",
    doc="REP-0158 1.3.1: the default fidelity works in every engine, the finer one is a choice.",
    section="1.3.1",
)
OUTLINE_MESHED = declare(
    "usd-write-outline-mesh",
    Level.INFO,
    "{count} extruded outline(s) are written as meshes, the first {first!r}",
    doc="OpenUSD has no type for SDFormat's polylines; they come back as meshes.",
)
COLLIDER_ROUND = declare(
    "usd-write-collider-round",
    Level.INFO,
    "{count} round collider(s) are scaled unevenly, the first {first!r}; they are convex meshes within 0.5 % of their "
    "surface, with the exact radii noted beside them",
    doc="UsdPhysics allows no uneven scale on spheres, capsules, cylinders and cones, and has no ellipsoid.",
    section="1.4",
)
COLLIDER_OPEN = declare(
    "usd-write-collider-open",
    Level.WARNING,
    "{count} collision mesh(es) of the source are not closed, the first {first!r}; the default collider is the convex "
    "hull, the open triangles are in the variant collision_fidelity=advanced",
    hint="close the mesh in the tool it comes from before it is used as triangles",
    doc="REP-0158 3.4: collision meshes are watertight.  The hull always is; the triangles are kept as they were.",
    section="3.4",
)
LOOK_HIGHLIGHTS = declare(
    "usd-write-look-highlights",
    Level.INFO,
    "specular colours of {count} material(s) of mesh files are left out, the first {first!r}; their shininess is "
    "kept as roughness",
    doc="Phong highlights have no counterpart in UsdPreviewSurface; its specular colour would make metal of them.",
    section="3.1",
    loss=True,
)
LOOK_UNREADABLE = declare(
    "usd-write-look-unreadable",
    Level.WARNING,
    "the materials of the mesh file {file!r} cannot be read: {why}",
    hint="export the mesh again, or give the visual a material in the robot file",
    doc="A visual without a material of its own has those of its mesh file.",
    section="3.1",
    loss=True,
)
TOPIC_ABSOLUTE = declare(
    "usd-write-topic-absolute",
    Level.WARNING,
    "{count} interface(s) have absolute names, the first {first!r}; they are the same in every namespace",
    hint="drop the leading slash, if two of these robots are to run side by side",
    doc="REP-0158 2.4: relative names follow the namespace of the robot.  A name of the source is not changed.",
    section="2.4",
)
SLIDE_ENDLESS = declare(
    "usd-write-slide-endless",
    Level.WARNING,
    "{count} sliding joint(s) have no end stops, the first {first!r}; infinite limits are written",
    hint="give the joint its real travel",
    doc="REP-0158 1.3: a prismatic joint has limits.  They are never invented.",
    section="1.3",
)
LIGHT_BARE = declare(
    "usd-write-light-bare",
    Level.WARNING,
    "{count} light(s) of links have no glowing shape beside them, the first {first!r}",
    hint="give the lens or bulb an emissive material",
    doc="REP-0158 3.6: a lamp is a light and a glowing shape at the same place.",
    section="3.6",
)
GLOW_DARK = declare(
    "usd-write-glow-dark",
    Level.WARNING,
    "{count} shape(s) glow, the first {first!r}, but there is no light: glowing shapes light nothing",
    hint="add a light to the world",
    doc="REP-0158 3.6: emissive materials are not used for illumination.",
    section="3.6",
)
COORDINATES_MISSING = declare(
    "usd-write-coordinates",
    Level.WARNING,
    "material {name!r} is used by {count} mesh(es) without texture coordinates, the first {first!r}; "
    "renderers show one colour of its images there",
    hint="give the mesh texture coordinates, or the shape a material without images",
    doc="A UsdUVTexture reads a primvar that the mesh does not have, so every point gets the same texel.",
    section="3.1",
    loss=True,
)
TEXTURE_LEFT_OUT = declare(
    "usd-write-texture",
    Level.WARNING,
    "the image {file!r} of material {name!r} is not written: {why}",
    hint="provide it as PNG or JPEG",
    doc="REP-0158 3.2 allows PNG and JPEG images that are inside the asset's folder.",
    section="3.2",
    loss=True,
)
EXTRAS_LOST = declare(
    "usd-write-extras",
    Level.WARNING,
    "{count} attribute(s) of {space} have no place in the layers, the first {first!r}",
    hint="keep the source file for the tool they are meant for",
    doc="Solver attributes of elements that are not written, or of a namespace without a vendor layer.",
    section="1.4",
    loss=True,
)
TEXTURE_UNWORN = declare(
    "usd-write-texture-unworn",
    Level.WARNING,
    "the images of {count} cube or sky texture(s) that no material wears are left out: {names}",
    hint="keep the MJCF if a program shows them, or give a material the texture",
    doc="OpenUSD has images in materials; a texture of MJCF that nothing wears has no place there.",
    section="1.4",
    loss=True,
)
ENGINE_LEFT_OUT = declare(
    "usd-write-engine-left-out",
    Level.INFO,
    "{files} left out: the asset is for {engine}",
    hint="convert without --for to include the layers of all engines",
    doc="--for chooses the engine layers of an asset. What only another engine understands is not in it.",
    section="1.4",
)
LOCK_WIDE = declare(
    "usd-write-lock-wide",
    Level.INFO,
    "{count} joint(s) with equal limits are written with limits that differ by rounding, the first {first!r}",
    hint="nothing has to be done: MuJoCo's reader of OpenUSD refuses a range without width",
    doc="In assets for MuJoCo alone.  A joint that cannot move keeps its degree of freedom, as in every other format.",
    loss=True,
)
PLANE_THICK = declare(
    "usd-write-plane-thick",
    Level.INFO,
    "{count} plane(s) on moving links are boxes of {thickness:g} m, the first {first!r}",
    hint="nothing to do: the plane is visual only; MuJoCo's OpenUSD reader refuses moving planes",
    doc="In assets for MuJoCo alone: it has planes on the world only.",
    loss=True,
)
PAIRS_TOUCH = declare(
    "usd-write-pairs-touch",
    Level.WARNING,
    "MuJoCo's USD reader lets {count} pair(s) of colliders touch that are apart in the asset, the first {first}",
    hint="convert to MJCF for MuJoCo, or keep whole bodies apart",
    doc="The reader (4.0.0) keeps whole bodies apart; it has no words for some colliders of one, nor for the world.",
    loss=True,
)
PAIR_FRICTION = declare(
    "usd-write-pair-friction",
    Level.WARNING,
    "{count} contact pair(s) have a friction that their colliders have not, the first {first}; only MuJoCo's MJCF "
    "knows it",
    hint="give the colliders the friction of their pair, or keep to MuJoCo",
    doc="UsdPhysics has friction of materials; that of a pair of MJCF is kept in mujoco.usda, and other engines take "
    "the one of the colliders.",
)

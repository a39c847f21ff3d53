# SPDX-License-Identifier: Apache-2.0
"""What the writer has to say: everything that does not arrive in MJCF, and every number it has to choose."""

from __future__ import annotations

from simwright.core.diag import Level, declare

NOT_CARRIED = declare(
    "mjcf-write-not-carried",
    Level.WARNING,
    "{count} {what} cannot be expressed in MJCF and are left out, the first {first!r}",
    hint="keep the source file; {advice}",
    doc="Elements of the model for which MuJoCo has no element.",
    section="3.8",
    loss=True,
)
SETTING_LOST = declare(
    "mjcf-write-setting-lost",
    Level.WARNING,
    "{what} of {count} element(s) has no MJCF attribute and is left out, the first {first!r}",
    doc="One value of an element; the rest of the element is written.",
    section="3.8",
    loss=True,
)
# beside SETTING_LOST because motion stays the same: no reason to warn
LOOK_LOST = declare(
    "mjcf-write-look-lost",
    Level.INFO,
    "{what} of {count} element(s) has no MJCF attribute and is left out, the first {first!r}",
    doc="A single value of a material or a camera, which changes nothing but pictures.",
    section="3.8",
    loss=True,
)
EXTRAS_LOST = declare(
    "mjcf-write-extras",
    Level.WARNING,
    "{count} attribute(s) of {space} have no place in MJCF, the first {first!r}",
    hint="keep the source file for the tool they are meant for",
    doc="Attributes of other solvers are discarded, not injected (REP-0158 3.8).",
    section="3.8",
    loss=True,
)
ROS_ASIDE = declare(
    "mjcf-write-ros-aside",
    Level.INFO,
    "{count} ROS interface(s), controller(s) and frame(s) are in ros.yaml: MuJoCo has no plugin for them",
    doc="MuJoCo ships no ROS plugin, so an <extension> would not compile; a sidecar file has them.",
    section="3.8",
)
# no loss: a number is added that the source does not have
MASS_INVENTED = declare(
    "mjcf-write-mass-invented",
    Level.WARNING,
    "body {name!r} moves and has no {what}; {value:g} is written, which MuJoCo needs",
    hint="give the body its real mass and inertia",
    doc="MuJoCo refuses moving bodies without mass or inertia.",
)
INERTIA_ADJUSTED = declare(
    "mjcf-write-inertia-adjusted",
    Level.WARNING,
    "{count} inertia(s) are physically impossible, the first of body {name!r} ({found}); {written} is written",
    hint="correct the inertia: each moment is at most the sum of the other two",
    doc="MuJoCo refuses inertias that break the triangle inequality; the nearest possible one is written.",
)
ROOT_FIXED = declare(
    "mjcf-write-root-fixed",
    Level.INFO,
    "the root body {name!r} and what is fixed to it have no mass; it is fixed to the world",
    hint="give it a mass to let it float",
    doc="A free body needs a mass; a root without one is taken as the place where the robot stands.",
)
BODY_FOLDED = declare(
    "mjcf-write-kinematic",
    Level.WARNING,
    "the kinematic body {name!r} is held by joint {joint!r}; it moves by that joint alone",
    hint="remove the joint to move the body from outside",
    doc="Bodies that are moved from outside (mocap) have no joints in MuJoCo.",
)
JOINT_REVERSED = declare(
    "mjcf-write-joint-reversed",
    Level.INFO,
    "joint {name!r} is written from its child to its parent; its coordinates keep their meaning{but}",
    doc="The tree of bodies reaches the joint's child first; axis and frames are turned round.",
)
JOINT_REDUCED = declare(
    "mjcf-write-joint-reduced",
    Level.WARNING,
    "{what} of joint {name!r} cannot be expressed in MJCF and is left out",
    hint="keep the source file, or model it by hand",
    doc="A part of a joint that neither MuJoCo's joints nor its equality constraints have.",
    loss=True,
)
SERVO_IDLE = declare(
    "mjcf-write-servo-idle",
    Level.WARNING,
    "{count} servo(s) have no gains, the first {first!r}; zero is written, and they push with no force",
    hint="set kp or kv of the actuators",
    doc="A position or velocity interface of ros2_control or a transmission says what is controlled, and not how "
    "stiffly.  MuJoCo would take a gain of one.",
)
DRIVE_ACCELERATION = declare(
    "mjcf-write-drive-acceleration",
    Level.WARNING,
    "{count} drive(s) are given as accelerations, the first on {first!r}; they are left out",
    hint="author the gains as forces: drive type 'force'",
    doc="MuJoCo's actuators make forces; gains per unit of inertia have no counterpart.",
    loss=True,
)
FRICTION_APPROXIMATED = declare(
    "mjcf-write-friction",
    Level.WARNING,
    "{count} contact material(s) have different static and dynamic friction, the first {first!r}; "
    "the dynamic one is written",
    doc="REP-0158 1.3.4: MuJoCo has one coefficient of sliding friction, which is approximated.",
    section="1.3.4",
    loss=True,
)
# no loss: the mesh is written whole, MuJoCo takes the hull of it
COLLIDER_HULL = declare(
    "mjcf-write-collider-hull",
    Level.WARNING,
    "{count} mesh collider(s) are more than their hull, the first {first!r}; MuJoCo collides with convex hulls",
    hint="cut the mesh into convex parts to keep its hollows",
    doc="MuJoCo takes every mesh collider as its convex hull.",
)
GEOMETRY_LEFT_OUT = declare(
    "mjcf-write-geometry",
    Level.WARNING,
    "the {kind} of shape {name!r} is not written: {why}",
    hint="{advice}",
    doc="A geometry that MuJoCo cannot take.",
    loss=True,
)
TEXTURE_LEFT_OUT = declare(
    "mjcf-write-texture",
    Level.WARNING,
    "the image {file!r} of material {name!r} is not written: {why}",
    hint="{advice}",
    doc="MuJoCo reads PNG images; others are turned into PNG where Pillow is installed.",
    loss=True,
)
LOOK_UNREADABLE = declare(
    "mjcf-write-look-unreadable",
    Level.WARNING,
    "the materials of mesh file {file!r} cannot be read: {why}",
    hint="its visuals are written without them; correct the file",
    doc="A mesh file names materials that cannot be read.",
    loss=True,
)
RENAMED = declare(
    "mjcf-write-renamed",
    Level.INFO,
    "{count} {family} name(s) are changed because MuJoCo has them already, the first {old!r} to {new!r}",
    doc="Names are unique per kind of element, and 'world' is MuJoCo's own.",
)
JOINT_LOCKED = declare(
    "mjcf-write-joint-locked",
    Level.INFO,
    "the range of {count} joint(s) has no width, the first {first!r}; an equality holds each where it is",
    hint="give the joint a range, or none",
    doc="MuJoCo ignores a range whose ends are equal; a joint that cannot move is held by a constraint.",
)
# told because MuJoCo's default would be another one
INTEGRATOR_CHOSEN = declare(
    "mjcf-write-integrator",
    Level.INFO,
    "the drives have damping, so the integrator 'implicitfast' is written",
    doc="Stiff drives are unstable with MuJoCo's default integrator, which treats their damping explicitly.",
)
PAIRS_KEPT_APART = declare(
    "mjcf-write-pairs-apart",
    Level.WARNING,
    "{count} pair(s) of colliders that touch in the source never touch in MuJoCo, the first {first}",
    hint="fixed links are one body in MuJoCo, which does not touch the bodies that joints hold to it; add a <pair> for "
    "those that must touch",
    doc="MuJoCo keeps a body and its parent apart, with everything that is welded to them.",
    loss=True,
)

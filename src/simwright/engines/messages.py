# SPDX-License-Identifier: Apache-2.0
"""What engines cannot do of what the arrays say."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Kind, Level, Reporter, declare
from simwright.runtime.labels import Labels

MESH_AS_HULL = declare(
    "engine-mesh-as-hull",
    Level.WARNING,
    "{count} colliders are meshes that are not convex (e.g. {name!r}): MuJoCo collides with their convex hulls",
    hint="cut them into convex pieces where hollows matter",
    doc="MuJoCo's meshes collide as convex hulls.",
    loss=True,
)
SHAPE_FLAT = declare(
    "engine-shape-flat",
    Level.WARNING,
    "collider {name!r} is a mesh without volume: a thin box around it is used",
    hint="give it a thickness, or use a box",
    doc="A hull needs a volume.",
)
PLANE_MOVING = declare(
    "engine-plane-moving",
    Level.WARNING,
    "plane {name!r} is on a body that moves: it touches nothing",
    hint="use a box",
    doc="MuJoCo's planes without end stand still.",
)
SHAPE_NOT_SUPPORTED = declare(
    "engine-shape-not-supported",
    Level.WARNING,
    "collider {name!r} is a {kind} on a body that moves, which {engine} does not have: it touches nothing",
    hint="use a mesh",
    doc="A kind of shape that an engine does not have.",
)
LOOP_NOT_SUPPORTED = declare(
    "engine-loop-not-supported",
    Level.WARNING,
    "joint {name!r} closes a loop as {kind}, which MuJoCo does not have: it holds nothing",
    hint="cut the loop at a fixed, ball or revolute joint",
    doc="Loops can be closed by fixed, ball, revolute and distance joints.",
    loss=True,
)
JOINT_DISABLED = declare(
    "engine-joint-disabled",
    Level.WARNING,
    "joint {name!r} is disabled but carries its body: it holds all the same",
    hint="use a free joint, or enable it",
    doc="A joint of an articulation is disabled; only joints that close loops can be let go.",
)
VELOCITY_LIMIT = declare(
    "engine-velocity-limit",
    Level.WARNING,
    "{count} joints have a velocity limit (e.g. {name!r}), which {engine} does not keep",
    doc="A limit of velocity that an engine has no place for.",
    loss=True,
)
RESTITUTION = declare(
    "engine-restitution",
    Level.WARNING,
    "{count} colliders have a restitution (e.g. {name!r}), which {engine} does not use",
    doc="Bouncing is not part of the contact model that stiffness and dissipation time describe.",
    loss=True,
)
DRIVE_NOT_SUPPORTED = declare(
    "engine-drive-not-supported",
    Level.WARNING,
    "joint {name!r} moves freely and cannot be driven: its targets have no effect",
    doc="A drive on a joint of six freedoms.",
    loss=True,
)
BODY_MASSLESS = declare(
    "engine-body-massless",
    Level.WARNING,
    "body {name!r} moves and has no mass: it gets {mass:g} kg",
    hint="give it a mass, or join it to another body",
    doc="Nothing can be computed for a body that moves without mass or inertia.",
)
MIMIC_NOT_SUPPORTED = declare(
    "engine-mimic-not-supported",
    Level.WARNING,
    "joint {name!r} follows another one, but they have not one freedom each: it moves by itself",
    doc="Followers and their leaders have one freedom.",
    loss=True,
)
STATE_UNSTABLE = declare(
    "engine-unstable",
    Level.ERROR,
    "the simulation became unstable at {time:.4f} s in world {world}: {what} {name!r} has {value}",
    hint="use a smaller time step, softer gains, or more joint armature",
    doc="Coordinates or velocities grew without bound or are no numbers any more.",
)


class Teller:
    """Reports about elements of one world by their number."""

    def __init__(self, labels: Labels, reporter: Reporter) -> None:
        self._names = (*labels.local, *labels.shared)
        self._reporter = reporter

    def tell(self, what: Kind, number: int, /, **more: Any) -> None:
        """Report what is said of an element."""
        self._reporter.report(what, name=self._names[number], **more)

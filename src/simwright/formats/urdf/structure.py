# SPDX-License-Identifier: Apache-2.0
"""The tree of links: its root, the ``world`` link, and everything that makes it no tree.

* A URDF robot floats unless something holds it: its root link is a body without a joint.
* A root link called ``world`` *is* the world: it is no body, its joints hold their children to the world and
  its shapes stand still.
* A link with two parents or a cycle is no tree; the joint that closes it is kept as a loop joint.
"""

from __future__ import annotations

from collections import Counter

from simwright.core.diag import Level, declare
from simwright.formats.urdf.document import Document
from simwright.model.asset import Camera, Sensor, Shape
from simwright.model.joint import WORLD, JointKind
from simwright.model.kinematics import build_tree, place_bodies

NO_LINKS = declare(
    "urdf-no-links",
    Level.ERROR,
    "robot {robot!r} has no links",
    hint="a robot has at least one <link>",
    doc="A URDF file without a single link.",
)
NO_ROOT = declare(
    "urdf-no-root",
    Level.ERROR,
    "robot {robot!r} has no root: every link is the child of a joint",
    hint="break the cycle; link {root!r} is taken as the root",
    doc="The joints form a cycle that no root link starts.",
)
SEVERAL_ROOTS = declare(
    "urdf-several-roots",
    Level.ERROR,
    "robot {robot!r} has {count} root links: {roots}",
    hint="connect them with joints; each is read as a robot of its own that floats",
    doc="The links do not form one tree.",
)
TWO_PARENTS = declare(
    "urdf-two-parents",
    Level.ERROR,
    "link {link!r} is the child of {count} joints: {joints}",
    hint="a link has one parent; joint {loop!r} is read as a loop",
    doc="URDF is a tree: a link may be the child of one joint only.",
)
CYCLE = declare(
    "urdf-cycle",
    Level.ERROR,
    "joint {joint!r} closes a cycle from link {parent!r} to link {child!r}",
    hint="URDF has no loops; it is read as a loop joint",
    doc="Following the joints leads back to where it started.",
)
WORLD_INERTIA = declare(
    "urdf-world-inertia",
    Level.WARNING,
    "the root link 'world' has a mass of {mass:g} kg, which is not used",
    hint="rename the link if it is a body",
    doc="A root link called world stands for the world and cannot move.",
)
MASSLESS = declare(
    "urdf-massless",
    Level.WARNING,
    "link {link!r} moves on joint {joint!r} but has no mass, nor has anything fixed to it",
    hint="give it an <inertial>",
    doc="A moving link without mass; simulators refuse it or make up a mass.",
)

_WORLD_LINK = "world"


def finish_structure(document: Document) -> None:
    """Check the tree, turn the world link into the world, and place every body."""
    asset = document.asset
    if not asset.bodies:
        document.reporter.report(NO_LINKS, document.where(document.root), robot=asset.name)
        return
    _mark_loops(document)
    _check_roots(document)
    _merge_world(document)
    _check_massless(document)
    place_bodies(asset)


def _mark_loops(document: Document) -> None:
    asset = document.asset
    parents = Counter(joint.child for joint in asset.joints)
    for joint in build_tree(asset).loops:
        joint.closes_loop = True
        if parents[joint.child] > 1:
            names = [j.name for j in asset.joints if j.child == joint.child]
            document.reporter.report(
                TWO_PARENTS,
                joint.source,
                link=joint.child,
                count=len(names),
                joints=", ".join(names),
                loop=joint.name,
            )
        else:
            document.reporter.report(
                CYCLE, joint.source, joint=joint.name, parent=joint.parent, child=joint.child
            )


def _check_roots(document: Document) -> None:
    asset = document.asset
    where = document.where(document.root)
    held = {joint.child for joint in asset.joints}
    roots = [body.name for body in asset.bodies if body.name not in held]
    if not roots:
        document.reporter.report(NO_ROOT, where, robot=asset.name, root=build_tree(asset).roots[0])
    elif len(roots) > 1:
        shown = ", ".join(roots[:10]) + (" ..." if len(roots) > 10 else "")
        document.reporter.report(SEVERAL_ROOTS, where, robot=asset.name, count=len(roots), roots=shown)


def _merge_world(document: Document) -> None:
    """A root link called ``world`` becomes the world itself."""
    asset = document.asset
    body = next((b for b in asset.bodies if b.name == _WORLD_LINK), None)
    if body is None or any(joint.child == _WORLD_LINK for joint in asset.joints):
        return
    if body.inertial is not None and body.inertial.mass > 0:
        document.reporter.report(WORLD_INERTIA, body.source, mass=body.inertial.mass)
    asset.bodies.remove(body)
    for joint in asset.joints:
        if joint.parent == _WORLD_LINK:
            joint.parent = WORLD
    placed: list[Shape | Sensor | Camera] = [*asset.shapes, *asset.sensors, *asset.cameras]
    for element in placed:
        if element.body == _WORLD_LINK:
            element.body = WORLD


def _check_massless(document: Document) -> None:
    """Report moving links whose rigid group has no mass at all."""
    asset = document.asset
    masses = {body.name: body.inertial.mass if body.inertial else 0.0 for body in asset.bodies}
    sources = {body.name: body.source for body in asset.bodies}
    edges = build_tree(asset).edges
    for edge in reversed(edges):
        if edge.joint.kind is JointKind.FIXED and edge.parent != WORLD:
            masses[edge.parent] += masses[edge.child]
    for edge in edges:
        if edge.joint.kind is not JointKind.FIXED and masses[edge.child] == 0.0:
            source = sources[edge.child]
            document.reporter.report(MASSLESS, source, link=edge.child, joint=edge.joint.name)

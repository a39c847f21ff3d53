# SPDX-License-Identifier: Apache-2.0
"""URDF and xacro to the neutral model: the table of contents, and the tree of links at the end.

* A URDF robot floats unless something holds it: its root link is a body without a joint.
* A root link called ``world`` *is* the world: it is no body, its joints hold their children to the world and
  its shapes stand still.
* A link with two parents or a cycle is no tree; the joint that closes it is kept as a loop joint.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.formats.format import ReadOptions
from simwright.formats.urdf.control import read_control
from simwright.formats.urdf.gazebo import read_gazebo
from simwright.formats.urdf.joints import read_joints
from simwright.formats.urdf.links import read_links
from simwright.formats.urdf.materials import MaterialTable
from simwright.formats.urdf.reader import UrdfReader
from simwright.formats.urdf.xacro import expand_xacro, needs_xacro
from simwright.formats.xml import parse
from simwright.model.asset import Asset, Camera, Sensor, Shape
from simwright.model.joint import WORLD, JointKind
from simwright.model.kinematics import build_tree, place_bodies

# children of <robot> that are read; others are reported
_TOP_LEVEL = {"link", "joint", "material", "transmission", "gazebo", "ros2_control"}


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read a URDF or xacro file; what is wrong with it is reported, what is usable is kept."""
    reader = _open_document(Path(path), options, reporter)
    reader.unknown(reader.root, _TOP_LEVEL)
    materials = MaterialTable(reader)
    # before links: visuals name materials that may be defined anywhere
    materials.read_global()
    read_links(reader, materials)
    read_joints(reader)
    read_control(reader)
    # last: its settings change links, joints and shapes that are there by then
    read_gazebo(reader)
    _finish_structure(reader)
    asset = reader.asset
    asset.provenance.file = str(path)
    asset.provenance.format = "urdf"
    asset.provenance.version = str(reader.root.get("version") or "1.0")
    return asset


def _open_document(path: Path, options: ReadOptions, reporter: Reporter) -> UrdfReader:
    """The parsed reader, expanded if it is xacro."""
    root, files = parse(path), list[str]()
    gate = options.make_gate(path, reporter)
    # by content too: xacro elements in a file called .urdf would be lost silently
    if needs_xacro(path, root):
        root, files = expand_xacro(path, options.arguments, gate, reporter)
    if root.tag != "robot":
        raise ParseError(
            f"this is no URDF file: its root element is <{root.tag}>",
            hint="a URDF file starts with <robot>",
            where=Where(str(path), root.sourceline),
        )
    return UrdfReader(path, root, gate, reporter, files)


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


def _finish_structure(reader: UrdfReader) -> None:
    """Check the tree, turn the world link into the world, and place every body."""
    asset = reader.asset
    if not asset.bodies:
        reader.reporter.report(NO_LINKS, reader.where(reader.root), robot=asset.name)
        return
    _mark_loops(reader)
    _check_roots(reader)
    _merge_world(reader)
    _check_massless(reader)
    place_bodies(asset)


def _mark_loops(reader: UrdfReader) -> None:
    asset = reader.asset
    parents = Counter(joint.child for joint in asset.joints)
    # the spanning tree keeps the first joint to a link
    for joint in build_tree(asset).loops:
        joint.closes_loop = True
        if parents[joint.child] > 1:
            names = [j.name for j in asset.joints if j.child == joint.child]
            reader.reporter.report(
                TWO_PARENTS,
                joint.source,
                link=joint.child,
                count=len(names),
                joints=", ".join(names),
                loop=joint.name,
            )
        else:
            reader.reporter.report(
                CYCLE, joint.source, joint=joint.name, parent=joint.parent, child=joint.child
            )


def _check_roots(reader: UrdfReader) -> None:
    asset = reader.asset
    where = reader.where(reader.root)
    held = {joint.child for joint in asset.joints}
    roots = [body.name for body in asset.bodies if body.name not in held]
    if not roots:
        reader.reporter.report(NO_ROOT, where, robot=asset.name, root=build_tree(asset).roots[0])
    elif len(roots) > 1:
        shown = ", ".join(roots[:10]) + (" ..." if len(roots) > 10 else "")
        reader.reporter.report(SEVERAL_ROOTS, where, robot=asset.name, count=len(roots), roots=shown)


def _merge_world(reader: UrdfReader) -> None:
    """A root link called ``world`` becomes the world itself."""
    asset = reader.asset
    body = next((b for b in asset.bodies if b.name == _WORLD_LINK), None)
    # a link called world that hangs on a joint is an ordinary link
    if body is None or any(joint.child == _WORLD_LINK for joint in asset.joints):
        return
    if body.inertial is not None and body.inertial.mass > 0:
        reader.reporter.report(WORLD_INERTIA, body.source, mass=body.inertial.mass)
    asset.bodies.remove(body)
    for joint in asset.joints:
        if joint.parent == _WORLD_LINK:
            joint.parent = WORLD
    placed: list[Shape | Sensor | Camera] = [*asset.shapes, *asset.sensors, *asset.cameras]
    for element in placed:
        if element.body == _WORLD_LINK:
            element.body = WORLD


def _check_massless(reader: UrdfReader) -> None:
    """Report moving links whose rigid group has no mass at all."""
    asset = reader.asset
    masses = {body.name: body.inertial.mass if body.inertial else 0.0 for body in asset.bodies}
    sources = {body.name: body.source for body in asset.bodies}
    edges = build_tree(asset).edges
    # children before parents, so that masses of fixed links add up inwards
    for edge in reversed(edges):
        if edge.joint.kind is JointKind.FIXED and edge.parent != WORLD:
            masses[edge.parent] += masses[edge.child]
    for edge in edges:
        if edge.joint.kind is not JointKind.FIXED and masses[edge.child] == 0.0:
            source = sources[edge.child]
            reader.reporter.report(MASSLESS, source, link=edge.child, joint=edge.joint.name)

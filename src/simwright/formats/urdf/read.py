# SPDX-License-Identifier: Apache-2.0
"""URDF and xacro to the neutral model: the table of contents, links, and the tree of links at the end.

* A URDF robot floats unless something holds it: its root link is a body without a joint.
* A root link called ``world`` *is* the world: it is not a body, its joints hold their children to the world and
  its shapes stand still.
* A link with two parents or a cycle is not a tree; the joint that closes it is kept as a loop joint.
* A link without ``<inertial>`` has mass zero, never a mass computed from its shapes (URDF, ``link/inertial``).
  The inertia tensor is given about the centre of mass in the axes of ``inertial/origin``.
* Geometry is box, cylinder, sphere and mesh.  Common dialects are read too: capsule, ellipsoid, PyBullet's plane,
  Drake's capsule and ellipsoid.  A mesh's ``scale`` goes to the shape (it may mirror); the mesh itself stays unread
  until somebody looks at it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.core.math3d import IDENTITY, Array, Pose, quat_between
from simwright.formats.format import ReadOptions
from simwright.formats.urdf.control import read_control
from simwright.formats.urdf.gazebo import read_gazebo
from simwright.formats.urdf.joints import read_joints
from simwright.formats.urdf.reader import DUPLICATE_NAME, MaterialTable, UrdfReader
from simwright.formats.urdf.xacro import expand_xacro, needs_xacro
from simwright.formats.xml import Element, parse
from simwright.model.asset import Asset, Body, Camera, Sensor, Shape
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, JointKind
from simwright.model.kinematics import build_tree, place_bodies
from simwright.model.material import PhysicsMaterial

# children of <robot> that are read; others are reported
_TOP_LEVEL = {"link", "joint", "material", "transmission", "gazebo", "ros2_control"}


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read a URDF or xacro file; what is wrong with it is reported, what is usable is kept."""
    reader = _open_document(Path(path), options, reporter)
    reader.report_unknown(reader.root, _TOP_LEVEL)
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
    if needs_xacro(path, root, reporter):
        root, files = expand_xacro(path, options.arguments, gate, reporter)
    if root.tag != "robot":
        raise ParseError(
            f"this is not a URDF file: its root element is <{root.tag}>",
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


MASS_MISSING = declare(
    "urdf-mass-missing",
    Level.ERROR,
    "the <inertial> of link {link!r} has no mass",
    hint="write <mass value=.../>; zero is used",
    doc="A link has an <inertial> without a <mass> value.",
)
MASS_NEGATIVE = declare(
    "urdf-mass-negative",
    Level.ERROR,
    "link {link!r} has mass {mass:g} kg",
    hint="a mass is positive; zero is used",
    doc="A link has a negative mass.",
)
MASS_ZERO = declare(
    "urdf-mass-zero",
    Level.WARNING,
    "link {link!r} has an <inertial> of mass zero",
    hint="give it its mass, or leave <inertial> out",
    doc="A link has an <inertial> with mass zero; simulators refuse it or make up a mass.",
)
INERTIA_MISSING = declare(
    "urdf-inertia-missing",
    Level.ERROR,
    "the <inertial> of link {link!r} has no inertia",
    hint="write <inertia ixx=... />; zero is used",
    doc="A link has an <inertial> without an <inertia>.",
)
INERTIA_INDEFINITE = declare(
    "urdf-inertia-indefinite",
    Level.WARNING,
    "the inertia of link {link!r} is not positive definite: principal moments {moments}",
    hint="no rigid body has it; recompute it from the geometry",
    doc="The inertia tensor of a link with mass has a principal moment that is zero or negative.",
)
INERTIA_TRIANGLE = declare(
    "urdf-inertia-triangle",
    Level.WARNING,
    "the inertia of link {link!r} breaks the triangle inequality: principal moments {moments}",
    hint="no rigid body has it; recompute it from the geometry",
    doc="One principal moment of inertia is larger than the sum of the other two.",
)

_INERTIA_ATTRIBUTES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_LINK_CHILDREN = {"inertial", "visual", "collision", "contact"}


def read_links(reader: UrdfReader, materials: MaterialTable) -> None:
    """Every link, with its shapes."""
    names: set[str] = set()
    for element in reader.children(reader.root, "link"):
        name = reader.named(element, "the link is left out")
        if not name:
            continue
        where = reader.where(element)
        # the first wins: joints cannot tell the two apart
        if name in names:
            reader.reporter.report(
                DUPLICATE_NAME, where, what="link", name=name, consequence="the second one is left out"
            )
            continue
        names.add(name)
        reader.report_unknown(element, _LINK_CHILDREN)
        inertial = _read_inertial(reader, element, name)
        reader.asset.bodies.append(Body(name, inertial=inertial, path=name, source=where))
        surface = _read_contact(reader, element, name)
        _read_shapes(reader, element, name, materials, surface)


def _read_inertial(reader: UrdfReader, link: Element, name: str) -> Inertial:
    element = link.find("inertial")
    if element is None:
        # no <inertial> means no mass, never one from the shapes
        return Inertial(0.0)
    reader.report_unknown(element, {"origin", "mass", "inertia"})
    where = reader.where(element)
    mass_element, inertia_element = element.find("mass"), element.find("inertia")
    mass = None if mass_element is None else reader.optional(mass_element, "value")
    if mass is None:
        reader.reporter.report(MASS_MISSING, where, link=name)
        mass = 0.0
    elif mass < 0:
        reader.reporter.report(MASS_NEGATIVE, reader.where(mass_element), link=name, mass=mass)
        mass = 0.0
    elif mass == 0:
        reader.reporter.report(MASS_ZERO, reader.where(mass_element), link=name)
    if inertia_element is None:
        reader.reporter.report(INERTIA_MISSING, where, link=name)
        six = [0.0] * 6
    else:
        six = [reader.number(inertia_element, key, 0.0) for key in _INERTIA_ATTRIBUTES]
    inertial = Inertial.from_six(mass, six, reader.origin(element))
    # an inertia without mass is reported as that
    if inertia_element is not None and mass > 0:
        _check_inertia(reader, inertial, name, reader.where(inertia_element))
    return inertial


def _check_inertia(reader: UrdfReader, inertial: Inertial, name: str, where: Where) -> None:
    # ascending, so the first is the smallest
    moments = np.linalg.eigvalsh(inertial.inertia)
    text = " ".join(f"{m:.6g}" for m in moments)
    if moments[0] <= 0:
        reader.reporter.report(INERTIA_INDEFINITE, where, link=name, moments=text)
    elif not inertial.is_physical():
        reader.reporter.report(INERTIA_TRIANGLE, where, link=name, moments=text)


_CONTACT_FIELDS = {
    "lateral_friction": "static_friction",
    "rolling_friction": "rolling_friction",
    "spinning_friction": "torsional_friction",
    "restitution": "restitution",
    "stiffness": "stiffness",
    "damping": "damping",
}


def _read_contact(reader: UrdfReader, link: Element, name: str) -> str:
    """Bullet's ``<contact>`` dialect; gives the name of the physics material it defines."""
    element = link.find("contact")
    if element is None:
        return ""
    material = PhysicsMaterial(f"{name}_contact", source=reader.where(element))
    for child in reader.children(element):
        value = reader.optional(child, "value")
        field = _CONTACT_FIELDS.get(child.tag)
        if field is None or value is None:
            reader.asset.extras.keep("urdf", name, f"contact.{child.tag}", child.get("value"))
        else:
            setattr(material, field, value)
    # Bullet has one lateral coefficient
    material.dynamic_friction = material.static_friction
    reader.asset.physics_materials.append(material)
    return material.name


BAD_SIZE = declare(
    "urdf-bad-size",
    Level.ERROR,
    "the {kind} of link {link!r} has size {size}",
    hint="sizes are positive; the shape is left out",
    doc="A primitive shape has a size that is missing, zero or negative.",
)
NO_GEOMETRY = declare(
    "urdf-no-geometry",
    Level.ERROR,
    "a <{tag}> of link {link!r} has no geometry",
    hint="give it a box, cylinder, sphere or mesh; the shape is left out",
    doc="A visual or collision without a geometry that Simwright knows.",
)
BAD_SCALE = declare(
    "urdf-bad-scale",
    Level.ERROR,
    "the mesh of link {link!r} has scale {scale}",
    hint="no factor may be zero; the shape is left out",
    doc="A mesh is scaled by zero.",
)

_DRAKE = "{http://drake.mit.edu}"
# URDF has four; the others are dialects of Drake, PyBullet and older exporters
_GEOMETRY_TAGS = {
    "box", "cylinder", "sphere", "capsule", "mesh", "plane", "ellipsoid", f"{_DRAKE}capsule", f"{_DRAKE}ellipsoid",
}  # fmt: skip
_SIZE_ATTRIBUTES = {
    "box": ("size",),
    "sphere": ("radius",),
    "ellipsoid": ("radii",),
    f"{_DRAKE}ellipsoid": ("a", "b", "c"),
}


def _read_shapes(
    reader: UrdfReader, link: Element, name: str, materials: MaterialTable, surface: str = ""
) -> None:
    """Visuals, then collisions of a link; ``surface`` is the physics material of its collisions."""
    for tag in ("visual", "collision"):
        for element in reader.children(link, tag):
            shape = _read_shape(reader, element, name)
            if shape is None:
                continue
            if tag == "visual":
                reader.report_unknown(element, {"origin", "geometry", "material"})
                shape.material, shape.color = materials.of_visual(element, name)
            else:
                reader.report_unknown(element, {"origin", "geometry"})
                shape.visual, shape.collision = False, True
                shape.physics_material = surface
            reader.asset.shapes.append(shape)


def _read_shape(reader: UrdfReader, element: Element, link: str) -> Shape | None:
    holder = element.find("geometry")
    known = [] if holder is None else [c for c in reader.children(holder) if c.tag in _GEOMETRY_TAGS]
    if not known:
        reader.reporter.report(NO_GEOMETRY, reader.where(element), tag=element.tag, link=link)
        return None
    # several geometries in one shape are no URDF; parsers take the first
    geometry_element = known[0]
    reader.report_unknown(holder, _GEOMETRY_TAGS)
    geometry = _read_geometry(reader, geometry_element, link)
    if geometry is None:
        return None
    scale = None
    if isinstance(geometry, Mesh):
        scale = _read_scale(reader, geometry_element)
        # a factor of zero makes a mesh without volume and normals
        if scale is not None and not np.all(scale):
            reader.reporter.report(
                BAD_SCALE, reader.where(geometry_element), link=link, scale=geometry_element.get("scale")
            )
            return None
    name = reader.shape_names.claim(str(element.get("name") or "").strip() or f"{link}_{element.tag}")
    return Shape(
        name,
        geometry,
        body=link,
        pose=reader.origin(element) @ _orient_plane(reader, geometry_element),
        scale=scale,
        path=f"{link}/{element.tag}",
        source=reader.where(element),
    )


def _read_geometry(reader: UrdfReader, element: Element, link: str) -> Geometry | None:
    if element.tag == "mesh":
        uri = reader.required(element, "filename", "the shape is left out")
        return reader.mesh(element, uri, link) if uri else None
    if element.tag == "plane":
        return Plane()
    keys = _SIZE_ATTRIBUTES.get(element.tag, ("radius", "length"))
    # attributes with three numbers; others have one
    width = 3 if element.tag in ("box", "ellipsoid") else 1
    values = [reader.vector(element, key, width, (0.0,) * width) for key in keys]
    sizes = np.concatenate(values)
    if np.any(sizes <= 0):
        size = " ".join(f"{v:g}" for v in sizes)
        reader.reporter.report(BAD_SIZE, reader.where(element), kind=element.tag, link=link, size=size)
        return None
    match element.tag:
        case "box":
            return Box(sizes)
        case "sphere":
            return Sphere(float(sizes[0]))
        case "cylinder":
            return Cylinder(float(sizes[0]), float(sizes[1]))
        case tag if tag.endswith("ellipsoid"):
            return Ellipsoid(sizes)
        case _:
            return Capsule(float(sizes[0]), float(sizes[1]))


def _orient_plane(reader: UrdfReader, element: Element) -> Pose:
    """A plane faces its ``normal``; everything else lies as it is."""
    if element.tag != "plane" or not element.get("normal"):
        return IDENTITY
    normal = reader.vector(element, "normal", 3, (0.0, 0.0, 1.0))
    if not np.any(normal):
        return IDENTITY
    return Pose.of(q=quat_between((0.0, 0.0, 1.0), normal))


def _read_scale(reader: UrdfReader, element: Element) -> Array | None:
    text = (element.get("scale") or "").split()
    if len(text) == 1:  # one factor for all axes, as some exporters write
        scale = np.repeat(reader.vector(element, "scale", 1, (1.0,)), 3)
    else:
        scale = reader.vector(element, "scale", 3, (1.0, 1.0, 1.0))
    return None if np.all(scale == 1.0) else scale

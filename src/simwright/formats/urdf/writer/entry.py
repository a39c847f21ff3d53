# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: the URDF file with the meshes and images it names, written whole.

``build_files`` is the table of contents: plan the tree, add frames, write links, joints and control, and report what
the table of ``holds.py`` cannot say: shapes without a place, attributes of other tools.

``<link>`` is written here: mass properties in the axes of the link, its shapes and their materials.  Mass that follows
from shapes is computed: in URDF a link without ``<inertial>`` has none.  Nothing is invented for links that have no
mass; they have no ``<inertial>``, or one of zeros where that is asked for.
Geometry is boxes, cylinders, spheres and meshes; all else is made of these.  A
visual has one ``<material>``; what has a look for each set of faces keeps them in its mesh file.  Colours are those of
the model: as they appear on a screen.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from simwright.core.diag import Reporter, Where
from simwright.core.errors import SimwrightError, UsageError
from simwright.core.files import write_staged
from simwright.core.math3d import Array, Pose, vec3
from simwright.core.names import is_identifier
from simwright.formats.format import WriteOptions, choose_place
from simwright.formats.mesh.writer import MESH_FORMATS
from simwright.formats.parts import images, meshes
from simwright.formats.parts.images import ImageFiles
from simwright.formats.parts.meshes import MeshFiles
from simwright.formats.parts.numbers import tidy
from simwright.formats.parts.solids import make_mesh
from simwright.formats.parts.words import clean_text
from simwright.formats.urdf.writer.document import (
    WORLD_LINK,
    UrdfDocument,
    format_number,
    format_numbers,
    write_origin,
)
from simwright.formats.urdf.writer.joints import write_control, write_joints
from simwright.formats.urdf.writer.messages import (
    EXTRAS_LOST,
    GEOMETRY_LEFT_OUT,
    INERTIA_ADJUSTED,
    LOOK_UNREADABLE,
    LOOKS_LEFT_OUT,
    SHAPE_COMPOSED,
    SHAPE_MESHED,
    TEXTURE_LEFT_OUT,
)
from simwright.formats.urdf.writer.plan import plan_tree, write_frames
from simwright.formats.xml import Element
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.folding import unfold_frames
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from simwright.model.inertia import Inertial, make_possible
from simwright.model.joint import WORLD
from simwright.model.kinematics import build_tree
from simwright.model.mass import body_inertials
from simwright.model.material import RenderMaterial
from simwright.resolve import mjc, newton, physx
from simwright.resolve.translation import MIMIC_WORDS

SUFFIX = ".urdf"
OWN_FILES = frozenset({meshes.FOLDER, images.FOLDER})
"""What an asset's folder may hold beside its URDF file."""


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a folder, or the file ``<folder>/<name>.urdf``.  Gives the file's path.

    A folder that holds an earlier result is replaced whole.
    """
    # macros are gone once a file is read
    if target.suffix.lower() == ".xacro":
        raise UsageError("xacro files are not written", hint=f"name it *{SUFFIX}", where=Where(str(target)))
    if target.suffix.lower() == SUFFIX:
        folder, name = target.parent, target.name
    else:
        folder, name = target, f"{images.make_file_name(asset.name)}{SUFFIX}"
    options = _check_options(options, folder)
    named = target.suffix.lower() == SUFFIX
    place = choose_place(asset, folder, name, OWN_FILES, options, named=named)
    # everything is made before anything is written: a refusal leaves the folder as it was
    files = build_files(asset, name, dataclasses.replace(options, side=place.side), reporter)
    options.approve()
    with place.fill() as staging:
        write_staged(staging, files)
    return place.path


def _check_options(options: WriteOptions, folder: Path) -> WriteOptions:
    """Options that fit; the package is called like the folder where nothing else is said."""
    if options.mesh_paths not in ("relative", "package"):
        raise UsageError(f"mesh paths are 'relative' or 'package', not {options.mesh_paths!r}")
    if options.mesh_format and options.mesh_format not in MESH_FORMATS:
        raise UsageError(
            f"meshes cannot be written as {options.mesh_format!r}",
            hint=f"choose one of {', '.join(MESH_FORMATS)}",
        )
    name = options.package_name or folder.resolve().name
    # ROS would not find a package of such a name
    if options.mesh_paths == "package" and not is_identifier(name):
        raise UsageError(
            f"{name!r} is not a name of a ROS package", hint="name the package: --package-name NAME"
        )
    return dataclasses.replace(options, package_name=name)


def build_files(asset: Asset, entry: str, options: WriteOptions, reporter: Reporter) -> dict[str, bytes]:
    """Every file of the folder by relative path."""
    asset = unfold_frames(asset)
    root = etree.Element("robot", {"name": clean_text(asset.name) or "robot"})
    document = UrdfDocument(asset, build_tree(asset), options, reporter, root)
    plan_tree(document, world_used=has_world_shapes(asset))
    write_frames(document)
    write_links(document)
    write_joints(document)
    write_control(document)
    _report_losses(document)
    document.report_names()
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)
    return {**{options.side + path: content for path, content in document.files.items()}, entry: text}


# Attributes of OpenUSD schemas whose value is in the model, and written or reported from there.
_MODEL_ATTRIBUTES = {
    name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes
}
_WRITTEN_EXTRAS = ("calibration.", "limit.acceleration")
_MODEL_SPACES = frozenset({"drive", "ext_physics"})


def _report_losses(document: UrdfDocument) -> None:
    """Shapes that have no link, then attributes of other solvers."""
    asset = document.asset
    refused = list_refused(asset)
    for shape in refused:
        document.reporter.report(
            GEOMETRY_LEFT_OUT,
            shape.source,
            kind="plane",
            name=shape.name,
            why="it has no end",
            advice="give it a size",
        )
    world = [s for s in asset.shapes if s.body == WORLD and WORLD not in document.links and s.enabled]
    world = [shape for shape in world if shape not in refused]
    # what is only seen changes no motion
    touched = any(shape.collision for shape in world)
    document.report_lost(
        "shape(s) of the world", world, "fix something to the world, and it has a link", moves=touched
    )
    _report_extras(document)


def _report_extras(document: UrdfDocument) -> None:
    lost: dict[str, list[str]] = {}
    # attributes of actuators are in their settings, and reported from there
    motors = {actuator.path for actuator in document.asset.actuators}
    for space, element, attribute, _ in document.asset.extras:
        is_written = space == "urdf" and attribute.startswith(_WRITTEN_EXTRAS)
        is_written |= attribute.startswith(MIMIC_WORDS)
        if not (is_written or space in _MODEL_SPACES or attribute in _MODEL_ATTRIBUTES or element in motors):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        document.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])


_INERTIA_ATTRIBUTES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def write_links(document: UrdfDocument) -> None:
    """The world link if there is one, every body, then links between freedoms and frames."""
    writer = UrdfShapeWriter(document)
    shapes: dict[str, list[Shape]] = {}
    for shape in document.asset.shapes:
        shapes.setdefault(shape.body, []).append(shape)
    nodes: list[Element] = []
    if WORLD in document.links:
        node = etree.Element("link", {"name": WORLD_LINK})
        writer.write(node, WORLD, shapes.get(WORLD, []))
        nodes.append(node)
    inertials = _settle_inertials(document)
    for body in document.asset.bodies:
        node = etree.Element("link", {"name": document.links[body.name]})
        _write_inertial(node, inertials.get(body.name))
        writer.write(node, body.name, shapes.get(body.name, []))
        nodes.append(node)
    nodes += [etree.Element("link", {"name": name}) for name in document.bare_links]
    if document.options.zero_mass:
        _write_zero_masses(nodes)
    # after the shapes: which materials stay in mesh files is known then
    writer.materials.define()
    # after the materials, so that they stand first in the file
    document.root.extend(nodes)
    writer.report()


def _settle_inertials(document: UrdfDocument) -> dict[str, Inertial]:
    """Of all bodies, with the mass of shapes that say one (URDF computes none); possible ones if that is asked for."""
    given = body_inertials(document.asset)
    if not document.options.possible_inertia:
        return given
    settled = {
        name: make_possible(inertial) if inertial.mass > 0.0 else inertial for name, inertial in given.items()
    }
    changed = [name for name in given if settled[name] is not given[name]]
    if changed:
        found, written = (
            " ".join(f"{moment:.6g}" for moment in all_[changed[0]].principal()[0])
            for all_ in (given, settled)
        )
        source = document.asset.body(changed[0]).source
        document.reporter.report(
            INERTIA_ADJUSTED, source, count=len(changed), first=changed[0], found=found, written=written
        )
    return settled


def _write_inertial(link: Element, inertial: Inertial | None) -> None:
    """``<inertial>`` with the centre of mass as its origin, where there is any mass or inertia."""
    if inertial is None or (inertial.mass == 0.0 and not inertial.inertia.any()):
        return
    node = etree.SubElement(link, "inertial")
    write_origin(node, Pose.of(inertial.com))
    etree.SubElement(node, "mass", {"value": format_number(inertial.mass)})
    six = dict(zip(_INERTIA_ATTRIBUTES, inertial.six, strict=True))
    etree.SubElement(
        node, "inertia", {key: format_number(six[key]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    )


def _write_zero_masses(links: list[Element]) -> None:
    """An ``<inertial>`` of nothing, for engines that give a link without one a mass of their own."""
    for link in links:
        if link.find("inertial") is None:
            node = etree.Element("inertial")
            etree.SubElement(node, "mass", {"value": "0"})
            zeros = dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "0")
            etree.SubElement(node, "inertia", zeros)
            # first, as in links that weigh something
            link.insert(0, node)


@dataclass(slots=True, eq=False)
class _UrdfGeometry:
    """One geometry element, placed on the link."""

    pose: Pose
    tag: str
    values: dict[str, str]
    mesh: Mesh | None = None


class UrdfShapeWriter:
    """Writes the shapes of links; keeps what has to be said about them."""

    def __init__(self, document: UrdfDocument) -> None:
        images = ImageFiles(document.files, document.reporter, TEXTURE_LEFT_OUT)
        self._document = document
        self.materials = UrdfMaterialWriter(document, images)
        self._files = MeshFiles(
            document.files,
            images,
            document.asset.materials,
            wish=document.options.mesh_format,
            reporter=document.reporter,
            unreadable=LOOK_UNREADABLE,
        )
        # the geometry is held too: its id is the key
        self._solids: dict[int, tuple[Geometry, Mesh | None]] = {}
        self._composed: list[Shape] = []
        self._meshed: list[Shape] = []

    def write(self, link: Element, body: str, shapes: list[Shape]) -> None:
        """Visuals, then collisions of a link."""
        for tag in ("visual", "collision"):
            for shape in shapes:
                if is_written(shape) and (shape.visual if tag == "visual" else shape.collision):
                    self._write_shape(link, tag, body, shape)

    def _write_shape(self, link: Element, tag: str, body: str, shape: Shape) -> None:
        for piece in self._cut(shape):
            values, brings = piece.values, False
            if piece.mesh is not None:
                try:
                    path, brings = self._files.find(shape, piece.mesh, seen=tag == "visual")
                except SimwrightError as error:
                    self._refuse(shape, error.message, error.hint or "check the mesh file")
                    return
                values = {"filename": self._document.make_address(path), **values}
            node = etree.SubElement(link, tag)
            # names that the URDF reader makes up itself are not written
            if not re.fullmatch(rf"{re.escape(body or 'world')}_{tag}(_\d+)?", shape.name) and shape.name:
                node.set("name", clean_text(shape.name))
            write_origin(node, piece.pose)
            etree.SubElement(etree.SubElement(node, "geometry"), piece.tag, values)
            if tag == "visual" and not brings:
                self.materials.write(node, shape)

    def _refuse(self, shape: Shape, why: str, advice: str) -> None:
        kind = shape.geometry.kind
        self._document.reporter.report(
            GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why, advice=advice
        )

    def _cut(self, shape: Shape) -> list[_UrdfGeometry]:
        geometry, scale, pose = shape.geometry, scaled(shape), shape.pose
        if isinstance(geometry, Mesh):
            return [_UrdfGeometry(pose, "mesh", _describe_scale(scale), geometry)]
        size = np.abs(scale)
        match geometry:
            case Box():
                return [_UrdfGeometry(pose, "box", {"size": format_numbers(tidy(geometry.size * size))})]
            case Sphere() if _is_uniform(size):
                return [_UrdfGeometry(pose, "sphere", _describe_radius(geometry.radius * size[0]))]
            case Ellipsoid() if _is_uniform(geometry.radii * size):
                return [_UrdfGeometry(pose, "sphere", _describe_radius(geometry.radii[0] * size[0]))]
            case Cylinder() if _is_uniform(size[:2]):
                return [_make_cylinder(pose, geometry.radius * size[0], geometry.length * size[2])]
            case Capsule() if _is_uniform(size):
                return self._compose(shape, geometry, float(size[0]))
        return self._mesh(shape, geometry, scale)

    def _compose(self, shape: Shape, capsule: Capsule, size: float) -> list[_UrdfGeometry]:
        self._composed.append(shape)
        radius, length = capsule.radius * size, capsule.length * size
        # the union of a cylinder and two balls is the capsule exactly
        ends = [Pose(shape.pose.apply(vec3(0, 0, z)), shape.pose.q) for z in (-length / 2, length / 2)]
        return [
            _make_cylinder(shape.pose, radius, length),
            *(_UrdfGeometry(end, "sphere", _describe_radius(radius)) for end in ends),
        ]

    def _mesh(self, shape: Shape, geometry: Geometry, scale: Array) -> list[_UrdfGeometry]:
        if id(geometry) not in self._solids:
            self._solids[id(geometry)] = (geometry, make_mesh(geometry))
        mesh = self._solids[id(geometry)][1]
        if mesh is None:
            self._refuse(
                shape,
                "it has no end" if isinstance(geometry, Plane) else "it has no volume",
                "give it a size",
            )
            return []
        self._meshed.append(shape)
        return [_UrdfGeometry(shape.pose, "mesh", _describe_scale(scale), mesh)]

    def report(self) -> None:
        """One finding for each change of form."""
        if self._files.bare:
            first = self._files.bare[0]
            self._document.reporter.report(
                LOOKS_LEFT_OUT, first.source, count=len(self._files.bare), format="STL", first=first.name
            )
        for message, shapes in ((SHAPE_COMPOSED, self._composed), (SHAPE_MESHED, self._meshed)):
            # a shape that is seen and touched is written twice, and said once
            distinct = list({id(shape): shape for shape in shapes}.values())
            if distinct:
                first = distinct[0]
                words: dict[str, Any] = {"kind": first.geometry.kind} if message is SHAPE_MESHED else {}
                self._document.reporter.report(
                    message, first.source, count=len(distinct), first=first.name, **words
                )


def is_written(shape: Shape) -> bool:
    """Can anything of it be in the file?  An endless plane cannot."""
    return shape.enabled and not (isinstance(shape.geometry, Plane) and shape.geometry.size is None)


def list_refused(asset: Asset) -> list[Shape]:
    """Endless planes."""
    return [s for s in asset.shapes if s.enabled and not is_written(s) and (s.visual or s.collision)]


def has_world_shapes(asset: Asset) -> bool:
    """Is there anything to see or touch that stands in the world itself?"""
    return any(s.body == WORLD and is_written(s) and (s.visual or s.collision) for s in asset.shapes)


def _is_uniform(values: Array) -> bool:
    return bool(np.all(np.abs(values - values[0]) <= 1e-9 * abs(float(values[0]))))


def _describe_radius(radius: float) -> dict[str, str]:
    return {"radius": format_number(tidy([radius])[0])}


def _make_cylinder(pose: Pose, radius: float, length: float) -> _UrdfGeometry:
    values = {"radius": format_number(tidy([radius])[0]), "length": format_number(tidy([length])[0])}
    return _UrdfGeometry(pose, "cylinder", values)


def _describe_scale(scale: Array) -> dict[str, str]:
    return {} if np.all(scale == 1.0) else {"scale": format_numbers(scale)}


_SINGLE_PRECISION = 3e-8


class UrdfMaterialWriter:
    """``<material>`` of visuals: named ones are defined once, at the robot."""

    def __init__(self, document: UrdfDocument, images: ImageFiles) -> None:
        self._document = document
        self._images = images
        self._materials = {material.name: material for material in document.asset.materials}
        self._colors: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}

    def define(self) -> None:
        """The robot's materials, when its meshes are written: those that visuals have, and those that nothing has."""
        shapes = self._document.asset.shapes
        own = {shape.material for shape in shapes}
        meshes = {
            id(s.geometry): s.geometry
            for s in shapes
            if isinstance(s.geometry, Mesh) and s.geometry.is_loaded
        }
        # a material that only face sets have is in the mesh file
        in_meshes = {subset.material for mesh in meshes.values() for subset in mesh.data.subsets}
        for name, material in self._materials.items():
            if name in own or name not in in_meshes:
                node = etree.SubElement(self._document.root, "material", {"name": self._name(name)})
                self._describe(node, (*material.diffuse, material.opacity), material)

    def _name(self, material: str) -> str:
        if material not in self._names:
            self._names[material] = self._document.claim("material", material)
        return self._names[material]

    def write(self, visual: Element, shape: Shape) -> None:
        """The look of a visual: its material, in its own colour where it has one."""
        material = self._materials.get(shape.material)
        color = shape.color
        if material is not None and (
            color is None or _is_close_color(color, (*material.diffuse, material.opacity))
        ):
            etree.SubElement(visual, "material", {"name": self._name(material.name)})
        elif color is not None:
            # shapes with the same tint share one material
            key = (shape.material, format_numbers(self._shorten(color)))
            if key not in self._colors:
                word = shape.material or f"{shape.name}_color"
                self._colors[key] = self._document.claim(
                    "material", f"{word}_tint" if shape.material else word
                )
            node = etree.SubElement(visual, "material", {"name": self._colors[key]})
            self._describe(node, color, material)

    def _shorten(self, color: Sequence[float]) -> list[float]:
        """A colour without the noise of the single precision that OpenUSD keeps it in."""
        if self._document.asset.provenance.format != "usd":
            return tidy(color)
        return [short if abs((short := round(v, 6)) - v) < _SINGLE_PRECISION else v for v in color]

    def _describe(
        self, node: Element, color: tuple[float, float, float, float], material: RenderMaterial | None
    ) -> None:
        image = ""
        if material is not None and "diffuse" in material.textures:
            image = self._images.take(material.textures["diffuse"].file, material.name)
        # white is what a texture shows without a colour
        if not image or any(value != 1.0 for value in color):
            etree.SubElement(node, "color", {"rgba": format_numbers(self._shorten(color))})
        if image:
            etree.SubElement(node, "texture", {"filename": self._document.make_address(image)})


def _is_close_color(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(abs(x - y) < 1e-6 for x, y in zip(a, b, strict=True))

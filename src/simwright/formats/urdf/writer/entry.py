# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: the URDF file with the meshes and images it names, written whole.

``build_files`` is the table of contents: plan the tree, add frames, write links, joints and control, and report what
the table of ``holds.py`` cannot say: shapes without a place, attributes of other tools.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from lxml import etree

from simwright.core.diag import Reporter, Where
from simwright.core.errors import UsageError
from simwright.core.files import write_staged
from simwright.core.names import is_identifier
from simwright.formats.format import WriteOptions
from simwright.formats.mesh.writer import MESH_FORMATS
from simwright.formats.parts import images, meshes
from simwright.formats.parts.words import clean_text
from simwright.formats.place import choose_place
from simwright.formats.urdf.writer.document import UrdfDocument
from simwright.formats.urdf.writer.joints import write_control, write_joints
from simwright.formats.urdf.writer.links import has_world_shapes, list_refused, write_links
from simwright.formats.urdf.writer.messages import EXTRAS_LOST, GEOMETRY_LEFT_OUT
from simwright.formats.urdf.writer.plan import plan_tree, write_frames
from simwright.model.asset import Asset
from simwright.model.joint import WORLD
from simwright.model.kinematics import build_tree
from simwright.resolve import mjc, newton, physx

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
            f"{name!r} is no name of a ROS package", hint="name the package: --package-name NAME"
        )
    return dataclasses.replace(options, package_name=name)


def build_files(asset: Asset, entry: str, options: WriteOptions, reporter: Reporter) -> dict[str, bytes]:
    """Every file of the folder by relative path."""
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
        if not (is_written or space in _MODEL_SPACES or attribute in _MODEL_ATTRIBUTES or element in motors):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        document.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])

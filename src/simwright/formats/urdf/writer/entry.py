# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: the URDF file with the meshes and images it names, written whole.

``build_files`` is the table of contents: plan the tree, add frames, write links, joints and control.
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
from simwright.formats.urdf.writer.control import write_control
from simwright.formats.urdf.writer.draft import Draft
from simwright.formats.urdf.writer.frames import write_frames
from simwright.formats.urdf.writer.joints import write_joints
from simwright.formats.urdf.writer.links import write_links
from simwright.formats.urdf.writer.losses import report_losses
from simwright.formats.urdf.writer.plan import plan_tree
from simwright.formats.urdf.writer.shapes import has_world_shapes
from simwright.model.asset import Asset
from simwright.model.kinematics import build_tree

SUFFIX = ".urdf"
OWN_FILES = frozenset({meshes.FOLDER, images.FOLDER})
"""What an asset's folder may hold beside its URDF file."""


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a folder, or the file ``<folder>/<name>.urdf``.  Gives the file's path.

    A folder that holds an earlier result is replaced whole.
    """
    if target.suffix.lower() == ".xacro":
        raise UsageError("xacro files are not written", hint=f"name it *{SUFFIX}", where=Where(str(target)))
    if target.suffix.lower() == SUFFIX:
        folder, name = target.parent, target.name
    else:
        folder, name = target, f"{images.make_file_name(asset.name)}{SUFFIX}"
    options = _check_options(options, folder)
    named = target.suffix.lower() == SUFFIX
    place = choose_place(asset, folder, name, OWN_FILES, options, named=named)
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
    if options.mesh_paths == "package" and not is_identifier(name):
        raise UsageError(
            f"{name!r} is no name of a ROS package", hint="name the package: --package-name NAME"
        )
    return dataclasses.replace(options, package_name=name)


def build_files(asset: Asset, entry: str, options: WriteOptions, reporter: Reporter) -> dict[str, bytes]:
    """Every file of the folder by relative path."""
    root = etree.Element("robot", {"name": clean_text(asset.name) or "robot"})
    draft = Draft(asset, build_tree(asset), options, reporter, root)
    plan_tree(draft, world_used=has_world_shapes(asset))
    write_frames(draft)
    write_links(draft)
    write_joints(draft)
    write_control(draft)
    report_losses(draft)
    draft.report_names()
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)
    return {**{options.side + path: content for path, content in draft.files.items()}, entry: text}

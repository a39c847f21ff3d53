# SPDX-License-Identifier: Apache-2.0
"""URDF and xacro to the neutral model: the table of contents.

What each part means is said beside it: ``links``, ``shapes``, ``materials``, ``joints``, ``structure``,
``control`` (transmissions, ros2_control), ``gazebo``, ``sensors`` and ``plugins`` (Gazebo extensions),
``xacro`` and ``expressions`` (macro expansion).
"""

from __future__ import annotations

from pathlib import Path

from simwright.core.diag import Reporter, Where
from simwright.core.errors import ParseError
from simwright.formats.format import ReadOptions
from simwright.formats.urdf.control import read_control
from simwright.formats.urdf.document import Document
from simwright.formats.urdf.gazebo import read_gazebo
from simwright.formats.urdf.joints import read_joints
from simwright.formats.urdf.links import read_links
from simwright.formats.urdf.materials import MaterialTable
from simwright.formats.urdf.structure import finish_structure
from simwright.formats.urdf.xacro import expand_xacro, needs_xacro
from simwright.formats.xml import parse
from simwright.model.asset import Asset

_TOP_LEVEL = {"link", "joint", "material", "transmission", "gazebo", "ros2_control"}


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read a URDF or xacro file; what is wrong with it is reported, what is usable is kept."""
    document = open_document(Path(path), options, reporter)
    document.unknown(document.root, _TOP_LEVEL)
    materials = MaterialTable(document)
    materials.read_global()
    read_links(document, materials)
    read_joints(document)
    read_control(document)
    read_gazebo(document)
    finish_structure(document)
    asset = document.asset
    asset.provenance.file = str(path)
    asset.provenance.format = "urdf"
    asset.provenance.version = str(document.root.get("version") or "1.0")
    return asset


def open_document(path: Path, options: ReadOptions, reporter: Reporter) -> Document:
    """The parsed document, expanded if it is xacro."""
    root, files = parse(path), list[str]()
    gate = options.make_gate(path, reporter)
    if needs_xacro(path, root):
        root, files = expand_xacro(path, options.arguments, gate, reporter)
    if root.tag != "robot":
        raise ParseError(
            f"this is no URDF file: its root element is <{root.tag}>",
            hint="a URDF file starts with <robot>",
            where=Where(str(path), root.sourceline),
        )
    return Document(path, root, gate, reporter, files)

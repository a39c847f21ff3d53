# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: the SDFormat file with the meshes and images it names.

``build_files`` is the table of contents: plan models and links, write joints, shapes, lights, sensors, frames, plugins
and the world, and say what is lost.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from lxml import etree

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.core.files import write_staged
from simwright.formats.format import WriteOptions
from simwright.formats.mesh.writer import MESH_FORMATS
from simwright.formats.parts import images, meshes
from simwright.formats.place import choose_place
from simwright.formats.sdf.document import CLOSES_LOOP, NEWEST
from simwright.formats.sdf.writer.axes import write_mimics
from simwright.formats.sdf.writer.controllers import ControllerWriter
from simwright.formats.sdf.writer.draft import OLDEST, Draft
from simwright.formats.sdf.writer.filters import find_bits, write_self_contact
from simwright.formats.sdf.writer.frames import write_frames
from simwright.formats.sdf.writer.joints import JointWriter
from simwright.formats.sdf.writer.kept import collect_kept, restore, restore_plugins
from simwright.formats.sdf.writer.lights import write_lights
from simwright.formats.sdf.writer.losses import report_losses
from simwright.formats.sdf.writer.plan import plan_models
from simwright.formats.sdf.writer.sensors import SensorWriter
from simwright.formats.sdf.writer.shapes import ShapeWriter
from simwright.formats.sdf.writer.world import write_world
from simwright.model.asset import Asset
from simwright.model.kinematics import build_tree

SUFFIXES = (".sdf", ".world")
OWN_FILES = frozenset({meshes.FOLDER, images.FOLDER})
"""What an asset's folder may hold beside its SDFormat file."""
_ORDER = (
    "pose", "static", "self_collide", "allow_auto_disable", "enable_wind", "gravity", "magnetic_field", "wind",
    "physics", "atmosphere", "spherical_coordinates", "scene", "audio", "light", "link", "frame", "joint", "model",
    "plugin",
)  # fmt: skip


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a folder, or the file ``<folder>/<name>.sdf``.  Gives the file's path."""
    named = target.suffix.lower() in SUFFIXES
    if named:
        folder, name = target.parent, target.name
    else:
        folder, name = target, f"{images.make_file_name(asset.name)}{SUFFIXES[0]}"
    wanted = parse_version(options.sdf_version)
    if options.mesh_format and options.mesh_format not in MESH_FORMATS:
        raise UsageError(
            f"meshes cannot be written as {options.mesh_format!r}",
            hint=f"choose one of {', '.join(MESH_FORMATS)}",
        )
    place = choose_place(asset, folder, name, OWN_FILES, options, named=named)
    files = build_files(asset, name, dataclasses.replace(options, side=place.side), reporter, wanted)
    options.approve()
    with place.fill() as staging:
        write_staged(staging, files)
    return place.path


def parse_version(text: str) -> tuple[int, int] | None:
    """A version of SDFormat that is written; None to let the content decide."""
    if not text:
        return None
    match = re.fullmatch(r"(\d+)\.(\d+)", text)
    version = (int(match.group(1)), int(match.group(2))) if match else (0, 0)
    if not OLDEST <= version <= NEWEST:
        known = ", ".join(f"1.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1))
        raise UsageError(f"SDFormat {text!r} is not written", hint=f"choose one of {known}")
    return version


def build_files(
    asset: Asset,
    entry: str,
    options: WriteOptions,
    reporter: Reporter,
    wanted: tuple[int, int] | None = None,
) -> dict[str, bytes]:
    """Every file of the folder by relative path."""
    root = etree.Element("sdf", nsmap={"simwright": CLOSES_LOOP[1:].partition("}")[0]})
    draft = Draft(asset, build_tree(asset), options, reporter, root, wanted=wanted)
    draft.kept = collect_kept(asset)
    plan_models(draft)
    JointWriter(draft).write_all()
    write_mimics(draft)
    quiet = write_self_contact(draft)
    ShapeWriter(draft, find_bits(draft, quiet)).write_all()
    write_lights(draft)
    SensorWriter(draft).write_all()
    write_frames(draft)
    controllers = ControllerWriter(draft)
    controllers.write_all()
    write_world(draft)
    _restore_kept(draft)
    report_losses(draft, controllers)
    draft.report_names()
    root.set("version", ".".join(map(str, draft.version)))
    for room in draft.rooms:
        room.node[:] = sorted(room.node, key=lambda node: _ORDER.index(node.tag))
    etree.cleanup_namespaces(root)
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)
    return {**{options.side + path: content for path, content in draft.files.items()}, entry: text}


def _restore_kept(draft: Draft) -> None:
    """What the source said of links, joints and models beyond the model."""
    for body in draft.asset.bodies:
        restore(draft, draft.seats[body.name].link, "link", body.name, body.path)
    for joint in draft.asset.joints:
        if joint.name in draft.mountings:
            restore(draft, draft.mountings[joint.name].node, "joint", joint.name, joint.path)
    for room in draft.rooms:
        if not room.is_world:
            path = [inner.name for inner in room.path() if not inner.is_world]
            owners = {"::".join(path), "::".join(path[1:])} - {""}
            if room is draft.top:
                owners |= {owner for owner in draft.kept if owner.startswith("/") and owner.count("/") == 1}
            for owner in sorted(owners):
                restore(draft, room.node, "model", owner)
                restore_plugins(draft, room.node, owner)

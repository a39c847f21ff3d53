# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: the MJCF file with everything it names, written whole.

``write`` is the table of contents: plan the tree, fill the document family by family, factor out defaults, put the
sections in order.
"""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from simwright.core.diag import Reporter
from simwright.core.files import write_staged
from simwright.formats.format import WriteOptions
from simwright.formats.mjcf.writer.actuators import write_actuators
from simwright.formats.mjcf.writer.bodies import write_bodies
from simwright.formats.mjcf.writer.contacts import write_contacts
from simwright.formats.mjcf.writer.custom import write_custom
from simwright.formats.mjcf.writer.defaults import factor_defaults
from simwright.formats.mjcf.writer.draft import SECTIONS, Draft
from simwright.formats.mjcf.writer.equalities import write_equalities
from simwright.formats.mjcf.writer.filters import find_filters
from simwright.formats.mjcf.writer.geoms import write_geoms
from simwright.formats.mjcf.writer.keyframes import write_keyframes
from simwright.formats.mjcf.writer.looks import settle_looks
from simwright.formats.mjcf.writer.losses import report_losses
from simwright.formats.mjcf.writer.materials import write_materials
from simwright.formats.mjcf.writer.meshes import MeshLibrary, make_file_name
from simwright.formats.mjcf.writer.optics import write_optics
from simwright.formats.mjcf.writer.options import write_compiler, write_options, write_sizes, write_visual
from simwright.formats.mjcf.writer.plan import plan_limbs
from simwright.formats.mjcf.writer.ros import FILE, write_ros
from simwright.formats.mjcf.writer.sensors import write_sensors
from simwright.formats.mjcf.writer.sites import write_sites
from simwright.formats.mjcf.writer.solver import Solver
from simwright.formats.mjcf.writer.tendons import write_tendons
from simwright.formats.mjcf.writer.twins import join_twins
from simwright.formats.place import choose_place
from simwright.model.asset import Asset
from simwright.model.kinematics import build_tree

SUFFIXES = (".xml", ".mjcf")
OWN_FILES = frozenset({"meshes", "textures", FILE})
"""What an asset's folder may hold beside its MJCF file."""


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a folder, or the file ``<folder>/<name>.xml``.  Gives the file's path.

    A folder that holds an earlier result is replaced whole.
    """
    if target.suffix.lower() in SUFFIXES:
        folder, name = target.parent, target.name
    else:
        folder, name = target, f"{make_file_name(asset.name)}.xml"
    named = target.suffix.lower() in SUFFIXES
    place = choose_place(asset, folder, name, OWN_FILES, options, named=named)
    files = build_files(asset, name, reporter, place.side)
    options.approve()
    with place.fill() as staging:
        write_staged(staging, files)
    return place.path


def build_files(asset: Asset, entry: str, reporter: Reporter, side: str = "") -> dict[str, bytes]:
    """Every file of the folder by relative path; those beside the entry below ``side``."""
    draft = build_draft(asset, reporter, side, exact=asset.provenance.format == "mjcf")
    write_ros(draft)
    draft.report_names()
    factor_defaults(draft.root)
    return {**{side + path: content for path, content in draft.files.items()}, entry: encode(draft)}


def build_draft(
    asset: Asset, reporter: Reporter, side: str = "", *, exact: bool, sets_springs: bool = False
) -> Draft:
    """The whole document and the files it names, every attribute where it applies."""
    asset = join_twins(settle_looks(asset, reporter))
    root = etree.Element("mujoco", {"model": make_file_name(asset.name)})
    draft = Draft(asset, build_tree(asset), reporter, Solver(asset), root, exact, sets_springs)
    plan_limbs(draft)
    filters = find_filters(draft)

    write_options(draft)
    write_sizes(draft)
    write_visual(draft)
    write_materials(draft)
    write_bodies(draft)
    write_geoms(draft, MeshLibrary(draft), filters.bits)
    write_sites(draft)
    write_optics(draft)
    write_contacts(draft, filters)
    write_tendons(draft)
    write_equalities(draft)
    write_actuators(draft)
    write_sensors(draft)
    write_keyframes(draft)
    write_custom(draft)
    write_compiler(draft, side)
    report_losses(draft)
    return draft


def encode(draft: Draft) -> bytes:
    """The document as text, its sections in the usual order."""
    order = {tag: number for number, tag in enumerate(SECTIONS)}
    draft.root[:] = sorted(draft.root, key=lambda node: order[node.tag])
    text: bytes = etree.tostring(draft.root, pretty_print=True, encoding="utf-8")
    return text

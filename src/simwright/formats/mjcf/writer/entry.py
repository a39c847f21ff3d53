# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: the MJCF file with everything it names, written whole.

``write`` is the table of contents: plan the tree, fill the document family by family, report what has no place, factor
out defaults, put the sections in order.

Defaults say once what elements have in common.  Attributes that all elements of a kind share go to the main class; the
rest is sorted by style, the attributes that tell how an element is rather than which and where.  A style that repeats
becomes a class: ``visual`` and ``collision`` for geoms, the kind's own name for the others.  Nothing changes its
meaning: an element has exactly the attributes of its class and its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lxml import etree

from simwright.core.diag import Kind, Reporter
from simwright.core.files import write_staged
from simwright.core.names import NameScope
from simwright.formats.format import WriteOptions, choose_place
from simwright.formats.mjcf.reader import NAMESPACE
from simwright.formats.mjcf.writer.bodies import plan_bodies, write_bodies
from simwright.formats.mjcf.writer.constraints import write_equalities, write_tendons
from simwright.formats.mjcf.writer.contacts import find_filters, write_contacts
from simwright.formats.mjcf.writer.devices import (
    ACTUATOR_TAGS,
    write_actuators,
    write_keyframes,
    write_sensors,
)
from simwright.formats.mjcf.writer.document import SECTIONS, MjcfDocument
from simwright.formats.mjcf.writer.geoms import join_twins, write_geoms, write_sites
from simwright.formats.mjcf.writer.kept import KeptAttributes
from simwright.formats.mjcf.writer.meshes import MjcfMeshFiles, make_file_name
from simwright.formats.mjcf.writer.messages import EXTRAS_LOST, LOOK_LOST, SETTING_LOST
from simwright.formats.mjcf.writer.options import (
    ROS_FILE,
    write_compiler,
    write_custom,
    write_options,
    write_ros,
    write_sizes,
    write_visual,
)
from simwright.formats.mjcf.writer.visuals import take_file_looks, write_materials, write_optics
from simwright.formats.xml import Element
from simwright.model.asset import Asset, Camera, Shape
from simwright.model.folding import unfold_frames
from simwright.model.joint import Joint
from simwright.model.kinematics import build_tree
from simwright.resolve import mjc, newton, physx

SUFFIXES = (".xml", ".mjcf")
OWN_FILES = frozenset({"meshes", "textures", ROS_FILE})
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
    # everything is made before anything is written: a refusal leaves the folder as it was
    files = build_files(asset, name, reporter, place.side)
    options.approve()
    with place.fill() as staging:
        write_staged(staging, files)
    return place.path


def build_files(asset: Asset, entry: str, reporter: Reporter, side: str = "") -> dict[str, bytes]:
    """Every file of the folder by relative path; those beside the entry below ``side``."""
    document = build_document(asset, reporter, side, exact=asset.provenance.format == "mjcf")
    write_ros(document)
    document.report_names()
    _factor_defaults(document.root)
    return {**{side + path: content for path, content in document.files.items()}, entry: encode(document)}


def build_document(
    asset: Asset, reporter: Reporter, side: str = "", *, exact: bool, sets_springs: bool = False
) -> MjcfDocument:
    """The whole document and the files it names, every attribute where it applies."""
    asset = join_twins(unfold_frames(take_file_looks(asset, reporter)))
    root = etree.Element("mujoco", {"model": make_file_name(asset.name)})
    document = MjcfDocument(
        asset, build_tree(asset), reporter, KeptAttributes(asset), root, exact, sets_springs
    )
    plan_bodies(document)
    # bits of geoms are needed when geoms are written, names of geoms when pairs are
    filters = find_filters(document)

    write_options(document)
    write_sizes(document)
    write_visual(document)
    write_materials(document)
    write_bodies(document)
    write_geoms(document, MjcfMeshFiles(document), filters.bits)
    write_sites(document)
    write_optics(document)
    # the order is that of references: actuators name tendons and joints, sensors name all of them
    write_contacts(document, filters)
    write_tendons(document)
    write_equalities(document)
    write_actuators(document)
    write_sensors(document)
    write_keyframes(document)
    write_custom(document)
    write_compiler(document, side)
    _report_losses(document)
    return document


def encode(document: MjcfDocument) -> bytes:
    """The document as text, its sections in the usual order."""
    order = {tag: number for number, tag in enumerate(SECTIONS)}
    document.root[:] = sorted(document.root, key=lambda node: order[node.tag])
    text: bytes = etree.tostring(document.root, pretty_print=True, encoding="utf-8")
    return text


_MODEL_ATTRIBUTES = {
    name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes
}
"""Attributes of OpenUSD schemas whose value is in the model, and written or reported from there."""
_CONTACT_SETTINGS = {"max_hull_vertices", "mass_model", "priority", "weight", "mu_torsional", "mu_rolling"}
_SPRING_SETTINGS = {"ke", "kd"}
_MIMICS = re.compile(r"newton:mimic|newton:actuator|physxMimicJoint|mjc:compiler:|mjc:pair:|mjc:geom:order")
"""What is a relation of the model, and how its source was compiled."""
_COUPLING = re.compile(r"mjc:(?:coef\d|target|mimic\w*|polycoef|joint[12]|active|qpos|qvel|ctrl|time|type)\Z")
"""Those of mimics and keyframes, which are in the model too."""
_MODEL_SPACES = frozenset({"drive", "ext_physics"})
"""Spaces whose attributes are in the model."""


def _report_losses(document: MjcfDocument) -> None:
    """Values without an attribute, then attributes of other solvers."""
    asset = document.asset
    settings: tuple[tuple[Kind, str, list[Any]], ...] = (
        (SETTING_LOST, "the stiffness or damping of stops", [j for j in asset.joints if _has_soft_stops(document, j)]),
        (SETTING_LOST, "a contact setting", _list_lost_contacts(document)),
        (LOOK_LOST, "the clip distances", _list_clipped(document)),
    )  # fmt: skip
    for kind, what, lost in settings:
        if lost:
            document.reporter.report(kind, lost[0].source, what=what, count=len(lost), first=lost[0].name)
    _report_extras(document)


def _list_clipped(document: MjcfDocument) -> list[Camera]:
    """Cameras with distances of their own; those of MuJoCo are the same for all, and found again."""
    if document.asset.provenance.format == "mjcf" or NAMESPACE in document.asset.extras.table:
        return []
    # clip distances that nobody chose are no loss
    usual = Camera("")
    return [
        camera for camera in document.asset.cameras if (camera.near, camera.far) != (usual.near, usual.far)
    ]


def _list_lost_contacts(document: MjcfDocument) -> list[Shape]:
    """Colliders with settings that MuJoCo has no word for."""
    colliders = [shape for shape in document.asset.shapes if shape.collision]
    return [shape for shape in colliders if set(shape.settings) - _list_known_settings(document, shape)]


def _list_known_settings(document: MjcfDocument, shape: Shape) -> set[str]:
    # stiffness and damping are those of solref, where the source says it or whoever compiles sets it
    if document.sets_springs or document.kept.get(shape, "geom", "solref") is not None:
        return _CONTACT_SETTINGS | _SPRING_SETTINGS | {"contact_first"}
    return _CONTACT_SETTINGS


def _has_soft_stops(document: MjcfDocument, joint: Joint) -> bool:
    if document.sets_springs or not any(dof.limit_stiffness or dof.limit_damping for dof in joint.dofs):
        return False
    return document.kept.get(joint, "joint", "solreflimit") is None


def _report_extras(document: MjcfDocument) -> None:
    _mark_model_fields(document)
    lost = {NAMESPACE: list(document.kept.list_unused())}
    motors = {actuator.path for actuator in document.asset.actuators}
    for space, element, attribute, _ in document.asset.extras:
        if space not in (NAMESPACE, *_MODEL_SPACES) and not (_is_in_model(attribute) or element in motors):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        if names:
            document.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])


# one function: a case for each place where a stage may say what the model has as a field
def _mark_model_fields(document: MjcfDocument) -> None:
    """Count what the readers of OpenUSD turned into fields of the model."""
    asset, solver = document.asset, document.kept
    for path in (*(a.path for a in asset.actuators), *(s.path for s in asset.sensors)):
        solver.take_all(path)
    for tendon in asset.tendons:
        solver.take_all(tendon.source.prim)
    world = asset.environment
    known = {*world.settings, "gravity", "timestep", "wind", "magnetic", "iterations"}
    flags = {name for word in ("disable", "enable") for name in world.settings.get(word, ())}
    for _, key, attribute, _ in asset.extras:
        # mjc:option:timestep and mjc:flag:gravity are fields of the environment
        _, group, name = ("", *attribute.split(":", 2)[1:], "", "")[:3]
        is_option = (group == "option" and name in known) or (group == "flag" and name in flags)
        if is_option or _is_in_model(attribute) or _COUPLING.match(attribute):
            solver.mark_written(key, attribute.removeprefix(f"{NAMESPACE}:"))


def _is_in_model(attribute: str) -> bool:
    return attribute in _MODEL_ATTRIBUTES or bool(_MIMICS.match(attribute))


_ACTUATOR_STYLE = (
    "kp kv forcerange gear gain gaintype gainprm biastype biasprm dyntype dynprm group ctrlrange"
)
_STYLE_WORDS = {
    "joint": "type stiffness damping armature frictionloss springref margin solreflimit solimplimit solreffriction "
    "solimpfriction actuatorgravcomp actuatorfrcrange group",
    "geom": "type contype conaffinity group condim friction priority solmix solref solimp margin gap adhesion",
    "site": "type size group rgba",
    "mesh": "scale inertia maxhullvert",
    "material": "specular shininess reflectance metallic roughness emission",
    "pair": "condim friction solref solreffriction solimp margin gap",
    "equality": "solref solimp",
    "tendon": "stiffness damping frictionloss armature width rgba springlength solreflimit solimplimit",
    **dict.fromkeys(ACTUATOR_TAGS, _ACTUATOR_STYLE),
}
STYLES = {tag: frozenset(words.split()) for tag, words in _STYLE_WORDS.items()}
"""Attributes that may be factored out, by the tag of the default."""
_DEFAULT_TAGS = {"connect": "equality", "weld": "equality", "fixed": "tendon", "spatial": "tendon"}
_SECTION_TAGS = {("joint", "equality"): "equality", ("tendon", "equality"): "equality"}
_SKIPPED_PARENTS = frozenset({"fixed", "spatial", "tuple", "default"})
_MAIN_ONLY = frozenset({"mesh", "material"})
MIN_SAVED = 4
"""Attributes that a class must save, members times attributes."""

Style = tuple[tuple[str, str], ...]


def _factor_defaults(root: Element) -> None:
    """Move what repeats into classes; the section stands before the assets."""
    section = etree.Element("default")
    names = NameScope(("main",))
    classes: list[Element] = []
    for tag, nodes in _collect_styled(root).items():
        if tag not in ACTUATOR_TAGS:  # one class holds one kind of actuator
            _share_with_main(section, tag, nodes)
        if tag not in _MAIN_ONLY:
            classes += _make_classes(tag, nodes, names)
    section.extend(classes)
    if len(section):
        root.append(section)


def _collect_styled(root: Element) -> dict[str, list[Element]]:
    """Elements by the tag of their default."""
    found: dict[str, list[Element]] = {}
    for node in root.iter(etree.Element):
        parent = node.getparent()
        if parent is None or parent.tag in _SKIPPED_PARENTS or not isinstance(node.tag, str):
            continue
        tag = _SECTION_TAGS.get((node.tag, parent.tag)) or _DEFAULT_TAGS.get(node.tag, node.tag)
        if tag in STYLES and not (tag == "tendon" and parent.tag != "tendon"):
            if tag in ACTUATOR_TAGS and parent.tag != "actuator":
                continue
            found.setdefault(tag, []).append(node)
    return found


def _read_style(node: Element, tag: str) -> Style:
    return tuple((name, value) for name, value in node.attrib.items() if name in STYLES[tag])


def _share_with_main(section: Element, tag: str, nodes: list[Element]) -> None:
    """What every element says goes to the main class."""
    if len(nodes) < 2:
        return
    # what one element does not say cannot go to the main class: there it would be said for it
    common = set(_read_style(nodes[0], tag)).intersection(*(_read_style(node, tag) for node in nodes[1:]))
    ordered = [pair for pair in _read_style(nodes[0], tag) if pair in common]
    if ordered:
        etree.SubElement(section, tag, dict(ordered))
        for node in nodes:
            for name, _ in ordered:
                del node.attrib[name]


def _make_classes(tag: str, nodes: list[Element], names: NameScope) -> list[Element]:
    """A class for each style that repeats often enough."""
    styles: dict[Style, list[Element]] = {}
    for node in nodes:
        styles.setdefault(_read_style(node, tag), []).append(node)
    classes = []
    for style, members in styles.items():
        if len(members) < 2 or len(members) * len(style) < MIN_SAVED:
            continue
        name = names.claim(_choose_name(tag, dict(style)))
        holder = etree.Element("default", {"class": name})
        etree.SubElement(holder, tag, dict(style))
        classes.append(holder)
        for node in members:
            _join_class(node, name, style)
    return classes


def _choose_name(tag: str, style: dict[str, str]) -> str:
    if tag != "geom":
        return tag
    return "visual" if style.get("contype") == style.get("conaffinity") == "0" else "collision"


def _join_class(node: Element, name: str, style: Style) -> None:
    attributes = dict(node.attrib)
    for attribute, _ in style:
        del attributes[attribute]
    node.attrib.clear()
    # name and class first, as people write them
    first = {"name": attributes.pop("name")} if "name" in attributes else {}
    node.attrib.update({**first, "class": name, **attributes})

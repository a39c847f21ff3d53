# SPDX-License-Identifier: Apache-2.0
"""``<default>``: what elements have in common, said once.

Attributes that all elements of a kind share go to the main class; the rest is sorted by style, the attributes that
tell how an element is rather than which and where.  A style that repeats becomes a class: ``visual`` and
``collision`` for geoms, the kind's own name for the others.  Nothing changes its meaning: an element has exactly the
attributes of its class and its own.
"""

from __future__ import annotations

from lxml import etree

from simwright.core.names import NameScope
from simwright.formats.mjcf.writer.actuators import ACTUATOR_TAGS
from simwright.formats.xml import Element

_ACTUATOR = "kp kv forcerange gear gain gaintype gainprm biastype biasprm dyntype dynprm group ctrlrange"
_WORDS = {
    "joint": "type stiffness damping armature frictionloss springref margin solreflimit solimplimit solreffriction "
    "solimpfriction actuatorgravcomp actuatorfrcrange group",
    "geom": "type contype conaffinity group condim friction priority solmix solref solimp margin gap adhesion",
    "site": "type size group rgba",
    "mesh": "scale inertia maxhullvert",
    "material": "specular shininess reflectance metallic roughness emission",
    "pair": "condim friction solref solreffriction solimp margin gap",
    "equality": "solref solimp",
    "tendon": "stiffness damping frictionloss armature width rgba springlength solreflimit solimplimit",
    **dict.fromkeys(ACTUATOR_TAGS, _ACTUATOR),
}
STYLES = {tag: frozenset(words.split()) for tag, words in _WORDS.items()}
"""Attributes that may be factored out, by the tag of the default."""
_TAGS = {"connect": "equality", "weld": "equality", "fixed": "tendon", "spatial": "tendon"}
_SECTION_TAGS = {("joint", "equality"): "equality", ("tendon", "equality"): "equality"}
_SKIPPED_PARENTS = frozenset({"fixed", "spatial", "tuple", "default"})
_MAIN_ONLY = frozenset({"mesh", "material"})
WORTH = 4
"""Attributes that a class must save, members times attributes."""

Style = tuple[tuple[str, str], ...]


def factor_defaults(root: Element) -> None:
    """Move what repeats into classes; the section stands before the assets."""
    section = etree.Element("default")
    names = NameScope(("main",))
    classes: list[Element] = []
    for tag, nodes in _collect(root).items():
        if tag not in ACTUATOR_TAGS:  # one class holds one kind of actuator
            _share_all(section, tag, nodes)
        if tag not in _MAIN_ONLY:
            classes += _make_classes(tag, nodes, names)
    section.extend(classes)
    if len(section):
        root.append(section)


def _collect(root: Element) -> dict[str, list[Element]]:
    """Elements by the tag of their default."""
    found: dict[str, list[Element]] = {}
    for node in root.iter(etree.Element):
        parent = node.getparent()
        if parent is None or parent.tag in _SKIPPED_PARENTS or not isinstance(node.tag, str):
            continue
        tag = _SECTION_TAGS.get((node.tag, parent.tag)) or _TAGS.get(node.tag, node.tag)
        if tag in STYLES and not (tag == "tendon" and parent.tag != "tendon"):
            if tag in ACTUATOR_TAGS and parent.tag != "actuator":
                continue
            found.setdefault(tag, []).append(node)
    return found


def _read_style(node: Element, tag: str) -> Style:
    return tuple((name, value) for name, value in node.attrib.items() if name in STYLES[tag])


def _share_all(section: Element, tag: str, nodes: list[Element]) -> None:
    """What every element says goes to the main class."""
    if len(nodes) < 2:
        return
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
        if len(members) < 2 or len(members) * len(style) < WORTH:
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
    first = {"name": attributes.pop("name")} if "name" in attributes else {}
    node.attrib.update({**first, "class": name, **attributes})

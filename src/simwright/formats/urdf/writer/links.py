# SPDX-License-Identifier: Apache-2.0
"""``<link>``: mass properties in the axes of the link, and its shapes.

Mass that follows from shapes is computed: in URDF a link without ``<inertial>`` has none.  Nothing is invented for
links that have no mass; they have no ``<inertial>``.
"""

from __future__ import annotations

from lxml import etree

from simwright.core.math3d import Pose
from simwright.formats.urdf.writer.draft import WORLD_LINK, Draft
from simwright.formats.urdf.writer.numbers import format_number, write_origin
from simwright.formats.urdf.writer.shapes import ShapeWriter
from simwright.formats.xml import Element
from simwright.model.asset import Shape
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD
from simwright.model.mass import body_inertials

_SIX = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def write_links(draft: Draft) -> None:
    """The world link if there is one, every body, then links between freedoms and frames."""
    writer = ShapeWriter(draft)
    shapes: dict[str, list[Shape]] = {}
    for shape in draft.asset.shapes:
        shapes.setdefault(shape.body, []).append(shape)
    nodes: list[Element] = []
    if WORLD in draft.links:
        node = etree.Element("link", {"name": WORLD_LINK})
        writer.write(node, WORLD, shapes.get(WORLD, []))
        nodes.append(node)
    inertials = body_inertials(draft.asset)
    for body in draft.asset.bodies:
        node = etree.Element("link", {"name": draft.links[body.name]})
        write_inertial(node, inertials.get(body.name))
        writer.write(node, body.name, shapes.get(body.name, []))
        nodes.append(node)
    nodes += [etree.Element("link", {"name": name}) for name in draft.bare_links]
    writer.palette.define()
    draft.root.extend(nodes)
    writer.report()


def write_inertial(link: Element, inertial: Inertial | None) -> None:
    """``<inertial>`` with the centre of mass as its origin, where there is any mass or inertia."""
    if inertial is None or (inertial.mass == 0.0 and not inertial.inertia.any()):
        return
    node = etree.SubElement(link, "inertial")
    write_origin(node, Pose.of(inertial.com))
    etree.SubElement(node, "mass", {"value": format_number(inertial.mass)})
    six = dict(zip(_SIX, inertial.six, strict=True))
    etree.SubElement(
        node, "inertia", {key: format_number(six[key]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    )

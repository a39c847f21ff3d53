# SPDX-License-Identifier: Apache-2.0
"""What the element readers share: the asset being built, the frame graph, and where leftovers go.

Everything SDFormat says and the model has no word for is kept in ``asset.extras`` under the namespace
``gazebo`` and reported, so that nothing is lost in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Reporter, declare
from simwright.core.gate import Gate
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.formats.mesh import MeshLibrary
from simwright.formats.resources import resolve_resource
from simwright.formats.sdf.document import CLOSES_LOOP, SdfDocument, spell_attribute
from simwright.formats.sdf.poses import FrameGraph, frame_of, scope_of
from simwright.formats.sdf.tree import NamedElement
from simwright.formats.xml import UNKNOWN_ELEMENT, Element, spell
from simwright.model.asset import Asset
from simwright.model.joint import WORLD

NAMESPACE = "gazebo"
"""Namespace of everything SDFormat-only in ``asset.extras``."""

KEPT = declare(
    "sdf-kept-as-extra",
    Level.INFO,
    "<{tag}> of {owner!r} has no counterpart in the model",
    hint="it is kept as an extra in the namespace gazebo",
    doc="A setting of SDFormat or Gazebo that no field of the model stands for.",
)


_OWNERS = {"world", "model", "link", "joint", "collision", "visual", "sensor", "light"}
"""Elements whose attributes are kept without the name of the element before them."""


@dataclass(frozen=True, slots=True)
class LinkPlacement:
    """Where things on a link go: its body, or the world if the link belongs to a static model.

    ``lift`` is the pose of the link in the body's (or the asset's) frame.
    """

    body: str
    link: NamedElement
    lift: Pose = IDENTITY


@dataclass(slots=True)
class SdfReadContext:
    """One read in progress."""

    asset: Asset
    reporter: Reporter
    gate: Gate
    graph: FrameGraph
    world_name: str = ""
    meshes: MeshLibrary = field(init=False)
    names: dict[str, NameScope] = field(default_factory=dict)
    joint_items: list[NamedElement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.meshes = MeshLibrary(self.gate, self.reporter)

    def claim(self, kind: str, name: str, owner: str = "") -> str:
        """A name that is free among its kind: ``name``, else ``owner_name``, else numbered."""
        taken = self.names.setdefault(kind, NameScope())
        # Names of shapes are unique in their link only; "base_collision" tells more than "collision_2".
        if owner and name in taken:
            name = f"{owner}_{name}"
        return taken.claim(name)

    def placement(self, link: NamedElement) -> LinkPlacement:
        """Where the things on a link go."""
        if not link.model.static:
            return LinkPlacement(link.key, link)
        return LinkPlacement(WORLD, link, self.graph.pose(frame_of(link)))

    def place(self, placement: LinkPlacement, document: SdfDocument, element: Element) -> Pose:
        """Pose, in the placement's body, of an element on the link."""
        scope = scope_of(placement.link.model)
        local = self.graph.place(document, element, scope, frame_of(placement.link))
        # Exact on bodies, whose things need no lifting.
        return local if placement.lift is IDENTITY else placement.lift @ local

    def resolve(self, document: SdfDocument, element: Element, uri: str) -> Path:
        """The file an address names; an InputError if it cannot be found."""
        return resolve_resource(uri, document.base, self.gate, document.where(element))

    def keep_rest(
        self,
        document: SdfDocument,
        element: Element,
        owner: str,
        carried: Collection[str],
        known: Collection[str] | None = None,
    ) -> None:
        """Keep the children that were not carried over as extras of ``owner``, and say so.

        With ``known``, tags in neither collection are reported as not being part of the format.
        """
        self.keep_attributes(document, element, owner)
        for child in document.children(element):
            if child.tag in carried:
                continue
            # Tags with a prefix or a namespace belong to other tools, and are kept without a word about the format.
            if known is not None and child.tag not in known and ":" not in child.tag and "}" not in child.tag:
                data = {"tag": child.tag, "parent": element.tag}
                self.reporter.report(UNKNOWN_ELEMENT, document.where(child), **data)
                self.keep(document, child, owner)
            else:
                self.keep_one(document, child, owner)

    def keep_attributes(self, document: SdfDocument, element: Element, owner: str) -> None:
        """Keep the attributes of other tools (``gz:type``) as extras of ``owner``, and say so."""
        for name, text in element.attrib.items():
            if name.startswith("{") and name != CLOSES_LOOP:
                spelled = spell_attribute(element, name)
                where = document.where(element)
                self.reporter.report(KEPT, where, tag=f"{element.tag} {spelled}", owner=owner)
                head = "" if element.tag in _OWNERS else spell(element)
                self.asset.extras.keep(NAMESPACE, owner, f"{head}@{spelled}", text, where)

    def keep_one(self, document: SdfDocument, element: Element, owner: str, prefix: str = "") -> None:
        """Keep one element as extras of ``owner``, and say so."""
        self.reporter.report(KEPT, document.where(element), tag=spell(element), owner=owner)
        self.keep(document, element, owner, prefix)

    def keep(self, document: SdfDocument, element: Element, owner: str, prefix: str = "") -> None:
        """Keep an element and everything in it as extras of ``owner``; the second of its kind as ``tag[2]``."""
        head = f"{prefix}/{spell(element)}" if prefix else spell(element)
        known = self.asset.extras.table.get(NAMESPACE, {}).get(owner, {})
        place, number = head, 1
        # Several elements of one tag may be kept for one owner.
        while any(path == place or path.startswith((f"{place}/", f"{place}@")) for path in known):
            number += 1
            place = f"{head}[{number}]"
        for path, value in flatten(element, prefix):
            self.asset.extras.keep(
                NAMESPACE, owner, place + path[len(head) :], value, document.where(element)
            )


def flatten(element: Element, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """``path/to/leaf`` and its value for every leaf and attribute (``path@attribute``) of an element."""
    path = f"{prefix}/{spell(element)}" if prefix else spell(element)
    for name, text in element.attrib.items():
        yield f"{path}@{spell_attribute(element, name)}", text
    children = [child for child in element if isinstance(child.tag, str)]
    if not children:
        yield path, read_value((element.text or "").strip())
    seen: dict[str, int] = {}
    for child in children:
        tag = spell(child)
        number = seen[tag] = seen.get(tag, 0) + 1
        if number == 1:
            yield from flatten(child, path)
        else:
            for inner, value in flatten(child, path):
                head, tail = inner[: len(path) + 1 + len(tag)], inner[len(path) + 1 + len(tag) :]
                yield f"{head}[{number}]{tail}", value


def read_value(text: str) -> Any:
    """Text as the plainest value it can be: bool, int, float, a tuple of floats, or the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    # int first, so that counts stay whole.
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    parts = text.split()
    try:
        # Vectors are written back number by number; text with several words is left as it is.
        return tuple(float(part) for part in parts) if len(parts) > 1 else text
    except ValueError:
        return text

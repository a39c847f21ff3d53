# SPDX-License-Identifier: Apache-2.0
"""The model tree of a file: worlds, models, nested and included models, and the named things in them.

The XML is turned into :class:`ModelNode` and :class:`NamedElement` first, with every ``<include>`` replaced by what
it includes; frames, bodies and joints are then read from this tree without caring which file they are from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simwright.core.diag import NOWHERE, Where
from simwright.core.names import NameScope
from simwright.formats.sdf.document import SdfDocument
from simwright.formats.xml import Element

if TYPE_CHECKING:
    from simwright.formats.sdf.poses import SdfFrame

SEPARATOR = "::"


@dataclass(slots=True, eq=False)
class NamedElement:
    """A named element of a model: a link, a joint, a frame or a light.

    ``key`` is its name in the asset, unique among its kind; ``frame`` its place in the frame graph;
    ``placer`` the element whose ``<pose>`` places it where that is another one (an included light).
    """

    name: str
    element: Element
    document: SdfDocument
    model: ModelNode
    key: str = ""
    frame: SdfFrame | None = None
    placer: Element | None = None
    placer_document: SdfDocument | None = None

    @property
    def scoped(self) -> str:
        """The name with its models before it, ``outer::inner::link``."""
        return join_scope(self.model.scope, self.name)

    @property
    def scope(self) -> str:
        """Its models, also those that its name has: up to 1.7, nested models were flattened so (``inner::link``)."""
        return join_scope(self.model.scope, self.name.rpartition(SEPARATOR)[0])

    @property
    def plain(self) -> str:
        """The name without any model."""
        return self.name.rpartition(SEPARATOR)[2]


@dataclass(slots=True, eq=False)
class ModelNode:
    """A ``<model>``, or the place that holds the outermost ones (``<world>`` or the file itself).

    ``placer`` is the element whose ``<pose>`` places the model: itself or the ``<include>``; ``where`` the
    line that brings it into its parent.  A ``merged`` node shares the names of its parent (``<include merge="true">``).
    """

    name: str
    element: Element
    document: SdfDocument
    parent: ModelNode | None = None
    scope: str = ""
    is_world: bool = False
    merged: bool = False
    static: bool = False
    placer: Element | None = None
    placer_document: SdfDocument | None = None
    placement_frame: str = ""
    models: list[ModelNode] = field(default_factory=list)
    links: list[NamedElement] = field(default_factory=list)
    joints: list[NamedElement] = field(default_factory=list)
    frames: list[NamedElement] = field(default_factory=list)
    lights: list[NamedElement] = field(default_factory=list)
    plugins: list[tuple[SdfDocument, Element]] = field(default_factory=list)
    frame: SdfFrame | None = None
    where: Where = NOWHERE

    def walk(self) -> Iterator[ModelNode]:
        """This node and every model below it."""
        yield self
        for model in self.models:
            yield from model.walk()

    def canonical(self) -> NamedElement | None:
        """The first link, else that of the first nested model that has one."""
        if self.links:
            return self.links[0]
        return next((link for model in self.models if (link := model.canonical())), None)


def join_scope(*names: str) -> str:
    """Names joined by ``::``, empty ones left out."""
    return SEPARATOR.join(name for name in names if name)


def assign_keys(items: Iterable[NamedElement]) -> None:
    """Give every item its name in the asset.

    The plain name where it is the only one in the file, else the scoped one; what is still doubled (an error
    in the file, reported elsewhere) is numbered.
    """
    items = list(items)
    counts = Counter(item.plain for item in items)
    names = NameScope()
    for item in items:
        # Plain names where possible: controllers and users know them by these.
        item.key = names.claim(item.plain if counts[item.plain] == 1 else item.scoped)

# SPDX-License-Identifier: Apache-2.0
"""Where each element stands in the text: by name, by MuJoCo's ``line N``, or by its order inside its body.

MuJoCo gives a line for elements of the main file only, and none for what it includes or attaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.gate import Gate
from simwright.formats.xml import Element

# elements that make others where they do not stand, so that counting siblings would point at the wrong line
_REORDERING = frozenset(("include", "replicate", "attach", "composite", "flexcomp"))


@dataclass(frozen=True, slots=True)
class SourceElement:
    """One element of the text: its section (``geom``, ``actuator`` ...), place, and how often it is made."""

    element: Element
    section: str
    where: Where
    copies: int = 1

    @property
    def name(self) -> str:
        """The name attribute, empty if there is none."""
        return str(self.element.get("name") or "")


@dataclass(slots=True)
class MjcfSource:
    """A main file with everything it includes and attaches.

    ``named`` finds an element by section and name, ``files`` the asset file of a mesh, texture or height
    field, ``sides`` those of the sides of a cube texture by attribute; ``missing`` are the places of asset
    files that do not exist, ``included`` those of unnamed elements of included files; ``attached`` are the
    models it attaches, each a main file of its own, and ``elements`` the number of elements after all
    replication and attachment.  What mesh files name in turn has to pass ``gate``.
    """

    file: str
    gate: Gate
    entries: list[SourceElement] = field(default_factory=list)
    named: dict[tuple[str, str], SourceElement] = field(default_factory=dict)
    files: dict[tuple[str, str], Path] = field(default_factory=dict)
    sides: dict[str, dict[str, Path]] = field(default_factory=dict)
    attached: list[MjcfSource] = field(default_factory=list)
    missing: list[Where] = field(default_factory=list)
    included: dict[str, list[Where]] = field(default_factory=dict)
    elements: int = 0

    def add(self, entry: SourceElement) -> None:
        """Take up one more element of the text."""
        self.entries.append(entry)
        self.elements += entry.copies
        if entry.name:
            self.named.setdefault((entry.section, entry.name), entry)
        elif entry.where.file != self.file:
            self.included.setdefault(entry.section, []).append(entry.where)

    def list_elements(self) -> Iterator[SourceElement]:
        """Every element, those of attached models last."""
        yield from self.entries
        for other in self.attached:
            yield from other.list_elements()

    def find(self, section: str, name: str, info: str = "") -> Where:
        """The place of an element by its name, else by MuJoCo's ``line N``, else the file alone."""
        if name and (section, name) in self.named:
            return self.named[section, name].where
        # MjSpec's info is "line 12" for elements of the main file
        line = int(info[5:]) if info.startswith("line ") and info[5:].isdigit() else 0
        if line > 0 and not self.attached:
            return Where(self.file, line)
        # the only unnamed element of its section in all included files can only be this one
        included = self.included.get(section, [])
        return included[0] if len(included) == 1 else Where(self.file)

    def find_child(self, body: str, section: str, number: int, count: int) -> Where | None:
        """The place of the ``number``-th of ``count`` elements of a section on a body.

        The body itself where the text does not list them one by one; None where the body is unknown.
        """
        entry = self.named.get(("body", body))
        if entry is None:
            return None
        children: list[Element] = []
        if not _collect(entry.element, section, children) or len(children) != count:
            return entry.where
        return Where(entry.where.file, children[number].sourceline)


def _collect(element: Element, section: str, found: list[Element]) -> bool:
    """Elements of a section on a body, its frames included; False if the text makes them in another way."""
    for child in element:
        if child.tag in _REORDERING:
            return False
        if child.tag == "frame" and not _collect(child, section, found):
            return False
        if child.tag == section or (section == "joint" and child.tag == "freejoint"):
            found.append(child)
    return True

# SPDX-License-Identifier: Apache-2.0
"""The layer of each role in a stack: one that is there and holds most of it, or a new file beside the root layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.sanitizer.layering.roles import (
    BASE,
    CUSTOM,
    EXTENDED,
    MATERIALS,
    PHYSICS,
    ROS,
    SHAPES,
    VENDOR,
    find_group,
    name_file,
    rank,
)
from simwright.sanitizer.layering.stacks import LayerStack, is_proprietary
from simwright.usd.edit import Editor

_COPIED = (
    "metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond", "framesPerSecond", "defaultPrim",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class RoleLayers:
    """Layers by role; ``new`` are those that were made, which are saved and brought in at the end."""

    editor: Editor
    stack: LayerStack
    known: dict[str, Any] = field(default_factory=dict)
    new: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        best: dict[str, int] = {}
        for layer in self.stack.layers:
            # the entry is an interface: it brings layers in and holds no role itself (REP-0158 1.2.1)
            if layer == self.stack.root and self.stack.is_entry:
                continue
            for role, count in _rate(self.stack.read(layer)).items():
                if count > best.get(role, 0):
                    best[role], self.known[role] = count, layer

    def find(self, role: str) -> Any:
        """The layer that has a role, None if one has to be made."""
        return self.known.get(role)

    def open(self, role: str) -> Any:
        """The layer of a role, made if there is none."""
        layer = self.known.get(role)
        if layer is None:
            layer = self.new[role] = self.known[role] = make_layer(
                self.editor, self.stack.root, name_file(role)
            )
        return layer

    def bring_in(self) -> None:
        """Make the new layers sublayers of the root layer, and save them.

        Vendors come first, other features behind the vendors that are there; what defines prims comes last.
        """
        addresses = self.stack.root.subLayerPaths
        first = self._count_vendors()
        for role in sorted(self.new, key=rank):
            address = f"./{Path(self.new[role].realPath).name}"
            # sublayers are listed from the strongest to the weakest: what defines prims comes behind all
            # features
            if find_group(role) in (MATERIALS, SHAPES, BASE):
                addresses.append(address)
            else:
                addresses.insert(first, address)
                first += 1
        for layer in self.new.values():
            layer.Save()

    def _count_vendors(self) -> int:
        """How many of the first sublayers are a vendor's; none, if a vendor's is to come."""
        # a new vendor layer goes to the very top
        if any(find_group(role) == VENDOR for role in self.new):
            return 0
        count = 0
        for address in self.stack.root.subLayerPaths:
            layer = Sdf.Layer.FindRelativeToLayer(self.stack.root, address)
            facts = self.stack.facts.get(layer.identifier) if layer else None
            if facts is None or not is_proprietary(facts):
                break
            count += 1
        return count

    def list_layers(self) -> list[Any]:
        """The layers of the stack as it is now, the strongest first."""
        found: list[Any] = []
        waiting = [self.stack.root]
        while waiting:
            layer = waiting.pop(0)
            if layer is None or layer in found:
                continue
            found.append(layer)
            below = [Sdf.Layer.FindRelativeToLayer(layer, address) for address in layer.subLayerPaths]
            # sublayers are weaker than the layer that lists them and stronger than its next sibling
            waiting[:0] = [item for item in below if item]
        return found


def make_layer(editor: Editor, beside: Sdf.Layer, name: str) -> Any:
    """A new layer with the units of the one it stands beside."""
    file = choose_file(editor, beside, name)
    # left in memory by a round that was undone
    layer = Sdf.Layer.Find(str(file))
    if layer is not None:
        layer.Clear()
    else:
        layer = Sdf.Layer.CreateNew(str(file))
    for key in _COPIED:
        if beside.pseudoRoot.HasInfo(key):
            layer.pseudoRoot.SetInfo(key, beside.pseudoRoot.GetInfo(key))
    return layer


def choose_file(editor: Editor, beside: Sdf.Layer, name: str) -> Path:
    """A file that is not there yet; where the name is taken, the layer's own name is put in front."""
    place = Path(beside.realPath)
    wanted, number = place.with_name(name), 1
    # a physics.usda of somebody else beside the asset must not be written over
    while editor.is_taken(wanted):
        more = f"{number}_" if number > 1 else ""
        wanted = place.with_name(f"{place.stem}_{more}{name}")
        number += 1
    return wanted


def _rate_tree(facts: LayerFacts) -> dict[str, int]:
    """How much a layer says of the link tree and of shapes; nothing for a layer of features alone."""
    found: dict[str, int] = {}
    # a layer of features defines a link or two to hang them on, and is no link tree for that
    if (facts.placed or not facts.features) and facts.defines[Domain.KINEMATIC]:
        found[BASE] = facts.defines[Domain.KINEMATIC]
    if facts.has_geometry:
        found[SHAPES] = facts.defines[Domain.GEOMETRY]
    return found


def _rate(facts: LayerFacts) -> dict[str, int]:
    """The roles a layer has, each with how much it says."""
    counts = facts.counts
    if is_proprietary(facts):
        return {f"{VENDOR}:{vendor}": counts[Domain.VENDOR] for vendor in facts.vendors}
    features = {
        PHYSICS: counts[Domain.PHYSICS],
        ROS: counts[Domain.ROS] + counts[Domain.CONTROL] + counts[Domain.SENSOR],
        EXTENDED: counts[Domain.EXTENDED],
    }
    first = max(features, key=lambda role: features[role])
    if len(facts.render_materials) > features[first] and not facts.has_geometry and not facts.placed:
        return {MATERIALS: len(facts.render_materials)}
    tree = _rate_tree(facts)
    if tree:
        return tree
    if features[first] and facts.encoding == "usda":
        return {first: features[first]}
    return {CUSTOM: facts.prims} if facts.unknown or facts.neutral_apis else {}

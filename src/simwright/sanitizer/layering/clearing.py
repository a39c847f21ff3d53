# SPDX-License-Identifier: Apache-2.0
"""A layer that stands alone is emptied: what it says is copied to new layers, then taken away in whole subtrees.

Of a single layer nothing has to be put together with what others say.  A prim that goes to one place as a whole is
copied as a whole, and subtrees that are empty afterwards are removed in one step: an asset of twenty thousand prims
would otherwise be moved word by word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pxr import Sdf

from simwright.sanitizer.layering import opinions as acts

_SCHEMAS = "apiSchemas"
_STAYS = ("variantSetNames", "variantSelection")
"""Fields that stay in a layer when all else moves."""


@dataclass(slots=True, eq=False)
class Clearance:
    """What is known of the prims of a layer: where each goes as a whole, and which have to stay in part."""

    layer: Any
    whole: dict[Any, str] = field(default_factory=dict)
    staying: set[Any] = field(default_factory=set)

    def copy_definitions(self, paths: Iterable[Any], home: Any) -> None:
        """Copy prims, those that go nowhere else with all they have."""
        for path in paths:
            if path in self.whole:
                acts.open_spec(home, path)
                Sdf.CopySpec(self.layer, path, home, path)
            else:
                acts.copy_definition(self.layer.GetPrimAtPath(path), acts.open_spec(home, path))

    def copy_properties(self, paths: Iterable[Any], home: Any) -> None:
        """Copy properties of prims that are not copied as a whole."""
        layer, known = self.layer, None
        for path in paths:
            above = path.GetParentPath()
            if above in self.whole or layer.GetPropertyAtPath(path) is None:
                continue
            if above != known:
                acts.open_spec(home, above)
                known = above
            Sdf.CopySpec(layer, path, home, path)

    def copy_schemas(self, names: Iterable[tuple[Any, str]], home: Any) -> None:
        """Copy applied schemas, also deleted ones."""
        found: dict[Any, list[str]] = {}
        for path, name in names:
            if path not in self.whole:
                found.setdefault(path, []).append(name)
        for path, wanted in found.items():
            listed = self.layer.GetPrimAtPath(path).GetInfo(_SCHEMAS)
            acts.open_spec(home, path).SetInfo(_SCHEMAS, acts.only(listed, wanted))

    def remove(self, cargo: Iterable[Any]) -> None:
        """Take away what was copied: subtrees in which nothing stays, and words of prims that do."""
        kept = {prefix for path in self.staying for prefix in path.GetPrefixes()}
        self._remove_words(cargo, kept)
        pending = [Sdf.Path.absoluteRootPath]
        while pending:
            path = pending.pop()
            spec = self.layer.pseudoRoot if path.IsAbsoluteRootPath() else self.layer.GetPrimAtPath(path)
            for name in list(spec.GetInfo("primChildren") or ()):
                child = path.AppendChild(name)
                if child in kept:
                    pending.append(child)
                else:
                    del spec.nameChildren[name]

    def _remove_words(self, cargo: Iterable[Any], kept: set[Any]) -> None:
        for goods in cargo:
            for path in goods.properties:
                above = path.GetParentPath()
                known = self.layer.GetPropertyAtPath(path) if above in kept else None
                if known is not None:
                    self.layer.GetPrimAtPath(above).RemoveProperty(known)
            for path, name in goods.apis:
                if path in kept:
                    spec = self.layer.GetPrimAtPath(path)
                    acts.write_apis(spec, acts.without(spec.GetInfo(_SCHEMAS), name))
            for _, path in goods.definitions:
                if path in kept:
                    acts.clear_definition(self.layer.GetPrimAtPath(path))


def is_alone(sites: Iterable[Any]) -> bool:
    """Are there no variants?  They share names and orders with the prim that has them."""
    return not any(path.ContainsPrimVariantSelection() for path in sites)


def has_to_stay(spec: Any, *, is_touched: bool) -> bool:
    """Is there something left of a prim whose words are all moved, or was it there to say nothing?"""
    if any(spec.HasInfo(key) for key in _STAYS):
        return True
    return not is_touched and not spec.GetInfo("primChildren")


def is_movable(spec: Any) -> bool:
    """May a prim be copied as a whole: nothing below it, and nothing of its own that stays with the layer?"""
    if spec.GetInfo("primChildren") or spec.HasInfo("primOrder"):
        return False
    listed = spec.GetInfo(_SCHEMAS) if spec.HasInfo(_SCHEMAS) else None
    return listed is None or not (listed.isExplicit or listed.addedItems)

# SPDX-License-Identifier: Apache-2.0
"""How many prims and layers a stage is going to have, counted on its layers before anything is composed.

A prim brings everything below the prims it references, inherits or specializes, and so do those in turn: numbers
multiply with every step, so a few small layers can stand for billions of prims.  The count is a bound from above: all
variants are counted, and opinions of several layers about one prim count as several.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import LimitError
from simwright.core.limits import check_limit
from simwright.usd.settled import once_per_file

_DEEPEST = 64
"""Names in a path of a prim that only arcs above it bring."""


def check_multiplicity(root: Any, layers: Iterable[Any]) -> None:
    """A LimitError if composing ``root`` makes too many prims or layers; ``layers`` are all that it may use."""
    count = _Count({layer.identifier: layer for layer in layers})
    where = Where(str(root.realPath or root.identifier))
    try:
        check_limit("usd-layers", sum(count.stack(root.identifier).values()), where)
        check_limit("usd-prims", count.weigh_stack(root.identifier, "/"), where)
    except RecursionError:
        hint = "is it the right file?"
        raise LimitError("references lead to references too many times", hint=hint, where=where) from None


@dataclass(slots=True)
class _LayerOutline:
    """The prims of a layer by path without variants: how many specs each has, and what each brings in."""

    specs: dict[str, int] = field(default_factory=dict)
    arcs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Path -> asset (empty for the same layer) and prim path (empty for the default prim)."""
    below: dict[str, list[str]] = field(default_factory=dict)
    """Path -> paths of children."""
    sublayers: tuple[str, ...] = ()
    default: str = ""


@once_per_file
def _outline(_: str, layer: Any) -> _LayerOutline:
    from pxr import Sdf

    outline = _LayerOutline(sublayers=tuple(layer.subLayerPaths))
    outline.default = f"/{layer.defaultPrim}".replace("//", "/") if layer.defaultPrim else ""

    def look(path: Any) -> None:
        if not (path.IsPrimPath() or path.IsPrimVariantSelectionPath()):
            return
        key = str(path.StripAllVariantSelections())
        if path.IsPrimPath():
            if key not in outline.specs:
                outline.below.setdefault(key.rpartition("/")[0] or "/", []).append(key)
            outline.specs[key] = outline.specs.get(key, 0) + 1
        spec = layer.GetObjectAtPath(path)
        prim = getattr(spec, "primSpec", spec)  # a variant has its arcs on a prim spec of its own
        if isinstance(prim, Sdf.PrimSpec):
            found = list(_list_arcs(prim))
            if found:
                outline.arcs.setdefault(key, []).extend(found)

    layer.Traverse(Sdf.Path.absoluteRootPath, look)
    return outline


def _list_arcs(prim: Any) -> Iterable[tuple[str, str]]:
    for has, edits in ((prim.hasReferences, "referenceList"), (prim.hasPayloads, "payloadList")):
        if has:
            for item in getattr(prim, edits).GetAddedOrExplicitItems():
                yield item.assetPath, str(item.primPath) if item.primPath else ""
    for has, edits in ((prim.hasInheritPaths, "inheritPathList"), (prim.hasSpecializes, "specializesList")):
        if has:
            for path in getattr(prim, edits).GetAddedOrExplicitItems():
                yield "", str(path)


class _Count:
    """Weights of prims and sizes of layer stacks, each found out once."""

    def __init__(self, layers: dict[str, Any]) -> None:
        self.layers = layers
        self.outlines: dict[str, _LayerOutline] = {}
        self.stacks: dict[str, dict[str, int]] = {}
        self.weights: dict[tuple[str, str], int] = {}
        self.open: set[tuple[str, str]] = set()
        self.opening: set[str] = set()

    def outline(self, name: str) -> _LayerOutline:
        if name not in self.outlines:
            layer = self.layers[name]
            self.outlines[name] = _outline("" if layer.dirty else layer.realPath, layer)
        return self.outlines[name]

    def find(self, name: str, asset: str) -> str:
        """The identifier of a layer that an address in a layer means; empty if it is not there."""
        from pxr import Sdf

        if not asset:
            return name
        identifier = str(Sdf.ComputeAssetPathRelativeToLayer(self.layers[name], asset))
        return identifier if identifier in self.layers else ""

    def stack(self, name: str) -> dict[str, int]:
        """A layer with its sublayers, and how often each is there; a circle is OpenUSD's to report."""
        if name not in self.stacks:
            if name in self.opening:
                return {}
            self.opening.add(name)
            total = {name: 1}
            for asset in self.outline(name).sublayers:
                other = self.find(name, asset)
                for layer, times in self.stack(other).items() if other else ():
                    total[layer] = total.get(layer, 0) + times
            self.opening.discard(name)
            self.stacks[name] = total
        return self.stacks[name]

    def weigh_stack(self, name: str, path: str) -> int:
        """Prims at and below a path of a layer and its sublayers."""
        return sum(self.weigh(layer, path) for layer in self.stack(name))

    def weigh(self, name: str, path: str) -> int:
        """Prims at and below a path of one layer, with all they bring; circles count once."""
        key = (name, path)
        if key in self.weights:
            return self.weights[key]
        # a circle: OpenUSD reports it and goes no further, so it adds nothing
        if key in self.open:
            return 0
        self.open.add(key)
        outline = self.outline(name)
        total = 0
        stack = [path]
        while stack:
            here = stack.pop()
            total += outline.specs.get(here, 0)
            for asset, target in outline.arcs.get(here, ()):
                total += self._weigh_arc(name, asset, target, "")
            stack += outline.below.get(here, ())
        if path not in outline.specs and path != "/":  # it may come with what a prim above it brings
            total += self._weigh_inherited(name, path)
        self.open.discard(key)
        self.weights[key] = total
        return total

    def _weigh_inherited(self, name: str, path: str) -> int:
        if path.count("/") > _DEEPEST:  # a prim that brings its own child: paths would grow for ever
            return 0
        arcs = self.outline(name).arcs
        above = path.rpartition("/")[0]
        while above:
            if above in arcs:
                rest = path[len(above) :]
                return sum(self._weigh_arc(name, asset, target, rest) for asset, target in arcs[above])
            above = above.rpartition("/")[0]
        return 0

    def _weigh_arc(self, name: str, asset: str, target: str, rest: str) -> int:
        other = self.find(name, asset)
        if not other:
            return 0
        path = target or next((o.default for o in map(self.outline, self.stack(other)) if o.default), "")
        # the prim that an arc leads to and the one that has it become one
        return max(self.weigh_stack(other, path + rest) - 1, 0) if path else 0

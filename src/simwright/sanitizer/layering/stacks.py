# SPDX-License-Identifier: Apache-2.0
"""The layer stacks of an asset: a root layer with its sublayers, and the order of prims that they give together.

Opinions may be moved between the layers of one stack without a change, as long as no two layers speak of the same.
Links and joints are numbered by the order of prims, so that is kept: names come from the weakest layer first.  Where
nothing but the stack itself gives names, the order is written down; elsewhere that would also sort what variants and
references bring, so the weakest layer names all prims in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pxr import Ar, Sdf, Usd

from simwright.checker.facts.layer_walk import gather_layer
from simwright.checker.facts.layers import LayerFacts
from simwright.sanitizer.fixer import DIVIDED
from simwright.sanitizer.layering.roles import find_home
from simwright.usd.edit import Editor, Refused


@dataclass(slots=True, eq=False)
class LayerStack:
    """A root layer and its sublayers, the strongest first; only the asset's own."""

    root: Sdf.Layer
    layers: list[Sdf.Layer]
    is_entry: bool
    facts: dict[str, LayerFacts]
    problem: str = ""
    _stage: Any = None
    _kinds: dict[Any, str] = field(default_factory=dict)

    def read(self, layer: Sdf.Layer) -> LayerFacts:
        """What was gathered about a layer of the stack."""
        return self.facts[layer.identifier]

    @property
    def stage(self) -> Any:
        """The stage that the stack alone gives."""
        if self._stage is None:
            self._stage = Usd.Stage.Open(self.root)
        return self._stage

    def find_kind(self, path: Sdf.Path) -> str:
        """The type of a prim: what the stack says, else what other layers say of it."""
        if path not in self._kinds:
            specs = (layer.GetPrimAtPath(path) for layer in self.layers)
            kind = next((str(spec.typeName) for spec in specs if spec is not None and spec.typeName), "")
            if not kind and path.ContainsPrimVariantSelection():
                kind = self.find_kind(path.StripAllVariantSelections())
            elif not kind:
                prim = self.stage.GetPrimAtPath(path)
                kind = str(prim.GetTypeName()) if prim else ""
            self._kinds[path] = kind
        return self._kinds[path]

    def find_home(self, path: Sdf.Path) -> str:
        """Where a prim is defined; one without a type goes with the prim above it."""
        kind = self.find_kind(path)
        above = path.GetParentPath()
        if not kind and above.IsPrimPath():
            home = self.find_home(above)
            # a prim without a type below a shape is a part of the tree, not of the shape
            return home if home.startswith(("vendor", "materials")) else "base"
        return find_home(kind, is_physical=kind == "Material" and self._is_physical(path))

    def _is_physical(self, path: Sdf.Path) -> bool:
        specs = [spec for layer in self.layers if (spec := layer.GetPrimAtPath(path)) is not None]
        lists = (
            spec.GetInfo("apiSchemas").GetAddedOrExplicitItems()
            for spec in specs
            if spec.HasInfo("apiSchemas")
        )
        is_physical = any("PhysicsMaterialAPI" in items for items in lists)
        drawn = any(
            spec.nameChildren or any("outputs:" in known.name for known in spec.properties) for spec in specs
        )
        return is_physical and not drawn


def is_proprietary(facts: LayerFacts) -> bool:
    """Is it a vendor's own layer, and not a link tree with a few words of a vendor?"""
    return facts.is_vendor and not facts.placed


def mark_divided(editor: Editor) -> None:
    """Say that every opinion of the asset goes where it belongs; the rest waits for the next check."""
    editor.known[DIVIDED] = True


def is_divided(editor: Editor) -> bool:
    """Was the asset divided completely since it was last checked?"""
    return DIVIDED in editor.known


def find_stacks(editor: Editor) -> list[LayerStack]:
    """The stacks of the asset's own layers, the entry's first.  A layer of two stacks is a problem of both."""
    if "stacks" not in editor.known:
        editor.known["stacks"] = _find_stacks(editor)
    found: list[LayerStack] = editor.known["stacks"]
    return found


def _find_stacks(editor: Editor) -> list[LayerStack]:
    found: list[LayerStack] = []
    facts: dict[str, LayerFacts] = {}
    roots = [editor.root]
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        # one function: stacks are found while they are read, and only the whole list shows which layers are
        # shared
        for root in roots:  # grows while it is read
            stack = LayerStack(root, [], root == editor.root, facts)
            found.append(stack)
            _fill(stack, root, editor)
            for layer in stack.layers:
                for target in _list_targets(stack.read(layer), editor.root.expressionVariables):
                    if target.identifier in editor.own and target not in roots:
                        roots.append(target)
    if found and found[0].root == editor.root:
        # the stage of the entry is open already
        found[0]._stage = editor.stage
    users: dict[str, int] = {}
    for stack in found:
        for layer in stack.layers:
            users[layer.identifier] = users.get(layer.identifier, 0) + 1
    for stack in found:
        shared = next((layer for layer in stack.layers if users[layer.identifier] > 1), None)
        if shared is not None:
            stack.problem = f"{shared.GetDisplayName()} is a part of two layer stacks"
    return found


def find_stack(editor: Editor, file: str) -> LayerStack:
    """The stack that a layer of a finding is in."""
    layer = editor.find_layer(file)
    for stack in find_stacks(editor):
        if layer in stack.layers:
            return stack
    raise Refused(f"{layer.GetDisplayName()} is not a part of the stage as it is now")


def _fill(stack: LayerStack, layer: Sdf.Layer, editor: Editor) -> None:
    if layer in stack.layers or layer.identifier not in editor.own:
        if layer.identifier not in editor.own:
            stack.problem = f"{layer.GetDisplayName()} belongs to another asset"
        return
    stack.layers.append(layer)
    if layer.identifier not in stack.facts:
        stack.facts[layer.identifier] = gather_layer(layer, is_root=layer == editor.root)
    # moving time samples between shifted layers would change when they happen
    if any(offset != Sdf.LayerOffset() for offset in layer.subLayerOffsets):
        stack.problem = f"a sublayer of {layer.GetDisplayName()} is shifted in time"
    for address in layer.subLayerPaths:
        below = Sdf.Layer.FindRelativeToLayer(layer, address)
        if below:
            _fill(stack, below, editor)


def _list_targets(facts: LayerFacts, variables: dict[str, Any]) -> Iterator[Any]:
    addresses = {arc.asset for arc in facts.arcs if arc.asset and arc.kind in ("reference", "payload")}
    # "`"./${NAME}.usda"`": the entry says what NAME is
    named = {
        str(Sdf.VariableExpression(address).Evaluate(variables).value or "")
        if Sdf.VariableExpression.IsExpression(address)
        else address
        for address in addresses
    }
    for address in sorted(named - {""}):
        layer = Sdf.Layer.FindRelativeToLayer(facts.layer, address)
        if layer:
            yield layer


def list_sites(layer: Sdf.Layer) -> list[Any]:
    """Paths of all prims and variants that a layer speaks of, outer ones first."""
    paths: list[Any] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, lambda path: paths.append(path) if _is_site(path) else None)
    paths.sort(key=lambda path: path.pathElementCount)
    return paths


def _is_site(path: Sdf.Path) -> bool:
    if path.IsPrimPath():
        return True
    return path.IsPrimVariantSelectionPath() and bool(path.GetVariantSelection()[1])


_ARCS = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


def read_orders(layers: Sequence[Sdf.Layer], parents: Iterable[Sdf.Path]) -> dict[Any, list[str]]:
    """Names below each of some prims as a stack composes them."""
    return {path: _compose_names(layers, path) for path in parents}


def keep_orders(layers: Sequence[Sdf.Layer], before: dict[Any, list[str]], *, is_entry: bool) -> None:
    """Let the names below prims come in the order they had."""
    for path in sorted(before, key=lambda path: -path.pathElementCount):
        names = before[path]
        now = _compose_names(layers, path)
        there, told = set(now), set(names)
        wanted = [name for name in names if name in there]
        if now == [*wanted, *(name for name in now if name not in told)]:
            continue
        # an authored order also sorts names that variants and references bring
        if is_entry and _is_plain(layers, path):
            strongest = next(
                spec
                for layer in layers
                if (spec := _find_prim(layer, path)) is not None and spec.nameChildren
            )
            _write_order(strongest, wanted)
        else:
            _name_all(layers[-1], path, wanted)


def _is_plain(layers: Sequence[Sdf.Layer], path: Sdf.Path) -> bool:
    """Does nothing but the stack give names below a prim?"""
    if path.ContainsPrimVariantSelection():
        return False
    specs = (_find_prim(layer, prefix) for layer in layers for prefix in path.GetPrefixes())
    return not any(spec.HasInfo(key) for spec in specs if spec is not None for key in _ARCS)


def _name_all(layer: Sdf.Layer, path: Sdf.Path, names: list[str]) -> None:
    """Let a layer name prims in order; those of other layers by an ``over`` that says nothing."""
    if _find_prim(layer, path) is None:
        Sdf.CreatePrimInLayer(layer, path)
    spec = _find_prim(layer, path)
    kept = Sdf.Layer.CreateAnonymous()
    known = [child.name for child in spec.nameChildren]
    root = Sdf.Path.absoluteRootPath
    for name in known:
        Sdf.CopySpec(layer, path.AppendChild(name), kept, root.AppendChild(name))
        del spec.nameChildren[name]
    for name in (*names, *(name for name in known if name not in names)):
        made = Sdf.CreatePrimInLayer(layer, path.AppendChild(name))
        if name in known:
            Sdf.CopySpec(kept, root.AppendChild(name), layer, made.path)


def _find_prim(layer: Sdf.Layer, path: Sdf.Path) -> Any:
    return layer.pseudoRoot if path.IsAbsoluteRootPath() else layer.GetPrimAtPath(path)


def _write_order(spec: Sdf.PrimSpec, names: list[str]) -> None:
    if spec.path.IsAbsoluteRootPath():
        spec.layer.rootPrimOrder = names
    else:
        spec.nameChildrenOrder = names


def _compose_names(layers: Sequence[Sdf.Layer], path: Sdf.Path) -> list[str]:
    names: dict[str, None] = {}
    for layer in reversed(layers):
        spec = _find_prim(layer, path)
        if spec is None:
            continue
        # weakest first, each stronger layer adds its own names behind: as OpenUSD composes them
        names |= dict.fromkeys(spec.GetInfo("primChildren") or ())
        if spec.HasInfo("primOrder"):
            names = dict.fromkeys(_sort_names(list(names), list(spec.GetInfo("primOrder"))))
    return list(names)


def _sort_names(names: list[str], order: list[str]) -> list[str]:
    """Names by a list; those that are not in it follow the name they stood behind."""
    rank = {name: number for number, name in enumerate(order)}
    groups: list[list[str]] = [[]]
    for name in names:
        if name in rank:
            groups.append([])
        groups[-1].append(name)
    first, *rest = groups
    rest.sort(key=lambda group: rank[group[0]])
    return [name for group in (first, *rest) for name in group]

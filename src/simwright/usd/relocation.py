# SPDX-License-Identifier: Apache-2.0
"""Moving, making, placing and removing prims, asked of an editor like any other edit.

A prim is moved in every layer of the asset that speaks of it, at the path that it has there: below a reference or in a
variant that is another one than on the stage.  Relationships and connections that lead to it follow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from pxr import Gf, Sdf, Usd

from simwright.usd.edit import Editor, Refused, drop_api, edit_apis, read_apis
from simwright.usd.expected_changes import ExpectedChanges
from simwright.usd.xform import ORDER, ORIENT, TRANSLATE, convert_matrix, split_matrix

# Found once for an editor and dropped with it: the stage changes only after the edits of a fix are made.
_MENTIONS: WeakKeyDictionary[Editor, dict[str, list[tuple[Sdf.Path, list[Sdf.Path]]]]] = WeakKeyDictionary()
_ARRIVING: WeakKeyDictionary[Editor, tuple[ExpectedChanges | None, int, set[str]]] = WeakKeyDictionary()
_LEADING: WeakKeyDictionary[Editor, dict[str, dict[Sdf.Path, list[tuple[Sdf.Path, Sdf.Path]]]]] = (
    WeakKeyDictionary()
)


def map_path(local: Sdf.Path, old: Sdf.Path, new: Sdf.Path) -> Sdf.Path:
    """Where ``new`` is in a layer in which ``old`` is ``local``."""
    common = old.GetCommonPrefix(new)
    place = local
    for name in reversed(_list_names(old, common)):
        # above an arc the names differ: from there on the two paths cannot be followed together
        if place.name != name or not place.IsPrimPath():
            raise Refused(f"{old} is brought in by a reference or variant below {common}; fix it there")
        place = place.GetParentPath()
    for name in _list_names(new, common):
        place = place.AppendChild(name)
    return place


def claim_name(editor: Editor, parent: Sdf.Path, wanted: str) -> str:
    """A name that no child of a prim has, nor is about to get."""
    prim = editor.stage.GetPrimAtPath(parent)
    taken = {child.GetName() for child in prim.GetAllChildren()} if prim else set()
    above = f"{parent.pathString.rstrip('/')}/"
    come, arriving = editor.expected.added, _list_arriving(editor)
    name, number = wanted, 2
    while name in taken or f"{above}{name}" in come or f"{above}{name}" in arriving:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _list_arriving(editor: Editor) -> set[str]:
    """Where moved prims go, put together as they come: a fix asks for every one of thousands of prims."""
    moved = editor.expected.moved
    known, count, paths = _ARRIVING.get(editor, (None, 0, set()))
    if known is not editor.expected or count > len(moved):
        count, paths = 0, set()
    if count < len(moved):
        paths.update(islice(moved.values(), count, None))
    _ARRIVING[editor] = (editor.expected, len(moved), paths)
    return paths


def list_movable(editor: Editor, prim: Usd.Prim) -> list[Sdf.PrimSpec]:
    """Specs that are a prim's own, strongest first; those behind its own references come along with the arc."""
    if prim.IsInstanceProxy() or prim.IsInPrototype():
        raise Refused("it is inside an instance")
    found = []
    for node, layer in list_sites(prim):
        spec = layer.GetPrimAtPath(node.path)
        if spec is None:
            continue
        if layer.identifier not in editor.own:
            raise Refused(f"{layer.GetDisplayName()} belongs to another asset, which has to be fixed itself")
        found.append(spec)
    return found


def move_prim(editor: Editor, prim: Usd.Prim, target: Sdf.Path, *, before: str = "") -> None:
    """A prim with all below gets another path; it keeps its transform, and what leads to it follows.

    ``before`` is the name of a sibling that it comes in front of, where a layer has that.
    """
    old = prim.GetPath()
    if target.HasPrefix(old):
        raise Refused(f"{old} cannot become a part of itself")
    for spec in list_movable(editor, prim):
        place = map_path(spec.path, old, target)
        what = f"{target} instead of {old}"
        # late: other edits of the fix know the spec by its old path
        editor.add(spec.layer, spec.path, what, _bind_move(spec.layer, spec.path, place, before), late=True)
    _retarget_all(editor, prim, target)
    _list_arriving(editor).add(target.pathString)  # also of a prim that was to go elsewhere
    editor.expected.moved[old.pathString] = target.pathString


def move_apis(
    editor: Editor, prim: Usd.Prim, apis: Iterable[str], target: Sdf.Path, *, kind: str = "Xform"
) -> None:
    """Applied schemas and their properties go to another prim, which is made where it is not there."""
    wanted = list(apis)
    old = prim.GetPath()
    moved = False
    is_new = not editor.stage.GetPrimAtPath(target)
    # one loop: whether anything is there, and whose it is, is known only after all specs were looked at
    for spec in prim.GetPrimStack():
        here = [api for api in wanted if api in read_apis(spec).GetAddedOrExplicitItems()]
        names = [prop.name for prop in spec.properties if belongs_to(prop.name, wanted)]
        if not here and not names:
            continue
        if spec.layer.identifier not in editor.own:
            raise Refused(
                f"{spec.layer.GetDisplayName()} belongs to another asset, which has to be fixed itself"
            )
        place = map_path(spec.path, old, target)
        what = f"{', '.join(here or names)} to {target}"
        made = kind if is_new else ""
        editor.add(spec.layer, spec.path, what, _bind_apis(spec, place, here, names, made))
        moved = True
    if not moved:
        raise Refused(f"{', '.join(wanted)} is not there")
    if is_new:
        editor.expected.added.add(target.pathString)


def remove_prim(editor: Editor, prim: Usd.Prim) -> None:
    """Take a prim away, with all below and what leads to it."""
    path = prim.GetPath()
    for spec in list_movable(editor, prim):
        editor.add(spec.layer, spec.path, f"no {path.name}", _bind_removal(spec.layer, spec.path))
    _retarget_all(editor, prim, None)
    editor.expected.removed.add(path.pathString)


def make_prim(
    editor: Editor,
    parent: Usd.Prim,
    path: Sdf.Path,
    kind: str,
    apis: Collection[str] = (),
    *,
    layer: Sdf.Layer | None = None,
) -> tuple[Sdf.Layer, Sdf.Path]:
    """Make a prim below ``parent``, in that prim's home or in a layer of the root layer stack.

    Gives the layer and the path in it.
    """
    place = path
    if layer is None:
        home = editor.choose_home(parent)
        layer, place = home.layer, map_path(home.path, parent.GetPath(), path)

    def apply() -> None:
        spec = _define(layer, place, kind)
        for api in apis:
            edit_apis(spec, api, wanted=True)

    words = f"def {kind} {path.name}" + (f" with {', '.join(apis)}" if apis else "")
    editor.add(layer, place, words, apply)
    editor.expected.added.add(path.pathString)
    return layer, place


def _retarget_all(editor: Editor, prim: Usd.Prim, target: Sdf.Path | None) -> None:
    """What leads to a prim follows it, in all layers beside those that speak of it, also ones that do not themselves.

    A layer behind a payload may name a prim, as the target of a motor, of which only another layer says anything.
    """
    old = prim.GetPath()
    sites = [(node.path, layer) for node, layer in list_sites(prim) if node.hasSpecs]
    sites += [(old, layer) for layer in editor.stage.GetLayerStack(includeSessionLayers=False)]
    for path, layer in sites:
        if layer.identifier in editor.own:
            place = map_path(path, old, target) if target is not None else None
            retarget(editor, layer, path, place)


def retarget(editor: Editor, layer: Sdf.Layer, old: Sdf.Path, new: Sdf.Path | None) -> None:
    """Relationships and connections of a layer that lead to a path, or below, follow it; or let go of it."""
    for path, item in _find_leading(editor, layer).get(old, ()):
        if path.HasPrefix(old):
            continue  # moves along
        moved = item.ReplacePrefix(old, new) if new is not None else None
        what = f"{path.name} to {moved}" if moved else f"{path.name} without {item}"
        editor.add(layer, path, what, _bind_replacement(layer, path, item, moved))


def list_authored_apis(prim: Usd.Prim) -> list[str]:
    """Schemas that are applied by the asset, not those that they bring along."""
    listed = prim.GetMetadata("apiSchemas")
    named = listed.GetAddedOrExplicitItems() if listed else ()
    return [api for api in prim.GetAppliedSchemas() if api in named]


def belongs_to(name: str, apis: Collection[str]) -> bool:
    """Is a property one of these applied schemas'?"""
    return any(name in _list_properties(api) or name.startswith(_find_prefix(api)) for api in apis)


def _find_prefix(api: str) -> str:
    # of schemas that are not registered here the usual namespace tells
    word = api.removeprefix("Ros").removesuffix("API").lower()
    return f"ros:{word}:" if api.startswith("Ros") else f"{word}:"


def _list_properties(api: str) -> list[str]:
    definition = Usd.SchemaRegistry().FindAppliedAPIPrimDefinition(api)
    return list(definition.GetPropertyNames()) if definition else []


def _list_names(path: Sdf.Path, above: Sdf.Path) -> list[str]:
    return [prefix.name for prefix in path.GetPrefixes() if prefix != above and prefix.HasPrefix(above)]


def find_mentions(editor: Editor, layer: Sdf.Layer) -> list[tuple[Sdf.Path, list[Sdf.Path]]]:
    """Properties of a layer that lead to prims or properties, with all that they name."""
    known = _MENTIONS.setdefault(editor, {})
    if layer.identifier not in known:
        known[layer.identifier] = list(_read_mentions(layer))
    return known[layer.identifier]


def _find_leading(editor: Editor, layer: Sdf.Layer) -> dict[Sdf.Path, list[tuple[Sdf.Path, Sdf.Path]]]:
    """Properties of a layer, each with what it names, by the paths that it leads to or below."""
    known = _LEADING.setdefault(editor, {})
    if layer.identifier not in known:
        found: dict[Sdf.Path, list[tuple[Sdf.Path, Sdf.Path]]] = {}
        for path, targets in find_mentions(editor, layer):
            for item in targets:
                for prefix in item.GetPrefixes():
                    found.setdefault(prefix, []).append((path, item))
        known[layer.identifier] = found
    return known[layer.identifier]


def _read_mentions(layer: Sdf.Layer) -> Iterator[tuple[Sdf.Path, list[Sdf.Path]]]:
    paths: list[Sdf.Path] = []
    layer.Traverse(
        Sdf.Path.absoluteRootPath, lambda path: paths.append(path) if path.IsPropertyPath() else None
    )
    for path in paths:
        items = _read_list(layer.GetPropertyAtPath(path))
        named = items.GetAddedOrExplicitItems() if items is not None else ()
        if named:
            yield path, list(named)


def _read_list(spec: Any) -> Any:
    if isinstance(spec, Sdf.RelationshipSpec):
        return spec.targetPathList
    return spec.connectionPathList if isinstance(spec, Sdf.AttributeSpec) else None


def _bind_replacement(
    layer: Sdf.Layer, path: Sdf.Path, old: Sdf.Path, new: Sdf.Path | None
) -> Callable[[], None]:
    def apply() -> None:
        items = _read_list(layer.GetPropertyAtPath(path))
        if items is not None and new is not None:
            items.ReplaceItemEdits(old, new)
        elif items is not None:
            items.RemoveItemEdits(old)

    return apply


def _bind_move(layer: Sdf.Layer, old: Sdf.Path, new: Sdf.Path, before: str = "") -> Callable[[], None]:
    def apply() -> None:
        if layer.GetPrimAtPath(old) is None:
            return
        owner = layer.pseudoRoot
        if not new.GetParentPath().IsAbsoluteRootPath():
            owner = Sdf.CreatePrimInLayer(layer, new.GetParentPath())
        names = list(owner.nameChildren.keys())
        # CopySpec appends; only a namespace edit puts a prim in front of a sibling
        if before in names and new.name not in names:
            edits = Sdf.BatchNamespaceEdit()
            edits.Add(Sdf.NamespaceEdit.ReparentAndRename(old, owner.path, new.name, names.index(before)))
            layer.Apply(edits)
            prune(layer.GetPrimAtPath(old.GetParentPath()) or layer.pseudoRoot)
            return
        Sdf.CopySpec(layer, old, layer, new)
        _delete(layer, old)

    return apply


def _bind_removal(layer: Sdf.Layer, path: Sdf.Path) -> Callable[[], None]:
    return lambda: _delete(layer, path)


def _delete(layer: Sdf.Layer, path: Sdf.Path) -> None:
    spec = layer.GetPrimAtPath(path)
    if spec is not None:
        owner = layer.pseudoRoot if path.IsRootPrimPath() else layer.GetPrimAtPath(path.GetParentPath())
        del owner.nameChildren[spec.name]
        prune(owner)


def prune(spec: Sdf.PrimSpec) -> None:
    """Take away an ``over`` that says nothing, and those above that are left with nothing."""
    while spec.path.IsPrimPath() and spec.specifier == Sdf.SpecifierOver:
        if spec.nameChildren or spec.properties or set(spec.ListInfoKeys()) - {"specifier"}:
            return
        owner = spec.layer.pseudoRoot if spec.path.IsRootPrimPath() else spec.nameParent
        del owner.nameChildren[spec.name]
        spec = owner


def _bind_apis(
    source: Sdf.PrimSpec, new: Sdf.Path, apis: list[str], names: list[str], kind: str
) -> Callable[[], None]:
    layer = source.layer

    def apply() -> None:
        spec = _define(layer, new, kind) if apis and kind else Sdf.CreatePrimInLayer(layer, new)
        for api in apis:
            drop_api(source, api)
            edit_apis(spec, api, wanted=True)
        for name in names:
            known = source.properties.get(name)
            if known is not None:
                Sdf.CopySpec(layer, known.path, layer, new.AppendProperty(name))
                source.RemoveProperty(known)

    return apply


def _define(layer: Sdf.Layer, path: Sdf.Path, kind: str) -> Sdf.PrimSpec:
    """A prim of a type; one that is there stays what it is."""
    known = layer.GetPrimAtPath(path)
    spec = known or Sdf.CreatePrimInLayer(layer, path)
    if known is None or (spec.specifier == Sdf.SpecifierOver and not spec.typeName):
        spec.specifier = Sdf.SpecifierDef
        spec.typeName = kind
    return spec


def list_sites(prim: Usd.Prim) -> list[tuple[Any, Sdf.Layer]]:
    """Where a prim itself may be spoken of, strongest first: nodes that no arc of its own brings, by layer."""
    if prim.IsInstanceProxy():
        prim = prim.GetPrimInPrototype()
    return [
        (node, layer)
        for node in _walk_nodes(prim.GetPrimIndex().rootNode)
        for layer in node.layerStack.layers
    ]


def _walk_nodes(node: Any, depth: int = 0) -> Iterator[Any]:
    # depth 0 below an introduction: an arc of the prim itself brings the node, and moves along with the prim
    if depth == 0 or node.GetDepthBelowIntroduction() > 0:
        yield node
        for child in node.children:
            yield from _walk_nodes(child, depth + 1)


def map_target(node: Any, target: Sdf.Path) -> Sdf.Path:
    """What ``target`` is called in the layers of a node; empty where they cannot name it (behind a reference)."""
    mapped: Sdf.Path = node.mapToRoot.MapTargetToSource(target)
    return mapped.StripAllVariantSelections() if mapped else Sdf.Path.emptyPath


_PREFIX = "xformOp:"


def place_prim(editor: Editor, layer: Sdf.Layer, path: Sdf.Path, matrix: Gf.Matrix4d) -> None:
    """Ask for the transform of a spec, which another edit may have to make first."""
    found = split_matrix(convert_matrix(matrix))
    if not found.is_rigid:
        raise Refused("there is a scale between the two, which a frame cannot have")
    w, x, y, z = (float(value) for value in found.pose.q)
    place = Gf.Vec3d(*(float(value) for value in found.pose.p))
    turn = Gf.Quatd(w, x, y, z)

    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, path)
        for prop in [prop for prop in spec.properties if prop.name == ORDER or prop.name.startswith(_PREFIX)]:
            spec.RemoveProperty(prop)
        _write_op(spec, TRANSLATE, Sdf.ValueTypeNames.Double3, place)
        _write_op(spec, ORIENT, Sdf.ValueTypeNames.Quatd, turn)
        order = Sdf.AttributeSpec(spec, ORDER, Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
        order.default = [TRANSLATE, ORIENT]

    editor.add(layer, path, f"translate {place}, orient {turn}", apply)


def _write_op(spec: Sdf.PrimSpec, name: str, kind: Sdf.ValueTypeName, value: Any) -> None:
    Sdf.AttributeSpec(spec, name, kind).default = value

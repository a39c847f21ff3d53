# SPDX-License-Identifier: Apache-2.0
"""Where opinions go and how they get there: the layer of each role in a stack, and single opinions moved to it.

The layer of a role is one that is there and holds most of it, or a new file beside the root layer.

Properties, applied schemas and definitions are moved one by one.  Where several layers speak of the same thing, the
strongest word is kept, as composition would have it.  Relative addresses in opinions that move to a layer in another
folder are counted from there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
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
from simwright.usd.edit import Editor, Refused
from simwright.usd.questions import scalar_type_of

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
            for role, count in _count_roles(self.stack.read(layer)).items():
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


def _count_tree_prims(facts: LayerFacts) -> dict[str, int]:
    """Number of prims that a layer defines for the link tree and for shapes; a role without any is left out."""
    found: dict[str, int] = {}
    # a layer of features defines a link or two to hang them on, and is not a link tree for that
    if (facts.placed or not facts.features) and facts.defines[Domain.KINEMATIC]:
        found[BASE] = facts.defines[Domain.KINEMATIC]
    if facts.has_geometry:
        found[SHAPES] = facts.defines[Domain.GEOMETRY]
    return found


def _count_roles(facts: LayerFacts) -> dict[str, int]:
    """The roles that a layer could have, each with the number of its prims or opinions for that role."""
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
    tree = _count_tree_prims(facts)
    if tree:
        return tree
    if features[first] and facts.encoding == "usda":
        return {first: features[first]}
    return {CUSTOM: facts.prims} if facts.unknown or facts.neutral_apis else {}


_LISTS = ("explicitItems", "prependedItems", "appendedItems", "addedItems", "deletedItems", "orderedItems")
_STAYS = frozenset({"apiSchemas", "primOrder", "propertyOrder", "variantSetNames", "variantSelection"})
"""Fields of a prim that are not moved with its definition, or are moved by themselves."""
_PATH_LISTS = {"targetPaths": "targetPathList", "connectionPaths": "connectionPathList"}
"""Lists of paths, which are set in a way of their own."""


def open_spec(layer: Sdf.Layer, path: Sdf.Path) -> Any:
    """The spec of a prim or variant in a layer; made as an ``over`` if there is none."""
    spec = layer.GetPrimAtPath(path)
    if spec is not None:
        return spec
    holders = {prefix.GetPrimPath() for prefix in path.GetPrefixes() if prefix.IsPrimVariantSelectionPath()}
    untold = [holder for holder in holders if not _tells_sets(layer, holder)]
    spec = Sdf.CreatePrimInLayer(layer, path)
    for holder in untold:  # the order of variant sets is their strength, and it is told elsewhere
        layer.GetPrimAtPath(holder).ClearInfo("variantSetNames")
    return spec


def _tells_sets(layer: Sdf.Layer, path: Sdf.Path) -> bool:
    spec = layer.GetPrimAtPath(path)
    return spec is not None and bool(spec.HasInfo("variantSetNames"))


def check_property(layers: Sequence[Sdf.Layer], path: Sdf.Path) -> None:
    """Refuse what cannot be put together from several layers."""
    specs = [spec for layer in layers if (spec := layer.GetPropertyAtPath(path)) is not None]
    if len(specs) < 2:
        return
    # one function: a refusal for each way in which opinions of several layers cannot be merged into one
    if len({spec.layer.realPath.rpartition("/")[0] for spec in specs}) > 1:
        raise Refused(f"{path} is said in layers of two folders; say it in one")
    for spec in specs:
        field = "connectionPaths" if isinstance(spec, Sdf.AttributeSpec) else "targetPaths"
        if spec.HasInfo(field) and not spec.GetInfo(field).isExplicit:
            raise Refused(f"{path} is put together from lists of several layers; say it in one")
    if len({type(spec) for spec in specs}) > 1 or len({str(getattr(s, "typeName", "")) for s in specs}) > 1:
        raise Refused(f"{path} has two types; say it in one layer")


def move_property(layers: Sequence[Sdf.Layer], path: Sdf.Path, home: Sdf.Layer) -> None:
    """Let a property be said in one layer and in no other of the stack."""
    specs = [spec for layer in layers if (spec := layer.GetPropertyAtPath(path)) is not None]
    if not specs:
        return
    # one function: copy, or merge from the weakest to the strongest, then take away what was merged
    if len(specs) == 1:
        open_spec(home, path.GetParentPath())
        Sdf.CopySpec(specs[0].layer, path, home, path)
        move_addresses(home.GetPropertyAtPath(path), specs[0].layer)
        _remove(specs[0])
        return
    merged = Sdf.Layer.CreateAnonymous()
    Sdf.CreatePrimInLayer(merged, path.GetPrimPath())
    site = path.GetPrimPath().AppendProperty(path.name)
    for spec in reversed(specs):
        known = merged.GetPropertyAtPath(site)
        if known is None:
            Sdf.CopySpec(spec.layer, path, merged, site)
            continue
        # the stronger layer gives the value as a whole: its default hides weaker time samples and the other
        # way round
        if spec.HasInfo("default") or spec.HasInfo("timeSamples"):
            known.ClearInfo("default")
            known.ClearInfo("timeSamples")
        for key in spec.ListInfoKeys():
            if key in _PATH_LISTS:
                getattr(known, _PATH_LISTS[key]).explicitItems = list(spec.GetInfo(key).explicitItems)
            elif key not in ("typeName", "variability", "custom"):
                known.SetInfo(key, spec.GetInfo(key))
    source = specs[0].layer
    for spec in specs:
        _remove(spec)
    open_spec(home, path.GetParentPath())
    Sdf.CopySpec(merged, site, home, path)
    move_addresses(home.GetPropertyAtPath(path), source)


def _remove(spec: Sdf.PropertySpec) -> None:
    """Take a property away, also one of a variant, whose owner is not a prim."""
    spec.layer.GetPrimAtPath(spec.path.GetParentPath()).RemoveProperty(spec)


def check_apis(layers: Sequence[Sdf.Layer], path: Sdf.Path, composed: Any) -> None:
    """Refuse lists of applied schemas that replace those of other layers."""
    for layer in layers:
        spec = layer.GetPrimAtPath(path)
        listed = spec.GetInfo("apiSchemas") if spec is not None and spec.HasInfo("apiSchemas") else None
        if listed is None or not listed.isExplicit:
            continue
        others = [s for s in composed.GetPrimStack() if s.HasInfo("apiSchemas")] if composed else [spec, spec]
        if len(others) > 1:
            raise Refused(f"the list of schemas of {path} replaces that of other layers; write prepend")


def move_api(layers: Sequence[Sdf.Layer], path: Sdf.Path, name: str, home: Sdf.Layer) -> None:
    """Let a schema be applied, or deleted, in one layer and in no other of the stack."""
    verdict = ""
    for layer in layers:
        spec = layer.GetPrimAtPath(path)
        if spec is None or not spec.HasInfo("apiSchemas"):
            continue
        listed = spec.GetInfo("apiSchemas")
        # layers come strongest first: the first that has a word on the schema decides
        if not verdict:
            verdict = next((kind for kind in _LISTS if name in getattr(listed, kind)), "")
        write_apis(spec, drop_schema(listed, name))
    spec = open_spec(home, path)
    listed = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()
    # an explicit list is the only one of its prim (check_apis), so prepending says the same
    kind = "prependedItems" if verdict in ("explicitItems", "addedItems") else verdict
    setattr(listed, kind, [*getattr(listed, kind), name])
    spec.SetInfo("apiSchemas", listed)


def drop_schema(listed: Any, name: str) -> Any:
    """A list of schemas without one; one that replaced all others adds what is left."""
    left = Sdf.TokenListOp()
    for kind in _LISTS:
        items = [item for item in getattr(listed, kind) if item != name]
        if items and kind == "explicitItems":
            left.prependedItems = items
        elif items:
            setattr(left, kind, items)
    return left


def keep_schemas(listed: Any, names: Sequence[str]) -> Any:
    """A list of schemas with some of its items; one that replaced all others adds them."""
    left = Sdf.TokenListOp()
    for kind in _LISTS:
        items = [item for item in getattr(listed, kind) if item in names]
        if items:
            wanted = "prependedItems" if kind in ("explicitItems", "addedItems") else kind
            setattr(left, wanted, [*getattr(left, wanted), *items])
    return left


def write_apis(spec: Sdf.PrimSpec, listed: Any) -> None:
    """Say a list of schemas, or nothing if it is empty."""
    if any(getattr(listed, kind) for kind in _LISTS):
        spec.SetInfo("apiSchemas", listed)
    else:
        spec.ClearInfo("apiSchemas")


def list_fields(spec: Sdf.PrimSpec) -> list[str]:
    """Fields that are moved with a definition."""
    return [key for key in spec.ListInfoKeys() if key not in _STAYS]


def list_strange(spec: Sdf.PrimSpec) -> list[str]:
    """Fields of a prim that OpenUSD does not know and therefore does not list."""
    known, found = set(spec.ListInfoKeys()), []

    def look(_kind: Any, name: str, _layer: Any, _path: Any, is_there: bool, *_: Any) -> bool:
        if is_there and name not in known:
            found.append(name)
        return False

    # only CopySpec shows unknown fields to Python; the callbacks look and refuse, so nothing is copied
    Sdf.CopySpec(spec.layer, spec.path, _open_scratch(), "/scratch", look, lambda *_: False)
    return found


@cache
def _open_scratch() -> Any:
    """A layer for copies that are never made."""
    scratch = Sdf.Layer.CreateAnonymous()
    Sdf.CreatePrimInLayer(scratch, "/scratch")
    return scratch


def _move_strange(old: Sdf.PrimSpec, new: Sdf.PrimSpec) -> None:
    names = list_strange(old)
    if names:
        Sdf.CopySpec(
            old.layer, old.path, new.layer, new.path, lambda _, name, *__: name in names, lambda *_: False
        )
    for name in names:
        old.ClearInfo(name)


def is_bare(spec: Sdf.PrimSpec) -> bool:
    """Is it an ``over`` whose own fields say nothing?"""
    return spec.specifier == Sdf.SpecifierOver and list_fields(spec) == ["specifier"]


def move_definition(source: Sdf.Layer, path: Sdf.Path, home: Sdf.Layer, *, is_stronger: bool) -> None:
    """Move what a layer says of a prim itself; what is left there only adds to it."""
    old, new = source.GetPrimAtPath(path), open_spec(home, path)
    for key in list_fields(old):
        value = old.GetInfo(key)
        if key == "specifier":
            # def wins over class and over: the prim has to stay defined
            if old.specifier == Sdf.SpecifierDef or new.specifier == Sdf.SpecifierOver:
                new.specifier = old.specifier
        elif isinstance(value, dict):
            there = dict(new.GetInfo(key)) if new.HasInfo(key) else {}
            # OpenUSD merges dictionaries of several layers key by key
            new.SetInfo(key, {**there, **value} if is_stronger else {**value, **there})
        elif is_stronger or not new.HasInfo(key):
            new.SetInfo(key, value)
        if key != "specifier":
            old.ClearInfo(key)
    _move_strange(old, new)
    old.specifier = Sdf.SpecifierOver


def copy_definition(old: Sdf.PrimSpec, new: Sdf.PrimSpec) -> None:
    """Let a spec say of its prim what another one says."""
    for key in list_fields(old):
        if key == "specifier":
            new.specifier = old.specifier
        else:
            new.SetInfo(key, old.GetInfo(key))
    names = list_strange(old)
    if names:
        Sdf.CopySpec(
            old.layer, old.path, new.layer, new.path, lambda _, name, *__: name in names, lambda *_: False
        )


def clear_definition(spec: Sdf.PrimSpec) -> None:
    """Let a spec say nothing of its prim."""
    for key in (*list_fields(spec), *list_strange(spec)):
        if key != "specifier":
            spec.ClearInfo(key)
    spec.specifier = Sdf.SpecifierOver


def prune(layer: Sdf.Layer, paths: Sequence[Sdf.Path]) -> None:
    """Remove specs that say nothing any more, and those above them that then do not either."""
    # the deepest first: a parent is empty only after its children are gone
    for start in sorted(paths, key=lambda path: -path.pathElementCount):
        path = start
        while path.IsPrimPath():
            spec = layer.GetPrimAtPath(path)
            if spec is None or not _is_empty(spec):
                break
            parent = path.GetParentPath()
            owner = layer.pseudoRoot if parent.IsAbsoluteRootPath() else layer.GetPrimAtPath(parent)
            del owner.nameChildren[path.name]
            path = parent


def _is_empty(spec: Sdf.PrimSpec) -> bool:
    if spec.specifier != Sdf.SpecifierOver or spec.properties or spec.nameChildren or spec.variantSets:
        return False
    return set(spec.ListInfoKeys()) <= {"specifier", "primOrder", "propertyOrder"} and not list_strange(spec)


_WITH_ADDRESSES = ("references", "payload", "clips")


def check_definition(spec: Sdf.PrimSpec, home: Sdf.Layer) -> None:
    """Refuse to move arcs to another folder."""
    arcs = [key for key in _WITH_ADDRESSES if spec.HasInfo(key)]
    if arcs and _find_folder(spec.layer) != _find_folder(home):
        raise Refused(
            f"{spec.path} brings in files beside {spec.layer.GetDisplayName()}; name them from the entry"
        )


def move_addresses(spec: Sdf.PropertySpec, source: Sdf.Layer) -> None:
    """Let an attribute that was in a layer of another folder name the same files."""
    if not isinstance(spec, Sdf.AttributeSpec) or str(scalar_type_of(spec.typeName)) != "asset":
        return
    folders = (_find_folder(source), _find_folder(spec.layer))
    if folders[0] == folders[1]:
        return
    if spec.default is not None:
        spec.default = _move_value(spec.default, *folders)
    for time in spec.layer.ListTimeSamplesForPath(spec.path):
        value = spec.layer.QueryTimeSample(spec.path, time)
        spec.layer.SetTimeSample(spec.path, time, _move_value(value, *folders))


def _move_value(value: Any, old: Path, new: Path) -> Any:
    if isinstance(value, Sdf.AssetPath):
        return Sdf.AssetPath(_move_text(value.path, old, new))
    if isinstance(value, Sdf.AssetPathArray):
        return Sdf.AssetPathArray([Sdf.AssetPath(_move_text(item.path, old, new)) for item in value])
    return value


def _move_text(text: str, old: Path, new: Path) -> str:
    # a bare name may also be found by the search path; it counts from the layer only if a file is there
    is_relative = text.startswith(("./", "../")) or (old / text).exists()
    if not text or not is_relative or Path(text).is_absolute():
        return text
    moved = Path(os.path.relpath(old / text, new)).as_posix()
    return moved if moved.startswith("../") else f"./{moved}"


def _find_folder(layer: Sdf.Layer) -> Path:
    return Path(layer.realPath).parent

# SPDX-License-Identifier: Apache-2.0
"""Moving single opinions from layers of a stack to one of them: properties, applied schemas, definitions.

Where several layers speak of the same thing, the strongest word is kept, as composition would have it.  Relative
addresses in opinions that move to a layer in another folder are counted from there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pxr import Sdf

from simwright.usd.edit import Refused

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
    """Take a property away, also one of a variant, whose owner is no prim."""
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
    if not isinstance(spec, Sdf.AttributeSpec) or str(spec.typeName.scalarType) != "asset":
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

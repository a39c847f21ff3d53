# SPDX-License-Identifier: Apache-2.0
"""The order of prims below a prim, which layers give together: links and joints are numbered by it.

Names come from the weakest layer first.  Where nothing but the stack itself gives names, the order is written down;
elsewhere that would also sort what variants and references bring, so the weakest layer names all prims in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pxr import Sdf

_ARCS = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")


def read_orders(layers: Sequence[Any], parents: Iterable[Sdf.Path]) -> dict[Any, list[str]]:
    """Names below each of some prims as a stack composes them."""
    return {path: _compose(layers, path) for path in parents}


def keep_orders(layers: Sequence[Any], before: dict[Any, list[str]], *, is_entry: bool) -> None:
    """Let the names below prims come in the order they had."""
    for path in sorted(before, key=lambda path: -path.pathElementCount):
        names = before[path]
        now = _compose(layers, path)
        there, told = set(now), set(names)
        wanted = [name for name in names if name in there]
        if now == [*wanted, *(name for name in now if name not in told)]:
            continue
        if is_entry and _is_plain(layers, path):
            strongest = next(
                spec for layer in layers if (spec := _find(layer, path)) is not None and spec.nameChildren
            )
            _write(strongest, wanted)
        else:
            _name_all(layers[-1], path, wanted)


def _is_plain(layers: Sequence[Any], path: Sdf.Path) -> bool:
    """Does nothing but the stack give names below a prim?"""
    if path.ContainsPrimVariantSelection():
        return False
    specs = (_find(layer, prefix) for layer in layers for prefix in path.GetPrefixes())
    return not any(spec.HasInfo(key) for spec in specs if spec is not None for key in _ARCS)


def _name_all(layer: Any, path: Sdf.Path, names: list[str]) -> None:
    """Let a layer name prims in order; those of other layers by an ``over`` that says nothing."""
    if _find(layer, path) is None:
        Sdf.CreatePrimInLayer(layer, path)
    spec = _find(layer, path)
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


def _find(layer: Any, path: Sdf.Path) -> Any:
    return layer.pseudoRoot if path.IsAbsoluteRootPath() else layer.GetPrimAtPath(path)


def _write(spec: Any, names: list[str]) -> None:
    if spec.path.IsAbsoluteRootPath():
        spec.layer.rootPrimOrder = names
    else:
        spec.nameChildrenOrder = names


def _compose(layers: Sequence[Any], path: Sdf.Path) -> list[str]:
    names: dict[str, None] = {}
    for layer in reversed(layers):
        spec = _find(layer, path)
        if spec is None:
            continue
        names |= dict.fromkeys(spec.GetInfo("primChildren") or ())
        if spec.HasInfo("primOrder"):
            names = dict.fromkeys(_sort(list(names), list(spec.GetInfo("primOrder"))))
    return list(names)


def _sort(names: list[str], order: list[str]) -> list[str]:
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

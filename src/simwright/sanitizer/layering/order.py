# SPDX-License-Identifier: Apache-2.0
"""The order of prims below a prim, which layers give together: links and joints are numbered by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pxr import Sdf


def read_orders(layers: Sequence[Any], parents: Iterable[Sdf.Path]) -> dict[Any, list[str]]:
    """Names below each of some prims as a stack composes them."""
    return {path: _compose(layers, path) for path in parents}


def keep_orders(layers: Sequence[Any], before: dict[Any, list[str]]) -> None:
    """Let the names below prims come in the order they had."""
    for path, names in before.items():
        now = _compose(layers, path)
        there, told = set(now), set(names)
        wanted = [name for name in names if name in there]
        if now == [*wanted, *(name for name in now if name not in told)]:
            continue
        for layer in layers:
            spec = _find(layer, path)
            if spec is not None and spec.nameChildren:
                _write(spec, wanted)
                break


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

# SPDX-License-Identifier: Apache-2.0
"""Attributes whose value is a scene, a robot description or a mesh: composition by other means (REP-0158 1.2.5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pxr import Sdf

    from simwright.checker.facts.layers import LayerFacts
    from simwright.checker.facts.snapshot import Node, Snapshot

_LOADABLE = re.compile(
    r"^[^\s\"'<>|]+\.(usd[acz]?|urdf|xacro|sdf|world|mjcf|obj|stl|dae|glb|gltf|fbx|ply)(\[[^\]]*\])?$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"^(model|fuel|omniverse)://\S+$", re.IGNORECASE)
_PROVENANCE = re.compile(r"source|origin|provenance|generat|creat", re.IGNORECASE)
_KNOWN = ("inputs:", "info:", "ros:", "outputs:")


class Prefab(NamedTuple):
    """An attribute with a loadable value."""

    facts: LayerFacts
    path: Sdf.Path
    text: str
    is_asset: bool


def find_prefabs(snapshot: Snapshot) -> list[Prefab]:
    """Attributes of all layers that name something to load; notes about the origin aside."""
    return snapshot.shared("prefabs", _find_prefabs)


def _find_prefabs(snapshot: Snapshot) -> list[Prefab]:
    found = []
    for facts in snapshot.layers:
        values = [(value.path, value.text, False) for value in facts.texts]
        values += [(value.path, value.text, True) for value in facts.asset_paths if value.kind == "attribute"]
        found += [Prefab(facts, *value) for value in values if _is_prefab(value[0].name, value[1])]
    return found


def _is_prefab(name: str, text: str) -> bool:
    if name.startswith(_KNOWN) or _PROVENANCE.search(name):
        return False
    return bool(_LOADABLE.match(text) or _ADDRESS.match(text))


def find_holders(prefab: Prefab, snapshot: Snapshot) -> list[Node]:
    """The nodes that a prefab attribute ends up on."""
    name = prefab.path.name
    place = prefab.path.GetPrimPath()
    holders = []
    for node in snapshot.nodes:
        if node.name != place.name and not place.IsRootPrimPath():
            continue
        found = node.prim.GetProperty(name)
        if found and any(
            s.layer == prefab.facts.layer and s.path == prefab.path for s in found.GetPropertyStack()
        ):
            holders.append(node)
    return holders

# SPDX-License-Identifier: Apache-2.0
"""Which layers make up one asset, and the assetInfo it has: a stage may compose several assets (REP-0158 1.2).

An asset begins at an entry layer: the stage's root layer, or a layer whose default prim says that it is a
model of its own (a kind of component or above, or an assetInfo identifier) and that another asset brings in, or a layer
with sublayers that is brought in below the root.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from pxr import Ar, Kind, Sdf

from simwright.checker.facts.domains import FEATURES, Domain
from simwright.checker.facts.wording import tally_names
from simwright.checker.rule import Finding

if TYPE_CHECKING:
    from simwright.checker.facts.layers import Arc, LayerFacts, Opinion
    from simwright.checker.facts.snapshot import StageSnapshot


# REP-0158 gives no number: a prop of this size is quicker to read as one file
_SMALL_PRIMS = 64
_ROS_AND_BEYOND = tuple(domain for domain in FEATURES if domain is not Domain.PHYSICS)


@dataclass(slots=True, eq=False)
class AssetLayers:
    """An entry layer and the layers that belong to it, the entry first."""

    entry: LayerFacts
    layers: list[LayerFacts] = field(default_factory=list)

    @property
    def name(self) -> str:
        """File name of the entry layer."""
        return self.entry.name

    def is_small_prop(self, heavy_elements: int) -> bool:
        """Is it one small file with at most core physics and no joint?  Such a prop need not be divided."""
        facts = self.entry
        if len(self.layers) > 1 or facts.prims > _SMALL_PRIMS or facts.elements > heavy_elements:
            return False
        if any(facts.counts[domain] for domain in _ROS_AND_BEYOND):
            return False
        said = facts.tally(Domain.PHYSICS)
        return not any(content.kind == "type" and content.what.endswith("Joint") for content in said)


def find_assets(snapshot: StageSnapshot) -> list[AssetLayers]:
    """The assets of a stage, its own first; every layer belongs to one."""
    return snapshot.shared("assets", _find_assets)


def find_asset(snapshot: StageSnapshot, facts: LayerFacts) -> AssetLayers:
    """The asset a layer belongs to."""
    return next(asset for asset in find_assets(snapshot) if facts in asset.layers)


def _find_assets(snapshot: StageSnapshot) -> list[AssetLayers]:
    left = {facts.layer.identifier: facts for facts in snapshot.layers}
    root = snapshot.layers[0]
    assets = [AssetLayers(left.pop(root.layer.identifier))]
    with Ar.ResolverContextBinder(snapshot.stage.GetPathResolverContext()):
        for asset in assets:  # grows while it is read
            queue = [asset.entry]
            for facts in queue:
                asset.layers.append(facts)
                for arc, target in _targets(facts):
                    found = left.get(target)
                    if found is None:
                        continue
                    del left[target]
                    if _starts_asset(asset, facts, arc, found):
                        assets.append(AssetLayers(found))
                    else:
                        queue.append(found)
    # layers that no arc of a layer names: of value clips, or of variants
    assets[0].layers.extend(left.values())
    return assets


def _targets(facts: LayerFacts) -> list[tuple[Arc, str]]:
    """Arcs to layers that are open, with the identifiers of those; one per asset path."""
    found: dict[str, tuple[Arc, str]] = {}
    for arc in facts.arcs:
        if arc.asset and arc.asset not in found:
            layer = Sdf.Layer.FindRelativeToLayer(facts.layer, arc.asset)
            if layer:
                found[arc.asset] = (arc, layer.identifier)
    return list(found.values())


def _starts_asset(asset: AssetLayers, facts: LayerFacts, arc: Arc, found: LayerFacts) -> bool:
    """Does an arc bring in another asset?  What makes up the asset's own root prim from its folder does not."""
    if arc.kind == "sublayer":
        return False
    own = default_path(facts.layer)
    on_root = bool(own) and arc.path.StripAllVariantSelections().pathString == own
    # a part with layers of its own is an asset of its own, even if it does not say so
    if not is_entry(found) and (on_root or not found.layer.subLayerPaths):
        return False
    folder = str(asset.entry.layer.realPath).rpartition("/")[0]
    inside = not folder or str(found.layer.realPath).startswith(f"{folder}/")
    return not (on_root and inside)


def default_path(layer: Sdf.Layer) -> str:
    """Path of a layer's default prim, "" where it names none or nothing that could be a prim."""
    name = layer.defaultPrim
    # newer OpenUSD allows a path as defaultPrim
    path = name if name.startswith("/") else f"/{name}"
    return path if name and Sdf.Path.IsValidPathString(path) and Sdf.Path(path).IsPrimPath() else ""


def is_entry(facts: LayerFacts) -> bool:
    """Does a layer's default prim say that it is an asset of its own?"""
    path = default_path(facts.layer)
    spec = facts.layer.GetPrimAtPath(path) if path else None
    if spec is None:
        return False
    # an identifier alone is enough: many exporters write no kind
    return Kind.Registry.IsA(spec.kind, Kind.Tokens.model) or "identifier" in spec.assetInfo


def find_link_tree(facts: LayerFacts, snapshot: StageSnapshot) -> list[Sdf.Path]:
    """Xforms that a layer defines and places as part of the kinematic tree.

    A layer of meshes places the parts of its shapes too; there only prims named like a rigid body count.
    """
    if not facts.placed or not facts.is_mesh_library:
        return facts.placed
    bodies = snapshot.shared("body names", lambda s: {node.name for node in s.bodies})
    return [path for path in facts.placed if path.name in bodies]


def find_own_features(facts: LayerFacts, asset: AssetLayers, *domains: Domain) -> list[Opinion]:
    """A layer's feature opinions, but for what may stand elsewhere by right.

    A composing layer may name contexts (``ros:context:namespace``), and ``ros:joint:name`` goes with its joint.
    """
    return [
        opinion
        for opinion in facts.of(*(domains or FEATURES))
        if not (opinion.what == "ros:joint:name" or (facts is asset.entry and _is_context(opinion)))
    ]


def describe_spread(subject: str, holders: list[tuple[LayerFacts, list[Opinion]]]) -> Iterator[Finding]:
    """Findings for a feature that several layers of one asset hold: all but the layer with most opinions."""
    if len(holders) < 2:
        return
    main = max(holders, key=lambda holder: len(holder[1]))[0]
    for facts, opinions in holders:
        if facts is not main:
            held = tally_names(opinion.what for opinion in opinions)
            here, there = _tell_apart(facts, main)
            yield Finding(
                f"{subject} is spread: {here} holds {held}, beside {there}",
                hint=f"move them to {there}",
                at=opinions[0].path,
                layer=facts.layer,
            )


def _tell_apart(one: LayerFacts, other: LayerFacts) -> tuple[str, str]:
    """The names of two layers, with their folders where both have the same name."""
    if one.name != other.name or not (one.layer.realPath and other.layer.realPath):
        return one.name, other.name
    files = [PurePath(str(facts.layer.realPath)) for facts in (one, other)]
    top = Path(os.path.commonpath(files))
    return files[0].relative_to(top).as_posix(), files[1].relative_to(top).as_posix()


def _is_context(opinion: Opinion) -> bool:
    return opinion.what == "RosContextAPI" or opinion.what.startswith("ros:context:")


def read_asset_info(snapshot: StageSnapshot) -> dict[str, Any] | None:
    """The dictionary, empty if nothing is authored; None where there is no default prim to ask."""
    return snapshot.shared("asset info", _read_asset_info)


def _read_asset_info(snapshot: StageSnapshot) -> dict[str, Any] | None:
    node = snapshot.default_node
    if node is None:
        return None
    own = {facts.layer.identifier for facts in snapshot.layers}
    found: dict[str, Any] = {}
    for spec in node.prim.GetPrimStack():
        if spec.layer.identifier in own:
            for key, value in dict(spec.assetInfo).items():
                found.setdefault(key, value)
    return found


def describe_asset_info(snapshot: StageSnapshot, key: str, message: str, example: str) -> Finding:
    """A finding about a key of assetInfo; an attribute that was written instead of the metadata is pointed at."""
    stray = find_stray_attribute(snapshot, key)
    return Finding(
        message + (f"; {stray} is an attribute, which is something else" if stray else ""),
        hint=f'write assetInfo = {{ string {key} = "{example}" }} in the metadata of the default prim',
        at=snapshot.default_node,
        prop=stray,
    )


def find_stray_attribute(snapshot: StageSnapshot, key: str) -> str:
    """The name of an attribute that was written where the metadata is meant (``assetInfo:version``), or ""."""
    node = snapshot.default_node
    name = f"assetInfo:{key}"
    return name if node is not None and node.prim.HasAttribute(name) else ""

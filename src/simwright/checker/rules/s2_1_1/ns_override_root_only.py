# SPDX-License-Identifier: Apache-2.0
"""Namespace overrides are not written below an instance.

Why: OpenUSD ignores opinions about prims inside an instance, silently.  The file has `"left"`, and the topic still
gets `"camera"`.

Fails: an `over` with `ros:context:namespace` below a prim that has `instanceable = true`.
Passes: the namespace on the instanceable prim itself, or on a prim above it.

Fix: unsafe.  The opinion moves to the instance, where it takes effect: names change.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.layers import LayerFacts, OpinionContent
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.sources import local_layers
from simwright.checker.rule import Finding, rule


@rule(
    "ns-override-root-only",
    "2.1.1",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the override to the instance",
)
def ns_override_root_only(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ignored opinions are only visible in the layers."""
    if not any(name.startswith("ros:context:") for name in facts.names):
        return
    seen: set[Sdf.Path] = set()
    for opinion in facts.find(_is_context):
        prim = opinion.path.GetPrimPath()
        instance = _find_instance(prim, facts.layer, snapshot)
        if instance is not None and prim not in seen:
            seen.add(prim)
            yield Finding(
                f"{opinion.what} is overridden inside the instance {instance}, where it is ignored",
                hint=f"override it on {instance} itself, or make that prim not instanceable",
                at=opinion.path,
                data={"instance": str(instance)},
            )


def _is_context(content: OpinionContent) -> bool:
    return content.kind == "property" and content.what.startswith("ros:context:")


def _find_instance(path: Sdf.Path, layer: Sdf.Layer, snapshot: StageSnapshot) -> Sdf.Path | None:
    """The instance above a path of a layer: by the stage for its own layers, else by the layer's words."""
    # paths of the stage's own layers are stage paths; in referenced layers only their own words can be
    # followed
    if layer in local_layers(snapshot):
        prim = snapshot.stage.GetPrimAtPath(path.StripAllVariantSelections())
        if prim and prim.IsInstanceProxy():
            while not prim.IsInstance():
                prim = prim.GetParent()
            return prim.GetPath()
        return None
    for above in path.GetParentPath().GetPrefixes():
        spec = layer.GetPrimAtPath(above)
        if spec is not None and spec.instanceable and (spec.hasReferences or spec.hasPayloads):
            return above
    return None

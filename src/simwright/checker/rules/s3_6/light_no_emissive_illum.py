# SPDX-License-Identifier: Apache-2.0
"""A scene is lit by lights, not by glowing geometry.

Why: rasterisers show an emissive material as bright, but it lights nothing around it.  A room lit by a glowing
ceiling is black in a simulator.

Fails: an environment (kind assembly or group, or called world, room, warehouse ...) with emissive materials and no
UsdLux light; MeshLightAPI on a mesh.
Passes: an environment with a DistantLight; a robot with LEDs and no light at all.

Fix: no.  Only the author knows where lights belong.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Usd

from simwright.checker.facts.material_uses import is_render_bound, split_words
from simwright.checker.facts.shading import read_material
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_PLACES = frozenset({
    "world", "room", "warehouse", "environment", "env", "scene", "building", "office", "factory", "hall",
    "hospital", "house", "hangar", "lab",
})  # fmt: skip


@rule("light-no-emissive-illum", "3.6", "must not", on="stage", heuristic=True)
def light_no_emissive_illum(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Mesh lights always; missing lights only in an environment that glows."""
    lit = False
    for node in _list_lights(snapshot):
        if node.has("MeshLightAPI"):
            yield Finding(
                "the mesh itself is made a light source",
                hint="put a SphereLight or DistantLight beside it and let the material only glow",
                at=node,
            )
        else:
            lit = True
    root = snapshot.default_node
    # a robot with glowing eyes needs no lamp of its own
    if lit or root is None or not _is_environment(root):
        return
    glowing = [
        node
        for node in snapshot.of_type("Material")
        if read_material(node, snapshot).emits and is_render_bound(node, snapshot)
    ]
    if glowing:
        yield Finding(
            f"the environment {root.name} has emissive materials but no light",
            hint="add UsdLux lights (DistantLight, SphereLight, DomeLight): emissive geometry lights nothing",
            at=glowing[0],
            prop="outputs:surface",
        )


def _list_lights(snapshot: StageSnapshot) -> list[PrimNode]:
    if not any("LightAPI" in kind[1] for kind in snapshot.kinds()):
        return []
    return [node for node in snapshot.nodes if "LightAPI" in node.apis]


def _is_environment(root: PrimNode) -> bool:
    kind = Usd.ModelAPI(root.prim).GetKind()
    return kind in ("assembly", "group") or bool(_PLACES & set(split_words(root.name)))

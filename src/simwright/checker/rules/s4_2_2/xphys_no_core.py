# SPDX-License-Identifier: Apache-2.0
"""Properties in physics: are those of UsdPhysics, on prims that have the schema for them.

Why: the prefix is reserved for what AOUSD ratifies.  A home-made `physics:armature` is read by nobody and collides with
the day when core defines it otherwise; `physics:mass` without PhysicsMassAPI is ignored.

Fails: `float physics:armature` on a joint (an error); `float physics:mass` without PhysicsMassAPI (a warning).
Passes: `float physics:mass` with PhysicsMassAPI; `drive:angular:physics:damping`, `limit:rotX:physics:low`;
`ext_physics:joint:armature`.

Fix: unsafe.  The property is renamed to its ext_physics: form, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, Saying
from simwright.checker.facts.schemas import core_properties, defined_properties, known_properties
from simwright.checker.facts.snapshot import Snapshot
from simwright.checker.facts.vendors import vendor_of_schema
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "xphys-no-core",
    "4.2.2",
    "must not",
    on="layer",
    fix="unsafe",
    fix_title="rename the property to its ext_physics: form",
)
def xphys_no_core(facts: LayerFacts, snapshot: Snapshot) -> Iterator[Finding]:
    """New names first; then known names where nothing on the prim defines them."""
    if not facts.counts[Domain.PHYSICS]:
        return
    core = core_properties("physics:")
    added = core_properties("physics:", of_types=False)
    by_sayings: dict[tuple[Saying, ...], tuple[list[str], list[str]]] = {}
    in_place: dict[tuple[int, int], bool] = {}
    for at, sayings in facts.statements:
        found = by_sayings.get(sayings)
        if found is None:
            names = [
                said.what for said in sayings if said.kind == "property" and said.domain is Domain.PHYSICS
            ]
            # what joints and scenes have by their type is not misplaced
            new = [name for name in names if name.startswith("physics:") and name not in core]
            found = by_sayings[sayings] = new, [name for name in names if name in added]
        for name in found[0]:
            yield from _check_new(at.AppendProperty(name), core, facts, snapshot)
        if found[1] and not _are_in_place(at, found[1], snapshot, in_place):
            for name in found[1]:
                yield from _check_place(at.AppendProperty(name), facts, snapshot)


def _check_new(
    path: Sdf.Path, core: frozenset[str], facts: LayerFacts, snapshot: Snapshot
) -> Iterator[Finding]:
    if not _is_vendors(path, facts, snapshot):
        yield Finding(
            f"{path.name} is no property of UsdPhysics; physics: is reserved for core OpenUSD",
            hint=_find_hint(path.name, core),
            at=path,
            data={"meant": _find_meant(path.name, core)},
        )


def _find_hint(name: str, core: frozenset[str]) -> str:
    meant = _find_meant(name, core)
    if meant and meant[0] in core:
        return f"{meant[0]} is meant, it seems: correct the name"
    tail = name.rpartition(":")[2]
    return f"write {' or '.join(meant) if meant else f'ext_physics:<concept>:{tail}'}"


def _find_meant(name: str, core: frozenset[str]) -> list[str]:
    """A name of core that is almost the same, else the extended ones with the same last word."""
    meant = get_close_matches(name, core, n=1, cutoff=0.9)
    tail = name.rpartition(":")[2]
    known = [n for n in known_properties() if n.startswith("ext_physics:") and n.endswith(f":{tail}")]
    return meant or known


def _are_in_place(
    at: Sdf.Path, names: list[str], snapshot: Snapshot, known: dict[tuple[int, int], bool]
) -> bool:
    """Do schemas of the stage's prim at the layer's path define the properties?  Asked once per sort of prim."""
    node = snapshot.node(at)
    if node is None:
        return False
    key = (id(node.sort), id(names))
    found = known.get(key)
    if found is None:
        found = known[key] = defined_properties(node.type, node.apis).issuperset(names)
    return found


def _check_place(path: Sdf.Path, facts: LayerFacts, snapshot: Snapshot) -> Iterator[Finding]:
    node = snapshot.node(path.GetPrimPath().StripAllVariantSelections())
    if node is None or path.name in defined_properties(node.type, node.apis):
        return
    # the layer's path may be that of another prim of the stage
    prop = node.prim.GetProperty(path.name)
    if prop and any(s.layer == facts.layer and s.path == path for s in prop.GetPropertyStack()):
        yield Finding(
            f"{path.name} is authored, but no schema on the prim defines it",
            hint="apply the UsdPhysics schema that has the property, or remove it",
            at=path,
            data={"prim": node.path},
            level=Level.WARNING,
        )


def _is_vendors(path: Sdf.Path, facts: LayerFacts, snapshot: Snapshot) -> bool:
    """Does a vendor's API on the prim define it (Newton's deformables use physics: names)?"""
    place = path.GetPrimPath()
    spec = facts.layer.GetPrimAtPath(place)
    node = snapshot.node(place.StripAllVariantSelections())
    names = list(node.apis) if node is not None else []
    if spec is not None and spec.HasInfo("apiSchemas"):
        names += [str(item) for item in spec.GetInfo("apiSchemas").GetAddedOrExplicitItems()]
    return any(vendor_of_schema(name) for name in names if "Deformable" in name)

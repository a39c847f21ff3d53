# SPDX-License-Identifier: Apache-2.0
"""Properties in physics: are those of UsdPhysics, on prims that have the schema for them.

Why: the prefix is reserved for what AOUSD ratifies.  A home-made `physics:armature` is read by no engine, and is in
conflict as soon as core defines the name differently; `physics:mass` without PhysicsMassAPI is ignored.

Fails: `float physics:armature` on a joint (an error); `float physics:mass` without PhysicsMassAPI (a warning).
Passes: `float physics:mass` with PhysicsMassAPI; `drive:angular:physics:damping`, `limit:rotX:physics:low`;
`ext_physics:joint:armature`.

Fix: unsafe.  The property is renamed to its ext_physics: form, where there is one; a schema of UsdPhysics that is
missing is applied.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts, OpinionContent
from simwright.checker.facts.schemas import (
    core_properties,
    defined_properties,
    find_core_owner,
    known_classes,
    known_properties,
    list_ratified,
)
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.vendors import vendor_of_schema
from simwright.checker.facts.wording import tally_names
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level
from simwright.usd.registry import find_core_name


@rule(
    "xphys-no-core",
    "4.2.2",
    "must not",
    on="layer",
    fix="unsafe",
    fix_title="rename the property to its ext_physics: form, or apply the schema that has it",
)
def xphys_no_core(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """New names first; then known names where nothing on the prim defines them."""
    if not facts.counts[Domain.PHYSICS]:
        return
    core = core_properties("physics:") | _list_ratified(snapshot)
    # thousands of links have the same opinions, which are one shared tuple: sort its names once
    sorted_names = {key: _sort_names(contents, core) for key, contents in facts.said.items()}
    in_place: dict[tuple[int, int], bool] = {}
    for at, key in facts.sayings:
        new, known = sorted_names[key]
        for name in new:
            yield from _check_new(at.AppendProperty(name), core, facts, snapshot)
        if known and not _are_in_place(at, known, snapshot, in_place):
            yield from _check_places(at, known, facts, snapshot)


def _list_ratified(snapshot: StageSnapshot) -> frozenset[str]:
    """Names of extensions that core has ratified, which this OpenUSD may not know yet."""
    names = (
        prop.name for api in list_ratified(snapshot.settings) for prop in known_classes()[api].properties
    )
    return frozenset(core for name in names if (core := find_core_name(name)))


def _sort_names(contents: tuple[OpinionContent, ...], core: frozenset[str]) -> tuple[list[str], list[str]]:
    """Physics properties that core does not have, and those that an API of core defines.

    What joints and scenes have by their type is never misplaced, so it is in neither list.
    """
    added = core_properties("physics:", of_types=False)
    names = [one.what for one in contents if one.kind == "property" and one.domain is Domain.PHYSICS]
    new = [name for name in names if name.startswith("physics:") and name not in core]
    return new, [name for name in names if name in added]


def _check_new(
    path: Sdf.Path, core: frozenset[str], facts: LayerFacts, snapshot: StageSnapshot
) -> Iterator[Finding]:
    if not _is_vendors(path, facts, snapshot):
        yield Finding(
            f"{path.name} is not a property of UsdPhysics; physics: is reserved for core OpenUSD",
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
    # a typo differs in a letter; below 0.9 different words match
    meant = get_close_matches(name, core, n=1, cutoff=0.9)
    tail = name.rpartition(":")[2]
    known = [n for n in known_properties() if n.startswith("ext_physics:") and n.endswith(f":{tail}")]
    return meant or known


def _are_in_place(
    at: Sdf.Path, names: list[str], snapshot: StageSnapshot, known: dict[tuple[int, int], bool]
) -> bool:
    """Do schemas of the stage's prim at the layer's path define the properties?  Asked once per kind of prim."""
    node = snapshot.node(at)
    if node is None:
        return False
    key = (id(node.kind_facts), id(names))
    found = known.get(key)
    if found is None:
        found = known[key] = defined_properties(node.type, node.apis).issuperset(names)
    return found


def _check_places(
    at: Sdf.Path, names: list[str], facts: LayerFacts, snapshot: StageSnapshot
) -> Iterator[Finding]:
    """One finding for all properties of a schema that is not applied."""
    node = snapshot.node(at.StripAllVariantSelections())
    if node is None:
        return
    missing: dict[str, list[str]] = {}
    for name in names:
        if name not in defined_properties(node.type, node.apis) and _is_said(node, at, name, facts):
            missing.setdefault(find_core_owner(name), []).append(name)
    for owner, said in missing.items():
        what = f"{tally_names(said)} {'is' if len(said) == 1 else 'are'} authored"
        yield Finding(
            f"{what}, but {owner or 'a schema that defines it'} is not applied to the prim",
            hint=f"apply {owner or 'the UsdPhysics schema that has the property'}, or remove what is not meant",
            at=at.AppendProperty(said[0]),
            # mass-positive and others see the same fault where the prim is a body
            data={"prim": node.path} | ({"fault": f"{owner} is not applied"} if owner else {}),
            level=Level.WARNING,
        )


def _is_said(node: PrimNode, at: Sdf.Path, name: str, facts: LayerFacts) -> bool:
    """Is a property of the stage's prim said at this place?  The layer's path may be that of another prim."""
    prop = node.prim.GetProperty(name)
    path = at.AppendProperty(name)
    return bool(prop) and any(s.layer == facts.layer and s.path == path for s in prop.GetPropertyStack())


def _is_vendors(path: Sdf.Path, facts: LayerFacts, snapshot: StageSnapshot) -> bool:
    """Does a vendor's API on the prim define it (Newton's deformables use physics: names)?"""
    place = path.GetPrimPath()
    spec = facts.layer.GetPrimAtPath(place)
    node = snapshot.node(place.StripAllVariantSelections())
    names = list(node.apis) if node is not None else []
    if spec is not None and spec.HasInfo("apiSchemas"):
        names += [str(item) for item in spec.GetInfo("apiSchemas").GetAddedOrExplicitItems()]
    return any(vendor_of_schema(name) for name in names if "Deformable" in name)

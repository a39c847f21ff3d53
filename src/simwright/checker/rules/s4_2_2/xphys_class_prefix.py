# SPDX-License-Identifier: Apache-2.0
"""Every ext_physics: property belongs to an ExtendedPhysics*API that is applied to its prim.

Why: a simulator looks for the applied class and reads its properties.  Without the class, or under a class with
another name, the values are not read.

Fails: `rel ext_physics:mimic:joint` on a joint without ExtendedPhysicsMimicAPI; under an API called MimicAPI; a
property that the class does not have, or has with another type.
Passes: the property together with `prepend apiSchemas = ["ExtendedPhysicsMimicAPI"]`.

Fix: none.  Applying the API would make the value take effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.owners import find_holders
from simwright.checker.facts.schemas import (
    RegistryProperty,
    known_classes,
    known_properties,
    list_own_classes,
    suggest_property,
)
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

PREFIX = "ExtendedPhysics"


@rule("xphys-class-prefix", "4.2.2", "must", on="stage")
def xphys_class_prefix(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Prims with such properties, and schema classes that declare them."""
    for node, names in find_holders(snapshot, "ext_physics", Domain.EXTENDED):
        for name in names:
            yield from _check(node, name)
    for facts in snapshot.layers:
        if facts.counts[Domain.EXTENDED]:
            yield from _check_classes(facts, snapshot)


def _check(node: PrimNode, name: str) -> Iterator[Finding]:
    known = known_properties().get(name)
    if known is not None:
        yield from _check_known(node, name, known)
        return
    applied = [api.partition(":")[0] for api in node.apis if api.startswith(PREFIX)]
    # an ExtendedPhysics API of a newer registry may define the property
    if any(api not in known_classes() for api in applied):
        return
    meant = suggest_property(name)
    owner = f"no class of {', '.join(applied)} has it" if applied else f"no {PREFIX}*API is applied to own it"
    yield Finding(
        f"{name} is authored, but {owner}",
        hint=f"rename it to {meant}" if meant else f"apply the {PREFIX}*API that defines the property",
        at=node,
        prop=name,
    )


def _check_known(node: PrimNode, name: str, known: RegistryProperty) -> Iterator[Finding]:
    owner, prop = known.owner.name, known.property
    if not node.has(owner):
        yield Finding(
            f"{name} is authored, but {owner} is not applied",
            hint=f'write prepend apiSchemas = ["{owner}"] on the prim',
            at=node,
            prop=name,
        )
        return
    specs = node.prim.GetProperty(name).GetPropertyStack()
    # the composed attribute answers with the schema's type: only the specs show another one
    found = {str(spec.typeName) if isinstance(spec, Sdf.AttributeSpec) else "rel" for spec in specs}
    if found - {prop.type}:
        yield Finding(
            f"{name} is declared as {', '.join(sorted(found - {prop.type}))}, {owner} says {prop.type}",
            hint=f"write {prop.type} {name}",
            at=node,
            prop=name,
        )


def _check_classes(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    for schema in list_own_classes(facts, snapshot):
        if not schema.name.startswith(PREFIX) and any(
            p.name.startswith("ext_physics:") for p in schema.properties
        ):
            yield Finding(
                f"the schema class {schema.name} has ext_physics: properties",
                hint=f"call it {PREFIX}{schema.name}",
                at=f"/{schema.name}",
                layer=facts.layer,
            )

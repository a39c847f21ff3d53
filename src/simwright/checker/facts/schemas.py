# SPDX-License-Identifier: Apache-2.0
"""What the schema registry and core OpenUSD define, as look-up tables for rules (REP-0158 4.1, 4.2).

Everything is read from the registry's own schema layers and from OpenUSD's schema registry; nothing is listed
here by hand, except the one property that REP-0158 2.10 defines outside any schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from pxr import Plug, Tf, Usd

from simwright.usd.plugins import SCHEMAS
from simwright.usd.registry import RATIFIED, SchemaClass, SchemaProperty, list_classes, read_classes

if TYPE_CHECKING:
    from simwright.checker.facts.layers import LayerFacts
    from simwright.checker.facts.snapshot import StageSnapshot
    from simwright.checker.settings import CheckSettings

JOINT_NAME = "ros:joint:name"
"""A custom string on joints (REP-0158 2.10); no schema defines it."""

EXTENSION_PREFIXES = ("Sensor", "RosControl", "ExtendedPhysics")
"""First words of the classes of the extension registry."""


@dataclass(frozen=True, slots=True)
class RegistryProperty:
    """A property of the registry and the class that defines it."""

    owner: SchemaClass
    property: SchemaProperty


@cache
def known_classes() -> dict[str, SchemaClass]:
    """Registry classes by name."""
    return {schema.name: schema for _, schema in list_classes()}


@cache
def known_properties() -> dict[str, RegistryProperty]:
    """Registry properties by name."""
    return {
        prop.name: RegistryProperty(schema, prop)
        for _, schema in list_classes()
        for prop in schema.properties
    }


@cache
def known_concepts() -> frozenset[str]:
    """The namespaces of the registry's properties: ``ros:topic``, ``ext_physics:mimic`` ..."""
    return frozenset(":".join(name.split(":")[:2]) for name in known_properties()) | {"ros:joint"}


@cache
def suggest_property(name: str) -> str:
    """The registry property that a misspelt name most likely means, or ""."""
    return _closest(name, (*known_properties(), JOINT_NAME))


@cache
def suggest_class(name: str) -> str:
    """The registry class that a misspelt name most likely means, or ""."""
    return _closest(name, tuple(known_classes()))


def _closest(name: str, known: tuple[str, ...]) -> str:
    # publishRate and publish_rate are the same word
    folded = {_fold(item): item for item in known}
    if _fold(name) in folded:
        return folded[_fold(name)]
    # a letter or two in twenty; lower, and ros:topic:rate would match ros:topic:role
    found = get_close_matches(_fold(name), folded, n=1, cutoff=0.88)
    return folded[found[0]] if found else ""


def _fold(name: str) -> str:
    return name.lower().replace("_", "")


def list_ratified(settings: CheckSettings) -> dict[str, str]:
    """Extension classes that core has -> the core class: the registry's table, and what the settings add."""
    if not settings.ratified:
        return RATIFIED
    rows = (row.partition(":") for row in settings.ratified)
    return RATIFIED | {name: core for name, _, core in rows if core and name in known_classes()}


def is_extension(api: str) -> bool:
    """Is it an API of an extension (sensor, controller, incubating physics), registered or not?"""
    return api.startswith(EXTENSION_PREFIXES)


def allowed_types(api: str) -> tuple[str, ...]:
    """Prim types a registered API may be applied to; empty for any, and for unregistered ones."""
    schema = known_classes().get(api.partition(":")[0])
    return schema.can_only_apply_to if schema else ()


def core_properties(prefix: str, *, of_types: bool = True) -> frozenset[str]:
    """Property names with a prefix that OpenUSD's own schemas define (not ours, not multiple-apply ones).

    ``of_types=False`` leaves out those that a prim has by its type.
    """
    by_type, by_api = _list_core_properties(prefix)
    return by_type | by_api if of_types else by_api


@cache
def _list_core_properties(prefix: str) -> tuple[frozenset[str], frozenset[str]]:
    """Property names with a prefix of types and of APIs of OpenUSD's own."""
    registry = Usd.SchemaRegistry()
    found: list[frozenset[str]] = []
    for base in ("UsdTyped", "UsdAPISchemaBase"):
        names: set[str] = set()
        for kind in Tf.Type.FindByName(base).GetAllDerivedTypes():
            name = Usd.SchemaRegistry.GetSchemaTypeName(kind)
            definition = name and (
                registry.FindConcretePrimDefinition(name) or registry.FindAppliedAPIPrimDefinition(name)
            )
            own = [p for p in definition.GetPropertyNames() if p.startswith(prefix)] if definition else []
            # asked of few: the plugin of a type is looked for among all
            if own and not _is_registered_by_us(kind):
                names.update(own)
        found.append(frozenset(names))
    return found[0], found[1]


def _is_registered_by_us(kind: Tf.Type) -> bool:
    """Is a schema class one of the registry?  Its plugin tells, without a schema layer being read."""
    plugin = Plug.Registry().GetPluginForType(kind)
    return plugin is not None and str(plugin.resourcePath).startswith(f"{SCHEMAS}/")


@cache
def find_core_owner(name: str) -> str:
    """The one single-apply API of OpenUSD itself that defines a property; empty where none or several do."""
    registry = Usd.SchemaRegistry()
    owners = []
    for kind in Tf.Type.FindByName("UsdAPISchemaBase").GetAllDerivedTypes():
        api = Usd.SchemaRegistry.GetSchemaTypeName(kind)
        definition = registry.FindAppliedAPIPrimDefinition(api) if api else None
        if definition and name in definition.GetPropertyNames() and not _is_registered_by_us(kind):
            owners.append(str(api))
    return owners[0] if len(owners) == 1 else ""


@cache
def defined_properties(type_name: str, apis: tuple[str, ...]) -> frozenset[str]:
    """Property names that the registered schemas of a kind of prim define."""
    registry = Usd.SchemaRegistry()
    if apis:
        definition = registry.BuildComposedPrimDefinition(type_name, list(apis))
    else:
        definition = registry.FindConcretePrimDefinition(type_name)
    return frozenset(definition.GetPropertyNames()) if definition else frozenset()


def list_own_classes(facts: LayerFacts, snapshot: StageSnapshot) -> tuple[SchemaClass, ...]:
    """Schema classes that a layer of the asset declares itself: root class prims whose name ends in API."""
    key = f"schemas.classes {facts.layer.identifier}"
    return snapshot.shared(key, lambda _: _read_own_classes(facts))


def _read_own_classes(facts: LayerFacts) -> tuple[SchemaClass, ...]:
    if not any(spec.name.endswith("API") for spec in facts.layer.rootPrims):
        return ()
    return tuple(
        schema
        for schema in read_classes(facts.layer)
        if schema.name.endswith("API") and schema.kind != "typed"
    )

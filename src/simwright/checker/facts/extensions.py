# SPDX-License-Identifier: Apache-2.0
"""Properties that belong to extension schemas, wherever an asset has them (REP-0158 4.2.1).

Three places: properties in an extension namespace (``sensor:``, ``control:``, ``ros:<concept>:``,
``ext_physics:``) in a layer; other custom properties of a prim that has an extension API; and properties of
schema classes that a layer of the asset declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.schemas import defined_properties, is_extension, list_own_classes
from simwright.checker.facts.vendors import vendor_of_property
from simwright.checker.rule import Finding
from simwright.usd.registry import CORE_CLASSES
from simwright.usd.submission_words import CORE_NAMESPACES, RESERVED_ROS_NAMESPACES

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

EXTENSION_APIS = ("api:Sensor*", "api:RosControl*", "api:ExtendedPhysics*")
"""What rules about extensions subscribe to, beside ``layer``."""

_DOMAINS = (Domain.SENSOR, Domain.CONTROL, Domain.ROS, Domain.EXTENDED)
_NAMESPACES = ("sensor:", "control:", "ros:", "ext_physics:")


@dataclass(frozen=True, slots=True)
class ExtensionProperty:
    """A property of an extension; ``text`` is its value where that is a string."""

    name: str
    is_relationship: bool
    text: str
    at: PrimNode | Sdf.Path
    layer: Sdf.Layer | None = None

    def make_finding(self, message: str, hint: str) -> Finding:
        """A finding at this property."""
        prop = self.name if not isinstance(self.at, Sdf.Path) else ""
        return Finding(message, hint, at=self.at, prop=prop, layer=self.layer)


def list_properties(subject: PrimNode | LayerFacts, snapshot: StageSnapshot) -> Iterator[ExtensionProperty]:
    """Extension properties in a layer, or on a prim with an extension API outside those namespaces."""
    if isinstance(subject, LayerFacts):
        yield from _list_in_layer(subject)
        yield from _list_in_classes(subject, snapshot)
    else:
        yield from _list_on_node(subject)


def in_extension_namespace(name: str) -> bool:
    """Is it a property name of an extension, and not of the core ROS schemas?"""
    if not name.startswith(_NAMESPACES):
        return False
    first, _, rest = name.partition(":")
    # ros:topic:, ros:frame: and the like are core, ros:<other>: are extensions
    return first != "ros" or rest.partition(":")[0] not in RESERVED_ROS_NAMESPACES


def _list_in_layer(facts: LayerFacts) -> Iterator[ExtensionProperty]:
    for opinion in facts.of(*_DOMAINS):
        if opinion.kind != "property":
            continue
        if in_extension_namespace(opinion.what) and not _in_class(facts.layer, opinion.path):
            yield _read_spec(opinion.what, facts.layer, opinion.path)


def _in_class(layer: Sdf.Layer, path: Sdf.Path) -> bool:
    """Is it in a root prim with specifier class: a schema class, which is read as such?"""
    root = layer.GetPrimAtPath(path.GetPrefixes()[0])
    return bool(root and root.specifier == Sdf.SpecifierClass and root.name.endswith("API"))


def _read_spec(name: str, layer: Sdf.Layer, path: Sdf.Path) -> ExtensionProperty:
    spec = layer.GetAttributeAtPath(path)
    value = spec.default if spec is not None else None
    return ExtensionProperty(name, spec is None, _text(value), path, layer)


def _list_in_classes(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[ExtensionProperty]:
    for schema in list_own_classes(facts, snapshot):
        if schema.name in CORE_CLASSES:
            continue
        for prop in schema.properties:
            path = Sdf.Path(f"/{schema.name}").AppendProperty(prop.name)
            yield ExtensionProperty(prop.name, prop.is_relationship, _text(prop.default), path, facts.layer)


def _list_on_node(node: PrimNode) -> Iterator[ExtensionProperty]:
    if not any(is_extension(api) for api in node.apis):
        return
    for name in list_custom(node):
        if not name.startswith(_NAMESPACES):
            attribute = node.prim.GetAttribute(name)
            yield ExtensionProperty(name, not attribute, _text(attribute.Get() if attribute else None), node)


def list_custom(node: PrimNode) -> list[str]:
    """Authored properties that no registered schema of the prim defines, core and vendor ones aside."""
    defined = defined_properties(node.type, node.apis)
    return [
        name
        for name in node.property_names()
        if name not in defined
        and name.partition(":")[0] not in CORE_NAMESPACES
        and not vendor_of_property(name)
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

# SPDX-License-Identifier: Apache-2.0
"""Everything rules ask about a stage, gathered in one traversal.

A :class:`StageSnapshot` walks the stage once and every instance prototype once, makes a :class:`PrimNode` per prim and
sorts the nodes into the collections rules care about (bodies, joints, colliders ...).  What only some rules
need (the joint graph, ROS names, layer roles, the stage without payloads) is computed when first asked for.

Nothing here judges: rules do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from pxr import Sdf, Tf, Usd, UsdGeom

from simwright.checker.facts.types import find_bases, find_heads
from simwright.checker.settings import CheckSettings
from simwright.core.collector import pause_collector
from simwright.core.gate import Gate
from simwright.usd.open import open_again
from simwright.usd.questions import (
    attribute_of,
    forwarded_targets_of,
    is_authored,
    path_of,
    relationship_of,
    type_of,
    value_of,
)

if TYPE_CHECKING:
    from simwright.checker.facts.graph import JointGraph
    from simwright.checker.facts.layers import LayerFacts
    from simwright.checker.facts.names import RosNames

T = TypeVar("T")
PrimKind: TypeAlias = tuple[str, tuple[str, ...]]
"""Type name and applied APIs."""
_ABSENT: Any = object()

INTERFACE_APIS = ("RosTopicAPI", "RosServiceAPI", "RosActionAPI")

_LIVE = Usd.PrimIsActive & Usd.PrimIsDefined & ~Usd.PrimIsAbstract
"""Prims that count, loaded or not: without IsLoaded a payload root does not end the walk."""


class _MentionedNames:
    """Names of all properties that any layer mentions; None until the layers were read."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: frozenset[str] | None = None


class _KindFacts:
    """What prims of one type with the same APIs have in common."""

    __slots__ = ("bases", "fallbacks", "heads", "kind", "mentioned")

    def __init__(self, kind: PrimKind, mentioned: _MentionedNames) -> None:
        self.kind = kind
        self.bases = find_bases(kind[0])
        self.heads = find_heads(kind[1])
        self.mentioned = mentioned
        self.fallbacks: dict[str, Any] = {}
        """Values of attributes by the schemas alone, as far as asked for."""


class PrimNode:
    """A prim of the stage, with its type, APIs and place in the hierarchy.

    ``apis`` are applied API names, multiple-apply ones with their instance (``PhysicsDriveAPI:angular``), also
    of schemas that are not registered.  ``bases`` are the schema types it is a kind of, its own included.
    ``path`` is the path to show: inside a prototype it is the path below the first instance.
    """

    __slots__ = (
        "children",
        "in_prototype",
        "kind_facts",
        "name",
        "parent",
        "path",
        "prim",
        "prototype",
        "type",
        "users",
    )

    def __init__(
        self, prim: Usd.Prim, path: str, name: str, kind_facts: _KindFacts, parent: PrimNode | None
    ) -> None:
        self.prim = prim
        self.path = path
        self.name = name
        self.kind_facts = kind_facts
        self.type = kind_facts.kind[0]
        self.parent = parent
        # an empty tuple, shared: most prims are leaves, and a list for each costs memory
        self.children: Sequence[PrimNode] = ()
        self.in_prototype = False
        self.prototype: PrimNode | None = None
        self.users: list[PrimNode] | None = None
        """The instances of which this is the prototype's root; None for every other node."""

    @property
    def apis(self) -> tuple[str, ...]:
        """Applied APIs."""
        return self.kind_facts.kind[1]

    @property
    def bases(self) -> frozenset[str]:
        """Schema types it is a kind of."""
        return self.kind_facts.bases

    @property
    def heads(self) -> frozenset[str]:
        """Applied APIs without instance names."""
        return self.kind_facts.heads

    def has(self, api: str) -> bool:
        """Is an API applied?  A multiple-apply API counts with any instance name."""
        return api in self.kind_facts.heads

    def instances(self, api: str) -> list[str]:
        """Instance names of a multiple-apply API."""
        return [name[len(api) + 1 :] for name in self.apis if name.startswith(f"{api}:")]

    def is_a(self, schema: str) -> bool:
        """Is the prim's type ``schema`` or derived from it (``Xformable``, ``PhysicsJoint`` ...)?"""
        return schema in self.kind_facts.bases

    def may_say(self, name: str) -> bool:
        """May the prim have an opinion on a property of this name?  False is certain: no layer mentions it."""
        names = self.kind_facts.mentioned.names
        return names is None or name in names

    def authored(self, name: str, time: Usd.TimeCode | None = None) -> Any:
        """Value of an attribute that has an authored, unblocked opinion, else None."""
        names = self.kind_facts.mentioned.names
        if names is not None and name not in names:
            return None
        attribute = attribute_of(self.prim, name)
        if time is not None:
            return value_of(attribute, time) if is_authored(attribute) else None
        value = value_of(attribute)
        if value is None:
            return None
        # a value that is not the fallback is authored; asking would cost as much as reading
        if value != self._fallback(name) and value == value:  # noqa: PLR0124 - nan may be the fallback
            return value
        return value if is_authored(attribute) else None

    def value(self, name: str) -> Any:
        """Value of an attribute, the schema's fallback included, else None."""
        names = self.kind_facts.mentioned.names
        if names is None or name in names:
            return value_of(attribute_of(self.prim, name))
        return self._fallback(name)

    def _fallback(self, name: str) -> Any:
        """The schemas' value of an attribute."""
        fallbacks = self.kind_facts.fallbacks
        found = fallbacks.get(name, _ABSENT)
        if found is _ABSENT:
            found = fallbacks[name] = self.prim.GetPrimDefinition().GetAttributeFallbackValue(name)
        return found

    def targets(self, name: str) -> list[Sdf.Path]:
        """Forwarded targets of a relationship, empty where there is none."""
        if not self.may_say(name):
            return []
        try:
            return list(forwarded_targets_of(relationship_of(self.prim, name)))
        except Tf.ErrorException:  # an attribute is authored where the schema has a relationship
            return []

    def relationships(self) -> dict[str, list[Sdf.Path]]:
        """Authored relationships that have targets, and these."""
        names = [relationship.GetName() for relationship in self.prim.GetAuthoredRelationships()]
        found = ((name, self.targets(name)) for name in names)
        return {name: paths for name, paths in found if paths}

    def has_targets_authored(self, name: str) -> bool:
        """Does the relationship have an authored opinion (an empty list counts)?"""
        if not self.may_say(name):
            return False
        relationship = self.prim.GetRelationship(name)
        return bool(relationship and relationship.HasAuthoredTargets())

    def property_names(self, namespace: str = "") -> list[str]:
        """Names of authored properties, in a namespace (``"ros"``) if given."""
        names: list[str] = self.prim.GetAuthoredPropertyNames()
        return [name for name in names if name.startswith(f"{namespace}:")] if namespace else names

    def ancestors(self) -> Iterator[PrimNode]:
        """Parent, grandparent ... (inside a prototype they end at its root)."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def descendants(self) -> Iterator[PrimNode]:
        """Everything below, instanced geometry included (through the shared prototype)."""
        stack = [*reversed(self.below())]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.below()))

    def below(self) -> Sequence[PrimNode]:
        """Children; for an instance those of its prototype."""
        return self.prototype.children if self.prototype else self.children

    def __repr__(self) -> str:
        return f"Node({self.path})"


class StageSnapshot:
    """A stage as rules see it: every live prim as a node, and facts that are computed when first asked for.

    It is made once per check and never changed; the stage is not edited.
    """

    def __init__(
        self,
        stage: Usd.Stage,
        settings: CheckSettings | None = None,
        *,
        path: str = "",
        gate: Gate | None = None,
    ) -> None:
        self.stage = stage
        self.path = path
        self.gate = gate or Gate.of_layer(stage.GetRootLayer().realPath)
        """Which files may be looked at."""
        self.settings = settings or CheckSettings()
        self.root_layer: Sdf.Layer = stage.GetRootLayer()
        self.nodes: list[PrimNode] = []
        self._by_path: dict[str, PrimNode] = {}
        self._mentioned = _MentionedNames()
        self._kinds: dict[PrimKind, _KindFacts] = {}
        self._kind_by_own: dict[PrimKind, _KindFacts] = {}
        self._shared: dict[str, Any] = {}
        with pause_collector():
            self._gather()

    def close(self) -> None:
        """Let go of the stage and of everything that was found out about it.

        The parts of a snapshot refer to each other.  Left alone, they keep the stage and its layers until Python looks
        for cycles the next time, and a layer of the same path that is opened meanwhile is the old one.
        """
        unloaded = vars(self).get("unloaded")
        if unloaded is not None:
            unloaded.close()
        for node in self.nodes:
            node.parent = node.prototype = node.users = None
            node.children = ()
        vars(self).clear()

    # -- gathering

    def _gather(self) -> None:
        self._has_instances = bool(self.stage.GetPrototypes())
        shown: dict[str, str] = {}
        instances: list[tuple[PrimNode, str]] = []
        for prim in self.stage.GetPseudoRoot().GetFilteredChildren(_LIVE):
            self._walk(prim, None, shown, instances)
        roots: dict[str, PrimNode] = {}
        # prototypes hold instances of other prototypes, so the list grows while it is read
        for instance, name in instances:
            if name not in roots:
                prim = self.stage.GetPrimAtPath(name)
                shown[name] = instance.path
                roots[name] = self._walk(prim, None, shown, instances, in_prototype=True)
            root = instance.prototype = roots[name]
            if root.users is None:
                root.users = []
            root.users.append(instance)

    # one function, written for speed: its body runs once per prim of the stage
    def _walk(
        self,
        root: Usd.Prim,
        parent: PrimNode | None,
        shown: dict[str, str],
        instances: list[tuple[PrimNode, str]],
        *,
        in_prototype: bool = False,
    ) -> PrimNode:
        first: PrimNode | None = None
        prefix = root.GetPath().pathString if in_prototype else ""
        stand_in = shown.get(prefix, "")
        at = {} if in_prototype else self._by_path
        for prim in Usd.PrimRange(root, _LIVE):
            own: str = path_of(prim).pathString
            path = stand_in + own[len(prefix) :] if in_prototype else own
            outer, _, name = own.rpartition("/")
            above = at.get(outer, parent)
            name = intern(name if path is own else path.rpartition("/")[2])  # scopes of links have few names
            node = PrimNode(prim, path, name, self._find_kind_facts(prim), above)
            node.in_prototype = in_prototype
            if above is not None:
                if above.children:
                    cast("list[PrimNode]", above.children).append(node)
                else:
                    above.children = [node]
            at[own] = node
            self.nodes.append(node)
            if in_prototype:
                self._by_path.setdefault(own, node)
                self._by_path.setdefault(path, node)
            if self._has_instances and prim.IsInstance():
                instances.append((node, prim.GetPrototype().GetPath().pathString))
            first = first or node
        assert first is not None, "a walk starts at a live prim"
        return first

    def _find_kind_facts(self, prim: Usd.Prim) -> _KindFacts:
        """Type and APIs, one shared object per combination.

        ``GetPrimTypeInfo`` and not ``GetAppliedSchemas``: the latter leaves out unregistered schemas.
        """
        info = type_of(prim)
        own = (info.GetTypeName(), tuple(info.GetAppliedAPISchemas()))
        found = self._kind_by_own.get(own)
        if found is None:  # built-in APIs follow from what the prim itself has
            kind = (own[0], tuple(dict.fromkeys((*prim.GetAppliedSchemas(), *own[1]))))
            found = self._kinds.get(kind) or _KindFacts(kind, self._mentioned)
            self._kind_by_own[own] = self._kinds[kind] = found
        return found

    # -- looking things up

    def node(self, path: Sdf.Path | str) -> PrimNode | None:
        """The node at a path (of the stage, or below an instance), if there is a live prim."""
        text = path if isinstance(path, str) else path.pathString
        found = self._by_path.get(text)
        if found is None:
            prim = self.stage.GetPrimAtPath(text)
            if prim and prim.IsInstanceProxy():
                found = self._by_path.get(prim.GetPrimInPrototype().GetPath().pathString)
        return found

    def kinds(self) -> Iterator[PrimKind]:
        """Every combination of type and APIs on the stage."""
        return iter(self._kinds)

    @cached_property
    def default_node(self) -> PrimNode | None:
        """The default prim, if it is authored and live."""
        prim = self.stage.GetDefaultPrim()
        return self.node(prim.GetPath()) if prim else None

    @cached_property
    def may_move(self) -> bool:
        """May any value change over time: does a layer hold samples or clips, or is one not walked?"""
        walked = any(facts.has_samples or facts.has_clips for facts in self.layers)
        return walked or not self.is_plain

    @cached_property
    def is_plain(self) -> bool:
        """Do :attr:`layers` hold all that is said: no session opinions, no unnamed layers, no value clips?"""
        walked = {facts.layer for facts in self.layers}
        used = self.stage.GetUsedLayers(includeClipLayers=True)
        return self._mentioned.names is not None and all(layer in walked or layer.empty for layer in used)

    def having(self, *apis: str) -> list[PrimNode]:
        """Nodes with any of the APIs applied, in order of traversal."""
        wanted = frozenset(apis)
        return self._pick(
            [kind_facts for kind_facts in self._groups if not wanted.isdisjoint(kind_facts.heads)]
        )

    def of_type(self, schema: str) -> list[PrimNode]:
        """Nodes of a schema type or a derived one, in order of traversal."""
        return self._pick([kind_facts for kind_facts in self._groups if schema in kind_facts.bases])

    def _pick(self, kinds_found: list[_KindFacts]) -> list[PrimNode]:
        if len(kinds_found) <= 1:
            return list(self._groups[kinds_found[0]]) if kinds_found else []
        chosen = set(kinds_found)
        return [node for node in self.nodes if node.kind_facts in chosen]

    def group_nodes(self) -> dict[PrimKind, list[PrimNode]]:
        """Nodes by their combination of type and APIs, each group in order of traversal."""
        return {facts.kind: nodes for facts, nodes in self._groups.items()}

    @cached_property
    def _groups(self) -> dict[_KindFacts, list[PrimNode]]:
        """Nodes by type and APIs: there are few kinds and many nodes."""
        groups: dict[_KindFacts, list[PrimNode]] = {}
        for node in self.nodes:
            groups.setdefault(node.kind_facts, []).append(node)
        return groups

    @cached_property
    def bodies(self) -> list[PrimNode]:
        """Prims with PhysicsRigidBodyAPI."""
        return self.having("PhysicsRigidBodyAPI")

    @cached_property
    def joints(self) -> list[PrimNode]:
        """Physics joints of every type."""
        return self.of_type("PhysicsJoint")

    @cached_property
    def colliders(self) -> list[PrimNode]:
        """Prims with PhysicsCollisionAPI, those in prototypes included."""
        return self.having("PhysicsCollisionAPI")

    @cached_property
    def interfaces(self) -> list[PrimNode]:
        """Prims with a topic, service or action API."""
        return self.having(*INTERFACE_APIS)

    @cached_property
    def contexts(self) -> list[PrimNode]:
        """Prims with RosContextAPI."""
        return self.having("RosContextAPI")

    @cached_property
    def frames(self) -> list[PrimNode]:
        """Prims with RosFrameAPI."""
        return self.having("RosFrameAPI")

    @cached_property
    def controllers(self) -> list[PrimNode]:
        """Prims with a RosControl*API."""
        return [node for node in self.nodes if any(name.startswith("RosControl") for name in node.apis)]

    def owning_body(self, node: PrimNode) -> PrimNode | None:
        """The node itself or its nearest ancestor that is a rigid body."""
        if node.has("PhysicsRigidBodyAPI"):
            return node
        return next((above for above in node.ancestors() if above.has("PhysicsRigidBodyAPI")), None)

    # -- what some rules need

    def shared(self, key: str, build: Callable[[StageSnapshot], T]) -> T:
        """Facts that several rules share, built when the first one asks."""
        if key not in self._shared:
            self._shared[key] = build(self)
        result: T = self._shared[key]
        return result

    def remember_meshes(self, memory: dict[str, Any]) -> None:
        """Take up what an earlier snapshot of the stage found out about meshes, and go on filling it."""
        from simwright.checker.facts.meshes import MeshCache

        self._shared["meshes"] = memory.setdefault("meshes", MeshCache())

    @cached_property
    def xforms(self) -> UsdGeom.XformCache:
        """World and local transforms at the default time."""
        return UsdGeom.XformCache(Usd.TimeCode.Default())

    @cached_property
    def layers(self) -> list[LayerFacts]:
        """Facts of every layer the stage uses (session and anonymous ones aside), the root layer first."""
        from simwright.checker.facts.layer_walk import gather_layers
        from simwright.checker.facts.layers import list_names

        with pause_collector():
            facts = gather_layers(self)
        self._mentioned.names = list_names(self.stage, facts)
        return facts

    @cached_property
    def graph(self) -> JointGraph:
        """Bodies and joints as a graph."""
        from simwright.checker.facts.graph import build_graph

        return build_graph(self)

    @cached_property
    def names(self) -> RosNames:
        """Resolved ROS names: namespaces, interface names, TF frames."""
        from simwright.checker.facts.names import resolve_names

        return resolve_names(self)

    @cached_property
    def unloaded(self) -> StageSnapshot | None:
        """The same stage opened with no payload loaded; None for a stage that has no payload."""
        if not any(facts.has_payloads for facts in self.layers):
            return None
        stage = open_again(self.stage, load=False)
        found = StageSnapshot(stage, self.settings, path=self.path, gate=self.gate)
        found._mentioned.names = self._mentioned.names  # without payloads there are less layers, never others
        return found

    @cached_property
    def folder(self) -> Path | None:
        """The asset's folder, None for a stage in memory."""
        real = self.root_layer.realPath
        return Path(real).parent if real else None

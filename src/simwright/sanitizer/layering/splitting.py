# SPDX-License-Identifier: Apache-2.0
"""Layer splitting: opinions of a stack are moved to the layers they belong in.

All layers stay in the same stack, and no two of them speak of the same afterwards, so that the same is composed.

A layer that stands alone is emptied in a faster way (:class:`SingleLayerSplit`): nothing has to be put together with
what others say, so prims that go to one place are copied as a whole, and subtrees that are empty afterwards are removed
in one step.  An asset of twenty thousand prims would otherwise be moved word by word.

Mesh data go into a crate of their own, ``geometries.usdc``, which comes back by payload (REP-0158 1.2.1, 1.2.3).
Equal shapes are stored once.  Only arrays move: type, place, bounds and bindings of a shape stay where they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from pxr import Sdf

from simwright.checker.facts.domains import SMALL_GEOMETRY, Domain, domain_of_property, is_bounds
from simwright.checker.facts.vendors import vendor_of_schema
from simwright.core.names import NameScope, make_identifier
from simwright.sanitizer.layering import moving
from simwright.sanitizer.layering.moving import RoleLayers, check_definition, make_layer
from simwright.sanitizer.layering.roles import (
    BASE,
    CUSTOM,
    DOMAINS,
    ENTRY,
    EXTENDED,
    MATERIALS,
    PHYSICS,
    SHAPES,
    VENDOR,
    find_api_role,
    find_group,
    find_property_role,
    name_file,
    rank,
)
from simwright.sanitizer.layering.stacks import (
    LayerStack,
    is_proprietary,
    keep_orders,
    list_sites,
    read_orders,
)
from simwright.usd.edit import Editor, Refused

_SCHEMAS = "apiSchemas"
NEUTRAL_MOTOR = "Scope"
"""The type of a prim that is a motor, for all who leave the layers of engines out."""
_STAYING_FIELDS = ("variantSetNames", "variantSelection")
"""Fields that stay in a layer when all else moves."""


@dataclass(slots=True, eq=False)
class SingleLayerSplit:
    """What is known of the prims of a layer: where each goes as a whole, and which have to stay in part."""

    layer: Sdf.Layer
    whole: dict[Any, str] = field(default_factory=dict)
    staying: set[Any] = field(default_factory=set)

    def copy_definitions(self, paths: Iterable[Sdf.Path], home: Sdf.Layer) -> None:
        """Copy prims, those that go nowhere else with all they have."""
        for path in paths:
            if path in self.whole:
                moving.open_spec(home, path)
                Sdf.CopySpec(self.layer, path, home, path)
            else:
                moving.copy_definition(self.layer.GetPrimAtPath(path), moving.open_spec(home, path))

    def copy_properties(self, paths: Iterable[Sdf.Path], home: Sdf.Layer) -> None:
        """Copy properties of prims that are not copied as a whole."""
        layer, known = self.layer, None
        for path in paths:
            above = path.GetParentPath()
            if above in self.whole or layer.GetPropertyAtPath(path) is None:
                continue
            if above != known:
                moving.open_spec(home, above)
                known = above
            Sdf.CopySpec(layer, path, home, path)

    def copy_schemas(self, names: Iterable[tuple[Any, str]], home: Sdf.Layer) -> None:
        """Copy applied schemas, also deleted ones."""
        found: dict[Any, list[str]] = {}
        for path, name in names:
            if path not in self.whole:
                found.setdefault(path, []).append(name)
        for path, wanted in found.items():
            # one list for a prim, however many of its schemas go to the same layer
            listed = self.layer.GetPrimAtPath(path).GetInfo(_SCHEMAS)
            moving.open_spec(home, path).SetInfo(_SCHEMAS, moving.keep_schemas(listed, wanted))

    def remove(self, moves: Iterable[Any]) -> None:
        """Take away what was copied: subtrees in which nothing stays, and words of prims that do."""
        kept = {prefix for path in self.staying for prefix in path.GetPrefixes()}
        self._remove_words(moves, kept)
        pending = [Sdf.Path.absoluteRootPath]
        while pending:
            path = pending.pop()
            spec = self.layer.pseudoRoot if path.IsAbsoluteRootPath() else self.layer.GetPrimAtPath(path)
            for name in list(spec.GetInfo("primChildren") or ()):
                child = path.AppendChild(name)
                if child in kept:
                    pending.append(child)
                else:
                    del spec.nameChildren[name]

    def _remove_words(self, moves: Iterable[Any], kept: set[Any]) -> None:
        for group in moves:
            for path in group.properties:
                above = path.GetParentPath()
                known = self.layer.GetPropertyAtPath(path) if above in kept else None
                if known is not None:
                    self.layer.GetPrimAtPath(above).RemoveProperty(known)
            for path, name in group.apis:
                if path in kept:
                    spec = self.layer.GetPrimAtPath(path)
                    moving.write_apis(spec, moving.drop_schema(spec.GetInfo(_SCHEMAS), name))
            for _, path in group.definitions:
                if path in kept:
                    moving.clear_definition(self.layer.GetPrimAtPath(path))


def is_alone(sites: Iterable[Any]) -> bool:
    """Are there no variants?  They share names and orders with the prim that has them."""
    return not any(path.ContainsPrimVariantSelection() for path in sites)


def has_to_stay(spec: Sdf.PrimSpec, *, is_touched: bool) -> bool:
    """Is there something left of a prim whose words are all moved, or was it there to say nothing?"""
    if any(spec.HasInfo(key) for key in _STAYING_FIELDS):
        return True
    return not is_touched and not spec.GetInfo("primChildren")


def is_movable(spec: Sdf.PrimSpec) -> bool:
    """May a prim be copied as a whole: nothing below it, and nothing of its own that stays with the layer?"""
    if spec.GetInfo("primChildren") or spec.HasInfo("primOrder"):
        return False
    listed = spec.GetInfo(_SCHEMAS) if spec.HasInfo(_SCHEMAS) else None
    return listed is None or not (listed.isExplicit or listed.addedItems)


_NOT_MOVED = ""
"""The role of what is not moved."""


@dataclass(slots=True)
class MovedOpinions:
    """What goes to one role: properties, applied schemas, and definitions with the layer they are in."""

    properties: dict[Any, None] = field(default_factory=dict)
    apis: dict[tuple[Any, str], None] = field(default_factory=dict)
    definitions: list[tuple[Any, Any]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many opinions there are."""
        return len(self.properties) + len(self.apis) + len(self.definitions)


class StackSplit:
    """One split of one stack: planned first, then made.

    ``wanted`` are roles (the groups of them, for vendors) whose opinions are moved; the others stay where they are.
    """

    def __init__(
        self, editor: Editor, stack: LayerStack, wanted: Collection[str], vendors: Collection[str] = ()
    ) -> None:
        self.editor = editor
        self.stack = stack
        self.wanted = wanted
        self.vendors = vendors
        self.homes = RoleLayers(editor, stack)
        self.moves: dict[str, MovedOpinions] = {}
        self.touched: dict[str, set[Any]] = {}
        self.before: dict[Any, list[str]] = {}
        self.neutral_layers = [layer for layer in stack.layers if not is_proprietary(stack.read(layer))]
        self.single_layer: SingleLayerSplit | None = None
        self.shared: set[Any] = set()
        """Prims of an engine's type that neutral schemas speak of too."""
        root = stack.root.defaultPrim
        self.default = Sdf.Path(f"/{root}") if root and stack.is_entry and BASE in wanted else None

    def ask(self) -> None:
        """Ask for the edits, if there is something to move."""
        for layer in self.neutral_layers:
            if self._may_hold(layer):
                self._plan_layer(layer)
        if not self.moves:
            return
        if self.stack.problem:
            raise Refused(self.stack.problem)
        self._check()
        root, top = self.stack.root, Sdf.Path.absoluteRootPath
        add = self.editor.add
        names = ", ".join(sorted(map(name_file, self.moves)))
        # edits are made in the order in which they are asked for: read the order, move, bring in, restore the
        # order
        add(root, top, f"the order of prims beside {names}", self._begin)
        for role in sorted(self.moves, key=rank):
            home = self.homes.find(role)
            file = home.GetDisplayName() if home is not None else name_file(role)
            what = f"{self.moves[role].count} opinions to {file}"
            add(root, top, what, lambda role=role: self._move(role))  # type: ignore[misc]
        add(root, top, f"sublayers for {names}", self._finish)

    # planning

    def _may_hold(self, layer: Sdf.Layer) -> bool:
        """Can there be something to move in a layer?  What it holds is known, so most need not be walked again."""
        if layer == self.stack.root and BASE in self.wanted:
            return True
        facts = self.stack.read(layer)
        held = {DOMAINS[domain] for domain in facts.features}
        if facts.unknown or facts.neutral_apis or self.vendors:
            held |= {CUSTOM, VENDOR}
        if facts.counts[Domain.MATERIAL]:
            held.add(MATERIALS)
        if PHYSICS in held and PHYSICS in self.wanted:
            return True  # bodies may be defined there
        return any(role in self.wanted and self.homes.find(role) != layer for role in held)

    def _plan_layer(self, layer: Sdf.Layer) -> None:
        # one loop over the sites: the roles of all parts of a spec decide whether it can move as a whole
        sites = list_sites(layer)
        # one layer, no homes yet and no variants: the fast way
        if self.stack.layers == [layer] and not self.homes.known and is_alone(sites):
            self.single_layer = SingleLayerSplit(layer)
        for path in sites:
            spec = layer.GetPrimAtPath(path)
            if spec is None:
                continue
            home = ENTRY if path.GetPrimPath() == self.default else self.stack.find_home(path.GetPrimPath())
            is_rebased = path.IsPrimPath() and self._is_rebased(layer, spec, home)
            is_moved = is_rebased or (path.IsPrimPath() and self._is_moved(home, layer))
            self._note_shared(path, spec, home, is_moved=is_moved)
            roles = self._plan_properties(layer, path, spec, home, rebased=is_rebased)
            self._plan_apis(layer, path, spec, home, roles)
            if not moving.is_bare(spec):
                if is_moved and not self._is_placed(spec):
                    self._load(home, layer, path).definitions.append((layer, path))
                    roles.add(home)
                else:
                    roles.add(_NOT_MOVED)
            if self.single_layer is not None:
                self._plan_single_layer(self.single_layer, path, spec, home, roles)

    def _note_shared(self, path: Sdf.Path, spec: Sdf.PrimSpec, home: str, *, is_moved: bool) -> None:
        if is_moved and find_group(home) == VENDOR and _applies_neutral(spec):
            self.shared.add(path)

    def _plan_properties(
        self, layer: Sdf.Layer, path: Sdf.Path, spec: Sdf.PrimSpec, home: str, *, rebased: bool
    ) -> set[str]:
        """Plan where the properties of a spec go; gives the roles they have."""
        roles: set[str] = set()
        for name in spec.GetInfo("properties") or ():
            role = find_property_role(name, home, self.vendors)
            if self._is_moved(role, layer, path) or (rebased and role == home):
                self._load(role, layer, path).properties[path.AppendProperty(name)] = None
                roles.add(role)
            else:
                roles.add(_NOT_MOVED)
        return roles

    def _plan_single_layer(
        self, single_layer: SingleLayerSplit, path: Sdf.Path, spec: Sdf.PrimSpec, home: str, roles: set[str]
    ) -> None:
        if _NOT_MOVED in roles or has_to_stay(spec, is_touched=bool(roles)):
            single_layer.staying.add(path)
        # an `over` that has properties only is no definition to copy: they go one by one
        elif roles == {home} and not moving.is_bare(spec) and is_movable(spec):
            single_layer.whole[path] = home

    def _plan_apis(
        self, layer: Sdf.Layer, path: Sdf.Path, spec: Sdf.PrimSpec, home: str, roles: set[str]
    ) -> None:
        if not spec.HasInfo("apiSchemas"):
            return
        listed = spec.GetInfo("apiSchemas")
        for name in dict.fromkeys((*listed.GetAddedOrExplicitItems(), *listed.deletedItems)):
            role = find_api_role(name, home)
            if self._is_moved(role, layer, path):
                self._load(role, layer, path).apis[(path, name)] = None
                roles.add(role)
            else:
                roles.add(_NOT_MOVED)

    def _is_rebased(self, layer: Sdf.Layer, spec: Sdf.PrimSpec, home: str) -> bool:
        """Does a feature's layer define a body, which is for the layer of the link tree to define?"""
        if PHYSICS not in self.wanted or home not in (BASE, SHAPES) or layer != self.homes.find(PHYSICS):
            return False
        listed = spec.GetInfo("apiSchemas").GetAddedOrExplicitItems() if spec.HasInfo("apiSchemas") else ()
        if spec.specifier != Sdf.SpecifierDef or "PhysicsRigidBodyAPI" not in listed:
            return False
        others = (known for known in self.neutral_layers if known != layer)
        definer = next((known for known in others if _defines(known, spec.path)), None)
        if definer is not None:
            self.homes.known.setdefault(home, definer)
        return True

    def _is_placed(self, spec: Sdf.PrimSpec) -> bool:
        """Does a spec only place what it brings in?  It stays, unless everything goes."""
        return BASE not in self.wanted and any(spec.HasInfo(key) for key in ("references", "payload"))

    def _is_moved(self, role: str, layer: Sdf.Layer, path: Sdf.Path | None = None) -> bool:
        # a motor of an engine is a neutral one too, of another type: that has to be said in a weaker layer
        is_wanted = find_group(role) in self.wanted or (role == EXTENDED and path in self.shared)
        if not is_wanted or self.homes.find(role) == layer:
            return False
        return role not in (BASE, SHAPES) or layer == self.stack.root

    def _load(self, role: str, layer: Sdf.Layer, path: Sdf.Path) -> MovedOpinions:
        self.touched.setdefault(layer.identifier, set()).add(path)
        return self.moves.setdefault(role, MovedOpinions())

    def _check(self) -> None:
        # one function: everything that could go wrong is asked before the first opinion moves
        proprietary = [layer for layer in self.stack.layers if layer not in self.neutral_layers]
        for role, moves in self.moves.items():
            for layer, path in moves.definitions:
                check_definition(layer.GetPrimAtPath(path), self.homes.find(role) or self.stack.root)
            for path in moves.properties if self.single_layer is None else ():
                moving.check_property(self.neutral_layers, path)
                told = next((layer for layer in proprietary if layer.GetPropertyAtPath(path)), None)
                if told is not None and self.homes.find(role) != told:
                    raise Refused(f"{told.GetDisplayName()} has a word on {path} too; say it in one layer")
            for path, _ in moves.apis:
                plain = path.StripAllVariantSelections()
                composed = None if plain != path else self.stack.stage.GetPrimAtPath(plain)
                moving.check_apis(self.neutral_layers, path, composed)

    # making

    def _begin(self) -> None:
        parents = {
            path.GetParentPath() for paths in self.touched.values() for p in paths for path in p.GetPrefixes()
        }
        self.before = read_orders(self.stack.layers, parents)

    def _move(self, role: str) -> None:
        moves = self.moves[role]
        home = self.homes.open(role)
        if self.single_layer is not None:
            self.single_layer.copy_definitions((path for _, path in moves.definitions), home)
            self.single_layer.copy_properties(moves.properties, home)
            self.single_layer.copy_schemas(moves.apis, home)
            return
        layers = self.neutral_layers if home in self.neutral_layers else [*self.neutral_layers, home]
        for source, path in moves.definitions:
            # where both layers say a field, the one of the stronger layer has to survive
            is_stronger = home not in layers or layers.index(source) < layers.index(home)
            moving.move_definition(source, path, home, is_stronger=is_stronger)
        for path in moves.properties:
            moving.move_property(layers, path, home)
        for path, name in moves.apis:
            moving.move_api(layers, path, name, home)

    def _finish(self) -> None:
        self._repeat_default()
        if self.single_layer is not None:
            self.single_layer.remove(self.moves.values())
        for layer in self.neutral_layers if self.single_layer is None else ():
            moving.prune(layer, list(self.touched.get(layer.identifier, ())))
        self._define_shared()
        self.homes.bring_in()
        keep_orders(self.homes.list_layers(), self.before, is_entry=self.stack.is_entry)
        for layer in self.homes.new.values():
            layer.Save()

    def _define_shared(self) -> None:
        """A prim that the layer of an engine gives its type is there without that layer too."""
        for path in self.shared:
            spec = self.homes.open(EXTENDED).GetPrimAtPath(path)
            if spec is not None:
                spec.specifier, spec.typeName = Sdf.SpecifierDef, NEUTRAL_MOTOR

    def _repeat_default(self) -> None:
        """The link tree can be opened by itself: it defines the default prim too."""
        layer = self.homes.new.get(BASE)
        spec = self.stack.root.GetPrimAtPath(self.default) if self.default else None
        if layer is not None and spec is not None and spec.specifier == Sdf.SpecifierDef:
            own = moving.open_spec(layer, self.default)
            own.specifier, own.typeName = spec.specifier, spec.typeName


def _applies_neutral(spec: Sdf.PrimSpec) -> bool:
    """Does a spec apply a schema that is not a vendor's?"""
    listed = spec.GetInfo(_SCHEMAS).GetAddedOrExplicitItems() if spec.HasInfo(_SCHEMAS) else ()
    return any(vendor_of_schema(str(name)) is None for name in listed)


def _defines(layer: Sdf.Layer, path: Sdf.Path) -> bool:
    spec = layer.GetPrimAtPath(path)
    return spec is not None and spec.specifier == Sdf.SpecifierDef


def split_stack(
    editor: Editor, stack: LayerStack, wanted: Collection[str], vendors: Collection[str] = ()
) -> None:
    """Ask for a split of a stack."""
    StackSplit(editor, stack, wanted, vendors).ask()


FILE = "geometries.usdc"
ROOT = Sdf.Path("/geometries")


@dataclass(slots=True, eq=False)
class GeometryCrate:
    """Arrays of the layers of one stack, and the crate they go to."""

    editor: Editor
    stack: LayerStack
    shapes: dict[tuple[str, Any], list[str]] = field(default_factory=dict)
    names: NameScope = field(default_factory=NameScope)
    stored: dict[str, Any] = field(default_factory=dict)
    layer: Sdf.Layer = None

    def ask(self, layers: Iterable[Sdf.Layer]) -> None:
        """Ask for the mesh data of some layers to be moved."""
        chosen = list(layers)
        for layer in chosen:
            for path in list_sites(layer):
                names = list_arrays(layer.GetPrimAtPath(path)) if path.IsPrimPath() else []
                if names:
                    self._check(path, names)
                    self.shapes[(layer.identifier, path)] = names
        if not self.shapes:
            return
        if self.stack.problem:
            raise Refused(self.stack.problem)
        for layer in chosen:
            count = sum(1 for identifier, _ in self.shapes if identifier == layer.identifier)
            if count:
                what = f"mesh data of {count} prims to {FILE}"
                self.editor.add(layer, Sdf.Path.absoluteRootPath, what, lambda layer=layer: self._move(layer))  # type: ignore[misc]

    def _check(self, path: Sdf.Path, names: list[str]) -> None:
        """A payload is weaker than nearly all else: nothing else may speak of the same arrays."""
        plain = path.StripAllVariantSelections()
        # also what is said outside of the variant that has the arrays
        for site in {path, plain}:
            told = [layer for layer in self.stack.layers if _tells(layer, site, names)]
            if len(told) + (site != path) > 1:
                raise Refused(f"several layers have arrays of {plain}; decide which of them are meant")
        prim = self.stack.stage.GetPrimAtPath(plain)
        if not prim or len(prim.GetPrimStack()) == 1:
            return
        for name in names:
            specs = prim.GetAttribute(name).GetPropertyStack()
            if len(specs) > 1:
                raise Refused(f"{name} of {plain} is said in {len(specs)} places; decide which is meant")

    def _move(self, layer: Sdf.Layer) -> None:
        if self.layer is None:
            self.layer = make_layer(self.editor, self.stack.root, FILE)
            self.layer.defaultPrim = ROOT.name
            root = Sdf.CreatePrimInLayer(self.layer, ROOT)
            root.specifier, root.typeName = Sdf.SpecifierDef, "Scope"
        for identifier, path in [key for key in self.shapes if key[0] == layer.identifier]:
            names = self.shapes[(identifier, path)]
            spec = layer.GetPrimAtPath(path)
            # equal shapes are stored once
            sign = _sign(spec, names)
            target = self.stored.get(sign) if sign else None
            if target is None:
                target = self._store(spec, names)
                if sign:
                    self.stored[sign] = target
            for name in names:
                spec.RemoveProperty(layer.GetPropertyAtPath(path.AppendProperty(name)))
            _load(spec, f"./{_name(self.layer)}", target)
        self.layer.Save()

    def _store(self, spec: Sdf.PrimSpec, names: list[str]) -> Sdf.Path:
        name = self.names.claim(make_identifier(spec.name, "shape"))
        target = ROOT.AppendChild(name)
        copy = Sdf.CreatePrimInLayer(self.layer, target)
        prim = self.stack.stage.GetPrimAtPath(spec.path.StripAllVariantSelections())
        # as defined as the prim whose arrays it holds
        if spec.specifier == Sdf.SpecifierDef or (prim and prim.IsDefined()):
            copy.specifier = Sdf.SpecifierDef
        copy.typeName = self.stack.find_kind(spec.path)
        for known in names:
            Sdf.CopySpec(
                spec.layer, spec.path.AppendProperty(known), self.layer, target.AppendProperty(known)
            )
        return target


def list_arrays(spec: Sdf.PrimSpec) -> list[str]:
    """Names of the arrays that make up a shape; none for a prim that has only small ones."""
    found, is_shape = [], False
    for name in spec.GetInfo("properties") or ():
        if not _is_array(name):
            continue
        known = spec.layer.GetPropertyAtPath(spec.path.AppendProperty(name))
        if not isinstance(known, Sdf.AttributeSpec) or not known.typeName.isArray:
            continue
        # a primvar of one value is a colour, not mesh data
        if known.HasInfo("timeSamples") or _count(known.default) > name.startswith("primvars:"):
            found.append(name)
            is_shape |= not name.startswith("primvars:")
    return found if is_shape else []


@cache
def _is_array(name: str) -> bool:
    """May a property be a part of a shape that is heavy?"""
    is_heavy = domain_of_property(name) is Domain.GEOMETRY and name not in SMALL_GEOMETRY
    return is_heavy and not is_bounds(name)


def _count(value: Any) -> int:
    """How many elements an array has; a value that is blocked has none."""
    return len(value) if hasattr(value, "__len__") else 0


def _tells(layer: Sdf.Layer, path: Sdf.Path, names: list[str]) -> bool:
    return any(layer.GetPropertyAtPath(path.AppendProperty(name)) for name in names)


def _sign(spec: Sdf.PrimSpec, names: list[str]) -> str:
    """The same text for the same arrays; empty for those that change over time."""
    digest = hashlib.sha256(str(spec.typeName).encode())
    for name in sorted(names):
        known = spec.layer.GetPropertyAtPath(spec.path.AppendProperty(name))
        if known.HasInfo("timeSamples") or known.HasInfo("connectionPaths"):
            return ""
        digest.update(f"{name} {known.typeName}".encode())
        digest.update(np.ascontiguousarray(np.asarray(known.default)).tobytes())
        for key in sorted(known.ListInfoKeys()):
            if key not in ("default", "typeName"):
                digest.update(f"{key} {known.GetInfo(key)}".encode())
    return digest.hexdigest()


def _load(spec: Sdf.PrimSpec, address: str, target: Sdf.Path) -> None:
    listed = spec.payloadList
    arc = Sdf.Payload(address, target)
    if listed.isExplicit:
        listed.explicitItems.append(arc)
    else:
        listed.prependedItems.append(arc)


def _name(layer: Sdf.Layer) -> str:
    return str(layer.GetDisplayName())

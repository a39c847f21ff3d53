# SPDX-License-Identifier: Apache-2.0
"""Changing an asset where its opinions are: edits are collected first, then made in one step.

A fix reads the composed stage and asks an :class:`Editor` for edits; nothing changes while it looks.  The editor finds
the specs that say something, in the layers that belong to the asset.  What is said in a layer of another asset is not
ours to change: :class:`Refused`.  Edits are made together in one change block, so that a stage of many prims is
composed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pxr import Sdf, Usd, UsdUtils

from simwright.core.gate import Gate
from simwright.usd.expected_changes import ExpectedChanges


class Refused(Exception):  # noqa: N818 - not a mistake, an answer
    """A fix that cannot be made here; the text says why."""


@dataclass(slots=True)
class Edit:
    """One change: in which layer, at which spec, what is done, in words."""

    layer: Sdf.Layer
    path: Sdf.Path
    what: str
    apply: Callable[[], None] = field(repr=False)
    late: bool = False
    """Is it made after all others?  What moves a spec is: the others know where it was."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The same edit, wanted twice, is made once."""
        return (self.layer.identifier, str(self.path), self.what)


class Editor:
    """Edits of one fix on one stage.  ``own`` are the identifiers of the layers that may be changed.

    ``is_taken`` tells whether a new file may not have a name.
    """

    def __init__(
        self, stage: Usd.Stage, own: Iterable[str], is_taken: Callable[[Path], bool] = Path.exists
    ) -> None:
        self.stage = stage
        self.own = frozenset(own)
        self.is_taken = is_taken
        self.edits: dict[tuple[str, str, str], Edit] = {}
        self.files: dict[Path, bytes] = {}
        self.find_original: Callable[[str], str] = str
        """From a file of the stage to the one of the source that it is a copy of."""
        self.speaks_neutral: Callable[[Sdf.PrimSpec], bool] = lambda _: True
        """Does a spec say anything itself that is not an engine's own?  New words of a prim go to such a one."""
        self.gate = Gate.of_layer(self.root.realPath)
        """What files have to pass before a fix brings them into the asset."""
        self.memory: dict[str, Any] = {}
        """What a fix found out about the stage and wants to know again for its next finding."""
        self.known: dict[str, Any] = {}
        """The same for all fixes, until something is changed."""
        self.expected = ExpectedChanges()
        """Prims that come, go or stand elsewhere because of the edits; a fix says so."""
        self.pushed: set[str] = set()
        """Prims whose scale or rotation goes to what is below; all of that waits for the next round."""

    @property
    def root(self) -> Sdf.Layer:
        """The root layer."""
        return self.stage.GetRootLayer()

    def make_edits(self) -> list[Edit]:
        """Make what was asked for; gives it."""
        made = list(self.edits.values())
        self.edits = {}
        # OpenUSD composes once at the end of the block, not after each of thousands of edits
        with Sdf.ChangeBlock():
            for edit in sorted(made, key=lambda edit: edit.late):
                edit.apply()
        return made

    def drop_edits(self, count: int) -> None:
        """Forget what was asked for after the first ``count`` edits."""
        while len(self.edits) > count:
            self.edits.popitem()

    # looking

    def find_prim(self, path: str) -> Usd.Prim:
        """The prim at a path of the stage; one that another fix took away is refused."""
        prim = self.stage.GetPrimAtPath(path) if path else None
        if not prim:
            raise Refused(f"{path or 'the prim'} no longer exists")
        return prim

    def list_prim_specs(self, prim: Usd.Prim) -> list[Sdf.PrimSpec]:
        """The specs of a prim in layers of the asset, strongest first."""
        return [spec for spec in prim.GetPrimStack() if spec.layer.identifier in self.own]

    def choose_home(self, prim: Usd.Prim) -> Sdf.PrimSpec:
        """Where a new opinion about a prim belongs: its strongest spec in the asset, but in no layer of an engine."""
        specs = self.list_prim_specs(prim)
        if not specs:
            raise Refused("the prim belongs to another asset, which has to be fixed itself")
        return (
            next((spec for spec in specs if self.speaks_neutral(spec)), specs[0]) if specs[1:] else specs[0]
        )

    def list_specs(self, prim: Usd.Prim, name: str) -> list[Sdf.PropertySpec]:
        """The opinions about a property, strongest first; all of them have to be the asset's own."""
        specs = [
            found
            for spec in prim.GetPrimStack()
            if (found := spec.layer.GetPropertyAtPath(spec.path.AppendProperty(name))) is not None
        ]
        foreign = next((spec for spec in specs if spec.layer.identifier not in self.own), None)
        if foreign is not None:
            raise Refused(
                f"{name} is said in {foreign.layer.GetDisplayName()}, which belongs to another asset"
            )
        return specs

    def find_strongest(self, prim: Usd.Prim, name: str) -> Sdf.PropertySpec | None:
        """The opinion that counts, which has to be the asset's own; weaker ones may be anybody's."""
        for spec in prim.GetPrimStack():
            found = spec.layer.GetPropertyAtPath(spec.path.AppendProperty(name))
            if found is not None:
                if spec.layer.identifier not in self.own:
                    raise Refused(
                        f"{name} is said in {spec.layer.GetDisplayName()}, which belongs to another asset"
                    )
                return found
        return None

    def find_layer(self, file: str) -> Sdf.Layer:
        """A layer of the asset by its file, for findings about layers."""
        layer = Sdf.Layer.Find(file) if file in self.own else None
        if layer is None:
            # the file is a copy in a folder of ours, which nobody knows
            name = Path(file).name
            gone = f"another fix has put another layer in the place of {name}"
            raise Refused(f"{name} belongs to another asset" if Path(file).exists() else gone)
        return layer

    # asking for edits

    def add(
        self, layer: Sdf.Layer, path: Sdf.Path, what: str, apply: Callable[[], None], *, late: bool = False
    ) -> None:
        """Plan an edit: ``apply`` is called when all edits of the fix are made.  The other methods plan common ones.

        Raises ``Refused`` for a layer of another asset.  Of two edits of the same thing the first one counts.
        """
        if layer.identifier not in self.own:
            raise Refused(f"{layer.GetDisplayName()} belongs to another asset")
        edit = Edit(layer, path, what, apply, late)
        # the first one stays: drop_edits of a later finding must not take it away
        self.edits.setdefault(edit.key, edit)

    def set_layer_info(self, key: str, value: Any, layer: Sdf.Layer | None = None) -> None:
        """Metadata of a layer, the root layer unless another is named."""
        target = layer or self.root
        spec = target.pseudoRoot
        self.add(target, spec.path, f"{key} = {show(value)}", lambda: spec.SetInfo(key, value))

    def set_prim_info(self, spec: Sdf.PrimSpec, key: str, value: Any) -> None:
        """Metadata of a prim in a layer."""
        self.add(spec.layer, spec.path, f"{key} = {show(value)}", lambda: spec.SetInfo(key, value))

    def clear_prim_info(self, prim: Usd.Prim, key: str) -> None:
        """Take away every opinion about metadata of a prim."""
        for spec in [spec for spec in prim.GetPrimStack() if spec.HasInfo(key)]:
            self.add(spec.layer, spec.path, f"no {key}", lambda spec=spec: spec.ClearInfo(key))  # type: ignore[misc]

    def set_value(
        self, prim: Usd.Prim, name: str, kind: Sdf.ValueTypeName, value: Any, *, uniform: bool = False
    ) -> None:
        """Let an attribute have a value: where it is said, or at the prim's home if nobody says it."""
        found = self.find_strongest(prim, name)
        home = self.choose_home(prim) if found is None else found.owner
        self.set_spec_value(home, name, kind, value, uniform=uniform)

    def set_spec_value(
        self, spec: Sdf.PrimSpec, name: str, kind: Sdf.ValueTypeName, value: Any, *, uniform: bool = False
    ) -> None:
        """Let an attribute have a value in one spec; one of another type is declared anew."""
        what = f"{kind} {name} = {show(value)}"
        path = spec.path.AppendProperty(name)

        def apply() -> None:
            known = spec.layer.GetPropertyAtPath(path)
            # the type of a spec cannot be changed: it is declared anew, with its metadata
            if known is not None and (not isinstance(known, Sdf.AttributeSpec) or known.typeName != kind):
                redeclare(known, kind)
                known = spec.layer.GetPropertyAtPath(path)
            if known is None:
                variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
                known = Sdf.AttributeSpec(spec, name, kind, variability)
            # time samples are stronger than a default and would hide the new value
            if known.HasInfo("timeSamples"):
                known.ClearInfo("timeSamples")
            known.default = value

        self.add(spec.layer, path, what, apply)

    def retype(
        self, prim: Usd.Prim, name: str, kind: Sdf.ValueTypeName, convert: Callable[[Any], Any]
    ) -> None:
        """Declare an attribute with another type, everywhere, its values converted."""
        for spec in self.list_specs(prim, name):
            if not isinstance(spec, Sdf.AttributeSpec):
                raise Refused(f"{name} is a relationship")
            if spec.typeName == kind:
                continue
            values = _convert_values(spec, convert)
            self.add(spec.layer, spec.path, f"{kind} {name}", _bind_redeclare(spec, kind, values))

    def set_targets(self, prim: Usd.Prim, name: str, targets: Iterable[Sdf.Path]) -> None:
        """Let a relationship lead to these prims; to none, it is taken away.

        What is behind a reference has other names, or none, in the layers of that reference.  Where those cannot name
        the targets, it is said in a layer that can.
        """
        paths = list(targets)
        found = self.find_strongest(prim, name)
        if not paths:
            self.remove_property(prim, name)
            return
        home = self.choose_home(prim) if found is None else found.owner
        named = _name_in_layer(prim, home, paths)
        if named:
            self.set_spec_targets(home, name, named)
            return
        layer, path = self.find_own_place(prim)
        self._add_targets(layer, path.AppendProperty(name), paths)

    def find_own_place(self, prim: Usd.Prim) -> tuple[Sdf.Layer, Sdf.Path]:
        """The layer and path for an override: the layer that speaks of the prim, else of the nearest prim above."""
        # instances share their prims: OpenUSD ignores what is said of one of them
        if prim.IsInstanceProxy() or prim.IsInPrototype():
            raise Refused("it is inside an instance, where nothing can be said")
        layers = self.list_local_layers()
        for path in reversed(prim.GetPath().GetPrefixes()):
            for layer in layers:
                if layer.GetPrimAtPath(path) is not None:
                    return layer, prim.GetPath()
        return self.root, prim.GetPath()

    def list_local_layers(self) -> list[Sdf.Layer]:
        """The asset's own layers of the root layer stack, strongest first."""
        stack = self.stage.GetLayerStack(includeSessionLayers=False)
        return [layer for layer in stack if layer.identifier in self.own]

    def set_spec_targets(self, spec: Sdf.PrimSpec, name: str, targets: Iterable[Sdf.Path]) -> None:
        """Let a relationship lead to these prims in one spec; paths are those of its layer."""
        self._add_targets(spec.layer, spec.path.AppendProperty(name), list(targets))

    def _add_targets(self, layer: Sdf.Layer, path: Sdf.Path, targets: list[Sdf.Path]) -> None:
        def apply() -> None:
            place = path.GetPrimPath()
            spec = layer.GetPrimAtPath(place) or Sdf.CreatePrimInLayer(layer, place)
            relationship = layer.GetRelationshipAtPath(path) or Sdf.RelationshipSpec(
                spec, path.name, custom=False
            )
            relationship.targetPathList.ClearEditsAndMakeExplicit()
            relationship.targetPathList.explicitItems = targets

        shown = ", ".join(f"<{target}>" for target in targets)
        self.add(layer, path, f"rel {path.name} = {shown}", apply)

    def add_api(self, prim: Usd.Prim, name: str) -> None:
        """Apply a schema to a prim, unless it is."""
        if name in prim.GetAppliedSchemas():
            return
        deleting = [spec for spec in prim.GetPrimStack() if name in read_apis(spec).deletedItems]
        for spec in deleting:  # what a stronger layer deletes can be applied in a weaker one in vain
            if spec.layer.identifier in self.own:
                what = f"no delete apiSchemas: {name}"
                self.add(spec.layer, spec.path, what, lambda spec=spec: keep_api(spec, name))  # type: ignore[misc]
        self.add_spec_api(self.choose_home(prim), name)

    def add_spec_api(self, spec: Sdf.PrimSpec, name: str) -> None:
        """Apply a schema in one spec, unless the prim there has it."""
        prim = self.stage.GetPrimAtPath(spec.path.StripAllVariantSelections())
        if _lists_api(spec, name) or (prim and name in prim.GetAppliedSchemas()):
            return
        self.add(spec.layer, spec.path, f"apiSchemas: {name}", lambda: edit_apis(spec, name, wanted=True))

    def remove_api(self, prim: Usd.Prim, name: str) -> None:
        """Take a schema from a prim: where it is applied, and by ``delete`` what comes from another asset."""
        said = [spec for spec in prim.GetPrimStack() if _lists_api(spec, name)]
        for spec in said:
            if spec.layer.identifier in self.own:
                what = f"no apiSchemas: {name}"
                self.add(spec.layer, spec.path, what, lambda spec=spec: drop_api(spec, name))  # type: ignore[misc]
        # another asset's layer is not edited, but a stronger opinion can delete what it applies
        if any(spec.layer.identifier not in self.own for spec in said):
            home = self.choose_home(prim)
            what = f"delete apiSchemas: {name}"
            self.add(home.layer, home.path, what, lambda: edit_apis(home, name, wanted=False))

    def replace_api(self, prim: Usd.Prim, old: str, new: str) -> None:
        """Another schema instead of one, wherever it is applied; all of that has to be the asset's own."""
        for spec in [spec for spec in prim.GetPrimStack() if _lists_api(spec, old)]:

            def apply(spec: Sdf.PrimSpec = spec) -> None:
                edit_apis(spec, new, wanted=True)
                drop_api(spec, old)

            self.add(spec.layer, spec.path, f"apiSchemas: {new} instead of {old}", apply)

    def rename_address(self, layer: Sdf.Layer, old: str, new: str) -> None:
        """Name a file in another way, everywhere in a layer."""

        def apply() -> None:
            UsdUtils.ModifyAssetPaths(layer, lambda text: new if text == old else text)

        self.add(layer, Sdf.Path.absoluteRootPath, f"@{new}@ for @{old}@", apply)

    def add_file(self, layer: Sdf.Layer, name: str, content: bytes) -> str:
        """A new file beside a layer that is not a layer, such as an image; gives its address in the layer.

        A file of that name with another content is left alone, and the new one gets a name of its own.
        """
        folder, wanted = Path(layer.realPath).parent, Path(name)
        file, number = folder / wanted, 1
        # files that were asked for are not on disk yet, so both places are looked at
        while self.files.get(file, content) != content or (file.exists() and file.read_bytes() != content):
            number += 1
            file = folder / wanted.with_name(f"{wanted.stem}_{number}{wanted.suffix}")
        address = f"./{file.relative_to(folder).as_posix()}"
        if not file.exists():
            self.files[file] = content
            root = Sdf.Path.absoluteRootPath
            self.add(layer, root, f"the file {address}", lambda: _write_file(file, content))
        return address

    def remove_property(self, prim: Usd.Prim, name: str) -> None:
        """Take away every opinion about a property."""
        for spec in self.list_specs(prim, name):
            self.remove_spec(spec)

    def remove_spec(self, spec: Sdf.PropertySpec) -> None:
        """Take away one opinion about a property."""
        layer, path = spec.layer, spec.path
        owner = spec.owner

        def apply() -> None:
            known = layer.GetPropertyAtPath(path)
            if known is not None:
                owner.RemoveProperty(known)

        self.add(layer, path, f"no {spec.name}", apply)


def _name_in_layer(prim: Usd.Prim, spec: Sdf.PrimSpec, targets: list[Sdf.Path]) -> list[Sdf.Path]:
    """What targets are called in the layer of one of a prim's specs; empty where it cannot name all of them."""
    if prim.IsInstanceProxy():
        return targets
    nodes = [prim.GetPrimIndex().rootNode]
    while nodes:
        node = nodes.pop()
        if node.path == spec.path and spec.layer in node.layerStack.layers:
            named = [node.mapToRoot.MapTargetToSource(target) for target in targets]
            return [path.StripAllVariantSelections() for path in named] if all(named) else []
        nodes += node.children
    return targets


def _write_file(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def read_apis(spec: Sdf.PrimSpec) -> Sdf.TokenListOp:
    """What a spec says about applied schemas."""
    return spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()


def _lists_api(spec: Sdf.PrimSpec, name: str) -> bool:
    return name in read_apis(spec).GetAddedOrExplicitItems()


def drop_api(spec: Sdf.PrimSpec, name: str) -> None:
    """Take a schema from those that a spec applies."""
    listed = read_apis(spec)
    for kind in ("explicitItems", "prependedItems", "appendedItems", "addedItems"):
        items = list(getattr(listed, kind))
        if name in items:
            setattr(listed, kind, [item for item in items if item != name])
    if listed.isExplicit or listed.GetAddedOrExplicitItems() or listed.deletedItems:
        spec.SetInfo("apiSchemas", listed)
    else:
        spec.ClearInfo("apiSchemas")


def keep_api(spec: Sdf.PrimSpec, name: str) -> None:
    """Let a spec no longer ``delete`` a schema."""
    listed = read_apis(spec)
    listed.deletedItems = [item for item in listed.deletedItems if item != name]
    if listed.isExplicit or listed.GetAddedOrExplicitItems() or listed.deletedItems:
        spec.SetInfo("apiSchemas", listed)
    else:
        spec.ClearInfo("apiSchemas")


def edit_apis(spec: Sdf.PrimSpec, name: str, *, wanted: bool) -> None:
    """Let a spec apply a schema, or ``delete`` it."""
    listed = read_apis(spec)
    if wanted and name in listed.GetAddedOrExplicitItems():
        return
    if listed.isExplicit:
        items = [item for item in listed.explicitItems if item != name]
        listed.explicitItems = [*items, name] if wanted else items
    elif wanted:
        listed.deletedItems = [item for item in listed.deletedItems if item != name]
        listed.prependedItems = [*listed.prependedItems, name]
    else:
        listed.deletedItems = [*listed.deletedItems, name]
    spec.SetInfo("apiSchemas", listed)


def redeclare(spec: Sdf.AttributeSpec, kind: Sdf.ValueTypeName) -> None:
    """The same attribute with another type, its metadata kept and its values dropped."""
    owner, name, order = spec.owner, spec.name, [prop.name for prop in spec.owner.properties]
    info = {
        key: spec.GetInfo(key)
        for key in spec.ListInfoKeys()
        if key not in ("typeName", "default", "timeSamples", "variability", "custom", "connectionPaths")
    }
    variability, custom = spec.variability, spec.custom
    owner.RemoveProperty(spec)
    new = Sdf.AttributeSpec(owner, name, kind, variability)
    new.custom = custom
    for key, value in info.items():
        new.SetInfo(key, value)
    if "propertyOrder" in owner.ListInfoKeys():
        owner.SetInfo("propertyOrder", order)


def show(value: Any) -> str:
    """A value in a few words."""
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _convert_values(spec: Sdf.AttributeSpec, convert: Callable[[Any], Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if spec.HasDefaultValue():
        values["default"] = convert(spec.default)
    if spec.HasInfo("timeSamples"):
        values["timeSamples"] = {time: convert(value) for time, value in spec.GetInfo("timeSamples").items()}
    return values


def _bind_redeclare(
    spec: Sdf.AttributeSpec, kind: Sdf.ValueTypeName, values: dict[str, Any]
) -> Callable[[], None]:
    layer, path = spec.layer, spec.path

    def apply() -> None:
        redeclare(layer.GetAttributeAtPath(path), kind)
        new = layer.GetAttributeAtPath(path)
        if "default" in values:
            new.default = values["default"]
        for time, value in values.get("timeSamples", {}).items():
            layer.SetTimeSample(path, time, value)

    return apply

# SPDX-License-Identifier: Apache-2.0
"""Instances: of meshes that are there several times, and not of bodies, joints and interfaces (REP-0158 3.5).

Equal meshes share one prototype: each becomes an Xform that is an instance of it.  Transforms, looks, purpose and
visibility stay with the Xform, from which the mesh inherits them; all else that is said of the mesh moves into the
prototype, in the layer that says it.  Only meshes that say the same there can share one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, Vt

from simwright.core.diag import Diagnostic
from simwright.sanitizer.choices import list_own_specs
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.structure import stop_instancing
from simwright.usd.edit import Editor, Refused, drop_api, read_apis
from simwright.usd.relocation import claim_name, find_mentions, prune

_ARRAYS = ("points", "faceVertexCounts", "faceVertexIndices")


@fix("inst-leaf-only", phase=0)
def stop_sharing_logic(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """All instances above what may not be in one, or above what a relationship names."""
    prim = editor.find_prim(finding.where.prim)
    paths = [prim.GetPath()]
    if finding.where.prop:
        paths = [path.GetPrimPath() for path in prim.GetRelationship(finding.where.prop).GetTargets()]
    for path in paths:
        for above in path.GetPrefixes():
            found = editor.stage.GetPrimAtPath(above)
            if found and found.IsInstance():
                stop_instancing(editor, found)


@fix("inst-repetitive", changes=("visuals", "collisions", "materials"), phase=1)
def share_mesh(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Equal meshes that say the same become instances of one prototype."""
    first = editor.find_prim(finding.where.prim)
    groups: dict[Any, list[SharedMesh]] = {}
    seen: set[Sdf.Path] = editor.memory.setdefault("shared", set())
    reasons = []
    for prim in _list_equal(editor, first):
        try:
            whole = _find_whole(editor, prim)
            if whole.GetPath() in seen:
                continue
            member = read_member(editor, whole)
        except Refused as reason:
            reasons.append(f"{prim.GetPath()}: {reason}")
            continue
        seen.add(whole.GetPath())
        groups.setdefault((member.top, member.signature), []).append(member)
    if not groups and not seen:
        told = "each is in an instance of its own; let one prototype do for all of them"
        raise Refused(reasons[0] if reasons else told)
    for members in groups.values():
        # a group that is there once shares nothing; a single mesh has others beside it that do
        if len(members) > 1 or members[0].prim.IsA(UsdGeom.Mesh):
            share_prototype(editor, members)


def _find_whole(editor: Editor, prim: Usd.Prim) -> Usd.Prim:
    """The mesh, or the group that a reference brings it with: an instance is made of that as a whole."""
    if prim.HasAPI(UsdPhysics.RigidBodyAPI):
        raise Refused(
            "it is a rigid body itself, which no instance may hold; make the mesh a child of its body"
        )
    whole = prim
    while not any(spec.specifier == Sdf.SpecifierDef for spec in list_own_specs(editor, whole)):
        whole = whole.GetParent()
        if whole.GetTypeName() != "Xform" or whole.HasAPI(UsdPhysics.RigidBodyAPI):
            raise Refused("what brings it is no plain group of meshes")
    if whole != prim and any(not part.IsA(UsdGeom.Imageable) for part in Usd.PrimRange(whole)):
        raise Refused("there is more than geometry in the group that brings it")
    return whole


def _list_equal(editor: Editor, first: Usd.Prim) -> list[Usd.Prim]:
    """Meshes with the same points, faces and primvars in the same role; those in instances aside."""
    book = editor.memory.get("equal meshes")
    if book is None:
        book = editor.memory["equal meshes"] = {}
        for prim in editor.stage.Traverse():
            if prim.IsA(UsdGeom.Mesh):
                book.setdefault(_sketch(prim), []).append(prim)
    return [prim for prim in book.get(_sketch(first), ()) if not prim.IsInstance()]


def _sketch(prim: Usd.Prim) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(b"touched" if _collides(prim) else b"seen")
    primvars = sorted(primvar.GetName() for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues())
    for name in (*_ARRAYS, *primvars):
        attribute = prim.GetAttribute(name)
        value = attribute.Get() if attribute else None
        digest.update(name.encode())
        _digest_value(digest, value)
    return digest.digest()


def _digest_value(digest: Any, value: Any) -> None:
    try:
        digest.update(np.asarray(value).tobytes())
    except (TypeError, ValueError):
        digest.update(str(value).encode())


def _collides(prim: Usd.Prim) -> bool:
    above = prim
    while above and above.GetPath() != Sdf.Path.absoluteRootPath:
        if above.HasAPI(UsdPhysics.CollisionAPI):
            return True
        above = above.GetParent()
    return False


CLASS = "prototypes"
_TRANSFORM, _ORDER = "xformOp", "xformOpOrder"
_BINDING_API = "MaterialBindingAPI"
_KEPT = (_TRANSFORM, "material:binding", "visibility", "purpose")
_ARCS = ("references", "payload", "inheritPaths", "specializes", "variantSelection", "variantSetNames")
_LIBRARY = ("references", "payload")
"""Arcs that bring a mesh from a library."""
_MOVED_INFO = frozenset({"typeName", "apiSchemas", "active", "clips", "clipSets", *_ARCS})


@dataclass(slots=True, eq=False)
class SharedMesh:
    """A mesh that may share: its own specs, strongest first, and which properties of theirs stay with the Xform."""

    prim: Usd.Prim
    specs: list[Sdf.PrimSpec]
    kept: frozenset[str]
    is_moved: bool = False
    """Is there a transform behind a reference that the mesh's own one replaces?"""

    @property
    def top(self) -> Sdf.Path:
        """The root prim that it is below, in its layers; the root itself where it is one."""
        path = self.specs[0].path
        return Sdf.Path.absoluteRootPath if path.IsRootPrimPath() else path.GetPrefixes()[0]

    @property
    def signature(self) -> tuple[tuple[str, str], ...]:
        """What the prototype has to say, by layer; two meshes of a library that say the same count as one."""
        found = [("moved", str(self.is_moved))]
        # what is below a referenced mesh is known by its reference alone
        borrows = not self.prim.GetAllChildren() and any(
            spec.HasInfo(arc) for spec in self.specs for arc in _LIBRARY
        )
        if borrows:
            found.append(("borrowed", self._digest_borrowed()))
        for spec in self.specs:
            scratch = Sdf.Layer.CreateAnonymous(".usda")
            place = Sdf.Path("/mesh")
            Sdf.CopySpec(spec.layer, spec.path, scratch, place)
            copy = scratch.GetPrimAtPath(place)
            strip_instance(copy, self.kept)
            if says_something(copy):
                for arc in _LIBRARY if borrows else ():
                    copy.ClearInfo(arc)
                found.append((spec.layer.identifier, scratch.ExportToString()))
        return tuple(found)

    def _digest_borrowed(self) -> str:
        """All that comes by reference and stays with the mesh."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(" ".join(self.prim.GetAppliedSchemas()).encode())
        for name in sorted(_list_borrowed(self.prim, self.specs) - self.kept):
            digest.update(name.encode())
            attribute, relation = self.prim.GetAttribute(name), self.prim.GetRelationship(name)
            if attribute and attribute.GetNumTimeSamples():
                digest.update(str(self.prim.GetPath()).encode())  # like no other
            elif attribute:
                digest.update(f"{attribute.GetTypeName()} {attribute.GetAllMetadata()}".encode())
                _digest_value(digest, attribute.Get())
            else:
                digest.update(str(relation.GetTargets()).encode())
        return digest.hexdigest()


def read_member(editor: Editor, prim: Usd.Prim) -> SharedMesh:
    """Look at a mesh; one that cannot become an instance is refused."""
    if prim.IsInstanceProxy() or prim.IsInstance():
        raise Refused("it is in an instance already")
    specs = list_own_specs(editor, prim)
    if any(spec.path.ContainsPrimVariantSelection() for spec in specs):
        raise Refused("it is said in a variant")
    # the prototype has one path in all layers, so the mesh must have one too
    if len({spec.path for spec in specs}) > 1 or not any(
        spec.specifier == Sdf.SpecifierDef for spec in specs
    ):
        raise Refused("layers that see it at other paths speak of it")
    if any(_leads_here(editor, spec) for spec in specs):
        raise Refused("relationships lead to it")
    kept = _list_kept(prim, specs)
    return SharedMesh(prim, specs, kept, _ORDER in kept and _ORDER in _list_borrowed(prim, specs))


def _leads_here(editor: Editor, spec: Sdf.PrimSpec) -> bool:
    """Does a relationship from elsewhere lead to a prim, or below it?"""
    known: dict[str, dict[Sdf.Path, set[Sdf.Path]]] = editor.memory.setdefault("led to", {})
    if spec.layer.identifier not in known:
        led = known[spec.layer.identifier] = {}
        for path, targets in find_mentions(editor, spec.layer):
            if not path.name.startswith("collection:"):
                for above in {above for target in targets for above in target.GetPrimPath().GetPrefixes()}:
                    led.setdefault(above, set()).add(path)
    return any(not path.HasPrefix(spec.path) for path in known[spec.layer.identifier].get(spec.path, ()))


def _list_kept(prim: Usd.Prim, specs: list[Sdf.PrimSpec]) -> frozenset[str]:
    """Properties that the mesh can inherit, constant primvars too, unless the mesh behind a reference has its own."""
    # one function: what stays with the instance depends on what comes by reference, transform and primvars
    # alike
    others = _list_borrowed(prim, specs)
    kept = {p.name for spec in specs for p in spec.properties if p.name.startswith(_KEPT) or _is_label(p)}
    kept -= {name for name in others if not name.startswith(_TRANSFORM)}
    moves = [name for name in kept if name.startswith(_TRANSFORM)]
    if moves and _ORDER not in moves:
        raise Refused("a part of its transform comes by reference")
    for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvars():
        name = primvar.GetName()
        if primvar.GetInterpolation() == UsdGeom.Tokens.constant and name not in others:
            kept |= {name, f"{name}:indices"}
    return frozenset(kept)


def _is_label(spec: Sdf.PropertySpec) -> bool:
    """Is it a word of the author's own, such as the name that a source gives to this copy?"""
    words = (Sdf.ValueTypeNames.String, Sdf.ValueTypeNames.Token)
    return isinstance(spec, Sdf.AttributeSpec) and spec.custom and spec.typeName in words


def _list_borrowed(prim: Usd.Prim, specs: list[Sdf.PrimSpec]) -> set[str]:
    """Properties that come by reference."""
    return {p.name for spec in prim.GetPrimStack() if spec not in specs for p in spec.properties}


def strip_instance(spec: Sdf.PrimSpec, kept: frozenset[str]) -> None:
    """Leave what is the prototype's."""
    for prop in [prop for prop in spec.properties if prop.name in kept]:
        spec.RemoveProperty(prop)
    for key in [key for key in spec.ListInfoKeys() if key not in _MOVED_INFO and key != "specifier"]:
        spec.ClearInfo(key)
    drop_api(spec, _BINDING_API)


def strip_prototype(spec: Sdf.PrimSpec, kept: frozenset[str]) -> None:
    """Leave what is the instance's."""
    # one function: it empties a spec of everything that moved; each kind of content is removed in its own way
    binds = any(name.startswith("material:binding") and name in spec.properties for name in kept)
    for prop in [prop for prop in spec.properties if prop.name not in kept]:
        spec.RemoveProperty(prop)
    for child in list(spec.nameChildren.keys()):
        del spec.nameChildren[child]
    for name in list(spec.variantSets.keys()):
        del spec.variantSets[name]
    for key in [
        key for key in spec.ListInfoKeys() if key in _MOVED_INFO and key not in ("typeName", "apiSchemas")
    ]:
        spec.ClearInfo(key)
    for api in list(read_apis(spec).GetAddedOrExplicitItems()):
        if api != _BINDING_API or not binds:
            drop_api(spec, api)


def says_something(spec: Sdf.PrimSpec) -> bool:
    """Is it more than an empty ``over``?"""
    if spec.specifier != Sdf.SpecifierOver or spec.properties or spec.nameChildren:
        return True
    return bool(set(spec.ListInfoKeys()) - {"specifier"})


def share_prototype(editor: Editor, members: list[SharedMesh]) -> None:
    """Ask for one prototype of equal members, and make each an instance of it."""
    first = members[0]
    top, path = first.top, first.prim.GetPath()
    root = (Sdf.Path.absoluteRootPath if path.IsRootPrimPath() else path.GetPrefixes()[0]).AppendChild(CLASS)
    name = _claim_prototype_name(editor, root, first.prim.GetName())
    place = top.AppendChild(CLASS).AppendChild(name)
    definition = next(spec for spec in first.specs if spec.specifier == Sdf.SpecifierDef)
    for spec in reversed(first.specs):
        what = f"the prototype {place}"
        editor.add(spec.layer, place, what, _bind_prototype(spec, place, first, defines=spec == definition))
    for member in members:
        for spec in member.specs:
            defines = spec.specifier == Sdf.SpecifierDef
            apply = _bind_instance(spec, place, member.kept, defines=defines)
            editor.add(spec.layer, spec.path, f"an instance of {place}", apply)
        path = member.prim.GetPath().pathString
        editor.expected.moved[path] = f"{path}/{name}"
        # the Xform at the old path is a new prim: the mesh is below it now
        editor.expected.added.add(path)


def _claim_prototype_name(editor: Editor, root: Sdf.Path, wanted: str) -> str:
    """A name that no prototype has, nor is about to get."""
    taken: set[str] = editor.memory.setdefault("prototypes", set())
    name, number = claim_name(editor, root, wanted), 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    taken.add(name)
    return name


def _bind_prototype(
    spec: Sdf.PrimSpec, place: Sdf.Path, member: SharedMesh, *, defines: bool
) -> Callable[[], None]:
    layer, source = spec.layer, spec.path
    mesh = place.AppendChild(place.name)

    def apply() -> None:
        group: Any = Sdf.CreatePrimInLayer(layer, place)
        Sdf.CopySpec(layer, source, layer, mesh)
        copy = layer.GetPrimAtPath(mesh)
        strip_instance(copy, member.kept)
        if defines and member.is_moved:
            kind = Sdf.ValueTypeNames.TokenArray
            Sdf.AttributeSpec(copy, _ORDER, kind, Sdf.VariabilityUniform).default = Vt.TokenArray()
        if defines:
            group.nameParent.specifier, group.nameParent.typeName = Sdf.SpecifierClass, "Scope"
            group.specifier, group.typeName = Sdf.SpecifierDef, "Xform"
        elif not says_something(copy):
            prune(copy)

    return apply


def _bind_instance(
    spec: Sdf.PrimSpec, place: Sdf.Path, kept: frozenset[str], *, defines: bool
) -> Callable[[], None]:
    layer, path = spec.layer, spec.path

    def apply() -> None:
        known = layer.GetPrimAtPath(path)
        strip_prototype(known, kept)
        if not defines:
            if known.typeName:
                known.typeName = "Xform"
            prune(known)
            return
        known.typeName = "Xform"
        known.SetInfo("instanceable", True)
        known.referenceList.Prepend(Sdf.Reference("", place))

    return apply

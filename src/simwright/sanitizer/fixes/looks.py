# SPDX-License-Identifier: Apache-2.0
"""Materials that every renderer can read: one UsdPreviewSurface on outputs:surface, bound once (REP-0158 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from pxr import Sdf, Usd, UsdShade

from simwright.checker.facts.shading import identify_shader, is_proprietary
from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.preview import (
    connect,
    define_preview,
    derive_preview,
    find_source,
    list_bound_shapes,
)
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name

_KINDS = Sdf.ValueTypeNames
_PREVIEW = "UsdPreviewSurface"
_SURFACE = "outputs:surface"
_BINDINGS = ("material:binding:full", "material:binding", "material:binding:preview")


@fix("mat-surface-wired", changes=("visuals", "materials"))
def wire_preview(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The only preview surface inside, or a new one."""
    material = editor.find_prim(finding.where.prim)
    previews = [shader for shader in _list_shaders(material) if identify_shader(shader) == _PREVIEW]
    if len(previews) > 1:
        raise Refused(f"which of {', '.join(p.GetName() for p in previews)} is the surface has to be decided")
    if not previews:
        _add_preview(editor, material, None)
        return
    names = [part.name for part in previews[0].GetPath().MakeRelativePath(material.GetPath()).GetPrefixes()]
    _wire(editor, material, names)


@fix("mat-no-replace", changes=("visuals", "materials"))
def free_surface(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The shader goes to its renderer's terminal; a preview that comes close takes its place."""
    _replace_surface(editor, editor.find_prim(finding.where.prim))


@fix("mat-preview", changes=("visuals", "materials"))
def add_preview(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A preview that comes close to the shader that is there."""
    material = editor.find_prim(finding.where.prim)
    surface = UsdShade.Material(material).ComputeSurfaceSource("")[0]
    if surface and surface.GetPrim():
        _replace_surface(editor, material)
        return
    shaders = _list_shaders(material)
    _add_preview(editor, material, shaders[0] if len(shaders) == 1 else None)


def _list_shaders(material: Usd.Prim) -> list[Usd.Prim]:
    return [prim for prim in Usd.PrimRange(material) if prim.GetTypeName() == "Shader"]


def _replace_surface(editor: Editor, material: Usd.Prim) -> None:
    surface = UsdShade.Material(material).ComputeSurfaceSource("")[0]
    shader = surface.GetPrim() if surface else None
    if not shader or identify_shader(shader) == _PREVIEW:
        return
    context = _name_context(shader)
    # every opinion moves, also weaker ones: a left one would surface again
    for spec in editor.list_specs(material, _SURFACE):
        what = f"outputs:{context}:surface for {_SURFACE}"
        editor.add(spec.layer, spec.path, what, _bind_move(spec, f"outputs:{context}:surface"))
    _add_preview(editor, material, shader)


def _name_context(shader: Usd.Prim) -> str:
    """The render context of a shader, by its language or the library that its id is of."""
    identity = identify_shader(shader)
    if identity.startswith(("ND_", "MTLX")):
        return "mtlx"
    language = identity.partition(" ")[0].lower()
    if is_proprietary(shader) and language in ("mdl", "osl", "glslfx"):
        return language
    raise Refused(
        f"which renderer {identity or 'the shader'} is for has to be decided; name outputs:<renderer>:surface"
    )


def _bind_move(spec: Sdf.AttributeSpec, new: str) -> Callable[[], None]:
    layer, path = spec.layer, spec.path

    def apply() -> None:
        owner = layer.GetPrimAtPath(path.GetPrimPath())
        Sdf.CopySpec(layer, path, layer, owner.path.AppendProperty(new))
        owner.RemoveProperty(owner.properties[path.name])

    return apply


def _add_preview(editor: Editor, material: Usd.Prim, shader: Usd.Prim | None) -> None:
    home = editor.choose_home(material)
    name = claim_name(editor, material.GetPath(), "preview")
    if "bound shapes" not in editor.memory:
        editor.memory["bound shapes"] = list_bound_shapes(editor.stage)
    preview = derive_preview(shader, editor.memory["bound shapes"].get(material.GetPath(), []))
    place = home.path.AppendChild(name)
    editor.add(home.layer, place, f"{_PREVIEW} {name}", define_preview(home.layer, place, preview))
    _wire(editor, material, [name])


def _wire(editor: Editor, material: Usd.Prim, names: list[str]) -> None:
    """Connect the surface of a material to a shader below it."""
    home = editor.choose_home(material)
    source = home.path.StripAllVariantSelections()
    for name in names:
        source = source.AppendChild(name)
    target = source.AppendProperty(_SURFACE)
    layer, path = home.layer, home.path

    def apply() -> None:
        connect(layer.GetPrimAtPath(path), _SURFACE, _KINDS.Token, target)

    editor.add(layer, path.AppendProperty(_SURFACE), f"{_SURFACE} = <{target}>", apply)


@fix("mat-single-universal", changes=("visuals", "materials"))
def bind_once(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """One material for all purposes: the one that has a preview surface, the fuller of two."""
    prim = editor.find_prim(finding.where.prim)
    # one function: which material stays decides what is lost, and only then what may be removed
    bound = {name: _find_bound(prim, name) for name in _BINDINGS}
    found = [material for material in bound.values() if material]
    if not found:
        raise Refused("no material is there")
    universal = [m for m in found if _is_universal(m)] or found
    chosen = universal[0]
    lost = [m for m in found if m.GetPath() != chosen.GetPath() and _has_terminals(m)]
    if lost:
        raise Refused(
            f"{lost[0].GetName()} has shaders of renderers; put them on terminals of {chosen.GetName()}"
        )
    editor.set_targets(prim, "material:binding", [chosen.GetPath()])
    for name in (_BINDINGS[0], _BINDINGS[2]):
        if bound[name]:
            editor.remove_property(prim, name)


def _find_bound(prim: Usd.Prim, name: str) -> Usd.Prim | None:
    relation = prim.GetRelationship(name)
    targets = relation.GetTargets() if relation else []
    found = prim.GetStage().GetPrimAtPath(targets[0]) if targets else None
    return found if found and found.IsA(UsdShade.Material) else None


def _is_universal(material: Usd.Prim) -> bool:
    surface = UsdShade.Material(material).ComputeSurfaceSource("")[0]
    return bool(surface) and identify_shader(surface.GetPrim()) == _PREVIEW


def _has_terminals(material: Usd.Prim) -> bool:
    """Does it lead to shaders of renderers?"""
    outputs = UsdShade.Material(material).GetOutputs()
    names = [output.GetFullName() for output in outputs if output.GetAttr().HasAuthoredConnections()]
    return any(name.count(":") > 1 for name in names)


@fix("uv-tiling", changes=("visuals", "materials"))
def repeat_texture(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Repeat in place of mirror, on both axes."""
    shader = editor.find_prim(finding.where.prim)
    for name in ("inputs:wrapS", "inputs:wrapT"):
        attribute = shader.GetAttribute(name)
        source = find_source(shader, name) if attribute else None
        if source and source.Get() == "mirror":
            editor.set_value(source.GetPrim(), source.GetName(), _KINDS.Token, "repeat")

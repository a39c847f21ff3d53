# SPDX-License-Identifier: Apache-2.0
"""Materials as a converter reads them: the universal surface, its shader network, its textures (REP-0158 3.1-3.3).

The universal surface is what ``outputs:surface`` (no render context) leads to through node graphs.  From there
the network is walked input by input, so that a texture's role is what it feeds, never what its file is called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pxr import Gf, Sdf, Usd, UsdShade

from simwright.usd.silence import capture

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


_RENDERERS = re.compile(
    r"(ND_|mtlx|mdl|osl|Pxr|arnold|ai[A-Z]|karma|kma|redshift|rs[A-Z]|VRay|vray|cycles|Omni|hou)"
)


def identify_shader(prim: Usd.Prim) -> str:
    """``info:id`` of a shader, or ``MDL file.mdl`` and the like for one that is given by source."""
    source = _read_source(prim)
    # the other sources are code and asset files, named by info:<language>:<source>
    if source == UsdShade.Tokens.id:
        attribute = prim.GetAttribute("info:id")
        return str(attribute.Get() or "") if attribute else ""
    for name in prim.GetAuthoredPropertyNames():
        parts = name.split(":")
        if parts[0] == "info" and parts[-1] == source:
            value = prim.GetAttribute(name).Get()
            language = parts[1].upper() if len(parts) > 2 else "source"
            return f"{language} {value.path}" if isinstance(value, Sdf.AssetPath) else f"{language} code"
    return f"a shader by {source}"


def _read_source(prim: Usd.Prim) -> str:
    attribute = prim.GetAttribute("info:implementationSource")
    # UsdShade: the fallback of implementationSource is id
    return str(attribute.Get() or "") if attribute else str(UsdShade.Tokens.id)


def is_proprietary(prim: Usd.Prim) -> bool:
    """Is a shader of one renderer or shading language: given by source, or by an id such as ``ND_...``?"""
    if _read_source(prim) != UsdShade.Tokens.id:
        return True
    return bool(_RENDERERS.match(identify_shader(prim)))


def read_input(prim: Usd.Prim, name: str) -> Any:
    """Value of a shader input, through the material's interface; None if computed or not authored."""
    given = UsdShade.Shader(prim).GetInput(name)
    if not given:
        return None
    for attribute in given.GetValueProducingAttributes():
        if UsdShade.Input.IsInput(attribute):
            return attribute.Get()
    return None


PREVIEW = "UsdPreviewSurface"
_ASSET_TYPES = ("asset", "asset[]")
# connections may form a cycle
_DEPTH = 64
Step: TypeAlias = tuple[tuple[float, float], float, tuple[float, float]]
"""Scale, rotation [deg] and translation of a UsdTransform2d."""


@dataclass(slots=True, eq=False)
class ShaderTexture:
    """A shader input that names an image file.

    ``feeds``: (input of the surface, output read) pairs, empty outside the universal network.  ``primvar``: the
    texture coordinates it is looked up with, "" if unknown.  ``transform``: scale, rotation [deg], translation
    steps between the primvar and the texture, in order of application.
    """

    shader: Usd.Prim
    prop: str
    path: str
    resolved: str
    is_universal: bool
    is_uv_texture: bool
    wraps: tuple[str, str] = ("useMetadata", "useMetadata")
    primvar: str = ""
    transform: list[Step] = field(default_factory=list)
    feeds: list[tuple[str, str]] = field(default_factory=list)

    @property
    def roles(self) -> set[str]:
        """Inputs of the surface it feeds."""
        return {role for role, _ in self.feeds}


@dataclass(slots=True, eq=False)
class PrimvarReader:
    """A UsdPrimvarReader of the universal network."""

    shader: Usd.Prim
    primvar: str
    is_texcoord: bool
    has_fallback: bool


@dataclass(slots=True, eq=False)
class MaterialFacts:
    """One Material."""

    prim: Usd.Prim
    connections: list[Sdf.Path] = field(default_factory=list)
    """What ``outputs:surface`` is connected to, as authored."""
    surface: Usd.Prim | None = None
    """The shader behind it."""
    surface_id: str = ""
    terminals: list[str] = field(default_factory=list)
    """Connected outputs for render contexts (``mdl:surface``) and other terminals."""
    previews: list[Usd.Prim] = field(default_factory=list)
    """UsdPreviewSurface shaders anywhere in the material."""
    network: list[Usd.Prim] = field(default_factory=list)
    """Shaders that feed the universal surface, itself excluded."""
    textures: list[ShaderTexture] = field(default_factory=list)
    readers: list[PrimvarReader] = field(default_factory=list)
    emits: bool = False

    @property
    def is_preview(self) -> bool:
        """Is the universal surface a UsdPreviewSurface?"""
        return self.surface_id == PREVIEW

    @property
    def is_empty(self) -> bool:
        """Is there nothing to render: no terminal at all (a physics material, for one)?"""
        return not self.connections and not self.terminals and not self.previews


def read_material(node: PrimNode, snapshot: StageSnapshot) -> MaterialFacts:
    """Facts of a Material, remembered on the snapshot."""
    book = snapshot.shared("materials", lambda _: _Materials())
    if node.path not in book:
        with capture():  # cycles among connections make OpenUSD print
            book[node.path] = _read_material(node)
    return book[node.path]


class _Materials(dict[str, MaterialFacts]):
    """Materials by path."""


def list_materials(snapshot: StageSnapshot) -> list[MaterialFacts]:
    """Every Material of the stage."""
    return [read_material(node, snapshot) for node in snapshot.of_type("Material")]


def list_textures(snapshot: StageSnapshot) -> list[ShaderTexture]:
    """Every texture of every Material, each shader input once."""
    return snapshot.shared("textures", _gather_textures)


def _gather_textures(snapshot: StageSnapshot) -> list[ShaderTexture]:
    found: dict[str, ShaderTexture] = {}
    for material in list_materials(snapshot):
        for texture in material.textures:
            key = f"{texture.shader.GetPath()}.{texture.prop}"
            known = found.setdefault(key, texture)
            if known is not texture:
                known.feeds.extend(feed for feed in texture.feeds if feed not in known.feeds)
                known.is_universal |= texture.is_universal
    return list(found.values())


# one function: the order is that of a renderer, from the terminal to the textures
def _read_material(node: PrimNode) -> MaterialFacts:
    facts = MaterialFacts(node.prim)
    _read_terminals(facts, node)
    below = [child for child in Usd.PrimRange(node.prim) if child.GetTypeName() == "Shader"]
    facts.previews = [child for child in below if identify_shader(child) == PREVIEW]
    material = UsdShade.Material(node.prim)
    if facts.connections:
        shader = material.ComputeSurfaceSource("")[0]
        if shader and shader.GetPrim():
            facts.surface = shader.GetPrim()
            facts.surface_id = identify_shader(facts.surface)
    tracer = _NetworkTracer(facts)
    if facts.surface is not None and facts.is_preview:
        tracer.follow_inputs(facts.surface)
        facts.emits = _emits(facts.surface)
    if "displacement" in facts.terminals:
        tracer.follow_output(material.GetDisplacementOutput(), "displacement")
    # textures of a renderer's own network: rules judge them more mildly
    reached = {shader.GetPath() for shader in facts.network}
    for shader in below:
        if shader.GetPath() not in reached and shader != facts.surface:
            facts.textures.extend(_find_textures(shader, is_universal=False))
    return facts


def _read_terminals(facts: MaterialFacts, node: PrimNode) -> None:
    """Connected outputs: the universal surface apart from those of render contexts."""
    for name in node.property_names("outputs"):
        attribute = node.prim.GetAttribute(name)
        if not attribute or not attribute.HasAuthoredConnections():
            continue
        if name == "outputs:surface":
            facts.connections = list(attribute.GetConnections())
        else:
            facts.terminals.append(name.removeprefix("outputs:"))
    # surfaces first: messages name the first terminal
    facts.terminals.sort(key=lambda name: not name.endswith("surface"))


class _NetworkTracer:
    """Follows connections from the surface to everything that feeds it."""

    def __init__(self, facts: MaterialFacts) -> None:
        self.facts = facts
        self.textures: dict[Sdf.Path, list[ShaderTexture]] = {}
        self.seen: set[tuple[Sdf.Path, str, str]] = set()

    def follow_inputs(self, prim: Usd.Prim, role: str = "", depth: int = 0) -> None:
        """Follow each connected input; at the surface the input's name is the role of what feeds it."""
        if depth > _DEPTH:
            return
        for given in UsdShade.Shader(prim).GetInputs():
            if given.GetAttr().HasAuthoredConnections():
                self.follow_output(given, role or given.GetBaseName(), depth)

    def follow_output(self, start: Any, role: str, depth: int = 0) -> None:
        """Go to the shaders behind an input or output."""
        for attribute in start.GetValueProducingAttributes():
            prim = attribute.GetPrim()
            if not UsdShade.Output.IsOutput(attribute) or prim.GetTypeName() != "Shader":
                continue
            output = attribute.GetName().removeprefix("outputs:")
            key = (prim.GetPath(), role, output)
            if key not in self.seen:
                self.seen.add(key)
                self.visit(prim, role, output, depth)

    def visit(self, prim: Usd.Prim, role: str, output: str, depth: int) -> None:
        """Note a shader once, a texture's use every time."""
        path = prim.GetPath()
        if path not in self.textures:
            self.facts.network.append(prim)
            self.textures[path] = _find_textures(prim, is_universal=True)
            self.facts.textures.extend(self.textures[path])
            if identify_shader(prim).startswith("UsdPrimvarReader"):
                self.facts.readers.append(_make_reader(prim, is_texcoord=role == "st"))
        for texture in self.textures[path]:
            texture.feeds.append((role, output))
        # what feeds a texture is a coordinate, not a colour
        self.follow_inputs(prim, "st" if self.textures[path] else role, depth + 1)


def _make_reader(prim: Usd.Prim, *, is_texcoord: bool) -> PrimvarReader:
    fallback = prim.GetAttribute("inputs:fallback")
    return PrimvarReader(
        prim,
        str(read_input(prim, "varname") or ""),
        is_texcoord,
        bool(fallback and fallback.HasAuthoredValue()),
    )


def _find_textures(prim: Usd.Prim, *, is_universal: bool) -> list[ShaderTexture]:
    found: list[ShaderTexture] = []
    is_uv_texture = False
    for given in UsdShade.Shader(prim).GetInputs():
        if str(given.GetTypeName()) not in _ASSET_TYPES:
            continue
        is_uv_texture = identify_shader(prim) == "UsdUVTexture"
        value = read_input(prim, given.GetBaseName())
        items = [value] if isinstance(value, Sdf.AssetPath) else list(value or ())
        name = given.GetFullName()
        found += [
            ShaderTexture(prim, name, i.path, i.resolvedPath, is_universal, is_uv_texture)
            for i in items
            if i.path
        ]
    if is_uv_texture and is_universal:
        for texture in found:
            texture.wraps = (_read_wrap(prim, "wrapS"), _read_wrap(prim, "wrapT"))
            texture.primvar, texture.transform = _trace_texcoord(prim)
    return found


def _read_wrap(prim: Usd.Prim, name: str) -> str:
    return str(read_input(prim, name) or "useMetadata")


def _trace_texcoord(prim: Usd.Prim) -> tuple[str, list[Step]]:
    """The primvar behind a texture's ``st`` and the 2D transforms on the way, innermost first."""
    steps: list[Step] = []
    name = "st"
    for _ in range(_DEPTH):
        given = UsdShade.Shader(prim).GetInput(name)
        sources = [a for a in given.GetValueProducingAttributes() if a] if given else []
        if not sources or not UsdShade.Output.IsOutput(sources[0]):
            return "", []
        prim = sources[0].GetPrim()
        kind = identify_shader(prim)
        if kind == "UsdTransform2d":
            steps.insert(0, _read_transform(prim))
            name = "in"
        elif kind.startswith("UsdPrimvarReader_float2"):
            return str(read_input(prim, "varname") or ""), steps
        else:
            return "", []
    return "", []


def _read_transform(prim: Usd.Prim) -> Step:
    """Scale, rotation [deg] and translation; what is not a number is as if not said."""
    scale, rotation, translation = (read_input(prim, name) for name in ("scale", "rotation", "translation"))
    return (
        (float(scale[0]), float(scale[1])) if isinstance(scale, Gf.Vec2f) else (1.0, 1.0),
        float(rotation) if isinstance(rotation, float) else 0.0,
        (float(translation[0]), float(translation[1])) if isinstance(translation, Gf.Vec2f) else (0.0, 0.0),
    )


def _emits(surface: Usd.Prim) -> bool:
    """Is emissiveColor textured, or a colour other than black?"""
    given = UsdShade.Shader(surface).GetInput("emissiveColor")
    if not given:
        return False
    sources = given.GetValueProducingAttributes()
    if sources and UsdShade.Output.IsOutput(sources[0]):
        return True
    color = read_input(surface, "emissiveColor")
    try:
        return any(float(part) > 0 for part in color or ())
    except (TypeError, ValueError):
        return False

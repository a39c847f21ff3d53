# SPDX-License-Identifier: Apache-2.0
"""Materials: which one is bound to which prim, UsdPreviewSurface networks, UsdPhysicsMaterialAPI.

REP-0158 1.3.4 (contact), 3.1 (surfaces), 3.2 (images).  Colours of OpenUSD are linear, those of the model display
colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, Usd, UsdShade

from simwright.core.diag import Level, declare
from simwright.core.math3d import DEGREE
from simwright.formats.usd.naming import choose_names, prefer_labels
from simwright.formats.usd.prims import COLLISION, PHYSICS_MATERIAL, FoundPrim, list_apis
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader, as_rows, find_prototype_path
from simwright.model.material import PhysicsMaterial, RenderMaterial, Rgb, Texture, make_display
from simwright.usd.questions import label_of, names_of

PHYSICS_BINDING_EMPTY = declare(
    "usd-physics-material-empty",
    Level.WARNING,
    "the physics material {material} bound to {name!r} has no PhysicsMaterialAPI; it is left out",
    hint="apply PhysicsMaterialAPI to the material",
    doc="material:binding:physics leads to a material that says nothing about contact.",
    section="1.3.4",
    loss=True,
)


class MaterialBindings:
    """Names of the materials bound to prims, and the materials themselves by shared path."""

    def __init__(self, reader: StageReader, scan: StageScan, more: Iterable[FoundPrim] = ()) -> None:
        self._reader = reader
        self._keys: dict[str, str] = {}
        self.materials: dict[str, Usd.Prim] = {}
        for found in scan.materials:
            self._add(found.prim)
        shapes = [*scan.geometry, *more]
        subsets = [subset for found in shapes for subset in found.subsets or ()]
        colliders = [found for found in shapes if COLLISION in found.apis]
        # one call for all prims: OpenUSD then computes in parallel and shares what it finds above them
        self._render = self._bind([*shapes, *subsets], UsdShade.Tokens.preview)
        self._physics = self._bind(colliders, "physics")
        # not by shared path: the names of prototypes change from run to run
        paths = {key: prim.GetPath().pathString for key, prim in self.materials.items()}
        names = choose_names(paths.values())
        if reader.noted:
            labels = {paths[key]: str(label_of(prim)) for key, prim in self.materials.items()}
            names = prefer_labels(names, labels)
        self.names = {key: names[path] for key, path in paths.items()}
        self._has_surface = {key: _has_surface(prim) for key, prim in self.materials.items()}
        self._has_contact = {key: PHYSICS_MATERIAL in list_apis(p) for key, p in self.materials.items()}

    def render_name(self, found: FoundPrim) -> str:
        """The look of a shape or of a mesh subset, empty for none."""
        key = self._render.get(found.path)
        return self.names[key] if key is not None and self._has_surface[key] else ""

    def physics_name(self, found: FoundPrim) -> str:
        """The contact material of a collider, empty for none."""
        key = self._physics.get(found.path)
        if key is None:
            self._report_missing(found)
            return ""
        if self._has_contact[key]:
            return self.names[key]
        # a look that is bound without a purpose answers for physics too; only a binding for physics is worth
        # a finding
        relationship = UsdShade.MaterialBindingAPI(found.prim).GetDirectBindingRel("physics")
        if relationship and relationship.HasAuthoredTargets():
            where = self._reader.where(found, "material:binding:physics")
            material = self.materials[key].GetPath()
            self._reader.reporter.report(PHYSICS_BINDING_EMPTY, where, material=material, name=found.name)
        return ""

    def _report_missing(self, found: FoundPrim) -> None:
        """Say of a collider that the material it is bound to for physics is not on the stage."""
        name = "material:binding:physics"
        if found.authored is None or name not in found.authored:
            return
        for target in self._reader.get_targets(found, name):
            where = self._reader.where(found, name)
            self._reader.reporter.report(PHYSICS_BINDING_MISSING, where, material=target, name=found.name)

    def looks(self) -> list[tuple[str, Usd.Prim]]:
        """Materials with a surface, by name."""
        return [(self.names[key], prim) for key, prim in self.materials.items() if self._has_surface[key]]

    def contacts(self) -> list[tuple[str, Usd.Prim]]:
        """Materials with contact properties, by name."""
        return [(self.names[key], prim) for key, prim in self.materials.items() if self._has_contact[key]]

    def _add(self, prim: Usd.Prim) -> str:
        """Note a material; gives the path it shares with its other instances."""
        path = prim.GetPath().pathString
        if path not in self._keys:
            self._keys[path] = find_prototype_path(prim)
            self.materials.setdefault(self._keys[path], prim)
        return self._keys[path]

    def _bind(self, founds: list[FoundPrim], purpose: str) -> dict[str, str]:
        """The bound material of each path that has one; nothing is bound where no prim above says so."""
        # asking for a binding where none is above costs as much as where there is one
        founds = [found for found in founds if found.bound]
        if not founds:
            return {}
        prims = [found.prim for found in founds]
        materials, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(prims, purpose)
        pairs = zip(founds, materials, strict=True)
        return {found.path: self._add(material.GetPrim()) for found, material in pairs if material}


def _has_surface(prim: Usd.Prim) -> bool:
    """Does the material say how it looks, for any renderer?"""
    return any(output.HasConnectedSource() for output in UsdShade.Material(prim).GetSurfaceOutputs())


TEXTURE_MISSING = declare(
    "usd-texture-missing",
    Level.WARNING,
    "the image {file!r} cannot be found",
    hint="check the path, or give the package with --package NAME=DIR",
    doc="A UsdUVTexture names a file that does not resolve.",
    section="3.2",
)

_CHANNELS = frozenset({"rgb", "rgba", "r", "g", "b", "a"})
_WRAPS = frozenset({"repeat", "clamp", "mirror", "black"})
# a network may be a loop
_CHAIN_LIMIT = 8


def read_texture(reader: StageReader, output: Usd.Attribute) -> Texture | None:
    """The image behind a shader output; None if the shader is not a UsdUVTexture."""
    shader = UsdShade.Shader(output.GetPrim())
    if not shader or shader.GetIdAttr().Get() != "UsdUVTexture":
        return None
    channel = str(UsdShade.Utils.GetBaseNameAndType(output.GetName())[0])
    coordinates = _read_coordinates(reader, shader)
    return Texture(
        file=_read_file(reader, shader),
        channel=channel if channel in _CHANNELS else "rgb",
        color_space=str(_value(reader, shader, "sourceColorSpace") or "auto"),
        wrap_s=_read_wrap(reader, shader, "wrapS"),
        wrap_t=_read_wrap(reader, shader, "wrapT"),
        gain=_row(_value(reader, shader, "scale"), (1.0, 1.0, 1.0, 1.0)),
        bias=_row(_value(reader, shader, "bias"), (0.0, 0.0, 0.0, 0.0)),
        **coordinates,
    )


def _read_file(reader: StageReader, shader: UsdShade.Shader) -> str:
    value = _value(reader, shader, "file")
    if not isinstance(value, Sdf.AssetPath):
        return ""
    where = reader.where(shader.GetPrim(), "inputs:file")
    if value.resolvedPath:
        # an image inside a .usdz is admitted with its package
        outer = Ar.SplitPackageRelativePathOuter(value.resolvedPath)[0]
        admitted = reader.gate.take(outer, where, str(value.path))
        return str(value.resolvedPath) if admitted is not None else ""
    # anchored where it was looked for: a path that is relative would be counted from the current folder
    file = Path(reader.file).absolute().parent / str(value.path)
    # one that leads out of a .usdz is not found in it, and may be a file beside it all the same
    if reader.gate.take(file, where, str(value.path)) is None:
        return ""
    if "<UDIM>" not in value.path:
        reader.reporter.report(TEXTURE_MISSING, where, file=str(value.path))
    return str(file)


def _read_wrap(reader: StageReader, shader: UsdShade.Shader, name: str) -> str:
    """``useMetadata``, the fallback, means that the image decides; images say nothing, so they repeat."""
    wrap = str(_value(reader, shader, name) or "")
    return wrap if wrap in _WRAPS else "repeat"


def _read_coordinates(reader: StageReader, shader: UsdShade.Shader) -> dict[str, Any]:
    """Texture coordinate set and transform, walking from the image to the primvar."""
    result: dict[str, Any] = {}
    node = _upstream(shader, "st")
    for _ in range(_CHAIN_LIMIT):
        if node is None:
            break
        kind = node.GetIdAttr().Get()
        # the model has one transform; of several the one next to the image counts
        if kind == "UsdTransform2d" and "scale" not in result:
            rotation = _value(reader, node, "rotation")
            result["scale"] = _row(_value(reader, node, "scale"), (1.0, 1.0))
            result["offset"] = _row(_value(reader, node, "translation"), (0.0, 0.0))
            result["rotation"] = rotation * DEGREE if isinstance(rotation, (int, float)) else 0.0
        elif kind == "UsdPrimvarReader_float2":
            result["uv_set"] = str(_value(reader, node, "varname") or "st")
        node = _upstream(node, "in")
    return result


def _upstream(shader: UsdShade.Shader, name: str) -> UsdShade.Shader | None:
    entry = shader.GetInput(name)
    for attribute in entry.GetValueProducingAttributes() if entry else ():
        if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Output:
            return UsdShade.Shader(attribute.GetPrim())
    return None


def _value(reader: StageReader, shader: UsdShade.Shader, name: str) -> Any:
    entry = shader.GetInput(name)
    for attribute in entry.GetValueProducingAttributes() if entry else ():
        if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Input:
            return attribute.Get(reader.time)
    return None


def _row(value: Any, default: tuple[float, ...]) -> Any:
    """As many numbers as the default has, else the default."""
    rows = as_rows(value, len(default))
    return tuple(rows[0].tolist()) if len(rows) == 1 else default


SURFACE_FOREIGN = declare(
    "usd-surface-foreign",
    Level.WARNING,
    "material {name!r} has no UsdPreviewSurface (found {found}); its look is left out",
    hint="wire a UsdPreviewSurface to outputs:surface",
    doc="The universal surface output of a material is missing or is another shader.",
    section="3.1",
    loss=True,
)
INPUT_UNTRANSLATED = declare(
    "usd-surface-input",
    Level.WARNING,
    "{input} of material {name!r} is connected to {node}, which is left out; its constant is used",
    hint="bake the network to images (UsdUVTexture)",
    doc="A surface input is driven by a node that is not an image, such as a procedural pattern.",
    section="3.3",
    loss=True,
)

_TEXTURED = {
    "diffuseColor": "diffuse",
    "emissiveColor": "emissive",
    "specularColor": "specular",
    "metallic": "metallic",
    "roughness": "roughness",
    "clearcoat": "clearcoat",
    "clearcoatRoughness": "clearcoat_roughness",
    "opacity": "opacity",
    "normal": "normal",
    "occlusion": "occlusion",
    "displacement": "displacement",
}
COLORED = frozenset({"diffuse", "emissive", "specular"})
"""Inputs of the model that are colours: linear here, display colours there."""


PHYSICS_BINDING_MISSING = declare(
    "usd-physics-binding-missing",
    Level.WARNING,
    "collider {name!r} is bound to physics material {material}, which is not there; it has the engine's default",
    hint="correct material:binding:physics",
    doc="A binding for physics names a prim that is not on the stage, so friction and density are not known.",
    section="1.3.2",
    loss=True,
)
CONTACT_INVALID = declare(
    "usd-contact-invalid",
    Level.ERROR,
    "{what} of physics material {name!r} is {value}; a material {what} must be finite and not negative",
    hint="author a finite, non-negative value",
    doc="A value of a physics material is negative or not a number; it is taken as not authored.",
    section="1.3.2",
)


def read_materials(reader: StageReader, bindings: MaterialBindings) -> None:
    """Add every look and every contact material."""
    for name, prim in bindings.looks():
        material = _read_look(reader, name, prim)
        reader.uv_names.update(texture.uv_set for texture in material.textures.values())
        reader.asset.materials.append(material)
    for name, prim in bindings.contacts():
        reader.asset.physics_materials.append(_read_contact(reader, name, prim))


def _read_contact(reader: StageReader, name: str, prim: Usd.Prim) -> PhysicsMaterial:
    def read(attribute: str) -> float | None:
        value = reader.get_authored(prim, f"physics:{attribute}")
        if not isinstance(value, (float, int)):
            return reader.get_optional(prim, f"physics:{attribute}")
        if math.isfinite(value) and value >= 0.0:
            return float(value)
        where = reader.where(prim, f"physics:{attribute}")
        reader.reporter.report(CONTACT_INVALID, where, name=name, what=attribute, value=value)
        return None

    density = read("density")
    return PhysicsMaterial(
        name=name,
        static_friction=read("staticFriction"),
        dynamic_friction=read("dynamicFriction"),
        restitution=read("restitution"),
        density=density * reader.units.density if density else None,
        source=reader.where(prim),
    )


def _read_look(reader: StageReader, name: str, prim: Usd.Prim) -> RenderMaterial:
    where = reader.where(prim)
    shader, *_ = UsdShade.Material(prim).ComputeSurfaceSource()
    shader_id = shader.GetIdAttr().Get() if shader else None
    if shader_id != "UsdPreviewSurface":
        found = shader_id or (shader.GetPath() if shader else "nothing at outputs:surface")
        reader.reporter.report(SURFACE_FOREIGN, where, name=name, found=found)
        return RenderMaterial(name, source=where)
    inputs = _SurfaceInputs(reader, name, shader)
    # specularColor is read in this workflow only; in the metallic one the schema ignores it
    specular = inputs.number("useSpecularWorkflow", 0.0) == 1.0
    return RenderMaterial(
        name=name,
        diffuse=inputs.color("diffuseColor", (0.18, 0.18, 0.18)),
        opacity=inputs.number("opacity", 1.0),
        emissive=inputs.color("emissiveColor", (0.0, 0.0, 0.0)),
        metallic=inputs.number("metallic", 0.0),
        roughness=inputs.number("roughness", 0.5),
        specular=inputs.color("specularColor", (0.0, 0.0, 0.0)) if specular else None,
        clearcoat=inputs.number("clearcoat", 0.0),
        clearcoat_roughness=inputs.number("clearcoatRoughness", 0.01),
        ior=inputs.number("ior", 1.5),
        opacity_threshold=inputs.number("opacityThreshold", 0.0),
        vertex_colors=inputs.reads_vertices("diffuseColor"),
        textures=inputs.textures(),
        source=where,
    )


class _SurfaceInputs:
    """Values and images of a surface shader, through any nesting of node graphs."""

    def __init__(self, reader: StageReader, name: str, shader: UsdShade.Shader) -> None:
        self._reader = reader
        self._name = name
        self._shader = shader
        # a shader's schema has no inputs, so the authored ones are all there are
        self._authored = frozenset(names_of(shader.GetPrim()))
        self._producers: dict[str, list[Usd.Attribute]] = {}

    def number(self, name: str, default: float) -> float:
        """A scalar constant."""
        value = self._constant(name)
        return float(value) if isinstance(value, (int, float)) else default

    def color(self, name: str, default: Rgb) -> Rgb:
        """A colour constant as it appears on a screen; the default is linear, as the schema has it."""
        rows = as_rows(self._constant(name), 3)
        red, green, blue = rows[0].tolist() if len(rows) == 1 else default
        return make_display((red, green, blue))

    def textures(self) -> dict[str, Texture]:
        """Images by model input; what is connected to something else is reported."""
        result: dict[str, Texture] = {}
        for name, key in _TEXTURED.items():
            output = self._find_output(name)
            if output is None or (name == "diffuseColor" and self.reads_vertices(name)):
                continue
            texture = read_texture(self._reader, output)
            if texture is not None:
                red, green, blue, alpha = texture.gain
                # scale multiplies linear colours; the model multiplies display colours
                if key in COLORED:
                    texture = replace(texture, gain=(*make_display((red, green, blue)), alpha))
                result[key] = texture
            else:
                node = UsdShade.Shader(output.GetPrim()).GetIdAttr().Get() or output.GetPrim().GetPath()
                where = self._reader.where(self._shader.GetPrim(), f"inputs:{name}")
                self._reader.reporter.report(
                    INPUT_UNTRANSLATED, where, input=name, name=self._name, node=node
                )
        return result

    def reads_vertices(self, name: str) -> bool:
        """Is a colour that of the mesh's vertices (``primvars:displayColor``)?"""
        output = self._find_output(name)
        node = None if output is None else UsdShade.Shader(output.GetPrim())
        if node is None or node.GetIdAttr().Get() != "UsdPrimvarReader_float3":
            return False
        entry = node.GetInput("varname")
        return entry is not None and bool(entry) and str(entry.Get(self._reader.time) or "") == "displayColor"

    def _attributes(self, name: str) -> list[Usd.Attribute]:
        """What gives the value of an input; nothing for one that nobody authored."""
        if f"inputs:{name}" not in self._authored:
            return []
        found = self._producers.get(name)
        if found is None:
            entry = self._shader.GetInput(name)
            found = self._producers[name] = list(entry.GetValueProducingAttributes()) if entry else []
        return found

    def _constant(self, name: str) -> Any:
        for attribute in self._attributes(name):
            if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Input:
                return attribute.Get(self._reader.time)
        entry = self._shader.GetInput(name) if f"inputs:{name}" in self._authored else None
        return entry.GetAttr().Get(self._reader.time) if entry else None

    def _find_output(self, name: str) -> Usd.Attribute | None:
        for attribute in self._attributes(name):
            if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Output:
                return attribute
        return None

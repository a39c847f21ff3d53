# SPDX-License-Identifier: Apache-2.0
"""``<collision>`` and ``<visual>`` of links, with their ``<surface>`` and ``<material>``.

A surface has friction, bounce, contact stiffness and bitmasks.  A material has colours, and the metal workflow of
``<pbr>`` where it says more than a colour.
"""

from __future__ import annotations

import math
from dataclasses import replace

from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.parts.images import ImageFiles
from simwright.formats.parts.numbers import tidy, tidy_number
from simwright.formats.sdf.links import PATCH_TORQUE
from simwright.formats.sdf.writer.context import SEPARATOR, SdfWriteContext, WrittenLink, add, add_pose
from simwright.formats.sdf.writer.filters import Bits
from simwright.formats.sdf.writer.geometry import GeometryWriter
from simwright.formats.sdf.writer.kept import restore
from simwright.formats.sdf.writer.messages import FRICTION_APPROXIMATED, TEXTURE_LEFT_OUT
from simwright.formats.xml import Element
from simwright.model.asset import Sensor, Shape
from simwright.model.joint import WORLD
from simwright.model.material import PhysicsMaterial, RenderMaterial, Texture


class SdfShapeWriter:
    """Writes what is seen and touched."""

    def __init__(self, context: SdfWriteContext, bits: dict[str, Bits]) -> None:
        images = ImageFiles(context.files, context.reporter, TEXTURE_LEFT_OUT)
        self._context = context
        self._geometry = GeometryWriter(context, images)
        self._materials_writer = MaterialWriter(context, images)
        self._surfaces = SurfaceWriter(context, bits)

    def write_all(self) -> None:
        """Every shape on its link: collisions first, as libsdformat prints them."""
        lost: list[Shape] = []
        for shape in self._context.asset.shapes:
            if not shape.enabled:
                continue
            written = find_written_link(self._context, shape)
            if written is None:
                lost.append(shape)
                continue
            if shape.collision:
                self._write(written, shape, "collision")
            if shape.visual:
                self._write(written, shape, "visual")
        touched = any(shape.collision for shape in lost)
        self._context.lose("shape(s) of the world", lost, "write a world: --world", moves=touched)
        for part in (self._geometry, self._materials_writer, self._surfaces):
            part.report()

    def _write(self, written: WrittenLink, shape: Shape, tag: str) -> None:
        context = self._context
        form = self._geometry.make(shape, seen=tag == "visual")
        if form is None:
            return
        name = context.claim(written.names, tag, _name_shape(shape, tag))
        if tag == "collision":
            context.shapes[shape.name] = name
        node = add(written.link, tag, name=name)
        add_pose(node, _place(written, shape.pose))
        node.append(form.node)
        if tag == "visual":
            if not form.brings:
                self._materials_writer.write(node, shape)
        else:
            self._surfaces.write(node, shape)
            # <density> of a collision came with 1.11; the mass of the link has it in any case.
            if shape.density is not None and context.version >= (1, 11):
                add(node, "density", float(shape.density))
        restore(context, node, tag, shape.name, shape.path)


def _place(written: WrittenLink, pose: Pose) -> Pose:
    return pose if written.offset is IDENTITY else written.offset @ pose


def _name_shape(shape: Shape, tag: str) -> str:
    """The name of the source; told apart where one shape is seen and touched."""
    # The reader puts the link before a name that is there twice; it is taken off again.
    last = shape.path.rpartition(SEPARATOR)[2] if SEPARATOR in shape.path else ""
    name = last if last and shape.name.endswith(f"_{last}") else shape.name
    if SEPARATOR in name:  # told apart by the model of its link
        scope, _, rest = name.rpartition(SEPARATOR)
        link = shape.body.removeprefix(f"{scope}{SEPARATOR}")
        name = rest.removeprefix(f"{link}_") if shape.body else rest.partition("_")[2] or rest
    return f"{name}_{tag}" if shape.visual and shape.collision else name


def find_written_link(context: SdfWriteContext, item: Shape | Sensor) -> WrittenLink | None:
    """The link that a shape or sensor sits on."""
    if item.body != WORLD:
        return context.written_links.get(item.body)
    return context.static_links.get(item.path.rpartition(SEPARATOR)[0]) or context.written_links.get(WORLD)


_HUGE = 1e16
"""What stands for friction and stiffness without an end."""


class SurfaceWriter:
    """Writes surfaces; keeps what has to be said about them."""

    def __init__(self, context: SdfWriteContext, bits: dict[str, Bits]) -> None:
        self._context = context
        self._bits = bits
        self._materials = {material.name: material for material in context.asset.physics_materials}

    def write(self, collision: Element, shape: Shape) -> None:
        """``<surface>``, if there is anything to say."""
        # Added first and taken away if it stays empty: its parts come from several places.
        surface = add(collision, "surface")
        material = self._materials.get(shape.physics_material)
        if material is not None:
            _write_surface(surface, material)
        self._write_bits(surface, shape)
        if not len(surface):
            collision.remove(surface)

    def _write_bits(self, surface: Element, shape: Shape) -> None:
        category, collide = self._bits.get(shape.name, (None, None))
        for tag, bits in (("collide_bitmask", collide), ("category_bitmask", category)):
            if bits is not None:
                add(_enter(surface, "contact"), tag, bits)

    def report(self) -> None:
        """What contact materials say and SDFormat has no word for."""
        used = {shape.physics_material for shape in self._context.asset.shapes if shape.collision}
        materials = [m for m in self._context.asset.physics_materials if m.name in used]
        split = [m for m in materials if m.static_friction is not None and _differ(m)]
        if split:
            self._context.report(FRICTION_APPROXIMATED, split)


def _differ(material: PhysicsMaterial) -> bool:
    return material.dynamic_friction is not None and material.static_friction != material.dynamic_friction


def _write_surface(surface: Element, material: PhysicsMaterial) -> None:
    friction = (
        material.dynamic_friction if material.dynamic_friction is not None else material.static_friction
    )
    if friction is not None:
        ode = _enter(surface, "friction", "ode")
        add(ode, "mu", _bound(friction))
        add(ode, "mu2", _bound(friction))
    if material.rolling_friction is not None:
        bullet = _enter(surface, "friction", "bullet")
        if friction is not None:
            add(bullet, "friction", _bound(friction))
            add(bullet, "friction2", _bound(friction))
        add(bullet, "rolling_friction", _bound(material.rolling_friction))
    if material.torsional_friction is not None:
        # The model has a length, SDFormat coefficient and patch radius: coefficient 1 puts all of it into the radius.
        torsional = _enter(surface, "friction", "torsional")
        add(torsional, "coefficient", 1.0)
        add(torsional, "use_patch_radius", True)
        add(torsional, "patch_radius", _bound(material.torsional_friction / PATCH_TORQUE))
    if material.restitution is not None:
        add(
            _enter(surface, "bounce"),
            "restitution_coefficient",
            min(max(float(material.restitution), 0.0), 1.0),
        )
    for tag, value in (("kp", material.stiffness), ("kd", material.damping)):
        if value is not None:
            add(_enter(surface, "contact", "ode"), tag, _bound(value))


def _bound(value: float) -> float:
    return _HUGE if math.isinf(value) else float(value)


def _enter(node: Element, *tags: str) -> Element:
    """The descendant along a path of tags, made where it is not there."""
    for tag in tags:
        found = node.find(tag)
        node = add(node, tag) if found is None else found
    return node


_MAPS = {
    "diffuse": "albedo_map", "roughness": "roughness_map", "metallic": "metalness_map", "normal": "normal_map",
    "occlusion": "ambient_occlusion_map", "emissive": "emissive_map",
}  # fmt: skip
_PLAIN = RenderMaterial("")


class MaterialWriter:
    """Looks of visuals."""

    def __init__(self, context: SdfWriteContext, images: ImageFiles) -> None:
        self._context = context
        self._images = images
        self._materials = {material.name: material for material in context.asset.materials}

    def write(self, visual: Element, shape: Shape) -> None:
        """The look of a visual: its material, in its own colour where it has one."""
        material, color = self._materials.get(shape.material), shape.color
        if material is None and color is None:
            return
        if color is not None:
            base = material or RenderMaterial("")
            material = replace(base, diffuse=color[:3], opacity=color[3])
        assert material is not None
        if material.opacity < 1.0:
            add(visual, "transparency", tidy_number(1.0 - material.opacity))
        # A white colour without a material is how the reader says "transparent and nothing else".
        if shape.material or color is None or color[:3] != (1.0, 1.0, 1.0):
            self._write_look(add(visual, "material"), material)

    def _write_look(self, node: Element, material: RenderMaterial) -> None:
        image = material.textures.get("diffuse")
        # Gazebo multiplies both.
        tint = image.gain[:3] if image is not None else material.diffuse
        add(node, "ambient", tidy((*tint, 1.0)))
        add(node, "diffuse", tidy((*tint, 1.0)))
        if material.specular is not None:
            add(node, "specular", tidy((*material.specular, 1.0)))
        if any(material.emissive):
            add(node, "emissive", tidy((*material.emissive, 1.0)))
        if material.double_sided:
            add(node, "double_sided", True)
        maps = {tag: self._take(material, slot) for slot, tag in _MAPS.items() if slot in material.textures}
        has_surface = (material.metallic, material.roughness) != (_PLAIN.metallic, _PLAIN.roughness)
        if has_surface or any(maps.values()):
            metal = add(add(node, "pbr"), "metal")
            for tag, path in maps.items():
                if path:
                    add(metal, tag, path)
            add(metal, "metalness", float(material.metallic))
            add(metal, "roughness", float(material.roughness))

    def _take(self, material: RenderMaterial, slot: str) -> str:
        path = self._images.take(material.textures[slot].file, material.name)
        return f"{self._context.options.side}{path}" if path else ""

    def report(self) -> None:
        """What materials say and SDFormat has no word for."""
        used = [m for m in self._context.asset.materials if _is_used(self._context, m)]
        packed = [m for m in used if any(_is_packed(slot, texture) for slot, texture in m.textures.items())]
        advice = "give each map an image of its own"
        self._context.lose("material(s) with maps in one image", packed, advice, moves=False)
        others = [m for m in used if _list_other(m)]
        self._context.lose(
            "material(s) with other image inputs", others, "bake them into the maps", moves=False
        )


def _is_used(context: SdfWriteContext, material: RenderMaterial) -> bool:
    return any(shape.visual and shape.material == material.name for shape in context.asset.shapes)


def _list_other(material: RenderMaterial) -> set[str]:
    """Inputs that are no map; opacity in the alpha of the albedo map is one."""
    other = set(material.textures) - set(_MAPS)
    albedo, opacity = material.textures.get("diffuse"), material.textures.get("opacity")
    if albedo is not None and opacity is not None and albedo.file == opacity.file:
        other.discard("opacity")
    return other


def _is_packed(slot: str, texture: Texture) -> bool:
    return slot in ("roughness", "metallic", "occlusion") and texture.channel in ("g", "b", "a")

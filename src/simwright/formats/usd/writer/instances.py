# SPDX-License-Identifier: Apache-2.0
"""``instances.usda``: visuals, colliders, cameras and lights (REP-0158 1.2.3, 1.3.1, 1.3.2, 3.5, 3.6).

Heavy shapes come by payload, repeated ones are instanced.  Opinions below an instance are not read, so whatever belongs
to the geometry itself (looks of face sets, contact settings) is in a class, a prototype, that all its instances inherit
from; each layer adds its own opinions there.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from pxr import Sdf

from simwright.core.diag import Reporter
from simwright.core.heap import give_back, note_freed
from simwright.core.math3d import DEGREE
from simwright.formats.parts.coordinates import MADE, OBJECT, cover, find_made_texture
from simwright.formats.usd.writer.layer import LayerWriter, join
from simwright.formats.usd.writer.mesh_variants import (
    ColliderMeshes,
    Decomposer,
    DetailLevels,
    find_collider_meshes,
)
from simwright.formats.usd.writer.meshes import (
    FILE,
    MESH,
    GeometryLibrary,
    StoredMesh,
    choose_word,
    is_mesh,
    name_subsets,
    read_data,
)
from simwright.formats.usd.writer.messages import (
    COLLIDER_OPEN,
    COORDINATES_MISSING,
    GEOMETRY_LEFT_OUT,
    NOT_CARRIED,
    NOTED,
)
from simwright.formats.usd.writer.plan import (
    ADVANCED,
    BASELINE,
    COLLISION_SET,
    DECOMPOSED,
    VISUAL,
    VISUAL_DEFAULT,
    VISUAL_SET,
    ColliderFidelity,
    WritePlan,
)
from simwright.formats.usd.writer.solids import UNBOUNDED, describe_noted, is_primitive, write_primitive
from simwright.model.asset import Camera, Light, LightKind, Shape, scaled
from simwright.model.geometry import Heightfield, Mesh, Plane
from simwright.model.material import make_linear


class PrototypeClasses:
    """Hands out classes; the same key gives the same one."""

    def __init__(self, plan: WritePlan, layer: LayerWriter) -> None:
        self._plan = plan
        self._layer = layer
        self._root = f"{plan.root}/prototypes"
        self._known: dict[tuple[Any, ...], str] = {}

    def claim(self, word: str, key: tuple[Any, ...]) -> str:
        """The path of a class."""
        if key not in self._known:
            if not self._known:
                self._layer.define(self._root, "Scope").specifier = Sdf.SpecifierClass
            path = self._known[key] = self._plan.names.claim(self._root, word)
            self._layer.define(path).specifier = Sdf.SpecifierClass
        return self._known[key]


@dataclass(slots=True, eq=False)
class GeometryContext:
    """The layer, where everything goes, and the shared meshes and prototypes."""

    plan: WritePlan
    layer: LayerWriter
    library: GeometryLibrary
    prototypes: PrototypeClasses
    reporter: Reporter
    uses: Counter[int] = field(default_factory=Counter)
    """How often the arrays of meshes, by id, are still to be looked at; empty where they are to stay."""

    def leave(self, shape: Shape) -> None:
        """Let go of the mesh of a shape that is written, if it was the last one with it."""
        if isinstance(shape.geometry, Mesh) and self.uses:
            self.uses[id(shape.geometry)] -= 1
            if not self.uses[id(shape.geometry)] and shape.geometry.is_loaded:
                note_freed(shape.geometry.data.count_bytes())
                shape.geometry.release()
                give_back()

    def refuse(self, shape: Shape, why: str) -> None:
        """Say that a shape is left out."""
        kind = shape.geometry.kind
        self.reporter.report(GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why)


# an instance costs an Xform and a prototype, so single meshes are loaded directly
_REPEATED_VISUALS = 2


class VisualWriter:
    """What is seen, in levels of detail."""

    def __init__(self, context: GeometryContext, levels: DetailLevels | None) -> None:
        self._context = context
        self._plan, self._layer, self._library = context.plan, context.layer, context.library
        self._levels = levels
        self._double_sided = {m.name for m in context.plan.asset.materials if m.double_sided}
        self._looks = {material.name: material for material in context.plan.asset.materials}
        self._covers: dict[tuple[object, ...], Mesh | None] = {}
        self._bare: dict[str, list[str]] = {}
        shown = [self._cover(shape) for shape in context.plan.asset.shapes if shape.visual]
        uses = Counter(self._key(shape) for shape in shown if is_mesh(shape.geometry))
        self._repeated = {key for key, count in uses.items() if count >= _REPEATED_VISUALS}

    def report(self) -> None:
        """Findings about all visuals."""
        for name, bare in self._bare.items():
            self._context.reporter.report(
                COORDINATES_MISSING, self._looks[name].source, name=name, count=len(bare), first=bare[0]
            )

    def _cover(self, shape: Shape) -> Shape:
        """A primitive that wears an image as a mesh with texture coordinates: OpenUSD's primitives have none."""
        texture = find_made_texture(self._looks.get(shape.material))
        if texture is None or not is_primitive(shape.geometry):
            return shape
        # MuJoCo's USD reader (4.0.0) refuses an asset with a flat mesh, also where nothing touches it
        if self._context.plan.is_for_mujoco and isinstance(shape.geometry, Plane):
            return shape
        key = (*describe_noted(shape.geometry), texture.uv_set, texture.scale)
        if key not in self._covers:
            data = cover(shape.geometry, texture, UNBOUNDED)
            self._covers[key] = None if data is None else Mesh(data)
        mesh = self._covers[key]
        return shape if mesh is None else replace(shape, geometry=mesh)

    def _check_coordinates(self, shape: Shape) -> None:
        """Note a mesh that lacks the texture coordinates of a look."""
        if not isinstance(shape.geometry, (Mesh, Heightfield)):
            return
        data = read_data(shape.geometry)
        known = {*data.uv_sets, *(() if data.uvs is None else (data.uv_name, OBJECT))}
        for name in {shape.material, *(subset.material for subset in data.subsets)}:
            textures = self._looks[name].textures.values() if name in self._looks else ()
            if any(t.uv_set not in known and (t.uv_set in MADE or data.uvs is None) for t in textures):
                self._bare.setdefault(name, []).append(shape.name)

    def write(self, shape: Shape) -> bool:
        """A visual in every level of detail there is; False (reported) if it cannot be."""
        noted = shape.geometry
        shape = self._cover(shape)
        self._check_coordinates(shape)
        is_covered = shape.geometry is not noted
        scope = self._plan.scope(shape.body, VISUAL)
        name = self._plan.visuals[shape.name].rpartition("/")[2]
        levels: dict[str, StoredMesh | None]
        levels = {VISUAL_DEFAULT: None} if self._levels is None else self._list_levels(shape, is_covered)
        if is_mesh(shape.geometry) and None in levels.values():
            stored = self._store(shape)
            if stored is None:
                self._context.refuse(shape, "it has no faces")
                return False
            if is_covered:
                numbers = describe_noted(noted)
                self._library.layer.note(
                    f"{stored.path}/{MESH}", primitive=str(numbers[0]), sizes=list(numbers[1:])
                )
            levels = {level: found or stored for level, found in levels.items()}
        elif not is_mesh(shape.geometry) and not is_primitive(shape.geometry):
            self._context.refuse(shape, "OpenUSD has no such primitive")
            return False
        # primitives are in every level too: a level replaces the whole scope
        for level, found in levels.items():
            self._layer.select(scope, VISUAL_SET, VISUAL_DEFAULT)
            path = join(self._layer.vary(scope, VISUAL_SET, level), name)
            if found is None:
                write_primitive(self._layer, path, shape)
                self._paint(path, shape)
            else:
                self._write_mesh(path, shape, found)
            self._write_looks(path, shape)
        return True

    def _list_levels(self, shape: Shape, is_covered: bool) -> dict[str, StoredMesh | None]:
        """Levels and their meshes; None is the mesh of the source, or a primitive."""
        assert self._levels is not None
        if is_covered or not is_mesh(shape.geometry):
            return dict.fromkeys(self._levels.levels)
        return self._levels.make(shape, self._library, double_sided=self._is_double_sided(shape))

    def _store(self, shape: Shape) -> StoredMesh | None:
        return self._library.store_visual(shape, double_sided=self._is_double_sided(shape))

    def _is_double_sided(self, shape: Shape) -> bool:
        return shape.double_sided or shape.material in self._double_sided

    def _key(self, shape: Shape) -> tuple[bytes | int, tuple[float, ...]]:
        return self._library.identify(shape.geometry), tuple(scaled(shape).tolist())

    def _write_mesh(self, path: str, shape: Shape, stored: StoredMesh) -> None:
        bound = {name: subset.material for name, subset in name_subsets(stored.data)}
        bound = {name: material for name, material in bound.items() if material in self._plan.materials}
        mesh = path
        if self._key(shape) in self._repeated:
            self._layer.define(path).SetInfo("instanceable", True)
            self._layer.load(path, FILE, stored.path)
            if bound or self._is_painted(shape):
                color = shape.color if self._is_painted(shape) else None
                prototype = self._context.prototypes.claim(
                    choose_word(shape), (stored.path, color, *bound.items())
                )
                self._layer.inherit(path, [prototype])
                mesh = f"{prototype}/{MESH}"
        else:
            self._layer.define(path, "Mesh")
            self._layer.load(path, FILE, f"{stored.path}/{MESH}")
        for name, material in bound.items():
            self._bind(f"{mesh}/{name}", material)
        self._paint(mesh, shape)
        self._layer.place(path, shape.pose)

    def _is_painted(self, shape: Shape) -> bool:
        return shape.color is not None and shape.material not in self._plan.materials

    def _paint(self, path: str, shape: Shape) -> None:
        """A colour without a material, on the geometry itself."""
        if shape.color is not None and self._is_painted(shape):
            self._layer.set(path, "primvars:displayColor", "color3f[]", [make_linear(shape.color[:3])])
            if shape.color[3] != 1.0:
                self._layer.set(path, "primvars:displayOpacity", "float[]", [shape.color[3]])

    def _write_looks(self, path: str, shape: Shape) -> None:
        word = f"{shape.name}_visual" if shape.collision else shape.name
        self._layer.name(path, word)
        if shape.purpose in ("render", "proxy"):
            self._layer.set(path, "purpose", "token", shape.purpose, uniform=True)
        self._bind(path, shape.material)

    def _bind(self, path: str, material: str) -> None:
        if material in self._plan.materials:
            self._layer.apply(path, "MaterialBindingAPI")
            self._layer.relate(path, "material:binding", [self._plan.materials[material]])


# for two, a class and two instances are no less than two meshes
_REPEATED_COLLIDERS = 3


class ColliderWriter:
    """What is touched: not drawn, and said to be so; hulls by default, the triangles as a choice."""

    def __init__(self, context: GeometryContext, decomposer: Decomposer | None) -> None:
        self._context = context
        self._plan, self._layer, self._library = context.plan, context.layer, context.library
        self._decomposer = decomposer
        self._filtered = {n for f in context.plan.asset.contact_filters if f.of != "body" for n in (f.a, f.b)}
        self._extras: dict[str, list[tuple[str, str, str]]] = {}
        for space, element, attribute, extra in context.plan.asset.extras:
            self._extras.setdefault(element, []).append((space, attribute, repr(extra.value)))

    def write(self) -> None:
        """All colliders; those that cannot be written are reported and taken out of the plan."""
        shapes = [shape for shape in self._plan.asset.shapes if shape.name in self._plan.colliders]
        found: dict[str, ColliderMeshes | None] = {}
        for shape in shapes:
            found[shape.name] = find_collider_meshes(shape, self._library)
            self._context.leave(shape)
        uses = Counter(t.coarse.path for t in found.values() if t is not None and t.coarse is not None)
        for shape in shapes:
            meshes = found[shape.name]
            if meshes is None:
                why = "it has no faces" if is_mesh(shape.geometry) else "OpenUSD has no such primitive"
                self._context.refuse(shape, why)
                del self._plan.colliders[shape.name], self._plan.collider_prims[shape.name]
            elif meshes.coarse is None:
                path = self._plan.collider_prims[shape.name]
                write_primitive(self._layer, path, shape)
                self._layer.name(path, shape.name)
                self._layer.set(path, "purpose", "token", "guide", uniform=True)
            else:
                self._write_mesh(shape, meshes, uses[meshes.coarse.path])
        self._report_open(shapes, found)

    def _write_mesh(self, shape: Shape, meshes: ColliderMeshes, count: int) -> None:
        assert meshes.coarse is not None
        plan, path = self._plan, self._plan.collider_prims[shape.name]
        form = plan.forms[shape.name] = ColliderFidelity(fine=meshes.fine is not None)
        parts = [] if self._decomposer is None else self._decomposer.make(shape, meshes, self._library)
        # a filtered pair names the prim itself, and a relationship cannot lead into an instance; Newton (1.7) looks for
        # friction at the material of the collider itself only, and finds none that is bound to the instance
        is_alone = shape.name in self._filtered or plan.is_for_newton
        is_shared = (count >= _REPEATED_COLLIDERS and not is_alone) or bool(parts)
        spec = self._layer.define(path, "Xform" if is_shared else "Mesh")
        self._layer.name(path, shape.name)
        self._layer.place(path, shape.pose)
        self._layer.set(path, "purpose", "token", "guide", uniform=True)
        classes: list[str] = []
        if is_shared:
            spec.SetInfo("instanceable", True)
            classes = [self._claim(shape, meshes, form)]
            plan.colliders[shape.name] = f"{classes[0]}/{MESH}"
        scope, name = path.rsplit("/", 1)
        if meshes.fine is None and not parts:
            self._compose(path, meshes.coarse, classes)
        else:
            self._layer.select(scope, COLLISION_SET, BASELINE)
            self._compose(self._enter(scope, BASELINE, name), meshes.coarse, classes)
            finer = [form.finer, *classes] if form.finer else classes
            self._compose(self._enter(scope, ADVANCED, name), meshes.fine or meshes.coarse, finer)
            self._write_parts(shape, scope, name, parts, classes)
        if meshes.radii is not None:
            self._layer.note(plan.colliders[shape.name], radii=meshes.radii)

    def _enter(self, scope: str, variant: str, name: str) -> str:
        return join(self._layer.vary(scope, COLLISION_SET, variant), name)

    def _compose(self, path: str, stored: StoredMesh, classes: list[str]) -> None:
        """A mesh prim, or an instance of a prototype."""
        self._layer.load(path, FILE, stored.path if classes else f"{stored.path}/{MESH}")
        if classes:
            self._layer.inherit(path, classes)

    def _write_parts(
        self, shape: Shape, scope: str, name: str, parts: list[StoredMesh], classes: list[str]
    ) -> None:
        """Convex parts beside the collider, which is switched off there."""
        if self._decomposer is None:
            return
        if not parts:  # what is convex stays as it is
            stored = self._library.store_hull(shape)
            assert stored is not None
            self._compose(self._enter(scope, DECOMPOSED, name), stored, classes)
            return
        # switched off and not left out: the variant has to take away what the layer defines outside of it
        self._layer.over(self._enter(scope, DECOMPOSED, name)).SetInfo("active", False)
        for stored in parts:
            home, _, part = self._plan.names.claim(scope, f"{name}_part").rpartition("/")
            path = self._enter(home, DECOMPOSED, part)
            self._layer.define(path).SetInfo("instanceable", True)
            self._compose(path, stored, classes)
            self._layer.place(path, shape.pose)
            self._layer.set(path, "purpose", "token", "guide", uniform=True)
            self._plan.forms[shape.name].parts.append(path)

    def _claim(self, shape: Shape, meshes: ColliderMeshes, form: ColliderFidelity) -> str:
        """The prototype of colliders of which the same is said."""
        assert meshes.coarse is not None
        # whatever differs between colliders of one mesh makes another prototype
        said = (
            shape.enabled, shape.mass, shape.density, shape.margin, shape.gap, shape.category_bits,
            shape.collide_bits, None if shape.approximation is None else shape.approximation.token,
            repr(sorted(shape.settings.items())), *self._list_extras(shape),
        )  # fmt: skip
        fine = meshes.fine.path if meshes.fine else ""
        prototype = self._context.prototypes.claim(
            f"{choose_word(shape)}_collider", (meshes.coarse.path, fine, *said)
        )
        if meshes.fine is not None:
            form.finer = self._context.prototypes.claim(
                f"{prototype.rpartition('/')[2]}_{ADVANCED}", (prototype,)
            )
        return prototype

    def _list_extras(self, shape: Shape) -> list[tuple[str, str, str]]:
        """What solvers are told about a shape; each format has its own way to name it."""
        # USD names elements by path, SDFormat by name, MJCF by family and name
        keys = dict.fromkeys((shape.path, shape.name, f"geom/{shape.name}"))
        return [extra for key in keys if key for extra in self._extras.get(key, ())]

    def _report_open(self, shapes: list[Shape], found: dict[str, ColliderMeshes | None]) -> None:
        bare = [s for s in shapes if (t := found[s.name]) is not None and t.is_open]
        if bare:
            self._context.reporter.report(COLLIDER_OPEN, bare[0].source, count=len(bare), first=bare[0].name)


_TENTH = 0.1
# a full-frame lens of 24 mm; only the field of view matters to who gives no lens
_FOCAL = 0.024
_ASPECT = 4.0 / 3.0
_TYPES = {
    LightKind.DIRECTIONAL: "DistantLight",
    LightKind.POINT: "SphereLight",
    LightKind.SPOT: "SphereLight",
    LightKind.DOME: "DomeLight",
}


def write_optics(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Every camera, and every light that all renderers know."""
    for camera in plan.asset.cameras:
        place_camera(layer, plan.cameras[camera.name], camera)
    lost = [light for light in plan.asset.lights if light.kind not in _TYPES]
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="area lights", first=lost[0].name)
    for light in plan.asset.lights:
        if light.kind in _TYPES:
            place_light(layer, plan.lights[light.name], light)


def place_camera(layer: LayerWriter, path: str, camera: Camera) -> None:
    """A camera at a path."""
    layer.define(path, "Camera")
    layer.name(path, camera.name)
    layer.place(path, camera.pose)
    width, height = camera.resolution
    focal = camera.focal_length or _FOCAL
    # the vertical field of view is what all formats agree on
    tall = camera.orthographic_height or 2.0 * focal * math.tan(camera.fov_y / 2.0)
    wide = tall * (width / height if width and height else _ASPECT)
    if camera.orthographic_height is not None:
        layer.set(path, "projection", "token", "orthographic")
    else:
        layer.set(path, "focalLength", "float", focal / _TENTH)
        if camera.aperture is not None and camera.focal_length is not None:
            wide = camera.aperture[0]
    layer.set(path, "horizontalAperture", "float", wide / _TENTH)
    layer.set(path, "verticalAperture", "float", tall / _TENTH)
    layer.set(path, "clippingRange", "float2", (camera.near, camera.far))


def place_light(layer: LayerWriter, path: str, light: Light) -> None:
    """A light at a path."""
    layer.define(path, _TYPES[light.kind])
    layer.name(path, light.name)
    layer.place(path, light.pose)
    layer.set(path, "inputs:color", "color3f", make_linear(light.color))
    layer.set(path, "inputs:intensity", "float", light.intensity)
    if not light.cast_shadows:
        layer.apply(path, "ShadowAPI")
        layer.set(path, "inputs:shadow:enable", "bool", False)
    if light.normalized:
        layer.set(path, "inputs:normalize", "bool", True)
    if light.kind is LightKind.DIRECTIONAL:
        layer.set(path, "inputs:angle", "float", (light.angle or 0.0) / DEGREE)
    if _TYPES[light.kind] == "SphereLight":
        layer.set(path, "inputs:radius", "float", light.radius)
        # a sphere light of radius zero would emit nothing
        if light.radius == 0.0:
            layer.set(path, "treatAsPoint", "bool", True)
    if light.kind is LightKind.SPOT and light.cone is not None:
        inner, outer = light.cone
        layer.apply(path, "ShapingAPI")
        layer.set(path, "inputs:shaping:cone:angle", "float", outer / DEGREE)
        layer.set(path, "inputs:shaping:cone:softness", "float", 1.0 - inner / outer if outer else 0.0)


def _count_uses(plan: WritePlan) -> Counter[int]:
    """How often each geometry, by id, is written."""
    shapes = {shape.name: shape for shape in plan.asset.shapes}
    return Counter(id(shapes[name].geometry) for name in (*plan.visuals, *plan.colliders))


def write_geometry(
    plan: WritePlan,
    reporter: Reporter,
    *,
    levels: DetailLevels | None = None,
    decomposer: Decomposer | None = None,
    consume: bool = False,
) -> tuple[LayerWriter, GeometryLibrary]:
    """The layer that puts shapes together, and the library of meshes it loads from.

    ``levels`` gives visuals levels of detail, ``decomposer`` gives mesh colliders convex parts.  Shapes that cannot be
    written are reported and taken out of the plan.  With ``consume``, the arrays of mesh files are let go as soon as
    they are written.
    """
    layer = LayerWriter(plan.root, f"Geometry and looks of {plan.asset.name}, put together.")
    layer.define(plan.root)
    if plan.materials:
        layer.define(f"{plan.root}/materials", "Scope")
        layer.load(f"{plan.root}/materials", "materials.usda")
    context = GeometryContext(plan, layer, GeometryLibrary(), PrototypeClasses(plan, layer), reporter)
    visuals = VisualWriter(context, levels)
    if consume:
        context.uses = _count_uses(plan)
    for shape in plan.asset.shapes:
        if shape.name in plan.visuals:
            if not visuals.write(shape):
                del plan.visuals[shape.name]
            context.leave(shape)
    visuals.report()
    ColliderWriter(context, decomposer).write()
    for shape in plan.asset.shapes:
        if isinstance(shape.geometry, Heightfield) and shape.name in {**plan.visuals, **plan.colliders}:
            reporter.report(NOTED, shape.source, what="the grid of heights", name=shape.name)
    return layer, context.library

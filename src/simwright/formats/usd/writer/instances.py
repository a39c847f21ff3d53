# SPDX-License-Identifier: Apache-2.0
"""``instances.usda``: visuals, colliders, cameras and lights (REP-0158 1.2.3, 1.3.1, 1.3.2, 3.5, 3.6).

Heavy shapes come by payload, repeated ones are instanced.  Opinions below an instance are not read, so whatever belongs
to the geometry itself (looks of face sets, contact settings) is in a class, a prototype, that all its instances inherit
from; each layer adds its own opinions there.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from pxr import Sdf

from simwright.core.colors import make_linear
from simwright.core.diag import Reporter
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.layer import Sheet, join
from simwright.formats.usd.writer.mesh_variants import Decomposer, Tiers, Touchable, find_touchable
from simwright.formats.usd.writer.meshes import (
    FILE,
    MESH,
    Library,
    Stored,
    choose_word,
    is_mesh,
    name_subsets,
)
from simwright.formats.usd.writer.messages import COLLIDER_OPEN, GEOMETRY_LEFT_OUT, NOT_CARRIED, NOTED
from simwright.formats.usd.writer.plan import (
    ADVANCED,
    BASELINE,
    COLLISION_SET,
    DECOMPOSED,
    VISUAL,
    VISUAL_DEFAULT,
    VISUAL_SET,
    Form,
    Layout,
)
from simwright.formats.usd.writer.primitives import is_primitive, write_primitive
from simwright.model.asset import Camera, Light, LightKind, Shape, scaled
from simwright.model.geometry import Heightfield


class Prototypes:
    """Hands out classes; the same key gives the same one."""

    def __init__(self, layout: Layout, sheet: Sheet) -> None:
        self._layout = layout
        self._sheet = sheet
        self._root = f"{layout.root}/prototypes"
        self._known: dict[tuple[Any, ...], str] = {}

    def claim(self, word: str, key: tuple[Any, ...]) -> str:
        """The path of a class."""
        if key not in self._known:
            if not self._known:
                self._sheet.define(self._root, "Scope").specifier = Sdf.SpecifierClass
            path = self._known[key] = self._layout.names.claim(self._root, word)
            self._sheet.define(path).specifier = Sdf.SpecifierClass
        return self._known[key]


@dataclass(slots=True, eq=False)
class Desk:
    """The layer, where everything goes, and the shared meshes and prototypes."""

    layout: Layout
    sheet: Sheet
    library: Library
    prototypes: Prototypes
    reporter: Reporter

    def refuse(self, shape: Shape, why: str) -> None:
        """Say that a shape is left out."""
        kind = shape.geometry.kind
        self.reporter.report(GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why)


_REPEATED_VISUALS = 2


class Visuals:
    """What is seen, in levels of detail."""

    def __init__(self, desk: Desk, tiers: Tiers | None) -> None:
        self._desk = desk
        self._layout, self._sheet, self._library = desk.layout, desk.sheet, desk.library
        self._tiers = tiers
        self._double_sided = {m.name for m in desk.layout.asset.materials if m.double_sided}
        uses = Counter(self._key(s) for s in desk.layout.asset.shapes if s.visual and is_mesh(s.geometry))
        self._repeated = {key for key, count in uses.items() if count >= _REPEATED_VISUALS}

    def write(self, shape: Shape) -> bool:
        """A visual in every level of detail there is; False (reported) if it cannot be."""
        scope = self._layout.scope(shape.body, VISUAL)
        name = self._layout.visuals[shape.name].rpartition("/")[2]
        levels: dict[str, Stored | None]
        levels = {VISUAL_DEFAULT: None} if self._tiers is None else self._list_levels(shape)
        if is_mesh(shape.geometry) and None in levels.values():
            stored = self._store(shape)
            if stored is None:
                self._desk.refuse(shape, "it has no faces")
                return False
            levels = {level: found or stored for level, found in levels.items()}
        elif not is_mesh(shape.geometry) and not is_primitive(shape.geometry):
            self._desk.refuse(shape, "OpenUSD has no such primitive")
            return False
        for level, found in levels.items():
            self._sheet.select(scope, VISUAL_SET, VISUAL_DEFAULT)
            path = join(self._sheet.vary(scope, VISUAL_SET, level), name)
            if found is None:
                write_primitive(self._sheet, path, shape)
                self._paint(path, shape)
            else:
                self._write_mesh(path, shape, found)
            self._write_looks(path, shape)
        return True

    def _list_levels(self, shape: Shape) -> dict[str, Stored | None]:
        """Levels and their meshes; None is the mesh of the source, or a primitive."""
        assert self._tiers is not None
        if not is_mesh(shape.geometry):
            return dict.fromkeys(self._tiers.levels)
        return self._tiers.make(shape, self._library, double_sided=self._is_double_sided(shape))

    def _store(self, shape: Shape) -> Stored | None:
        return self._library.store_visual(shape, double_sided=self._is_double_sided(shape))

    def _is_double_sided(self, shape: Shape) -> bool:
        return shape.double_sided or shape.material in self._double_sided

    def _key(self, shape: Shape) -> tuple[bytes | int, tuple[float, ...]]:
        return self._library.identify(shape.geometry), tuple(scaled(shape).tolist())

    def _write_mesh(self, path: str, shape: Shape, stored: Stored) -> None:
        bound = {name: subset.material for name, subset in name_subsets(stored.data)}
        bound = {name: material for name, material in bound.items() if material in self._layout.materials}
        mesh = path
        if self._key(shape) in self._repeated:
            self._sheet.define(path).SetInfo("instanceable", True)
            self._sheet.load(path, FILE, stored.path)
            if bound or self._is_painted(shape):
                color = shape.color if self._is_painted(shape) else None
                prototype = self._desk.prototypes.claim(
                    choose_word(shape), (stored.path, color, *bound.items())
                )
                self._sheet.inherit(path, [prototype])
                mesh = f"{prototype}/{MESH}"
        else:
            self._sheet.define(path, "Mesh")
            self._sheet.load(path, FILE, f"{stored.path}/{MESH}")
        for name, material in bound.items():
            self._bind(f"{mesh}/{name}", material)
        self._paint(mesh, shape)
        self._sheet.place(path, shape.pose)

    def _is_painted(self, shape: Shape) -> bool:
        return shape.color is not None and shape.material not in self._layout.materials

    def _paint(self, path: str, shape: Shape) -> None:
        """A colour without a material, on the geometry itself."""
        if shape.color is not None and self._is_painted(shape):
            self._sheet.set(path, "primvars:displayColor", "color3f[]", [make_linear(shape.color[:3])])
            if shape.color[3] != 1.0:
                self._sheet.set(path, "primvars:displayOpacity", "float[]", [shape.color[3]])

    def _write_looks(self, path: str, shape: Shape) -> None:
        word = f"{shape.name}_visual" if shape.collision else shape.name
        self._sheet.name(path, word)
        if shape.purpose in ("render", "proxy"):
            self._sheet.set(path, "purpose", "token", shape.purpose, uniform=True)
        self._bind(path, shape.material)

    def _bind(self, path: str, material: str) -> None:
        if material in self._layout.materials:
            self._sheet.apply(path, "MaterialBindingAPI")
            self._sheet.relate(path, "material:binding", [self._layout.materials[material]])


_REPEATED_COLLIDERS = 3


class Touchables:
    """What is touched: not drawn, and said to be so; hulls by default, the triangles as a choice."""

    def __init__(self, desk: Desk, decomposer: Decomposer | None) -> None:
        self._desk = desk
        self._layout, self._sheet, self._library = desk.layout, desk.sheet, desk.library
        self._decomposer = decomposer
        self._filtered = {n for f in desk.layout.asset.contact_filters if f.of != "body" for n in (f.a, f.b)}
        self._extras: dict[str, list[tuple[str, str, str]]] = {}
        for space, element, attribute, extra in desk.layout.asset.extras:
            self._extras.setdefault(element, []).append((space, attribute, repr(extra.value)))

    def write(self) -> None:
        """All colliders; those that cannot be written are reported and taken out of the layout."""
        shapes = [shape for shape in self._layout.asset.shapes if shape.name in self._layout.colliders]
        found = {shape.name: find_touchable(shape, self._library) for shape in shapes}
        uses = Counter(t.coarse.path for t in found.values() if t is not None and t.coarse is not None)
        for shape in shapes:
            touchable = found[shape.name]
            if touchable is None:
                why = "it has no faces" if is_mesh(shape.geometry) else "OpenUSD has no such primitive"
                self._desk.refuse(shape, why)
                del self._layout.colliders[shape.name], self._layout.touched[shape.name]
            elif touchable.coarse is None:
                path = self._layout.touched[shape.name]
                write_primitive(self._sheet, path, shape)
                self._sheet.name(path, shape.name)
                self._sheet.set(path, "purpose", "token", "guide", uniform=True)
            else:
                self._write_mesh(shape, touchable, uses[touchable.coarse.path])
        self._report_open(shapes, found)

    def _write_mesh(self, shape: Shape, touchable: Touchable, count: int) -> None:
        assert touchable.coarse is not None
        layout, path = self._layout, self._layout.touched[shape.name]
        form = layout.forms[shape.name] = Form(fine=touchable.fine is not None)
        parts = [] if self._decomposer is None else self._decomposer.make(shape, touchable, self._library)
        is_shared = (count >= _REPEATED_COLLIDERS and shape.name not in self._filtered) or bool(parts)
        spec = self._sheet.define(path, "Xform" if is_shared else "Mesh")
        self._sheet.name(path, shape.name)
        self._sheet.place(path, shape.pose)
        self._sheet.set(path, "purpose", "token", "guide", uniform=True)
        classes: list[str] = []
        if is_shared:
            spec.SetInfo("instanceable", True)
            classes = [self._claim(shape, touchable, form)]
            layout.colliders[shape.name] = f"{classes[0]}/{MESH}"
        scope, name = path.rsplit("/", 1)
        if touchable.fine is None and not parts:
            self._compose(path, touchable.coarse, classes)
        else:
            self._sheet.select(scope, COLLISION_SET, BASELINE)
            self._compose(self._enter(scope, BASELINE, name), touchable.coarse, classes)
            finer = [form.finer, *classes] if form.finer else classes
            self._compose(self._enter(scope, ADVANCED, name), touchable.fine or touchable.coarse, finer)
            self._write_parts(shape, scope, name, parts, classes)
        if touchable.radii is not None:
            self._sheet.note(layout.colliders[shape.name], radii=touchable.radii)

    def _enter(self, scope: str, variant: str, name: str) -> str:
        return join(self._sheet.vary(scope, COLLISION_SET, variant), name)

    def _compose(self, path: str, stored: Stored, classes: list[str]) -> None:
        """A mesh prim, or an instance of a prototype."""
        self._sheet.load(path, FILE, stored.path if classes else f"{stored.path}/{MESH}")
        if classes:
            self._sheet.inherit(path, classes)

    def _write_parts(
        self, shape: Shape, scope: str, name: str, parts: list[Stored], classes: list[str]
    ) -> None:
        """Convex parts beside the collider, which is switched off there."""
        if self._decomposer is None:
            return
        if not parts:  # what is convex stays as it is
            stored = self._library.store_hull(shape)
            assert stored is not None
            self._compose(self._enter(scope, DECOMPOSED, name), stored, classes)
            return
        self._sheet.over(self._enter(scope, DECOMPOSED, name)).SetInfo("active", False)
        for stored in parts:
            home, _, part = self._layout.names.claim(scope, f"{name}_part").rpartition("/")
            path = self._enter(home, DECOMPOSED, part)
            self._sheet.define(path).SetInfo("instanceable", True)
            self._compose(path, stored, classes)
            self._sheet.place(path, shape.pose)
            self._sheet.set(path, "purpose", "token", "guide", uniform=True)
            self._layout.forms[shape.name].parts.append(path)

    def _claim(self, shape: Shape, touchable: Touchable, form: Form) -> str:
        """The prototype of colliders of which the same is said."""
        assert touchable.coarse is not None
        said = (
            shape.enabled, shape.mass, shape.density, shape.margin, shape.gap, shape.category_bits,
            shape.collide_bits, None if shape.approximation is None else shape.approximation.token,
            repr(sorted(shape.settings.items())), *self._list_extras(shape),
        )  # fmt: skip
        fine = touchable.fine.path if touchable.fine else ""
        prototype = self._desk.prototypes.claim(
            f"{choose_word(shape)}_collider", (touchable.coarse.path, fine, *said)
        )
        if touchable.fine is not None:
            form.finer = self._desk.prototypes.claim(
                f"{prototype.rpartition('/')[2]}_{ADVANCED}", (prototype,)
            )
        return prototype

    def _list_extras(self, shape: Shape) -> list[tuple[str, str, str]]:
        """What solvers are told about a shape; each format has its own way to name it."""
        keys = dict.fromkeys((shape.path, shape.name, f"geom/{shape.name}"))
        return [extra for key in keys if key for extra in self._extras.get(key, ())]

    def _report_open(self, shapes: list[Shape], found: dict[str, Touchable | None]) -> None:
        bare = [s for s in shapes if (t := found[s.name]) is not None and t.is_open]
        if bare:
            self._desk.reporter.report(COLLIDER_OPEN, bare[0].source, count=len(bare), first=bare[0].name)


_TENTH = 0.1
_FOCAL = 0.024
_ASPECT = 4.0 / 3.0
_TYPES = {
    LightKind.DIRECTIONAL: "DistantLight",
    LightKind.POINT: "SphereLight",
    LightKind.SPOT: "SphereLight",
    LightKind.DOME: "DomeLight",
}


def write_optics(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every camera, and every light that all renderers know."""
    for camera in layout.asset.cameras:
        place_camera(sheet, layout.cameras[camera.name], camera)
    lost = [light for light in layout.asset.lights if light.kind not in _TYPES]
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="area lights", first=lost[0].name)
    for light in layout.asset.lights:
        if light.kind in _TYPES:
            place_light(sheet, layout.lights[light.name], light)


def place_camera(sheet: Sheet, path: str, camera: Camera) -> None:
    """A camera at a path."""
    sheet.define(path, "Camera")
    sheet.name(path, camera.name)
    sheet.place(path, camera.pose)
    width, height = camera.resolution
    focal = camera.focal_length or _FOCAL
    tall = 2.0 * focal * math.tan(camera.fov_y / 2.0)
    wide = tall * (width / height if width and height else _ASPECT)
    if camera.aperture is not None and camera.focal_length is not None:
        wide = camera.aperture[0]
    sheet.set(path, "focalLength", "float", focal / _TENTH)
    sheet.set(path, "horizontalAperture", "float", wide / _TENTH)
    sheet.set(path, "verticalAperture", "float", tall / _TENTH)
    sheet.set(path, "clippingRange", "float2", (camera.near, camera.far))


def place_light(sheet: Sheet, path: str, light: Light) -> None:
    """A light at a path."""
    sheet.define(path, _TYPES[light.kind])
    sheet.name(path, light.name)
    sheet.place(path, light.pose)
    sheet.set(path, "inputs:color", "color3f", make_linear(light.color))
    sheet.set(path, "inputs:intensity", "float", light.intensity)
    if not light.cast_shadows:
        sheet.apply(path, "ShadowAPI")
        sheet.set(path, "inputs:shadow:enable", "bool", False)
    if light.normalized:
        sheet.set(path, "inputs:normalize", "bool", True)
    if light.kind is LightKind.DIRECTIONAL:
        sheet.set(path, "inputs:angle", "float", (light.angle or 0.0) / DEGREE)
    if _TYPES[light.kind] == "SphereLight":
        sheet.set(path, "inputs:radius", "float", light.radius)
        if light.radius == 0.0:
            sheet.set(path, "treatAsPoint", "bool", True)
    if light.kind is LightKind.SPOT and light.cone is not None:
        inner, outer = light.cone
        sheet.apply(path, "ShapingAPI")
        sheet.set(path, "inputs:shaping:cone:angle", "float", outer / DEGREE)
        sheet.set(path, "inputs:shaping:cone:softness", "float", 1.0 - inner / outer if outer else 0.0)


def write_geometry(
    layout: Layout, reporter: Reporter, *, tiers: Tiers | None = None, decomposer: Decomposer | None = None
) -> tuple[Sheet, Library]:
    """The layer that puts shapes together, and the library of meshes it loads from.

    ``tiers`` gives visuals levels of detail, ``decomposer`` gives mesh colliders convex parts.  Shapes that cannot be
    written are reported and taken out of the layout.
    """
    sheet = Sheet(layout.root, f"Geometry and looks of {layout.asset.name}, put together.")
    sheet.define(layout.root)
    if layout.materials:
        sheet.define(f"{layout.root}/materials", "Scope")
        sheet.load(f"{layout.root}/materials", "materials.usda")
    desk = Desk(layout, sheet, Library(), Prototypes(layout, sheet), reporter)
    visuals = Visuals(desk, tiers)
    for shape in layout.asset.shapes:
        if shape.name in layout.visuals and not visuals.write(shape):
            del layout.visuals[shape.name]
    Touchables(desk, decomposer).write()
    for shape in layout.asset.shapes:
        if isinstance(shape.geometry, Heightfield) and shape.name in {**layout.visuals, **layout.colliders}:
            reporter.report(NOTED, shape.source, what="the grid of heights", name=shape.name)
    return sheet, desk.library

# SPDX-License-Identifier: Apache-2.0
"""``instances.usda``: shapes in their scopes, heavy ones by payload, repeated ones instanced (REP-0158 1.2.3, 3.5)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Array
from simwright.formats.usd.writer.layout import VISUAL, VISUAL_DEFAULT, VISUAL_SET, Layout
from simwright.formats.usd.writer.meshes import FILE, MESH, Library, Stored, is_mesh, name_subsets
from simwright.formats.usd.writer.messages import GEOMETRY_LEFT_OUT
from simwright.formats.usd.writer.sheet import Sheet, join
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Plane, Sphere

UNBOUNDED = 100.0
"""Drawn edge length of a plane without end [m]."""
_REPEATED = 2


def write_geometry(layout: Layout, reporter: Reporter) -> tuple[Sheet, Library]:
    """The layer that puts shapes together, and the library of meshes it loads from."""
    sheet = Sheet(layout.root, f"Geometry and looks of {layout.asset.name}, put together.")
    sheet.define(layout.root)
    if layout.materials:
        sheet.define(f"{layout.root}/materials", "Scope")
        sheet.load(f"{layout.root}/materials", "materials.usda")
    writer = _Shapes(layout, sheet, reporter)
    for shape in layout.asset.shapes:
        if shape.name in layout.visuals:
            writer.write_visual(shape)
        if shape.name in layout.colliders:
            writer.write_collider(shape)
    return sheet, writer.library


class _Shapes:
    def __init__(self, layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
        self._layout = layout
        self._sheet = sheet
        self._reporter = reporter
        self.library = Library()
        self._double_sided = {m.name for m in layout.asset.materials if m.double_sided}
        uses = Counter(self._key(s) for s in layout.asset.shapes if s.visual and is_mesh(s.geometry))
        self._repeated = {key for key, count in uses.items() if count >= _REPEATED}

    def write_visual(self, shape: Shape) -> None:
        """What is seen, inside the default level of detail."""
        scope = self._layout.scope(shape.body, VISUAL)
        name = self._layout.visuals[shape.name].rpartition("/")[2]
        inside = self._sheet.vary(scope, VISUAL_SET, VISUAL_DEFAULT)
        self._sheet.select(scope, VISUAL_SET, VISUAL_DEFAULT)
        path = join(inside, name)
        if not is_mesh(shape.geometry):
            if not self._write_primitive(path, shape):
                del self._layout.visuals[shape.name]
                return
        else:
            stored = self._store(shape, solid=False)
            if stored is None:
                del self._layout.visuals[shape.name]
                return
            self._write_mesh(path, shape, stored)
        if shape.purpose in ("render", "proxy"):
            self._sheet.set(path, "purpose", "token", shape.purpose, uniform=True)
        self._bind(path, shape.material)
        if shape.color is not None and shape.material not in self._layout.materials:
            self._paint(path, shape.color)

    def write_collider(self, shape: Shape) -> None:
        """What is touched: not drawn, and said to be so."""
        path = self._layout.colliders[shape.name]
        if is_mesh(shape.geometry):
            stored = self._store(shape, solid=True)
            is_written = stored is not None
            if stored is not None:
                self._sheet.define(path, "Mesh")
                self._sheet.load(path, FILE, f"{stored.path}/{MESH}")
                self._sheet.place(path, shape.pose)
        else:
            is_written = self._write_primitive(path, shape)
        if not is_written:
            del self._layout.colliders[shape.name]
            return
        self._sheet.set(path, "purpose", "token", "guide", uniform=True)

    def _key(self, shape: Shape) -> tuple[bytes | int, tuple[float, ...]]:
        return self.library.identify(shape.geometry), tuple(scaled(shape).tolist())

    def _store(self, shape: Shape, *, solid: bool) -> Stored | None:
        double_sided = not solid and shape.material in self._double_sided
        stored = self.library.store(shape, solid=solid, double_sided=double_sided)
        if stored is None:
            self._refuse(shape, "it has no faces")
        return stored

    def _write_mesh(self, path: str, shape: Shape, stored: Stored) -> None:
        if self._key(shape) in self._repeated and not stored.data.subsets:
            self._sheet.define(path).SetInfo("instanceable", True)
            self._sheet.load(path, FILE, stored.path)
        else:
            self._sheet.define(path, "Mesh")
            self._sheet.load(path, FILE, f"{stored.path}/{MESH}")
            for name, subset in name_subsets(stored.data):
                self._bind(f"{path}/{name}", subset.material)
        self._sheet.place(path, shape.pose)

    def _write_primitive(self, path: str, shape: Shape) -> bool:
        """A primitive with its size; False (reported) where OpenUSD has none."""
        geometry, scale = shape.geometry, scaled(shape)
        if not isinstance(geometry, Box | Sphere | Ellipsoid | Cylinder | Capsule | Cone | Plane):
            self._refuse(shape, "OpenUSD has no such primitive")
            return False
        kind, sizes, stretch = _describe(geometry)
        stretch = stretch * np.abs(scale)
        if isinstance(geometry, Sphere | Ellipsoid | Box) and np.ptp(stretch) == 0.0:
            sizes = {name: size * float(stretch[0]) for name, size in sizes.items()}
            stretch = np.ones(3)
        self._sheet.define(path, kind)
        if isinstance(geometry, Cylinder | Capsule | Cone | Plane):
            self._sheet.set(path, "axis", "token", "Z", uniform=True)
        for name, size in sizes.items():
            self._sheet.set(path, name, "double", size)
        self._sheet.set(path, "extent", "float3[]", _find_extent(kind, sizes))
        self._sheet.place(path, shape.pose, None if np.all(stretch == 1.0) else stretch.tolist())
        return True

    def _refuse(self, shape: Shape, why: str) -> None:
        kind = shape.geometry.kind
        self._reporter.report(GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why)

    def _bind(self, path: str, material: str) -> None:
        if material in self._layout.materials:
            self._sheet.apply(path, "MaterialBindingAPI")
            self._sheet.relate(path, "material:binding", [self._layout.materials[material]])

    def _paint(self, path: str, color: tuple[float, float, float, float]) -> None:
        self._sheet.set(path, "primvars:displayColor", "color3f[]", [color[:3]])
        if color[3] != 1.0:
            self._sheet.set(path, "primvars:displayOpacity", "float[]", [color[3]])


def _describe(geometry: Geometry) -> tuple[str, dict[str, float], Array]:
    """Type, sizes and the scale that goes onto them."""
    match geometry:
        case Box():
            return "Cube", {"size": 1.0}, np.asarray(geometry.size, dtype=np.float64)
        case Sphere():
            return "Sphere", {"radius": geometry.radius}, np.ones(3)
        case Ellipsoid():
            return "Sphere", {"radius": 1.0}, np.asarray(geometry.radii, dtype=np.float64)
        case Cylinder() | Capsule() | Cone():
            sizes = {"radius": geometry.radius, "height": geometry.length}
            return type(geometry).__name__, sizes, np.ones(3)
    assert isinstance(geometry, Plane)
    width, length = (UNBOUNDED, UNBOUNDED) if geometry.size is None else geometry.size[:2]
    return "Plane", {"width": float(width), "length": float(length)}, np.ones(3)


def _find_extent(kind: str, sizes: dict[str, float]) -> Array:
    match kind:
        case "Cube":
            half = np.full(3, sizes["size"] / 2)
        case "Sphere":
            half = np.full(3, sizes["radius"])
        case "Plane":
            half = np.array((sizes["width"] / 2, sizes["length"] / 2, 0.0))
        case _:
            cap = sizes["radius"] if kind == "Capsule" else 0.0
            half = np.array((sizes["radius"], sizes["radius"], sizes["height"] / 2 + cap))
    return np.stack((-half, half))

# SPDX-License-Identifier: Apache-2.0
"""``<geometry>``: primitives, planes, outlines, height maps and meshes; what is stretched otherwise is a mesh."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from lxml import etree

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array
from simwright.formats.parts.images import ImageFiles
from simwright.formats.parts.meshes import MeshFiles
from simwright.formats.parts.numbers import tidy, tidy_number
from simwright.formats.parts.solids import make_mesh
from simwright.formats.sdf.writer.context import SdfWriteContext, add
from simwright.formats.sdf.writer.messages import (
    GEOMETRY_LEFT_OUT,
    HEIGHTS_ROUNDED,
    LOOK_UNREADABLE,
    LOOKS_LEFT_OUT,
    PLANE_BOUNDED,
    SHAPE_MESHED,
)
from simwright.formats.xml import Element
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    Plane,
    Polyline,
    Sphere,
)

CONE = (1, 11)
OPTIMIZATION = (1, 11)
ENDLESS_PLANE = 100.0
"""Edge of a visible plane that has no end [m]."""
_STEPS = 65535
_OPTIMIZED = {"convexHull": "convex_hull", "convexDecomposition": "convex_decomposition"}


@dataclass(slots=True, eq=False)
class GeometryElement:
    """A geometry element, and whether a mesh file brings the looks."""

    node: Element
    brings: bool = False


class GeometryWriter:
    """Writes geometries; keeps what has to be said about them."""

    def __init__(self, context: SdfWriteContext, images: ImageFiles) -> None:
        self._context = context
        self._images = images
        self._meshes = MeshFiles(
            context.files,
            images,
            context.asset.materials,
            wish=context.options.mesh_format,
            reporter=context.reporter,
            unreadable=LOOK_UNREADABLE,
        )
        self._solids: dict[int, tuple[Geometry, Mesh | None]] = {}
        self._terrains: dict[int, tuple[Geometry, str]] = {}
        self._meshed: list[Shape] = []
        self._rounded: list[Shape] = []
        self._endless: list[Shape] = []

    def make(self, shape: Shape, *, seen: bool) -> GeometryElement | None:
        """``<geometry>`` of a shape, free of any parent; None, and a finding, if it cannot be written."""
        node = etree.Element("geometry")
        try:
            return self._fill(node, shape, seen=seen)
        except SimwrightError as error:
            self._refuse(shape, error.message, error.hint or "check the mesh file")
            return None

    def _fill(self, node: Element, shape: Shape, *, seen: bool) -> GeometryElement | None:
        geometry, scale = shape.geometry, scaled(shape)
        # Mirroring does not change a primitive.
        size = np.abs(scale)
        match geometry:
            case Mesh():
                return self._fill_mesh(node, shape, geometry, scale, seen=seen)
            case Plane():
                return self._fill_plane(node, shape, geometry, size, seen=seen)
            case Heightfield() if np.all(scale > 0.0):
                return self._fill_heights(node, shape, geometry, scale)
            case Polyline() if np.all(scale[:2] > 0.0) and scale[2] > 0.0:
                return _fill_outline(node, geometry, scale)
        if self._fill_round(node, geometry, size):
            return GeometryElement(node)
        return self._fill_solid(node, shape, geometry, scale, seen=seen)

    def _fill_plane(
        self, node: Element, shape: Shape, plane: Plane, size: Array, *, seen: bool
    ) -> GeometryElement:
        """A colliding plane has no end; a visible one has."""
        element = add(node, "plane")
        add(element, "normal", [0.0, 0.0, 1.0])
        if plane.size is not None:
            add(element, "size", tidy(plane.size * size[:2]))
        elif seen:
            self._endless.append(shape)
            add(element, "size", [ENDLESS_PLANE, ENDLESS_PLANE])
        return GeometryElement(node)

    def _fill_round(self, node: Element, geometry: Geometry, size: Array) -> bool:
        """Primitives that stay what they are at their scale."""
        match geometry:
            case Box():
                add(add(node, "box"), "size", tidy(geometry.size * size))
            # A sphere stretched unevenly is an ellipsoid, a cylinder only a mesh.
            case Sphere() if _is_even(size):
                add(add(node, "sphere"), "radius", tidy_number(geometry.radius * size[0]))
            case Sphere():
                add(add(node, "ellipsoid"), "radii", tidy(geometry.radius * size))
            case Ellipsoid():
                add(add(node, "ellipsoid"), "radii", tidy(geometry.radii * size))
            case Cylinder() if _is_even(size[:2]):
                _add_axial(node, "cylinder", geometry, size)
            case Capsule() if _is_even(size):
                _add_axial(node, "capsule", geometry, size)
            case Cone() if _is_even(size[:2]) and self._context.allows(CONE):
                _add_axial(node, "cone", geometry, size)
            case _:
                return False
        return True

    def _fill_mesh(
        self, node: Element, shape: Shape, mesh: Mesh, scale: Array, *, seen: bool
    ) -> GeometryElement:
        path, brings = self._meshes.find(shape, mesh, seen=seen)
        element = add(node, "mesh")
        add(element, "uri", self._context.options.side + path)
        if np.any(scale != 1.0):
            add(element, "scale", scale)
        if not seen:
            self._optimize(element, shape)
        return GeometryElement(node, brings=brings)

    def _optimize(self, element: Element, shape: Shape) -> None:
        """How a collider is simplified (1.11); a finding of ``losses`` where the version has no word for it."""
        token = shape.approximation.token if shape.approximation else ""
        word = _OPTIMIZED.get(token)
        if word is None or self._context.version < OPTIMIZATION:
            return
        element.set("optimization", word)
        assert shape.approximation is not None
        settings = shape.approximation.settings
        said = [tag for tag in ("max_convex_hulls", "voxel_resolution") if tag in settings]
        if word == "convex_decomposition" and said:
            inner = add(element, "convex_decomposition")
            for tag in said:
                add(inner, tag, int(settings[tag]))

    def _fill_solid(
        self, node: Element, shape: Shape, geometry: Geometry, scale: Array, *, seen: bool
    ) -> GeometryElement | None:
        if id(geometry) not in self._solids:
            self._solids[id(geometry)] = (geometry, make_mesh(geometry))
        mesh = self._solids[id(geometry)][1]
        if mesh is None:
            self._refuse(shape, "it has no volume", "give it a size")
            return None
        self._meshed.append(shape)
        return self._fill_mesh(node, shape, mesh, scale, seen=seen)

    def _fill_heights(self, node: Element, shape: Shape, field: Heightfield, scale: Array) -> GeometryElement:
        """An image of sixteen bits; its lowest sample is black, so the terrain is raised to where it belongs."""
        heights = np.asarray(field.heights, dtype=np.float64)
        low, rise = float(heights.min()), float(np.ptp(heights))
        if id(field) not in self._terrains:
            content = _make_image(heights, low, rise)
            word = field.source.rpartition("/")[2].rpartition(".")[0] or shape.name
            # The field is kept with its path: its id is the key, so it must live.
            self._terrains[id(field)] = (field, self._images.add(word, ".png", content))
            self._rounded.append(shape)
        element = add(node, "heightmap")
        add(element, "uri", self._context.options.side + self._terrains[id(field)][1])
        # A flat terrain still needs a height to be stretched to.
        add(element, "size", [*(field.size * scale[:2]), (rise or 1.0) * float(scale[2])])
        add(element, "pos", [0.0, 0.0, low * float(scale[2])])
        return GeometryElement(node)

    def _refuse(self, shape: Shape, why: str, advice: str) -> None:
        kind = shape.geometry.kind
        self._context.reporter.report(
            GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why, advice=advice
        )

    def report(self) -> None:
        """One finding for each change of form."""
        if self._meshes.bare:
            self._context.report(LOOKS_LEFT_OUT, self._meshes.bare)
        if self._rounded:
            self._context.report(HEIGHTS_ROUNDED, self._rounded)
        if self._endless:
            self._context.report(PLANE_BOUNDED, self._endless, size=ENDLESS_PLANE)
        distinct = list({id(shape): shape for shape in self._meshed}.values())
        if distinct:
            self._context.report(SHAPE_MESHED, distinct, kind=distinct[0].geometry.kind)


def _add_axial(node: Element, tag: str, geometry: Cylinder | Capsule | Cone, size: Array) -> None:
    element = add(node, tag)
    add(element, "radius", tidy_number(geometry.radius * float(size[0])))
    add(element, "length", tidy_number(geometry.length * float(size[2])))


def _fill_outline(node: Element, outline: Polyline, scale: Array) -> GeometryElement:
    for loop in outline.loops:
        element = add(node, "polyline")
        for point in np.asarray(loop) * scale[:2]:
            add(element, "point", tidy(point))
        add(element, "height", tidy_number(outline.height * float(scale[2])))
    return GeometryElement(node)


def _make_image(heights: Array, low: float, rise: float) -> bytes:
    """Rows from +y down, as images have them."""
    from PIL import Image

    levels = (heights - low) / rise if rise else np.zeros_like(heights)
    # Images begin at the top, which is +y.
    samples = np.rint(levels[::-1] * _STEPS).astype(np.uint16)
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(samples)).save(buffer, "PNG")
    return buffer.getvalue()


def _is_even(values: Array) -> bool:
    return bool(np.all(np.abs(values - values[0]) <= 1e-9 * abs(float(values[0]))))

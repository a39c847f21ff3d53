# SPDX-License-Identifier: Apache-2.0
"""``<visual>`` and ``<collision>``: boxes, cylinders, spheres and meshes; all else is made of these."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from lxml import etree

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array, Pose, vec3
from simwright.formats.parts.images import ImageFiles
from simwright.formats.parts.meshes import MeshFiles
from simwright.formats.parts.solids import make_mesh
from simwright.formats.parts.words import clean_text
from simwright.formats.urdf.writer.draft import Draft
from simwright.formats.urdf.writer.looks import Palette
from simwright.formats.urdf.writer.messages import (
    GEOMETRY_LEFT_OUT,
    LOOK_UNREADABLE,
    LOOKS_LEFT_OUT,
    SHAPE_COMPOSED,
    SHAPE_MESHED,
    TEXTURE_LEFT_OUT,
)
from simwright.formats.urdf.writer.numbers import format_number, format_numbers, tidy, write_origin
from simwright.formats.xml import Element
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from simwright.model.joint import WORLD


@dataclass(slots=True, eq=False)
class _Piece:
    """One geometry element, placed on the link."""

    pose: Pose
    tag: str
    values: dict[str, str]
    mesh: Mesh | None = None


class ShapeWriter:
    """Writes the shapes of links; keeps what has to be said about them."""

    def __init__(self, draft: Draft) -> None:
        images = ImageFiles(draft.files, draft.reporter, TEXTURE_LEFT_OUT)
        self._draft = draft
        self.palette = Palette(draft, images)
        self._files = MeshFiles(
            draft.files,
            images,
            draft.asset.materials,
            wish=draft.options.mesh_format,
            reporter=draft.reporter,
            unreadable=LOOK_UNREADABLE,
        )
        self._solids: dict[int, tuple[Geometry, Mesh | None]] = {}
        self._composed: list[Shape] = []
        self._meshed: list[Shape] = []

    def write(self, link: Element, body: str, shapes: list[Shape]) -> None:
        """Visuals, then collisions of a link."""
        for tag in ("visual", "collision"):
            for shape in shapes:
                if is_written(shape) and (shape.visual if tag == "visual" else shape.collision):
                    self._write_shape(link, tag, body, shape)

    def _write_shape(self, link: Element, tag: str, body: str, shape: Shape) -> None:
        for piece in self._cut(shape):
            values, brings = piece.values, False
            if piece.mesh is not None:
                try:
                    path, brings = self._files.find(shape, piece.mesh, seen=tag == "visual")
                except SimwrightError as error:
                    self._refuse(shape, error.message, error.hint or "check the mesh file")
                    return
                values = {"filename": self._draft.locate(path), **values}
            node = etree.SubElement(link, tag)
            if not re.fullmatch(rf"{re.escape(body or 'world')}_{tag}(_\d+)?", shape.name) and shape.name:
                node.set("name", clean_text(shape.name))
            write_origin(node, piece.pose)
            etree.SubElement(etree.SubElement(node, "geometry"), piece.tag, values)
            if tag == "visual" and not brings:
                self.palette.write(node, shape)

    def _refuse(self, shape: Shape, why: str, advice: str) -> None:
        kind = shape.geometry.kind
        self._draft.reporter.report(
            GEOMETRY_LEFT_OUT, shape.source, kind=kind, name=shape.name, why=why, advice=advice
        )

    def _cut(self, shape: Shape) -> list[_Piece]:
        geometry, scale, pose = shape.geometry, scaled(shape), shape.pose
        if isinstance(geometry, Mesh):
            return [_Piece(pose, "mesh", _write_scale(scale), geometry)]
        size = np.abs(scale)
        match geometry:
            case Box():
                return [_Piece(pose, "box", {"size": format_numbers(tidy(geometry.size * size))})]
            case Sphere() if _is_even(size):
                return [_Piece(pose, "sphere", _radius(geometry.radius * size[0]))]
            case Ellipsoid() if _is_even(geometry.radii * size):
                return [_Piece(pose, "sphere", _radius(geometry.radii[0] * size[0]))]
            case Cylinder() if _is_even(size[:2]):
                return [_make_cylinder(pose, geometry.radius * size[0], geometry.length * size[2])]
            case Capsule() if _is_even(size):
                return self._compose(shape, geometry, float(size[0]))
        return self._mesh(shape, geometry, scale)

    def _compose(self, shape: Shape, capsule: Capsule, size: float) -> list[_Piece]:
        self._composed.append(shape)
        radius, length = capsule.radius * size, capsule.length * size
        ends = [Pose(shape.pose.apply(vec3(0, 0, z)), shape.pose.q) for z in (-length / 2, length / 2)]
        return [
            _make_cylinder(shape.pose, radius, length),
            *(_Piece(end, "sphere", _radius(radius)) for end in ends),
        ]

    def _mesh(self, shape: Shape, geometry: Geometry, scale: Array) -> list[_Piece]:
        if id(geometry) not in self._solids:
            self._solids[id(geometry)] = (geometry, make_mesh(geometry))
        mesh = self._solids[id(geometry)][1]
        if mesh is None:
            self._refuse(
                shape,
                "it has no end" if isinstance(geometry, Plane) else "it has no volume",
                "give it a size",
            )
            return []
        self._meshed.append(shape)
        return [_Piece(shape.pose, "mesh", _write_scale(scale), mesh)]

    def report(self) -> None:
        """One finding for each change of form."""
        if self._files.bare:
            first = self._files.bare[0]
            self._draft.reporter.report(
                LOOKS_LEFT_OUT, first.source, count=len(self._files.bare), format="STL", first=first.name
            )
        for message, shapes in ((SHAPE_COMPOSED, self._composed), (SHAPE_MESHED, self._meshed)):
            distinct = list({id(shape): shape for shape in shapes}.values())
            if distinct:
                first = distinct[0]
                words: dict[str, Any] = {"kind": first.geometry.kind} if message is SHAPE_MESHED else {}
                self._draft.reporter.report(
                    message, first.source, count=len(distinct), first=first.name, **words
                )


def is_written(shape: Shape) -> bool:
    """Can anything of it be in the file?  An endless plane cannot."""
    return shape.enabled and not (isinstance(shape.geometry, Plane) and shape.geometry.size is None)


def list_refused(asset: Asset) -> list[Shape]:
    """Endless planes."""
    return [s for s in asset.shapes if s.enabled and not is_written(s) and (s.visual or s.collision)]


def has_world_shapes(asset: Asset) -> bool:
    """Is there anything to see or touch that stands in the world itself?"""
    return any(s.body == WORLD and is_written(s) and (s.visual or s.collision) for s in asset.shapes)


def _is_even(values: Array) -> bool:
    return bool(np.all(np.abs(values - values[0]) <= 1e-9 * abs(float(values[0]))))


def _radius(radius: float) -> dict[str, str]:
    return {"radius": format_number(tidy([radius])[0])}


def _make_cylinder(pose: Pose, radius: float, length: float) -> _Piece:
    values = {"radius": format_number(tidy([radius])[0]), "length": format_number(tidy([length])[0])}
    return _Piece(pose, "cylinder", values)


def _write_scale(scale: Array) -> dict[str, str]:
    return {} if np.all(scale == 1.0) else {"scale": format_numbers(scale)}

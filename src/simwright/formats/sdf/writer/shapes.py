# SPDX-License-Identifier: Apache-2.0
"""``<collision>`` and ``<visual>`` of links."""

from __future__ import annotations

from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.parts.images import Images
from simwright.formats.sdf.writer.draft import SEPARATOR, Draft, Seat, add, add_pose
from simwright.formats.sdf.writer.filters import Bits
from simwright.formats.sdf.writer.geometry import GeometryWriter
from simwright.formats.sdf.writer.kept import restore
from simwright.formats.sdf.writer.materials import Palette
from simwright.formats.sdf.writer.messages import TEXTURE_LEFT_OUT
from simwright.formats.sdf.writer.surfaces import SurfaceWriter
from simwright.model.asset import Sensor, Shape
from simwright.model.joint import WORLD


class ShapeWriter:
    """Writes what is seen and touched."""

    def __init__(self, draft: Draft, bits: dict[str, Bits]) -> None:
        images = Images(draft.files, draft.reporter, TEXTURE_LEFT_OUT)
        self._draft = draft
        self._geometry = GeometryWriter(draft, images)
        self._palette = Palette(draft, images)
        self._surfaces = SurfaceWriter(draft, bits)

    def write_all(self) -> None:
        """Every shape on its link: collisions first, as libsdformat prints them."""
        lost: list[Shape] = []
        for shape in self._draft.asset.shapes:
            if not shape.enabled:
                continue
            seat = find_seat(self._draft, shape)
            if seat is None:
                lost.append(shape)
                continue
            if shape.collision:
                self._write(seat, shape, "collision")
            if shape.visual:
                self._write(seat, shape, "visual")
        touched = any(shape.collision for shape in lost)
        self._draft.lose("shape(s) of the world", lost, "write a world: --world", moves=touched)
        for part in (self._geometry, self._palette, self._surfaces):
            part.report()

    def _write(self, seat: Seat, shape: Shape, tag: str) -> None:
        draft = self._draft
        form = self._geometry.make(shape, seen=tag == "visual")
        if form is None:
            return
        name = draft.claim(seat.names, tag, _name_shape(shape, tag))
        if tag == "collision":
            draft.shapes[shape.name] = name
        node = add(seat.link, tag, name=name)
        add_pose(node, _place(seat, shape.pose))
        node.append(form.node)
        if tag == "visual":
            if not form.brings:
                self._palette.write(node, shape)
        else:
            self._surfaces.write(node, shape)
            if shape.density is not None and draft.version >= (1, 11):
                add(node, "density", float(shape.density))
        restore(draft, node, tag, shape.name, shape.path)


def _place(seat: Seat, pose: Pose) -> Pose:
    return pose if seat.offset is IDENTITY else seat.offset @ pose


def _name_shape(shape: Shape, tag: str) -> str:
    """The name of the source; told apart where one shape is seen and touched."""
    last = shape.path.rpartition(SEPARATOR)[2] if SEPARATOR in shape.path else ""
    name = last if last and shape.name.endswith(f"_{last}") else shape.name
    if SEPARATOR in name:  # told apart by the model of its link
        scope, _, rest = name.rpartition(SEPARATOR)
        link = shape.body.removeprefix(f"{scope}{SEPARATOR}")
        name = rest.removeprefix(f"{link}_") if shape.body else rest.partition("_")[2] or rest
    return f"{name}_{tag}" if shape.visual and shape.collision else name


def find_seat(draft: Draft, item: Shape | Sensor) -> Seat | None:
    """The link that a shape or sensor sits on."""
    if item.body != WORLD:
        return draft.seats.get(item.body)
    return draft.static_seats.get(item.path.rpartition(SEPARATOR)[0]) or draft.seats.get(WORLD)

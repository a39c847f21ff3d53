# SPDX-License-Identifier: Apache-2.0
"""An asset in a scene of viser: its parts and overlays, in layers that can be hidden, in one world or in many.

A part that is at one place is a node of its own; one at many places, or in many worlds, is one node with instances.
Overlays are made when they are first shown, and moved only while they are.
"""

from __future__ import annotations

import copy
import importlib
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.math3d import Array, poses_compose
from simwright.model.asset import Shape
from simwright.view.drawing import BOX_EDGES, AssetDrawing, DrawnPart, list_corners
from simwright.view.overlay import Overlay, OverlayBuilder
from simwright.view.streaming import LayerParts, PoseStream
from simwright.view.words import short

_JSON, _BIN = 0x4E4F534A, 0x004E4942


def split_glb(content: bytes) -> list[bytes]:
    """One .glb for each primitive that a node of the scene shows, in its place; the file itself where that is one."""
    document, binary = _open(content)
    shown = list(_list_primitives(document))
    if len(shown) == 1:
        return [content]
    return [_pick(document, binary, chain, primitive) for chain, primitive in shown]


def _open(content: bytes) -> tuple[dict[str, Any], memoryview]:
    length = struct.unpack_from("<I", content, 12)[0]
    document: dict[str, Any] = json.loads(content[20 : 20 + length])
    return document, memoryview(content)[20 + length + 8 :]


def _list_primitives(document: dict[str, Any]) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Each primitive with the nodes that lead to it from the root."""
    nodes, meshes = document.get("nodes", []), document.get("meshes", [])
    pending = [[nodes[number]] for number in document["scenes"][document.get("scene", 0)].get("nodes", [])]
    while pending:
        chain = pending.pop()
        if "mesh" in chain[-1]:
            for primitive in meshes[chain[-1]["mesh"]]["primitives"]:
                yield chain, primitive
        pending += [[*chain, nodes[number]] for number in chain[-1].get("children", [])]


def _pick(
    document: dict[str, Any], binary: memoryview, chain: list[dict[str, Any]], primitive: dict[str, Any]
) -> bytes:
    """A document with this primitive alone."""
    data = bytearray()
    views: list[dict[str, Any]] = []

    def take_view(number: int) -> int:
        view = dict(document["bufferViews"][number])
        start, length = view.get("byteOffset", 0), view["byteLength"]
        data.extend(bytes(-len(data) % 4))
        view["byteOffset"], view["buffer"] = len(data), 0
        data.extend(binary[start : start + length])
        views.append(view)
        return len(views) - 1

    accessors: list[dict[str, Any]] = []

    def take_accessor(number: int) -> int:
        accessor = dict(document["accessors"][number])
        accessor["bufferView"] = take_view(accessor["bufferView"])
        accessors.append(accessor)
        return len(accessors) - 1

    made = {key: value for key, value in primitive.items() if key in ("mode", "material")}
    made["attributes"] = {name: take_accessor(number) for name, number in primitive["attributes"].items()}
    if "indices" in primitive:
        made["indices"] = take_accessor(primitive["indices"])
    nodes = [
        {key: value for key, value in node.items() if key in ("translation", "rotation", "scale", "matrix")}
        for node in chain
    ]
    for number, node in enumerate(nodes[:-1]):
        node["children"] = [number + 1]
    nodes[-1]["mesh"] = 0
    result: dict[str, Any] = {
        "asset": document["asset"], "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "meshes": [{"primitives": [made]}], "accessors": accessors, "bufferViews": views,
    }  # fmt: skip
    for key in ("extensionsUsed", "extensionsRequired"):
        if key in document:
            result[key] = document[key]
    if "material" in made:
        material = copy.deepcopy(document["materials"][made["material"]])
        made["material"] = 0
        result["materials"] = [material]
        _take_textures(document, result, material, take_view)
    result["buffers"] = [{"byteLength": len(data)}]
    return _pack(result, bytes(data))


def _take_textures(
    document: dict[str, Any], result: dict[str, Any], material: dict[str, Any], take_view: Any
) -> None:
    """Carry the images that a material names, wherever in it they are named."""
    for place in _list_texture_places(material):
        texture = dict(document["textures"][place["index"]])
        if "source" in texture:
            image = dict(document["images"][texture["source"]])
            if "bufferView" in image:
                image["bufferView"] = take_view(image["bufferView"])
            result.setdefault("images", []).append(image)
            texture["source"] = len(result["images"]) - 1
        if "sampler" in texture:
            result.setdefault("samplers", []).append(document["samplers"][texture["sampler"]])
            texture["sampler"] = len(result["samplers"]) - 1
        result.setdefault("textures", []).append(texture)
        place["index"] = len(result["textures"]) - 1


def _list_texture_places(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.endswith("Texture") and isinstance(inner, dict) and "index" in inner:
                yield inner
            else:
                yield from _list_texture_places(inner)


def _pack(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    parts = struct.pack("<II", len(text), _JSON) + text + struct.pack("<II", len(binary), _BIN) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(parts)) + parts


LAYERS = {
    "Visuals": True, "Hidden groups": False, "Colliders": False, "Inertia": False, "Link frames": False,
    "Joint axes": False, "Joint limits": False, "Sites": False, "Fields of view": False, "Names": False,
}  # fmt: skip
"""What can be shown of an asset, and whether it is at first."""
_MOST_NAMES = 400
"""Labels are elements of the page, of which a browser takes some hundred."""
_SEE_THROUGH = {"Inertia": 0.5, "Joint limits": 0.35}
_MOVED = 1e-6


@dataclass(frozen=True, slots=True)
class Picked:
    """What somebody clicked: a body by number (-1 is the world), the shapes that were hit with it, and the world.

    ``origin`` and ``direction`` are the line of sight.
    """

    body: int
    shapes: Sequence[Shape]
    world: int
    origin: Array
    direction: Array


@dataclass(frozen=True, slots=True)
class Dragged:
    """A body that is being dragged: from where it was taken to where the pointer is [m]; ``phase`` as viser has it."""

    body: int
    world: int
    phase: str
    start: Array
    end: Array


class AssetFigure:
    """One asset; ``poses`` (bodies x 7) are where its bodies stand, in each of the worlds at ``roots`` (worlds x 7)."""

    def __init__(
        self,
        server: Any,
        drawing: AssetDrawing,
        poses: Array,
        *,
        path: str = "/asset",
        roots: Array | None = None,
        on_pick: Callable[[Picked], None] | None = None,
        on_drag: Callable[[Dragged], None] | None = None,
        stream: PoseStream | None = None,
    ) -> None:
        self.drawing, self.path = drawing, path
        self._stream, self._is_asked = stream, False
        self._server, self._scene = server, server.scene
        self.roots = _AT_ORIGIN.copy() if roots is None else np.array(roots, dtype=np.float64)
        self._is_at_origin = np.array_equal(self.roots, _AT_ORIGIN)
        self._on_pick, self._on_drag = on_pick, on_drag
        self.poses = np.broadcast_to(poses, (len(self.roots), *np.shape(poses)[-2:])).copy()
        self._held = np.broadcast_to(_AT_ORIGIN, (len(self.roots), self.poses.shape[1] + 1, 7)).copy()
        self._rows = self._stand().copy()
        self.shown = dict(LAYERS)
        self._layers: dict[str, LayerParts] = {}
        self._lines: dict[str, list[tuple[Overlay, Any]]] = {}
        self._labels: list[Any] = []
        self._marks: list[tuple[Overlay, Any, int]] = []
        self._messages = _find_messages()
        for layer, shown in LAYERS.items():
            if shown:
                self.show(layer, True)

    def _stand(self) -> Array:
        """Where all bodies are (worlds x bodies + 1 x 7), with the world itself last."""
        self._held[:, :-1] = self.poses
        if self._is_at_origin:
            return self._held
        return poses_compose(self.roots[:, None], self._held)

    def list_layers(self) -> list[str]:
        """The layers that there is something in."""
        found = {*self.drawing.parts, *self.drawing.overlays}
        return [name for name in LAYERS if name in found or (name == "Names" and self.drawing.names)]

    # -- layers --------------------------------------------------------------------------------------------------

    def show(self, layer: str, shown: bool) -> None:
        """Show a layer or hide it."""
        self.shown[layer] = shown
        if layer == "Names":
            self._show_names(shown)
        elif layer in self.drawing.parts:
            self._show_parts(layer, shown)
        else:
            self._show_lines(layer, shown)

    def _show_parts(self, layer: str, shown: bool) -> None:
        if layer not in self._layers:
            if not shown:
                return
            pairs = [
                (part, node)
                for number, part in enumerate(self.drawing.parts[layer])
                for node in self._add_part(part, f"{self.path}/{layer.lower()}/{number}")
            ]
            self._layers[layer] = LayerParts(pairs, len(self.roots))
        elif shown:
            # hidden parts are not moved
            self._move_parts(layer, np.ones(self._rows.shape[1], dtype=bool))
        for node, _ in self._layers[layer].nodes:
            node.visible = shown

    def _add_part(self, part: DrawnPart, path: str) -> list[Any]:
        made = LayerParts([(part, None)], len(self.roots))
        places = np.arange(len(part.bodies))
        rows = made.place(places, self._rows).reshape(-1, 7)
        if made.is_single(places):
            place, turn = tuple(rows[0, :3]), tuple(rows[0, 3:])
            nodes = [self._scene.add_glb(path, part.content, position=place, wxyz=turn)]
        else:
            nodes = [
                self._scene.add_batched_glb(
                    f"{path}/{number}",
                    content,
                    batched_positions=rows[:, :3],
                    batched_wxyzs=rows[:, 3:],
                    lod="off",
                )
                for number, content in enumerate(split_glb(part.content))
            ]
        for node in nodes:
            self._listen(part, node)
        return nodes

    def _listen(self, part: DrawnPart, node: Any) -> None:
        if self._on_pick is not None:
            pick = self._on_pick
            node.on_click(lambda event: pick(self._find_picked(part, event)))
        if self._on_drag is not None and np.any(part.bodies >= 0):
            drag = self._on_drag

            # in order, on the loop of the page: a thread for each would let the end overtake the start
            async def move(event: Any) -> None:
                drag(self._find_dragged(part, event))

            node.on_drag("left", modifier="cmd/ctrl")(move)

    def _find_picked(self, part: DrawnPart, event: Any) -> Picked:
        world, place = divmod(event.instance_index or 0, len(part.bodies))
        return Picked(
            int(part.bodies[place]), part.shapes[place], world,
            np.array(event.ray_origin), np.array(event.ray_direction),
        )  # fmt: skip

    def _find_dragged(self, part: DrawnPart, event: Any) -> Dragged:
        world, place = divmod(event.instance_index or 0, len(part.bodies))
        start, end = np.array(event.start_position), np.array(event.end_position)
        return Dragged(int(part.bodies[place]), world, event.phase, start, end)

    def _show_lines(self, layer: str, shown: bool) -> None:
        if shown and layer not in self._lines:
            self._lines[layer] = [
                (overlay, self._add_overlay(overlay, f"{self.path}/{layer.lower()}/{number}", layer))
                for number, overlay in enumerate(self.drawing.overlays.get(layer, ()))
            ]
        for overlay, node in self._lines.get(layer, ()):
            if shown:
                self._move_overlay(overlay, node)
            node.visible = shown

    def _place_points(self, overlay: Overlay) -> Any:
        """Points of an overlay in all worlds, one world after the other."""
        return overlay.place(self._rows).reshape(-1, 3)

    def _add_overlay(self, overlay: Overlay, path: str, layer: str) -> Any:
        points = self._place_points(overlay)
        count = len(self.roots)
        colors = np.tile(overlay.colors, (count, 1))
        if overlay.kind == "surface":
            assert overlay.faces is not None
            size = np.uint32(len(overlay.points))
            faces = np.concatenate([overlay.faces + size * np.uint32(world) for world in range(count)])
            color = tuple(int(value) for value in overlay.colors[0])
            return self._scene.add_mesh_simple(
                path, points, faces, color=color, opacity=_SEE_THROUGH.get(layer, 0.6), side="double",
                flat_shading=True, cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
        pairs, shades = points.reshape(-1, 2, 3), colors.reshape(-1, 2, 3)
        if overlay.kind == "arrows":
            reach = float(np.median(np.linalg.norm(pairs[:, 1] - pairs[:, 0], axis=1)))
            return self._scene.add_arrows(
                path,
                pairs,
                shades[:, 0],
                shaft_radius=reach / 50,
                head_radius=reach / 20,
                head_length=reach / 8,
            )
        return self._scene.add_line_segments(path, pairs, shades, thickness=2.0, thickness_units="screen")

    def _move_overlay(self, overlay: Overlay, node: Any) -> None:
        points = self._place_points(overlay)
        if overlay.kind == "surface":
            node.vertices = points
        else:
            node.points = points.reshape(-1, 2, 3)

    def _show_names(self, shown: bool) -> None:
        for label in self._labels:
            label.remove()
        self._labels = []
        if shown:
            self._labels = [
                self._scene.add_label(
                    f"{self.path}/names/{row}", short(name, 40), position=tuple(self._find_place(row))
                )
                for row, name in enumerate(self.drawing.names[:_MOST_NAMES])
            ]

    def _find_place(self, row: int) -> Array:
        return np.asarray(self._rows[0, row, :3])

    # -- moving --------------------------------------------------------------------------------------------------

    def place(self, poses: Array) -> None:
        """Move bodies to poses (bodies x 7, or worlds x bodies x 7) in their world."""
        if not np.isfinite(poses).all():
            return
        self.poses[:] = poses
        self._move(self._stand())

    def move_to(self, roots: Array) -> None:
        """Put the worlds elsewhere (worlds x 7); there are as many as before."""
        self.roots[:] = roots
        self._is_at_origin = np.array_equal(self.roots, _AT_ORIGIN)
        self._move(self._stand())

    def welcome(self) -> None:
        """Somebody new looks: the next picture is kept for them too, as what is streamed is not."""
        self._is_asked = True

    def _move(self, rows: Array) -> None:
        moved = np.abs(rows - self._rows).max(axis=(0, 2)) > _MOVED
        is_asked, self._is_asked = self._is_asked, False
        if is_asked:
            moved[:] = True
        if not moved.any():
            return
        # those that moved less stay as they were sent, so that small steps add up
        np.copyto(self._rows, rows, where=moved[:, None])
        layers = [name for name in self._layers if self.shown[name]]
        if self._stream is not None:
            self._stream.send([self._layers[name] for name in layers], self._rows, moved)
            layers = layers if is_asked else []
        lines = [name for name in self._lines if self.shown[name]]
        if layers or lines or self._marks or self._labels:
            with self._server.atomic():
                for name in layers:
                    self._move_parts(name, moved)
                self._move_over(lines)

    def _move_over(self, lines: Sequence[str]) -> None:
        """What lies over the parts: overlays of layers, marks and names."""
        for overlay, node in [pair for name in lines for pair in self._lines[name]]:
            self._move_overlay(overlay, node)
        for overlay, node, world in self._marks:
            node.points = self._place_marks(overlay, world)
        for row, label in enumerate(self._labels):
            label.position = tuple(self._find_place(row))

    def _move_parts(self, name: str, moved: Any) -> None:
        layer = self._layers[name]
        for node, places in layer.list_moved(moved):
            rows = layer.place(places, self._rows).reshape(-1, 7)
            if layer.is_single(places):
                self._move_node(node, rows[0].tolist())
            else:
                node.batched_positions = rows[:, :3].astype(np.float32)
                node.batched_wxyzs = rows[:, 3:].astype(np.float32)

    def _move_node(self, node: Any, row: Sequence[float]) -> None:
        place, turn = tuple(row[:3]), tuple(row[3:])
        if self._messages is None:
            node.position, node.wxyz = place, turn
            return
        # what the two setters above send, without their comparisons, which cost ten times as much
        queue = self._scene._queue_scene_message
        queue(self._messages.SetPositionMessage(node.name, place))
        queue(self._messages.SetOrientationMessage(node.name, turn))

    # -- marks ---------------------------------------------------------------------------------------------------

    def mark(
        self, bodies: Sequence[int], color: tuple[int, int, int] = (255, 150, 20), world: int = 0
    ) -> None:
        """Draw boxes around bodies, in place of those that were drawn before."""
        for _, node, _ in self._marks:
            node.remove()
        self._marks = []
        size = 0.02 * self.drawing.size
        builder = OverlayBuilder("lines")
        for row in bodies:
            around = self.drawing.boxes.get(row, (np.full(3, -size), np.full(3, size)))
            corners = list_corners(around[0] - size / 4, around[1] + size / 4)
            builder.add(corners[BOX_EDGES], row, color)
        for overlay in builder.build():
            node = self._scene.add_line_segments(
                f"{self.path}/marks", self._place_marks(overlay, world), overlay.colors.reshape(-1, 2, 3),
                thickness=3.0, thickness_units="screen",
            )  # fmt: skip
            self._marks.append((overlay, node, world))

    def _place_marks(self, overlay: Overlay, world: int) -> Any:
        return overlay.place(self._rows[world]).reshape(-1, 2, 3)

    def remove(self) -> None:
        """Take everything out of the scene."""
        self.mark([])
        self._show_names(False)
        for node, _ in [pair for layer in self._layers.values() for pair in layer.nodes]:
            node.remove()
        for _, node in [pair for lines in self._lines.values() for pair in lines]:
            node.remove()
        self._layers, self._lines = {}, {}


_AT_ORIGIN = np.array([(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)])


def at_offsets(offsets: Array) -> Array:
    """Worlds that stand upright at places (worlds x 3) [m], as roots."""
    return np.concatenate((offsets, np.broadcast_to(_AT_ORIGIN[:, 3:], (len(offsets), 4))), axis=1)


def _find_messages() -> Any:
    """Messages of viser, where they are what we know; None where setters have to do."""
    found = importlib.import_module("viser._messages")
    known = hasattr(found, "SetPositionMessage") and hasattr(found, "SetOrientationMessage")
    return found if known else None

# SPDX-License-Identifier: Apache-2.0
"""Poses of a simulation to all visitors, thirty times a second for next to nothing: one message a picture.

viser keeps, compares and encodes a message for each node, which for fifty links costs more than simulating them.  Here
the bytes of all messages are made once; a picture puts its numbers into them.
"""

from __future__ import annotations

import importlib
import re
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from simwright.core.math3d import Array, poses_compose, quats_conjugate, quats_multiply
from simwright.view.drawing import UPRIGHT, DrawnPart

_MARK = struct.pack(">Q", 0x7FF8_FFFF_FFFF_FFFF)
"""A number that stands for all that come later; its bytes are no UTF-8, so no name can hold them."""
_MOST_WAITING = 200_000
"""Bytes that may wait for a slow visitor before pictures are left out for them."""
_AGAIN = 0.1
"""When a visitor who was left out is asked again [s]."""
_TURNED = np.array((0.0, 0.0, 0.0, *UPRIGHT))
_HEAD, _BLOCK_HEAD, _BLOCK = 9, 3, 1 << 17
_NUMBER = 8


def pack_plain(content: bytes, numbers: Sequence[int] = ()) -> tuple[bytes, Any]:
    """A Zstandard frame (RFC 8878) whose blocks hold the content as it is, so that its numbers can be changed there.

    Numbers of eight bytes at ``numbers``, in ascending order, stay in one piece; where they are in the frame comes too.
    """
    # one segment, its size in four bytes
    parts = [struct.pack("<IBI", 0xFD2FB528, 0xA0, len(content))]
    places = np.array(numbers, dtype=np.int64)
    moved = np.full(len(places), _HEAD)
    start = 0
    while start < len(content):
        end = min(start + _BLOCK, len(content))
        last = int(np.searchsorted(places, end)) - 1
        if last >= 0 and end < places[last] + _NUMBER:
            end = int(places[last])
        moved[places >= start] += _BLOCK_HEAD
        block = content[start:end]
        parts += [(len(block) << 3 | (end == len(content))).to_bytes(_BLOCK_HEAD, "little"), block]
        start = end
    return b"".join(parts), places + moved


class PoseStream:
    """Sends poses of nodes to everybody who has the page open.

    Nothing of it is kept for later visitors: who streams sends them the poses of their arrival in viser's own way.
    """

    def __init__(self, server: Any) -> None:
        self._messages: Any = importlib.import_module("viser._messages")
        self._server = server._websock_server
        self._loop = self._server._background_event_loop
        self._connections, self._buffer = self._server._live_connections, self._server._broadcast_buffer
        self._broadcast = importlib.import_module("websockets.asyncio.server").broadcast
        self._encode = importlib.import_module("msgspec.msgpack").encode
        self._nodes: tuple[tuple[str, int], ...] = ()
        self._versions: tuple[tuple[LayerParts, int], ...] = ()
        self._template = bytearray()
        self._places = np.zeros(0, dtype=np.int64)
        self._numbers = np.zeros(0)
        self._written = np.zeros(0)
        self._arrays: list[tuple[Any, Any]] = []
        self._frame = b""
        self._since = 0
        self._again: Any = None

    @staticmethod
    def open(server: Any) -> PoseStream | None:
        """The stream of a server; None with a viser whose parts are not those that we know."""
        try:
            return PoseStream(server)
        except (AttributeError, ImportError):
            return None

    def send(self, layers: Sequence[LayerParts], rows: Array, moved: Any) -> None:
        """Move all parts of layers that ever moved to where bodies are at ``rows`` (worlds x bodies x 7).

        ``moved`` tells which bodies did so since the last time.
        """
        versions = tuple([layer.note(moved) for layer in layers])
        if versions != self._versions:
            nodes = tuple(node for layer in layers for node in layer.singles)
            nodes += tuple(node for layer in layers for node in layer.many)
            if nodes != self._nodes:
                self._prepare(nodes)
            self._versions = versions
        if not self._nodes:
            return
        self._numbers[0] = time.perf_counter()
        start, arrays = 1, iter(self._arrays)
        for layer in layers:
            singles, many = layer.place_streamed(rows)
            end = start + singles.size
            self._numbers[start:end] = singles.ravel()
            start = end
            for poses in many:
                at, turned = next(arrays)
                at[:], turned[:] = poses[:, :3], poses[:, 3:]
        self._written[self._places] = self._numbers
        self._frame = bytes(self._template)
        with suppress(RuntimeError):  # the loop is closed, as the page is
            self._loop.call_soon_threadsafe(self._deliver)

    def _prepare(self, nodes: tuple[tuple[str, int], ...]) -> None:
        """The message for all nodes, with marks where numbers belong, and places for arrays behind it."""
        # two kinds of nodes, and a line for each part of the frame
        mark = struct.unpack(">d", _MARK)[0]
        made: list[dict[str, Any]] = []
        arrays: list[memoryview] = []
        for name, count in nodes:
            if count:
                updates = {
                    "batched_positions": np.zeros((count, 3), dtype=np.float32),
                    "batched_wxyzs": np.zeros((count, 4), dtype=np.float32),
                }
                told = self._messages.SceneNodeUpdateMessage(name, updates)
                made.append(told.as_serializable_dict(arrays))
            else:
                made.append(self._messages.SetPositionMessage(name, (mark,) * 3).as_serializable_dict())
                made.append(self._messages.SetOrientationMessage(name, (mark,) * 4).as_serializable_dict())
        sizes = tuple(array.nbytes for array in arrays)
        text = self._encode({"timestampSec": mark, "messages": made, "binaryBufferLengths": sizes})
        starts = [found.start() for found in re.finditer(re.escape(_MARK), text)]
        assert len(starts) == 1 + 7 * sum(not count for _, count in nodes), "viser encodes numbers otherwise"
        packed, places = pack_plain(text, starts)
        # viser's frame: sizes of the message, plain and packed, the message, then arrays, each at a multiple of eight
        frame = bytearray(struct.pack("<QQ", len(text), len(packed)) + packed)
        self._places, self._numbers = 16 + places, np.zeros(len(places))
        offsets = []
        for size in sizes:
            frame += bytes(-len(frame) % 8)
            offsets.append(len(frame))
            frame += bytes(size)
        self._nodes, self._template = nodes, frame
        # a number at every byte, of which those that are marked are written
        self._written = np.ndarray(len(frame) - _NUMBER + 1, dtype=">f8", buffer=frame, strides=(1,))
        views = [
            np.frombuffer(frame, "<f4", size // 4, start).reshape(-1, 3 + number % 2)
            for number, (start, size) in enumerate(zip(offsets, sizes, strict=True))
        ]
        self._arrays = list(zip(views[::2], views[1::2], strict=True))
        # visitors who have not yet been sent the nodes themselves get no poses of them
        self._since = self._buffer.message_counter - 1

    def _deliver(self) -> None:
        """On the loop of the page: the newest picture to everybody who can take it."""
        ready, is_late = [], False
        for number, connection in list(self._connections.items()):
            is_new = self._buffer.generator_cursors.get(number, -1) < self._since
            if is_new or connection.transport.get_write_buffer_size() > _MOST_WAITING:
                is_late = True
            else:
                ready.append(connection)
        self._broadcast(ready, self._frame)
        # the last picture before a pause reaches everybody, if later
        if is_late and self._again is None:
            self._again = self._loop.call_later(_AGAIN, self._deliver_again)

    def _deliver_again(self) -> None:
        self._again = None
        self._deliver()


class LayerParts:
    """The parts of a layer: on which bodies they are, their nodes, and which of them ever moved.

    A node has instances, unless its part is at one place and there is one world.
    """

    def __init__(self, pairs: Sequence[tuple[DrawnPart, Any]], worlds: int) -> None:
        parts = {id(part): part for part, _ in pairs}
        ends = np.cumsum([len(part.bodies) for part in parts.values()])
        slices = {
            key: np.arange(end - len(part.bodies), end)
            for (key, part), end in zip(parts.items(), ends.tolist(), strict=True)
        }
        self.nodes = [(node, slices[id(part)]) for part, node in pairs]
        self._worlds = worlds
        self._bodies = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(part.bodies for part in parts.values())]
        )
        poses = np.concatenate([np.zeros((0, 7)), *(part.poses for part in parts.values())])
        # turned as glTF is
        self._poses = poses_compose(poses, _TURNED)
        self._has_moved = np.zeros(len(self.nodes), dtype=bool)
        self._version = 0
        self._waiting = np.unique(self._bodies)
        self.singles: tuple[tuple[str, int], ...] = ()
        self.many: tuple[tuple[str, int], ...] = ()
        self._chosen = self._rows = np.zeros(0, dtype=np.int64)
        self._terms = np.zeros((0, 23, 1))
        self._forms: Array | None = None

    def is_single(self, places: Any) -> bool:
        """Is a node with these places one without instances?"""
        return self._worlds == 1 and len(places) == 1

    def place(self, places: Any, rows: Array) -> Array:
        """Poses of parts at places (worlds x places x 7), where bodies are at ``rows`` (worlds x bodies x 7)."""
        return poses_compose(rows[:, self._bodies[places]], self._poses[places])

    def list_moved(self, moved: Any) -> list[tuple[Any, Any]]:
        """Nodes with a body that moved, and their places."""
        return [(node, places) for node, places in self.nodes if moved[self._bodies[places]].any()]

    def note(self, moved: Any) -> tuple[LayerParts, int]:
        """These bodies moved: from now on their parts are streamed; gives what changes when others are."""
        if len(self._waiting) and moved[self._waiting].any():
            self._stream_more(moved)
        return self, self._version

    def _stream_more(self, moved: Any) -> None:
        self._version += 1
        for number in np.flatnonzero(~self._has_moved).tolist():
            self._has_moved[number] = moved[self._bodies[self.nodes[number][1]]].any()
        left = [self._bodies[self.nodes[number][1]] for number in np.flatnonzero(~self._has_moved).tolist()]
        self._waiting = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *left]))
        chosen = [self.nodes[number] for number in np.flatnonzero(self._has_moved).tolist()]
        # those without instances first
        chosen.sort(key=lambda pair: not self.is_single(pair[1]))
        self._chosen = np.concatenate([places for _, places in chosen])
        made = [(node.name, 0 if self.is_single(p) else self._worlds * len(p)) for node, p in chosen]
        self.singles = tuple(one for one in made if not one[1])
        self.many = tuple(one for one in made if one[1])
        # of many worlds, quaternions are no slower
        self._forms = _make_forms(self._poses[self._chosen]) if self._worlds == 1 else None
        self._rows = self._bodies[self._chosen]
        self._terms = np.empty((len(self._rows), 23, 1))

    def place_streamed(self, rows: Array) -> tuple[Array, list[Array]]:
        """Poses of what is streamed: of nodes without instances, one row each, and of each node with some."""
        if self._forms is None:
            found = self.place(self._chosen, rows)
        else:
            at, terms = rows[0, self._rows], self._terms
            terms[:, :7, 0] = at
            np.multiply(at[:, 3:, None], at[:, None, 3:], out=terms[:, 7:, 0].reshape(-1, 4, 4))
            found = (self._forms @ terms)[None, :, :, 0]
        start, many = len(self.singles), []
        for _, count in self.many:
            end = start + count // self._worlds
            many.append(found[:, start:end].reshape(-1, 7))
            start = end
        return found[0, : len(self.singles)], many


def _make_forms(poses: Array) -> Array:
    """What makes poses of parts out of those of their bodies, as matrices (n x 7 x 23).

    A part at p, r on a body at x, q is at x + q p q*, q r: linear in x, in q and in the products of q with itself.
    Composing that as quaternions takes four times as long, for every picture.
    """
    forms = np.zeros((len(poses), 7, 23))
    forms[:, range(3), range(3)] = 1.0
    points = np.concatenate((np.zeros((len(poses), 1)), poses[:, :3]), axis=1)
    for first, one in enumerate(np.eye(4)):
        forms[:, 3:, 3 + first] = quats_multiply(one, poses[:, 3:])
        for second, other in enumerate(np.eye(4)):
            turned = quats_multiply(quats_multiply(one, points), quats_conjugate(other))
            forms[:, :3, 7 + 4 * first + second] = turned[:, 1:]
    return forms

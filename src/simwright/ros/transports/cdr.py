# SPDX-License-Identifier: Apache-2.0
"""Messages whose shape stays the same, packed: CDR is laid out once, then only numbers are put into it.

A publisher sends the same names, frames and lengths over and over.  Its :class:`MessageLayout` is a message with
places for what changes (:class:`Slot`, :data:`STAMP`); a :class:`PackedMessage` is that and the numbers of one moment.
All transports that send CDR share the bytes; one that does not gets a dictionary.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Message = dict[str, Any]
Fields = Callable[[str], list[tuple[str, str]]]
"""Fields of a message type in order: names and types, as rclpy writes types."""
NANO = 1_000_000_000
_HEADER = b"\0\1\0\0"
"""Plain CDR, little endian."""
_DIGITS = {
    "boolean": "u1", "octet": "u1", "uint8": "u1", "int8": "i1", "uint16": "u2", "int16": "i2", "uint32": "u4",
    "int32": "i4", "uint64": "u8", "int64": "i8", "float": "f4", "double": "f8",
}  # fmt: skip
"""Of numpy, by the names that ROS has for numbers."""
_SEQUENCE = re.compile(r"sequence<([^,>]+)(?:, *\d+)?>")
_ARRAY = re.compile(r"(.+)\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for numbers that change: those of the array ``name`` from ``start`` on, ``count`` of them.

    Without a count it is a single number.
    """

    name: str
    start: int = 0
    count: int | None = None


class _Stamp:
    """A place for the time of a message (``builtin_interfaces/Time``)."""


STAMP = _Stamp()


def make_slots(name: str, start: int, fields: str) -> Message:
    """A message of single numbers, such as a vector or a quaternion, one after the other from ``start`` on."""
    return {field: Slot(name, start + number) for number, field in enumerate(fields)}


@dataclass(slots=True)
class PackedMessage:
    """A message of a layout at a time [ns]; ``values`` are arrays by the names of slots."""

    layout: MessageLayout
    time: int
    values: dict[str, npt.NDArray[Any]]
    _raw: bytes = b""

    def encode(self, fields: Fields) -> bytes:
        """As CDR, made once for whoever asks."""
        if not self._raw:
            self._raw = self.layout.encode(self, fields)
        return self._raw

    def unpack(self) -> Message:
        """As a dictionary."""
        made: Message = _unpack(self.layout.sample, self)
        return made


def _unpack(part: Any, message: PackedMessage) -> Any:
    if isinstance(part, dict):
        return {name: _unpack(value, message) for name, value in part.items()}
    if isinstance(part, list):
        return [_unpack(value, message) for value in part]
    if part is STAMP:
        return {"sec": message.time // NANO, "nanosec": message.time % NANO}
    if not isinstance(part, Slot):
        return part
    values = message.values[part.name].ravel()
    if part.count is None:
        return values[part.start].item()
    return values[part.start : part.start + part.count]


@dataclass(slots=True)
class _SlotGroup:
    """Slots of one array that have one type of numbers: where they come from, and where they go to, in numbers."""

    digits: str
    source: slice | npt.NDArray[np.int64]
    target: slice | npt.NDArray[np.int64]


@dataclass(slots=True)
class MessageLayout:
    """A message of ``type_name`` with places for what changes."""

    type_name: str
    sample: Message
    _size: int = 0
    _views: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    _groups: list[tuple[str, _SlotGroup]] = field(default_factory=list)
    _seconds: npt.NDArray[np.int64] | None = None

    def pack(self, time: int, **values: npt.NDArray[Any]) -> PackedMessage:
        """The message at a time [ns]."""
        return PackedMessage(self, time, values)

    def encode(self, message: PackedMessage, fields: Fields) -> bytes:
        """CDR of a message; what stays the same is laid out the first time."""
        if self._seconds is None:
            self._lay_out(fields)
        assert self._seconds is not None
        words = self._views["u4"]
        # seconds and nanoseconds are neighbours, both of four bytes
        words[self._seconds], words[self._seconds + 1] = divmod(message.time, NANO)
        for name, group in self._groups:
            self._views[group.digits][group.target] = message.values[name].ravel()[group.source]
        return _HEADER + self._views["u1"][: self._size].tobytes()

    def _lay_out(self, fields: Fields) -> None:
        writer = _CdrWriter(fields)
        writer.write(self.type_name, self.sample)
        self._size = len(writer.made)
        # numbers of eight bytes are seen through a view of the whole: it has to be a multiple of that
        whole = np.frombuffer(bytes(writer.made) + bytes(-self._size % 8), dtype=np.uint8).copy()
        groups: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
        for digits, at, slot in writer.slots:
            count = 1 if slot.count is None else slot.count
            groups[slot.name, digits].append((slot.start, at // int(digits[1]), count))
        self._views = {digits: whole.view(f"<{digits}") for digits in {"u1", "u4", *(d for _, d in groups)}}
        self._groups = [(name, _join_slots(digits, rows)) for (name, digits), rows in groups.items()]
        self._seconds = np.array(writer.stamps, dtype=np.int64) // 4


def _join_slots(digits: str, rows: list[tuple[int, int, int]]) -> _SlotGroup:
    """One copy for all slots: a slice where they are in one piece, as pictures are."""
    if len(rows) == 1:
        ((source, target, count),) = rows
        return _SlotGroup(digits, slice(source, source + count), slice(target, target + count))
    places = [
        np.concatenate([np.arange(row[which], row[which] + row[2]) for row in rows]) for which in (0, 1)
    ]
    return _SlotGroup(digits, *places)


class _CdrWriter:
    """Writes the body of one message; ``slots`` and ``stamps`` tell where what changes goes, in bytes."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self.made = bytearray()
        self.slots: list[tuple[str, int, Slot]] = []
        self.stamps: list[int] = []

    def write(self, type_name: str, value: Any) -> None:
        """A message; what it does not name is zero or empty."""
        if value is STAMP:
            self._align(4)
            self.stamps.append(len(self.made))
            self.made += bytes(8)
            return
        given = value or {}
        fields = self._fields(type_name)
        unknown = set(given) - {name for name, _ in fields}
        if unknown:
            raise ValueError(f"{type_name} has no {', '.join(sorted(unknown))}")
        for name, text in fields:
            self._write_field(text, given.get(name))

    def _write_field(self, text: str, value: Any) -> None:
        found = _SEQUENCE.fullmatch(text)
        if found:
            count = (value.count or 0) if isinstance(value, Slot) else len(() if value is None else value)
            self._write_numbers("u4", [count])
            self._write_many(found[1], count, value)
            return
        found = _ARRAY.fullmatch(text)
        if found:
            self._write_many(found[1], int(found[2]), value)
        elif text in _DIGITS:
            self._write_numbers(_DIGITS[text], value if isinstance(value, Slot) else [value or 0])
        elif text.startswith("string"):
            # the length of a string counts the zero at its end
            raw = str(value or "").encode() + b"\0"
            self._write_numbers("u4", [len(raw)])
            self.made += raw
        else:
            self.write(text, value)

    def _write_many(self, text: str, count: int, value: Any) -> None:
        """Elements of a sequence or an array."""
        if text in _DIGITS:
            # CDR pads before numbers that are there; an empty sequence is its length and nothing more
            if count:
                self._write_numbers(_DIGITS[text], np.zeros(count) if value is None else value, count)
            return
        for item in [None] * count if value is None else value:
            self._write_field(text, item)

    def _write_numbers(self, digits: str, values: Any, count: int = 1) -> None:
        size = int(digits[1])
        self._align(size)
        if isinstance(values, Slot):
            if (values.count or 1) != count:
                raise ValueError(f"{values.count} numbers of {values.name!r} for {count}")
            self.slots.append((digits, len(self.made), values))
            self.made += bytes(size * count)
            return
        numbers = np.asarray(values).ravel().astype(f"<{digits}")
        if len(numbers) != count:
            raise ValueError(f"{len(numbers)} numbers for {count}")
        self.made += numbers.tobytes()

    def _align(self, size: int) -> None:
        # from the start of the body: the four bytes of the header do not count
        self.made += bytes(-len(self.made) % size)

# SPDX-License-Identifier: Apache-2.0
"""Labels of many worlds without a string for each: those of one world, and a prefix made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from simwright.core.errors import UnknownNameError


class Labels(Sequence[str]):
    """Labels of ``world_count`` equal worlds, then those of what the worlds share.

    With ``prefixed``, the labels of world 3 begin with ``world_3/``.  ``local`` are those of one world, ``shared``
    the others, both bare.
    """

    __slots__ = ("_rows", "local", "prefixed", "shared", "world_count")

    def __init__(
        self,
        local: Iterable[str] = (),
        world_count: int = 1,
        shared: Iterable[str] = (),
        *,
        prefixed: bool = False,
    ) -> None:
        self.local = tuple(local)
        self.shared = tuple(shared)
        self.world_count = world_count
        self.prefixed = prefixed
        self._rows: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.local) * self.world_count + len(self.shared)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"label {index} of {len(self)}")
        copies = len(self.local) * self.world_count
        if number >= copies:
            return self.shared[number - copies]
        world, row = divmod(number, len(self.local))
        return f"world_{world}/{self.local[row]}" if self.prefixed else self.local[row]

    def find(self, label: str, world: int | None = None) -> int:
        """The index of a label: a full one, a bare one in ``world`` (the first, if none is said), or a shared one."""
        if self._rows is None:
            # of labels that are there twice the first one is found: later entries are overwritten by earlier ones
            self._rows = {name: i for i, name in reversed(list(enumerate(self.local)))}
        if self.prefixed and world is None:
            world, label = self._split_prefix(label)
        row = self._rows.get(label)
        if row is not None and 0 <= (world or 0) < self.world_count:
            return (world or 0) * len(self.local) + row
        if label in self.shared:
            return len(self.local) * self.world_count + self.shared.index(label)
        raise UnknownNameError("label", label, {*self.local, *self.shared})

    def _split_prefix(self, label: str) -> tuple[int | None, str]:
        """World and bare label of ``world_3/arm``; a label of another form is given back as it is."""
        number, slash, rest = label.removeprefix("world_").partition("/")
        known = label.startswith("world_") and bool(slash) and rest in (self._rows or {})
        if known and number.isdecimal() and int(number) < self.world_count:
            return int(number), rest
        return None, label

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Labels | list | tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    # equal to lists, which have no hash either
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Labels({len(self.local)} in each of {self.world_count} worlds, {len(self.shared)} shared)"

# SPDX-License-Identifier: Apache-2.0
"""What an array is: how many rows, what a row holds, its unit and meaning.

Classes of arrays (:mod:`~simwright.runtime.model`, :mod:`~simwright.runtime.state`,
:mod:`~simwright.runtime.collision`) declare each array as a field annotated by :func:`array`.  The description is data:
replication, cloning and the documentation go by it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_type_hints

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int32]
Bools: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]

FREQUENCIES = ("body", "shape", "joint", "joint_dof", "joint_coord", "articulation", "world", "once")
"""What rows of an array are counted over."""


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """One array: ``shape`` is (rows of ``frequency``, *``row``); ``refers`` is the frequency its numbers index.

    ``closing`` arrays have one entry more than rows: where the last block ends.
    """

    name: str
    frequency: str
    row: tuple[int, ...]
    dtype: str
    unit: str
    meaning: str
    refers: str = ""
    closing: bool = False

    def zeros(self, rows: int) -> AnyArray:
        """An array of zeros for a number of rows."""
        return np.zeros((rows + self.closing, *self.row), dtype=self.dtype)


def array(
    frequency: str,
    meaning: str,
    *,
    unit: str = "",
    row: tuple[int, ...] = (),
    dtype: str = "float32",
    refers: str = "",
    closing: bool = False,
) -> ArrayInfo:
    """The description of an array, for the annotation of a field; the field gives the name."""
    # a typo would make an array that replication leaves alone
    assert frequency in FREQUENCIES
    return ArrayInfo("", frequency, row, dtype, unit, meaning, refers, closing)


def describe_arrays(owner: type[Any]) -> Mapping[str, ArrayInfo]:
    """The arrays of a class by name, in their order."""
    # reading type hints is slow, and every clone asks
    if owner not in _described:
        found = {}
        for name, hint in get_type_hints(owner, include_extras=True).items():
            for note in getattr(hint, "__metadata__", ()):
                if isinstance(note, ArrayInfo):
                    found[name] = dataclasses.replace(note, name=name)
        _described[owner] = found
    return _described[owner]


_described: dict[type[Any], Mapping[str, ArrayInfo]] = {}


def iterate_arrays(thing: Any) -> Iterator[tuple[ArrayInfo, AnyArray]]:
    """Descriptions and arrays of an object."""
    for name, info in describe_arrays(type(thing)).items():
        yield info, getattr(thing, name)


def measure_arrays(*things: Any) -> int:
    """Bytes of all distinct arrays of objects."""
    # collision models share the arrays of their model
    seen = {id(values): values.nbytes for thing in things for _, values in iterate_arrays(thing)}
    return sum(seen.values())

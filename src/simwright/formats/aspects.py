# SPDX-License-Identifier: Apache-2.0
"""One thing that an asset can say (an aspect), and how a use of it is found: by the path of its field.

``joints.dofs.damping`` is the field ``damping`` of every dof of every joint.  ``vocabulary`` has them all.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Pose
from simwright.model.asset import ELEMENT_LISTS, Asset
from simwright.model.geometry import Mesh

Moves: TypeAlias = Callable[[Any], bool]
"""Does the machine move differently without this element, or without a value of it?"""


def always(element: Any) -> bool:
    """For aspects that change how the machine moves."""
    del element
    return True


def never(element: Any) -> bool:
    """For aspects that do not: looks, measurements, names."""
    del element
    return False


def if_touched(element: Any) -> bool:
    """For aspects of shapes: those that collide change motion, those that are only seen do not."""
    return bool(element.collision)


Used: TypeAlias = Callable[[Any, Any], bool]
"""Does this owner of a field use it, by this value?"""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing that elements of a family may say.

    ``whole`` says that an element whose value is not held is left out as a whole: a joint of an unknown kind.  ``used``
    tells a use by its value; by default that is one other than the model's own, zero and infinity counting as silence
    where that is None.  ``part_of`` is the key without which it says nothing.
    """

    key: str
    words: str
    moves: Moves
    whole: bool = False
    used: Used | None = None
    part_of: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """The fields from an element to the value."""
        return tuple(self.key.split(".")[1:])


@dataclass(frozen=True, slots=True)
class ElementFamily:
    """A list of the asset, or one of its parts: words for one and many, and the aspects of its elements.

    Elements of a ``quiet`` family that use no aspect say nothing: every robot is in some namespace.
    """

    key: str
    one: str
    many: str
    moves: Moves
    aspects: tuple[Aspect, ...] = ()
    quiet: bool = False

    def list(self, asset: Asset) -> Sequence[Any]:
        """The elements of an asset; its own settings and movement are one each, where they say something."""
        value = getattr(asset, self.key)
        elements = value if self.key in ELEMENT_LISTS else [value] if value else []
        return [element for element in elements if self._speaks(element)] if self.quiet else elements

    def _speaks(self, element: Any) -> bool:
        return any(True for aspect in self.aspects for _ in find_uses(element, aspect))

    def count(self, number: int) -> str:
        """``1 joint``, ``3 joints``."""
        return f"{number} {self.one if number == 1 else self.many}"


def find_uses(element: Any, aspect: Aspect) -> Iterator[tuple[Any, Any]]:
    """What an element says about an aspect: the owner of the field, and its value."""
    owners = [element]
    *steps, last = aspect.path
    for step in steps:
        owners = [child for owner in owners for child in _list_children(owner, step)]
    for owner in owners:
        value = getattr(owner, last)
        if (
            aspect.used(owner, value)
            if aspect.used is not None
            else _differs(value, _find_default(type(owner), last))
        ):
            yield owner, value


def _list_children(owner: Any, step: str) -> Sequence[Any]:
    # "data" is not a field but loads the mesh, which must not happen for a file nobody looks at.
    if step == "data":
        return _open_mesh(owner)
    value = getattr(owner, step)
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else (value,)


def _open_mesh(geometry: Any) -> Sequence[Any]:
    """The arrays of a mesh; none of a mesh file, which is copied as it is or read, and reported, by the writer."""
    # Reading every mesh file only to find losses would take long.
    if not isinstance(geometry, Mesh) or (geometry.file and not geometry.is_loaded):
        return ()
    try:
        return (geometry.data,)
    except SimwrightError:
        return ()


_REQUIRED = object()


_DEFAULTS: dict[tuple[type, str], Any] = {}


def _find_default(cls: type, name: str) -> Any:
    """What a field says unless told; :data:`_REQUIRED` where it always says something."""
    # Remembered: a robot asks for the same few hundred fields thousands of times.
    if (cls, name) not in _DEFAULTS:
        row = next(field for field in dataclasses.fields(cls) if field.name == name)
        default = _REQUIRED if row.default is dataclasses.MISSING else row.default
        make: Any = row.default_factory
        _DEFAULTS[cls, name] = default if make is dataclasses.MISSING else make()
    return _DEFAULTS[cls, name]


def _differs(value: Any, default: Any) -> bool:
    # One function: what counts as said depends on the type of the value, one case each.
    if default is _REQUIRED:
        return True
    if value is None or value is default:
        return False
    # bool before numbers: in Python it is an int.
    if isinstance(value, (str, bool, dict)):
        return bool(value != default)
    if isinstance(value, Pose):
        # Readers compute poses, so the identity may be off in the last bits.
        return not (isinstance(default, Pose) and value.is_close(default, 1e-12))
    if isinstance(value, (np.ndarray, list, tuple)) and not _is_text(value):
        numbers = np.asarray(value, dtype=np.float64).ravel()
        silent = np.zeros_like(numbers) if default is None else np.asarray(default, dtype=np.float64).ravel()
        return bool(numbers.shape != silent.shape or (numbers != silent).any())
    # Where the model has no default, zero and infinity are how formats spell "none".
    if isinstance(value, (float, int)) and default is None:
        return value != 0 and math.isfinite(value)
    return bool(value != default)


def _is_text(value: Any) -> bool:
    return not isinstance(value, np.ndarray) and not all(
        isinstance(v, (float, int, np.number)) for v in value
    )

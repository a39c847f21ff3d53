# SPDX-License-Identifier: Apache-2.0
"""What is compared and how closely, the answer (what was measured, what differs), and how far two values are apart.

Numbers: ``|a - b| / max(|a|, |b|, scale)``, so 1e-6 means six digits; ``scale`` is the size of a number that
counts as something (the length of the robot, the span of a range), so that noise around zero does not.  Vectors
are measured by their largest entry.  Texts, flags and missing values are the same (0) or not (infinite).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Pose, quat_angle

ReadImage: TypeAlias = Callable[[str], bytes]

SECTIONS: dict[str, str] = {
    "bodies": "structure",
    "joints": "structure",
    "order": "structure",
    "limits": "structure",
    "constraints": "structure",
    "frames": "structure",
    "sensors": "structure",
    "cameras": "structure",
    "lights": "structure",
    "ros": "structure",
    "poses": "kinematics",
    "keyframes": "kinematics",
    "gravity": "dynamics",
    "options": "dynamics",
    "masses": "dynamics",
    "motion": "dynamics",
    "drives": "dynamics",
    "actuators": "dynamics",
    "visuals": "geometry",
    "collisions": "geometry",
    "materials": "geometry",
    "contacts": "geometry",
}
"""Every section and the group it is in, in the order of the report."""


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """``rtol`` is the relative error that still counts as equal; ``sections`` what is compared.

    ``read_image`` gives the bytes of an image by its file name; without it, images are compared by name.
    """

    rtol: float = 1e-6
    configurations: int = 20
    seed: int = 0
    sections: tuple[str, ...] = tuple(SECTIONS)
    read_image: ReadImage | None = None


def make_settings(
    only: Iterable[str] = (),
    ignore: Iterable[str] = (),
    *,
    rtol: float = 1e-6,
    configurations: int = 20,
    seed: int = 0,
    read_image: ReadImage | None = None,
) -> CompareSettings:
    """Settings from words: ``only`` and ``ignore`` take sections and groups."""
    if not rtol >= 0.0:
        raise UsageError(f"the tolerance has to be zero or more, got {rtol:g}")
    if not 0 <= configurations <= 100_000:
        raise UsageError(f"the number of configurations has to be 0 to 100000, got {configurations}")
    if seed < 0:
        raise UsageError(f"the seed has to be zero or more, got {seed}")
    wanted = _expand(only) or set(SECTIONS)
    left = wanted - _expand(ignore)
    if not left:
        raise UsageError("nothing is left to compare", hint="ignore fewer sections")
    sections = tuple(name for name in SECTIONS if name in left)
    return CompareSettings(rtol, configurations, seed, sections, read_image)


def _expand(words: Iterable[str]) -> set[str]:
    groups = set(SECTIONS.values())
    result: set[str] = set()
    for word in words:
        if word in groups:
            result |= {name for name, group in SECTIONS.items() if group == word}
        elif word in SECTIONS:
            result.add(word)
        else:
            raise UnknownNameError("section", word, [*groups, *SECTIONS])
    return result


@dataclass(frozen=True, slots=True)
class DifferenceItem:
    """One thing that differs: a value, or an element that only one side has (the other is None).

    ``error`` is the relative difference of numbers, infinite where values cannot be compared.
    """

    element: str
    what: str
    a: Any
    b: Any
    error: float = field(default=float("inf"), kw_only=True)


@dataclass(frozen=True, slots=True)
class MeasuredError:
    """The largest relative error of a measured quantity, and where it was found."""

    name: str
    error: float
    tolerance: float
    where: str = ""

    @property
    def equal(self) -> bool:
        """Is it within the tolerance?"""
        return self.error <= self.tolerance


@dataclass(slots=True)
class DifferenceSection:
    """One subject.  ``compared`` counts the elements that were held against each other.

    ``notes`` list what the two files write differently with the same meaning, and what could not be compared.
    """

    name: str
    group: str
    compared: int = 0
    items: list[DifferenceItem] = field(default_factory=list)
    figures: list[MeasuredError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Does nothing differ?"""
        return not self.items and all(figure.equal for figure in self.figures)


@dataclass(slots=True)
class Difference:
    """All sections that were asked for; ``a`` and ``b`` are the names of the two assets."""

    a: str
    b: str
    sections: list[DifferenceSection] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Are the two the same in everything that was compared?"""
        return all(section.equal for section in self.sections)

    def section(self, name: str) -> DifferenceSection:
        """One section; KeyError if it was not asked for."""
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(name)

    def figure(self, name: str) -> MeasuredError:
        """One figure of any section; KeyError if there is none."""
        for section in self.sections:
            for figure in section.figures:
                if figure.name == name:
                    return figure
        raise KeyError(name)


TINY = 1e-12
"""Numbers below this are zero, whatever their unit."""


@dataclass(frozen=True, slots=True)
class ValueComparer:
    """Compares values and adds what differs to a section.

    ``rtol`` is the relative error that still counts as equal; ``length`` [m] is the size of the mechanism, against
    which positions are measured.
    """

    rtol: float
    length: float

    def compare(
        self, section: DifferenceSection, element: str, what: str, a: Any, b: Any, *, scale: float = 0.0
    ) -> None:
        """Add an item where two values differ."""
        error = measure(a, b, scale)
        if error > self.rtol:
            section.items.append(DifferenceItem(element, what, a, b, error=error))

    def compare_pose(self, section: DifferenceSection, element: str, a: Pose, b: Pose) -> None:
        """Positions against the size of the machine, rotations in radians."""
        shift = float(np.linalg.norm(a.p - b.p)) / self.length
        # q and -q are one rotation: components cannot be compared
        turn = quat_angle(a.q, b.q)
        if shift > self.rtol:
            section.items.append(DifferenceItem(element, "position", a.p.tolist(), b.p.tolist(), error=shift))
        if turn > self.rtol:
            section.items.append(
                DifferenceItem(element, "orientation", a.q.tolist(), b.q.tolist(), error=turn)
            )


# one function: a value may be of any kind, and the order of the questions matters
def measure(a: Any, b: Any, scale: float = 0.0) -> float:
    """The relative error between two values of any kind."""
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    # bool before int: True is an int in Python
    if isinstance(a, str | bool) or isinstance(b, str | bool):
        return 0.0 if a == b else math.inf
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if a.keys() != b.keys():
            return math.inf
        return max((measure(a[key], b[key], scale) for key in a), default=0.0)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return _measure_numbers(float(a), float(b), scale)
    return _measure_rows(a, b, scale)


def _measure_numbers(a: float, b: float, scale: float) -> float:
    # a value that both files fail to give is not a difference
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    gap = abs(a - b)
    return gap / max(abs(a), abs(b), scale) if gap > TINY else 0.0


# one function: lists of numbers, of anything else, and with numbers that are not finite
def _measure_rows(a: Any, b: Any, scale: float) -> float:
    try:
        first, second = (np.asarray(v, dtype=np.float64) for v in (a, b))
    except (TypeError, ValueError):
        if isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
            return max((measure(x, y, scale) for x, y in zip(a, b, strict=True)), default=0.0)
        return 0.0 if str(a) == str(b) else math.inf
    if first.shape != second.shape:
        return math.inf
    if first.size == 0:
        return 0.0
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
        return max(_measure_numbers(x, y, scale) for x, y in pairs)
    gap = float(np.abs(first - second).max())
    size = max(float(np.abs(first).max()), float(np.abs(second).max()), scale)
    return gap / size if gap > TINY else 0.0

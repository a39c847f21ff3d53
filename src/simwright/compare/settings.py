# SPDX-License-Identifier: Apache-2.0
"""What is compared, and how closely."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simwright.core.errors import UnknownNameError, UsageError

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
    """``rtol`` is the relative error that still counts as equal; ``sections`` what is compared."""

    rtol: float = 1e-6
    configurations: int = 20
    seed: int = 0
    sections: tuple[str, ...] = tuple(SECTIONS)


def make_settings(
    only: Iterable[str] = (),
    ignore: Iterable[str] = (),
    *,
    rtol: float = 1e-6,
    configurations: int = 20,
    seed: int = 0,
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
    return CompareSettings(rtol, configurations, seed, tuple(name for name in SECTIONS if name in left))


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

# SPDX-License-Identifier: Apache-2.0
"""Prims that a fix makes, takes away, names anew or turns: said by the fix, so that whoever compares can expect it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from simwright.core.math3d import Pose


@dataclass(slots=True)
class Shifts:
    """Paths on the stage, each with all that is below.

    ``come`` are new, ``gone`` are taken away, ``turned`` stand elsewhere; ``moved`` leads from an old path to the new
    one, at which the prim stands where it stood.  ``changes`` are sections of the comparison that this case of a fix is
    for, beyond those of all its cases.  ``selected`` are variants by path and set, with which
    the old asset is looked at.  Of ``reframed`` the own frame is another one, not what is below; ``frames`` has the
    position and quaternion of the old frame in the new one for those of them that are bodies.  ``weighed`` are bodies
    whose mass properties are others, because that is what the fix is for; ``mended`` has the moments of inertia [as the
    stage counts] that bodies were said to have and the nearest possible ones that are written now.
    """

    come: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    turned: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)
    changes: set[str] = field(default_factory=set)
    selected: dict[tuple[str, str], str] = field(default_factory=dict)
    reframed: set[str] = field(default_factory=set)
    frames: dict[str, tuple[float, ...]] = field(default_factory=dict)
    weighed: set[str] = field(default_factory=set)
    mended: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=dict)

    def copy(self) -> Shifts:
        """The same, to go back to."""
        return Shifts(
            set(self.come),
            set(self.gone),
            set(self.turned),
            dict(self.moved),
            set(self.changes),
            dict(self.selected),
            set(self.reframed),
            dict(self.frames),
            set(self.weighed),
            dict(self.mended),
        )

    def include(self, later: Shifts) -> None:
        """What happens afterwards, on top."""
        self.come |= later.come
        self.gone |= later.gone
        self.turned |= later.turned
        self.changes |= later.changes
        self.selected |= later.selected
        self.reframed |= later.reframed
        self.weighed |= later.weighed
        self.mended |= later.mended
        for path, frame in later.frames.items():
            before = self.frames.get(path, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
            both = Pose.of(frame[:3], frame[3:]) @ Pose.of(before[:3], before[3:])
            self.frames[path] = (*map(float, both.p), *map(float, both.q))
        if later.moved:
            self._move_on(later)

    def _move_on(self, later: Shifts) -> None:
        """Prims that were known already move once more."""
        for paths in (self.come, self.turned):
            paths |= {later.follow(path) for path in paths}
        before = dict(self.moved)
        origins = {now: path for path, now in before.items()}
        for path, now in before.items():
            self.moved[path] = later.follow(now)
        for old, new in later.moved.items():
            above = next((place for place in list_above(old) if place in origins), "")
            if above:
                self.moved[origins[above] + old[len(above) :]] = new
            elif not (old in before and is_below(before[old], (old,))):
                self.moved[old] = new

    @property
    def frozen_selection(self) -> frozenset[tuple[tuple[str, str], str]]:
        """The selected variants as a key."""
        return frozenset(self.selected.items())

    def follow(self, path: str) -> str:
        """Where a prim of the old stage is now."""
        best = next((place for place in list_above(path) if place in self.moved), "")
        return self.moved[best] + path[len(best) :] if best else path


def list_above(path: str) -> Iterator[str]:
    """A path and those above it, the nearest first."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def is_below(path: str, roots: Collection[str]) -> bool:
    """Is a path one of the roots, or below one?"""
    return bool(roots) and any(place in roots for place in list_above(path))

# SPDX-License-Identifier: Apache-2.0
"""Prims that a fix makes, takes away, names anew or turns: said by the fix, so that whoever compares can expect it."""

from __future__ import annotations

from collections.abc import Collection
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
    whose mass properties are others, because that is what the fix is for.
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
        for path, frame in later.frames.items():
            before = self.frames.get(path, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
            both = Pose.of(frame[:3], frame[3:]) @ Pose.of(before[:3], before[3:])
            self.frames[path] = (*map(float, both.p), *map(float, both.q))
        for old, new in later.moved.items():
            for paths in (self.come, self.turned):
                paths |= {new + path[len(old) :] for path in paths if is_below(path, (old,))}
            inside = [path for path, now in self.moved.items() if now != old and is_below(now, (old,))]
            for path in inside:
                self.moved[path] = new + self.moved[path][len(old) :]
            known = [first for first, second in self.moved.items() if is_below(old, (second,))]
            for first in known:
                self.moved[first + old[len(self.moved[first]) :]] = new
            if not known and old not in inside:
                self.moved[old] = new

    @property
    def frozen_selection(self) -> frozenset[tuple[tuple[str, str], str]]:
        """The selected variants as a key."""
        return frozenset(self.selected.items())

    def follow(self, path: str) -> str:
        """Where a prim of the old stage is now."""
        best = max((old for old in self.moved if is_below(path, (old,))), key=len, default="")
        return self.moved[best] + path[len(best) :] if best else path


def is_below(path: str, roots: Collection[str]) -> bool:
    """Is a path one of the roots, or below one?"""
    return any(path == root or path.startswith(f"{root}/") for root in roots)

# SPDX-License-Identifier: Apache-2.0
"""What a fix says it changes on the stage, so that the proof can expect just that and look at everything else."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields

from simwright.core.math3d import IDENTITY, Pose


@dataclass(slots=True)
class ExpectedChanges:
    """Prims that fixes add, remove, move or give other properties; paths are those of the stage.

    A path in one of the sets stands for itself and all that is below it, except in ``reframed``.  An editor collects
    the changes of one fix (``editor.expected``), a run adds those of all fixes up (:meth:`include`).
    """

    added: set[str] = field(default_factory=set)
    """Prims that are new, or of another type."""
    removed: set[str] = field(default_factory=set)
    """Prims that are taken away."""
    repositioned: set[str] = field(default_factory=set)
    """Prims that stand elsewhere in the world or have another shape: neither is compared."""
    moved: dict[str, str] = field(default_factory=dict)
    """Old path -> new path of prims that stand in the world where they stood."""
    sections: set[str] = field(default_factory=set)
    """Sections of the comparison that this case of a fix may change, beyond those that all its cases may."""
    variants: dict[tuple[str, str], str] = field(default_factory=dict)
    """(path, variant set) -> variant that the fix selects; the old asset is looked at with the same selection."""
    reframed: set[str] = field(default_factory=set)
    """Prims whose own frame is another one; what is below them stands where it stood."""
    body_frames: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Reframed bodies -> position [stage units] and quaternion (w, x, y, z) of the old frame in the new one."""
    reweighed: set[str] = field(default_factory=set)
    """Bodies that get another mass or inertia, because that is what the fix is for."""
    mended_moments: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=dict)
    """Bodies -> impossible moments of inertia as they were said, and the nearest possible ones [stage units]."""

    def copy(self) -> ExpectedChanges:
        """A copy to go back to when a fix is refused."""
        return ExpectedChanges(*(getattr(self, item.name).copy() for item in fields(self)))

    def include(self, later: ExpectedChanges) -> None:
        """Add what happens after the changes that are here already."""
        self.added |= later.added
        self.removed |= later.removed
        self.repositioned |= later.repositioned
        self.sections |= later.sections
        self.variants |= later.variants
        self.reframed |= later.reframed
        self.reweighed |= later.reweighed
        self.mended_moments |= later.mended_moments
        for path, frame in later.body_frames.items():
            before = self.body_frames.get(path, (*IDENTITY.p, *IDENTITY.q))
            both = Pose.of(frame[:3], frame[3:]) @ Pose.of(before[:3], before[3:])
            self.body_frames[path] = (*map(float, both.p), *map(float, both.q))
        if later.moved:
            self._move_again(later)

    def _move_again(self, later: ExpectedChanges) -> None:
        """Let ``moved`` lead from the first paths to the last where prims move more than once."""
        for paths in (self.added, self.repositioned):
            paths |= {later.follow(path) for path in paths}
        before = dict(self.moved)
        origins = {now: path for path, now in before.items()}
        for path, now in before.items():
            self.moved[path] = later.follow(now)
        for old, new in later.moved.items():
            above = next((place for place in list_above(old) if place in origins), "")
            if above:
                # a part of a prim that moved before: its first path is not the one that the later fix has seen
                self.moved[origins[above] + old[len(above) :]] = new
            elif not (old in before and is_below(before[old], (old,))):
                # a prim that went below its own old path left a new prim there, which is none of the old stage
                self.moved[old] = new

    @property
    def variant_key(self) -> frozenset[tuple[tuple[str, str], str]]:
        """The selected variants in a form that can be a key."""
        return frozenset(self.variants.items())

    def follow(self, path: str) -> str:
        """The path that a prim of the old stage has now."""
        if not self.moved:
            return path
        # the nearest moved prim above counts: a part may have moved out of a group that moved as well
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

# SPDX-License-Identifier: Apache-2.0
"""Mending surfaces without changing the solid that they enclose: winding, doubled and idle faces, fins, flat holes.

Points at the same place, within a millionth of the mesh's size, count as one, as they do for the rules of REP-0158 3.4.
Closed shells that cross each other are united into one solid without inner walls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.checker.facts.meshes import make_facts
from simwright.checker.facts.topology import count_edges, weld_near
from simwright.sanitizer.faces import Ints, MeshFaces, NewFaces, split_faces, split_polygon

Array = npt.NDArray[np.float64]
_FLAT = 1e-5
"""Share of a mesh's size that the rim of a hole may leave its plane."""


class MeshSurface:
    """Faces as lists of corners of the old mesh, with their points welded."""

    def __init__(self, old: MeshFaces) -> None:
        self.old = old
        # exporters write a point for each face that uses it: edges only meet after welding
        self.names = weld_near(old.points)[old.indices]
        starts = old.starts
        self.faces = [np.arange(s, s + n) for s, n in zip(starts, old.counts, strict=True)]

    @property
    def result(self) -> NewFaces:
        """The faces as they are now."""
        counts = np.array([len(face) for face in self.faces], dtype=np.int64)
        corners = np.concatenate(self.faces) if self.faces else np.zeros(0, dtype=np.int64)
        return NewFaces(counts, corners.astype(np.int64))

    @property
    def is_closed(self) -> bool:
        """Is every edge used once in each direction?"""
        new = self.result
        return count_edges(new.counts, self.names[new.corners]).is_closed

    @property
    def is_convex(self) -> bool:
        """Is it the surface of a convex solid?"""
        new = self.result
        return make_facts(self.old.points, new.counts, self.old.indices[new.corners]).is_convex

    def drop_idle(self) -> None:
        """Faces without area, and all but one of those with the same corners."""
        seen: set[frozenset[int]] = set()
        kept = []
        for face in self.faces:
            key = frozenset(int(name) for name in self.names[face])
            # the same corners in any order: two faces back to back enclose nothing
            if len(key) >= 3 and key not in seen:
                seen.add(key)
                kept.append(face)
        self.faces = kept

    def drop_fins(self) -> None:
        """Faces that stand on a surface: with an edge of their own and one that has two other faces."""
        while True:
            uses = self._count_uses()
            fins = {
                i
                for i, face in enumerate(self.faces)
                if (numbers := [uses[edge] for edge in self._list_edges(face)])
                and 1 in numbers
                and max(numbers) > 2
            }
            if not fins:
                return
            self.faces = [face for i, face in enumerate(self.faces) if i not in fins]

    def _list_edges(self, face: Ints) -> Iterator[tuple[int, int]]:
        names = self.names[face]
        for a, b in zip(names, np.roll(names, -1), strict=True):
            if a != b:
                yield (int(min(a, b)), int(max(a, b)))

    def _count_uses(self) -> dict[tuple[int, int], int]:
        uses: dict[tuple[int, int], int] = {}
        for face in self.faces:
            for edge in self._list_edges(face):
                uses[edge] = uses.get(edge, 0) + 1
        return uses

    def wind_evenly(self) -> bool:
        """Turn faces until neighbours agree: outwards for a closed part, as most faces are for an open one.

        False where that cannot be: a surface with one side only.
        """
        neighbours = self._find_neighbours()
        turned = np.full(len(self.faces), -1, dtype=np.int8)
        for start in range(len(self.faces)):
            if turned[start] >= 0:
                continue
            turned[start] = 0
            part, queue = [start], [start]
            while queue:
                face = queue.pop()
                for other, differs in neighbours.get(face, ()):
                    wanted = turned[face] ^ differs
                    if turned[other] < 0:
                        turned[other] = wanted
                        part.append(other)
                        queue.append(other)
                    elif turned[other] != wanted:
                        return False
            # a part whose faces agree already stays as it is
            if turned[part].any() and self._is_wrong(part, turned):
                turned[part] ^= 1
        self.turn(np.flatnonzero(turned == 1))
        return True

    def turn(self, numbers: Ints | None = None) -> None:
        """Faces the other way round, all of them unless some are named; the first corner stays the first."""
        for i in range(len(self.faces)) if numbers is None else numbers:
            face = self.faces[i]
            self.faces[i] = np.concatenate((face[:1], face[:0:-1]))

    def _find_neighbours(self) -> dict[int, list[tuple[int, int]]]:
        """For each face the faces beyond its edges, and 1 where both run along the edge in the same direction."""
        users: dict[tuple[int, int], list[tuple[int, bool]]] = {}
        for i, face in enumerate(self.faces):
            names = self.names[face]
            for a, b in zip(names, np.roll(names, -1), strict=True):
                if a != b:
                    users.setdefault((int(min(a, b)), int(max(a, b))), []).append((i, bool(a < b)))
        found: dict[int, list[tuple[int, int]]] = {}
        for pair in users.values():
            # at an edge of three or more faces nobody knows which two are neighbours
            if len(pair) == 2:
                (one, forth), (other, back) = pair
                differs = int(forth == back)
                found.setdefault(one, []).append((other, differs))
                found.setdefault(other, []).append((one, differs))
        return found

    def _is_wrong(self, part: list[int], turned: npt.NDArray[np.int8]) -> bool:
        """Is a part that was made even the wrong way round as a whole?"""
        faces = [self.faces[i][::-1] if turned[i] else self.faces[i] for i in part]
        counts = np.array([len(face) for face in faces], dtype=np.int64)
        corners = np.concatenate(faces)
        # an open part has no volume whose sign could tell: most faces are taken to be right
        if not count_edges(counts, self.names[corners]).is_closed:
            return 2 * int(turned[part].sum()) > len(part)
        return make_facts(self.old.points, counts, self.old.indices[corners]).volume < 0.0

    def fill_holes(self) -> bool:
        """Cover holes whose rim lies in a plane; False if there is another one."""
        caps = []
        for rim in self._list_rims():
            points = self.old.points[self.old.indices[rim]]
            # three points lie in a plane always; a bent rim could be covered in many ways
            if len(rim) > 3 and not self._is_flat(points):
                return False
            caps += [rim[triangle] for triangle in split_polygon(points)]
        self.faces += caps
        return self.is_closed

    def _is_flat(self, points: Array) -> bool:
        centred = points - points.mean(axis=0)
        _, _, axes = np.linalg.svd(centred, full_matrices=False)
        size = float(np.ptp(self.old.points, axis=0).max())
        return bool(np.abs(centred @ axes[-1]).max() <= _FLAT * size)

    def _list_rims(self) -> list[Ints]:
        """Corners around each hole, in the order that a cover has them; none where rims touch each other."""
        uses = self._count_uses()
        following: dict[int, tuple[int, int]] = {}
        for face in self.faces:
            names = self.names[face]
            for place in range(len(face)):
                # a cover runs along the rim against the faces beside it, so each edge is noted backwards
                a, b = int(names[place - 1]), int(names[place])
                if a != b and uses[min(a, b), max(a, b)] == 1:
                    # two rims meet in a point: which edges belong together cannot be told
                    if b in following:
                        return []
                    following[b] = (a, int(face[place]))
        rims = []
        while following:
            start = next(iter(following))
            rim, name = [], start
            while name in following:
                name, corner = following.pop(name)
                rim.append(corner)
            if name != start:
                return []
            rims.append(np.array(rim, dtype=np.int64))
        return rims


def close_surface(old: MeshFaces) -> NewFaces | None:
    """Faces that enclose the same solid, closed; None where that cannot be done without changing it."""
    surface = MeshSurface(old)
    # the least change first; after each step the surface may be closed already. Winding comes again, because
    # without fins more neighbours agree
    steps = (surface.drop_idle, surface.wind_evenly, surface.drop_fins, surface.wind_evenly)
    for step in steps:
        step()
        if surface.is_closed:
            return surface.result
    # a cover of a hole changes nothing only where the rest bulges out around it
    if surface.fill_holes() and surface.is_convex:
        return surface.result
    return None


def unite_shells(old: MeshFaces) -> tuple[Any, Any] | None:
    """Points and triangle corners of the union; None where a shell is open, or turned inside out."""
    # lazily: only self-crossing colliders need the library
    import manifold3d

    triangles = weld_near(old.points)[old.indices[split_faces(old).corners]].reshape(-1, 3)
    parts = []
    for shell in _list_shells(triangles, len(old.points)):
        used, corners = np.unique(shell, return_inverse=True)
        points = old.points[used].astype(np.float32)
        facts = make_facts(points, np.full(len(shell), 3), corners.reshape(-1).astype(np.int32))
        # a union is only defined for solids; a shell inside out would be taken for a cavity
        if not facts.topology.is_closed or facts.volume <= 0.0:
            return None
        mesh = manifold3d.Mesh(points, corners.reshape(-1, 3).astype(np.uint32))
        part = manifold3d.Manifold(mesh)
        if part.status() != manifold3d.Error.NoError:
            return None
        parts.append(part)
    if len(parts) < 2:
        return None
    result = manifold3d.Manifold.batch_boolean(parts, manifold3d.OpType.Add).to_mesh()
    points = np.asarray(result.vert_properties, dtype=np.float32)[:, :3]
    return points, np.asarray(result.tri_verts, dtype=np.int32).reshape(-1)


def _list_shells(triangles: Any, count: int) -> list[Any]:
    """Triangles that hang together by their points."""
    labels = np.arange(count)
    while True:
        least = labels[triangles].min(axis=1)
        spread = labels.copy()
        np.minimum.at(spread, triangles.reshape(-1), np.repeat(least, 3))
        # labels jump to the label of their label: long strips are done in a few rounds
        spread = spread[spread]
        if np.array_equal(spread, labels):
            break
        labels = spread
    owners = labels[triangles[:, 0]]
    return [triangles[owners == label] for label in np.unique(owners)]

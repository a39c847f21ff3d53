# SPDX-License-Identifier: Apache-2.0
"""What is known while a world file is read, and what becomes of entities that cannot be taken.

PyRoboSim has two ways out: it gives up the file, or it leaves an entity out with a line in a log.  Here every refused
entity is a diagnostic with its place and the rest is read; in reference mode the first of the two raises, as there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Kind, Reporter, Where
from simwright.core.errors import InputError
from simwright.core.math3d import Pose
from simwright.model.inertia import Inertial
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, suggest
from simwright.worlds.entities import Spawn
from simwright.worlds.polygons import BoundsIndex
from simwright.worlds.sampling import Sampler
from simwright.worlds.world import World

MeshReader: TypeAlias = Callable[[Path], npt.NDArray[np.float64]]
"""Gives the points of a mesh file [m]."""


@dataclass(frozen=True, slots=True)
class MeshModel:
    """What the model around a mesh says: where it puts the mesh, how it scales it, and what it weighs, if it says."""

    pose: Pose
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    inertial: Inertial | None = None


ModelReader: TypeAlias = Callable[[Path, Path], MeshModel | None]
"""Gives the part of a model file that is about a mesh file; None if it does not use it."""


class WorldReading:
    """The world so far, and how it is read."""

    def __init__(
        self,
        world: World,
        reporter: Reporter,
        sampler: Sampler,
        *,
        folder: Path,
        data_folder: Path | None = None,
        frame_mode: bool = False,
        read_mesh: MeshReader | None = None,
    ) -> None:
        self.world = world
        self.reporter = reporter
        self.sampler = sampler
        self.reference = world.reference
        self.folder = folder
        self.data_folder = data_folder
        self.frame_mode = frame_mode
        self.read_mesh = read_mesh
        self.read_model: ModelReader | None = None
        self._said: set[Where] = set()
        self._spawns: list[Spawn] | None = None
        # keys are category names, ("object", category) or pairs of rooms
        self.counts: dict[object, int] = {}
        """How many entities there are of each category, and hallways of each pair of rooms."""
        self.floors = BoundsIndex()
        """Rooms and hallways by their outer polygons."""
        self.bare_floors = BoundsIndex()
        """Rooms by their floors."""
        self.shapes: dict[object, Any] = {}
        """Footprints of categories, made once."""

    def settle(self, refusal: Refusal) -> None:
        """Report a refusal; where PyRoboSim gives up, reference mode does too."""
        if self.reference and refusal.aborts:
            kind = refusal.kind
            raise InputError(
                kind.message.format(**refusal.data),
                hint=kind.hint.format(**refusal.data),
                where=refusal.where,
            ) from refusal
        self.reporter.report(refusal.kind, refusal.where, **refusal.data)

    def list_spawns(self) -> list[Spawn]:
        """All surfaces; objects come after all locations, so they are listed once."""
        # objects come after all locations, so the list is complete by then
        if self._spawns is None:
            self._spawns = self.world.spawns
        return self._spawns

    def report(self, kind: Kind, where: Where, **data: Any) -> None:
        """Say something and go on."""
        self.reporter.report(kind, where, **data)

    def check_keys(self, entry: WorldEntry, known: Iterable[str]) -> None:
        """Report unknown keys, which PyRoboSim gives up for."""
        for key in entry.list_unknown(known):
            self.settle(entry.refuse_unknown(key, known))

    def check_loose_keys(self, entry: WorldEntry, known: Iterable[str]) -> None:
        """Report unknown keys, which PyRoboSim passes over."""
        for key in entry.list_unknown(known):
            where = entry.document.find_where(*entry.path, key, key=True)
            # a category is looked at again for every entity of it: its findings are said once
            if where in self._said:
                continue
            self._said.add(where)
            self.report(messages.IGNORED_KEY, where, key=key, place=entry.spell(), meant=suggest(key, known))


def refuse_entity(kind: Kind, where: Where, **data: Any) -> Refusal:
    """A refusal of an entity that PyRoboSim leaves out as well."""
    return Refusal(kind, where, aborts=False, **data)

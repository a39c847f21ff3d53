# SPDX-License-Identifier: Apache-2.0
"""MuJoCo in this process, motions of other engines, and the configurations that all are asked about."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.formats.mjcf.memory import compile_asset
from simwright.model.asset import Asset
from simwright.prover.answers import AnswerCache, open_answers
from simwright.prover.processes import EnginePool, NotSeenError, Worker
from simwright.prover.table import IsolatedEngine
from simwright.prover.workers.seen import Configuration, Evaluated, MotionOrder, Moved, Seen, name_of

CONFIGURATIONS = 20
_UNLIMITED = 0.8
"""How far joints without limits go [rad, m]."""
_FARTHEST = math.pi
"""Limits beyond this are not used up: a hinge of many turns says nothing more [rad, m]."""


class EngineMover:
    """One engine that does motions of several assets."""

    def __init__(self, row: IsolatedEngine, pool: EnginePool) -> None:
        self.row, self._pool = row, pool
        self._worker: Worker | None = None
        self._open, self._seen = "", Seen(row.name)

    def move(
        self,
        key: str,
        order: MotionOrder,
        find_file: Callable[[], Path],
        world: tuple[Sequence[float], float | None],
    ) -> tuple[Seen, Moved]:
        """A motion of the asset that ``key`` stands for, and what the engine sees of it.

        ``find_file`` is asked for the file when the asset is not open; ``world`` is its gravity and ground.
        """
        if self._worker is None:
            self._worker = self._pool.find(self.row)
        try:
            if self._open != key:
                self._open = ""
                self._worker.open(find_file(), *world)
                self._seen, self._open = self._worker.describe(), key
            return self._seen, self._worker.move(order)
        except NotSeenError:
            self._open = ""
            raise


class ReferenceRobot:
    """An asset that MuJoCo has compiled; raises a ``SimwrightError`` where it refuses.

    ``answers`` are those of earlier runs, where motions are looked for.
    """

    def __init__(self, asset: Asset, answers: AnswerCache | None = None) -> None:
        # MuJoCo takes a moment to import, and nobody who asks for help needs it
        from simwright.prover.workers.mujoco import MujocoRobot

        model = compile_asset(asset, Reporter()).model
        # MuJoCo 4.0 takes principal axes that are turned by less than about 1e-7 rad for those of the body, which is
        # off by more than double precision allows others to be; told not to, it computes with what the asset says
        model.body_sameframe[:] = 0
        self._robot = MujocoRobot(model)
        self.engine = self._robot.engine
        self._answers = answers or open_answers(enabled=False)
        # before the first motion sets a timestep in the model
        self._context = self._answers.make_own_context(self.engine, self._robot.save)

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        return self._robot.describe()

    def evaluate(self, configurations: Sequence[Configuration]) -> list[Evaluated]:
        """What does."""
        return [self._robot.evaluate(configuration) for configuration in configurations]

    def move(self, order: MotionOrder) -> Moved:
        """A motion; raises ``NotSeenError`` where it ends in numbers that are none."""
        question = {"ask": "move", "order": asdict(order)}
        told = self._answers.find(self._context, question)
        if told is None:
            try:
                told = {"answer": asdict(self._robot.move(order))}
            except ValueError as error:
                raise NotSeenError(str(error)) from None
            self._answers.keep(self._context, question, told)
        return Moved(**told["answer"])

    def list_zeros(self) -> dict[str, float]:
        """Coordinates of joints of one freedom in the reference pose, where they are not zero (``ref`` of MJCF)."""
        return self._robot.list_zeros()

    @property
    def gravity(self) -> list[float]:
        """Of its world [m/s^2]."""
        return [float(value) for value in self._robot.model.opt.gravity]


def list_speed_limits(asset: Asset) -> dict[str, float]:
    """Of joints of one freedom, by the names that engines have [rad/s, m/s]."""
    return {
        name_of(joint.name): float(dof.velocity_limit)
        for joint in asset.joints
        for dof in joint.dofs
        if dof.velocity_limit is not None and len(joint.dofs) == 1
    }


def choose_configurations(
    seen: Seen, count: int, seed: int, fastest: Mapping[str, float] = MappingProxyType({})
) -> list[dict[str, dict[str, Any]]]:
    """The reference pose, then positions and speeds within limits, of all joints of one freedom.

    ``fastest`` has limits of speeds: PhysX clamps a joint that is given more, and then shows forces of another state.
    Several joints of one body become one joint of many axes in some engines: they stay where they are.
    """
    random = np.random.default_rng(seed)
    kinds = ("hinge", "slide", "scalar")
    bodies = [row.body for row in seen.freedoms]
    alone = [row for row in seen.freedoms if row.kind in kinds and bodies.count(row.body) == 1]
    found: list[dict[str, dict[str, Any]]] = [{}]
    for _ in range(count):
        places = [float(random.uniform(*_find_range(row.limit))) for row in alone]
        speeds = [float(random.uniform(-1.0, 1.0)) * min(1.0, fastest.get(row.joint, 1.0)) for row in alone]
        found.append(
            {
                "joints": {row.joint: place for row, place in zip(alone, places, strict=True)},
                "bodies": {row.body: place for row, place in zip(alone, places, strict=True)},
                "speeds": {row.joint: speed for row, speed in zip(alone, speeds, strict=True)},
                "body_speeds": {row.body: speed for row, speed in zip(alone, speeds, strict=True)},
            }
        )
    return found


def _find_range(limit: tuple[float | None, float | None]) -> tuple[float, float]:
    if limit == (None, None):
        return -_UNLIMITED, _UNLIMITED
    low, high = limit
    low = -_FARTHEST if low is None else max(low, -_FARTHEST)
    high = _FARTHEST if high is None else min(high, _FARTHEST)
    # limits that leave the reference pose out entirely: their own ends count
    return (low, high) if low <= high else (limit[0] or 0.0, limit[1] or 0.0)

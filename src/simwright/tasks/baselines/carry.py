# SPDX-License-Identifier: Apache-2.0
"""Pick something up with a gripper and put it somewhere: into a tray, onto a cube, into a hole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from simwright.core.math3d import Array, quat_rotate
from simwright.tasks.baselines.scripted import CLOSED, OPEN, UP, ScriptedPolicy, find_yaw
from simwright.tasks.scenes.drawer import HANDLE

_CARRY_HEIGHT = 0.10
"""How high above the table things are carried [m]."""
_GRASP = 18
"""Actions that closing and opening take."""


class CarryPolicy(ScriptedPolicy):
    """What the three tasks share.  ``thing`` is what is carried."""

    thing = "cube"
    above = 0.0
    """Where it is held, above its middle [m]."""

    def fetch(self) -> Iterator[Array]:
        """Get the thing into the gripper and lift it."""
        thing = np.asarray(self.now[self.thing])
        self.face(find_yaw(thing))
        grasp = self.find_low(thing[:3] + self.above * UP)
        over = grasp + _CARRY_HEIGHT * UP
        yield from self.move(lambda: over, OPEN, around=True, near=0.015)
        yield from self.move(lambda: grasp, OPEN, near=0.006)
        yield from self.wait(CLOSED, _GRASP)
        yield from self.move(lambda: over, CLOSED, near=0.02)

    def bring(self, place: Callable[[], Array], height: float) -> Iterator[Array]:
        """Carry the thing over a place and let it down until it is ``height`` above it, then let go and rise."""
        high = (height + _CARRY_HEIGHT) * UP
        yield from self.move(lambda: self.lead(place() + high), CLOSED, around=True, near=0.006)
        low = height * UP
        yield from self.move(lambda: self.lead(place() + low), CLOSED, pace=0.004, near=0.004)
        yield from self.wait(OPEN, _GRASP)
        point = self.arm.point + _CARRY_HEIGHT * UP
        yield from self.move(lambda: point, OPEN, near=0.02)

    def lead(self, wanted: Array) -> Array:
        """Where the tool has to be for the thing to be somewhere."""
        return np.asarray(wanted + np.asarray(self.now["tool"])[:3] - self.see(self.thing))


class PickPlacePolicy(CarryPolicy):
    """For ``pick_place``."""

    task = "pick_place"

    def play(self) -> Iterator[Array]:
        """Fetch the cube, let it fall into the tray."""
        yield from self.fetch()
        yield from self.bring(lambda: self.see("tray"), float(self.options.cube_half) + 0.02)


class StackPolicy(CarryPolicy):
    """For ``stack``."""

    task = "stack"
    thing = "upper"

    def play(self) -> Iterator[Array]:
        """Fetch the red cube, put it on the blue one."""
        yield from self.fetch()
        yield from self.bring(lambda: self.see("lower"), 2.0 * float(self.options.cube_half) + 0.002)


class PegInsertPolicy(CarryPolicy):
    """For ``peg_insert``."""

    task = "peg_insert"
    thing = "peg"
    above = 0.025

    def play(self) -> Iterator[Array]:
        """Fetch the peg, let it down into the hole."""
        yield from self.fetch()
        half = 0.5 * float(self.options.peg_length)
        top = (float(self.options.block_height) + half + 0.02) * UP
        yield from self.move(lambda: self.lead(self.see("block") + top), CLOSED, around=True, near=0.002)
        deep = (half + 0.005) * UP
        yield from self.move(lambda: self.lead(self.see("block") + deep), CLOSED, pace=0.002, near=0.003)
        yield from self.wait(OPEN, _GRASP)


_ABOVE_HANDLE = 0.10
_AJAR = -0.3
"""Open enough for the bar, and not so far that a finger stands on the drawer's front."""


class PullPolicy(ScriptedPolicy):
    """For ``drawer``."""

    task = "drawer"

    def play(self) -> Iterator[Array]:
        """Take the handle, and pull."""
        cabinet = np.asarray(self.now["cabinet"])
        self.face_exactly(find_yaw(cabinet) + 0.5 * math.pi)
        handle = self.find_handle(0.0)
        over = handle + _ABOVE_HANDLE * UP
        yield from self.move(lambda: over, _AJAR, around=True, near=0.015)
        yield from self.move(lambda: handle, _AJAR, near=0.008)
        yield from self.wait(CLOSED, 18)
        far = min(float(self.options.travel), float(self.options.opened) + 0.02)
        yield from self.move(lambda: self.find_handle(far), CLOSED, pace=0.005, near=0.005)

    def find_handle(self, opening: float) -> Array:
        """Where the handle is when the drawer is open so far [m]."""
        cabinet = np.asarray(self.now["cabinet"])
        half = self.options.cabinet_half
        local = np.array([0.0, -float(half[1]) - HANDLE - opening, float(half[2])])
        return np.asarray(cabinet[:3] + quat_rotate(cabinet[3:], local))

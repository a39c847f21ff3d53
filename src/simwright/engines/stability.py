# SPDX-License-Identifier: Apache-2.0
"""When a simulation has left the world of numbers: which joint, in which world, at what time."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic, Reporter
from simwright.core.errors import EXIT_FINDINGS, SimwrightError
from simwright.engines.messages import STATE_UNSTABLE
from simwright.runtime.arrays import AnyArray
from simwright.runtime.model import Model

LARGEST = 1e8
"""Coordinates and velocities beyond this are no motion any more [m, rad, m/s, rad/s]."""


class UnstableError(SimwrightError):
    """Coordinates or velocities grew without bound.

    ``finding`` says where and when, at ``time`` [s]; the state that was moved is the last good one.
    """

    code = "unstable"
    exit_code = EXIT_FINDINGS

    def __init__(self, finding: Diagnostic, time: float) -> None:
        super().__init__(finding.message, hint=finding.hint)
        self.finding = finding
        self.time = time


def is_sound(values: AnyArray) -> bool:
    """Are all values finite and of a size that motion can have?"""
    return not len(values) or bool(np.abs(values).max() < LARGEST)  # not a number compares as False


def make_error(model: Model, joint_q: AnyArray, joint_qd: AnyArray, time: float) -> UnstableError:
    """Name the joint whose coordinates or velocities are worst."""
    name, value, world = find_culprit(model, joint_q, joint_qd)
    found = Reporter()
    data: dict[str, Any] = {"time": time, "world": world, "what": "joint", "name": name, "value": value}
    found.report(STATE_UNSTABLE, **data)
    return UnstableError(next(iter(found)), time)


def find_culprit(model: Model, joint_q: AnyArray, joint_qd: AnyArray) -> tuple[str, str, int]:
    """The joint with the first value that is no number, else with the largest; the value and the world."""
    worst: tuple[float, int, str] = (-1.0, 0, "")
    for values, starts, word in (
        (joint_qd, model.joint_qd_start, "a velocity"),
        (joint_q, model.joint_q_start, "a coordinate"),
    ):
        if not len(values):
            continue
        sizes = np.where(np.isfinite(values), np.abs(values), np.inf)
        at = int(np.argmax(sizes))
        joint = int(np.searchsorted(starts, at, side="right")) - 1
        if sizes[at] > worst[0]:
            worst = (float(sizes[at]), joint, f"{word} of {values[at]:.3g}")
    joint = worst[1]
    return str(model.joint_label[joint]), worst[2], int(max(model.joint_world[joint], 0))

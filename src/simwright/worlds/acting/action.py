# SPDX-License-Identifier: Apache-2.0
"""An action of a robot, and what comes of it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from simwright.worlds.planning.goals import Goal
from simwright.worlds.planning.path import Path
from simwright.worlds.poses import WorldPose


@dataclass(frozen=True, slots=True)
class Action:
    """What to do: the type, and what it is done to or where."""

    type: str
    target: Goal | None = None
    """Where to: the goal of ``navigate``; the place for ``place``, ``open`` and ``close`` where it is not obvious."""
    object: str = ""
    """What to ``pick`` or to ``detect``: a name, a category or a description."""
    pose: WorldPose | None = None
    """Where exactly to ``place``."""
    path: Path | None = None
    """The way to ``navigate``, instead of planning one."""

    def __str__(self) -> str:
        target = self.target if isinstance(self.target, str) else getattr(self.target, "name", None)
        if isinstance(self.target, WorldPose):
            target = f"({self.target.x:.3g}, {self.target.y:.3g})"
        return " ".join(str(word) for word in (self.type, self.object, target) if word)


class Status(StrEnum):
    """How an action ended."""

    SUCCESS = "success"
    PRECONDITION = "precondition"
    """It could not begin."""
    PLANNING = "planning"
    """No path, grasp or placement was found."""
    EXECUTION = "execution"
    """It began, and failed."""
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True)
class Result:
    """How an action ended.  ``code`` is stable and empty on success; ``message`` is for people."""

    status: Status
    code: str = ""
    message: str = ""
    data: dict[str, Any] = field(default_factory=dict, compare=False)
    """``path``, ``grasp``, ``objects``, whatever came of it."""

    @property
    def ok(self) -> bool:
        """Did it succeed?"""
        return self.status is Status.SUCCESS


Steps: TypeAlias = Generator[float, None, Result]
"""An action in progress: yields how long to wait [s], and returns its result."""


def succeed(**data: Any) -> Result:
    """It worked."""
    return Result(Status.SUCCESS, data=data)


def refuse(code: str, message: str) -> Result:
    """It cannot begin."""
    return Result(Status.PRECONDITION, code, message)


def fail(code: str, message: str, **data: Any) -> Result:
    """It went wrong on the way."""
    return Result(Status.EXECUTION, code, message, data)

"""Two values of the same thing, ours and Newton's: when they agree, and a difference where they do not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.math3d import Pose, quat_angle

TOLERANCE = 1e-5
ORDERS = {
    "n": ("newton",),
    "npm": ("newton", "physx", "mjc"),
    "pnm": ("physx", "newton", "mjc"),
    "mnp": ("mjc", "newton", "physx"),
}


@dataclass(frozen=True)
class Difference:
    """One value that is not the same."""

    element: str
    field: str
    ours: Any
    theirs: Any


def agree(ours: Any, theirs: Any, scale: float = 0.0) -> bool:
    """Equal to 1e-5 of their size (or of ``scale``, the size of what they are part of)."""
    if isinstance(theirs, str) and theirs in ("inf", "-inf", "nan"):
        theirs = float(theirs)
    if isinstance(ours, bool | str) or isinstance(theirs, bool | str) or theirs is None or ours is None:
        return bool(ours == theirs)
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if ours.shape != theirs.shape:
        return False
    size = np.maximum(np.abs(theirs), scale)
    with np.errstate(invalid="ignore"):
        return bool(np.all((ours == theirs) | (np.abs(ours - theirs) <= TOLERANCE * size + 1e-9)))


def agree_pose(ours: Pose, theirs: list[float]) -> bool:
    """Positions to 1e-5 of their length (at least of a metre), rotations to 1e-5 rad, whatever their sign."""
    position, turn = np.array(theirs[:3]), (theirs[6], *theirs[3:6])
    reach = max(1.0, float(np.linalg.norm(position)))
    return (
        bool(np.all(np.abs(ours.p - position) <= TOLERANCE * reach)) and quat_angle(ours.q, turn) <= TOLERANCE
    )


def agree_value(ours: Any, theirs: Any) -> bool:
    """Newton writes quaternions x, y, z, w."""
    if isinstance(theirs, list) and len(theirs) == 4 and len(ours) == 4:
        turned = [*ours[1:], ours[0]]
        return agree(turned, theirs, 1.0) or agree(ours, theirs)
    return agree(ours, theirs)


def read_literal(value: Any) -> Any:
    """A value that the oracle holds as text."""
    return json.loads(value.lower()) if isinstance(value, str) else value


def say(value: float | None, default: float) -> float:
    """What is said, else Newton's default."""
    return default if value is None else value

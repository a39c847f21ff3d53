# SPDX-License-Identifier: Apache-2.0
"""What an engine sees of a robot, as plain data that goes from a worker to whoever asked.

Nothing but numpy is imported: workers run in the environments of other projects.  Units are SI and radians.  Joint
positions and limits are counted from the reference pose, in which the bodies are where the file places them.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Configuration = Mapping[str, Mapping[str, float]]
"""Positions of hinges and slides, by the name of the joint (``joints``) and of the body that it moves (``bodies``)."""

UNLIMITED = 1e6
"""From here on a force or a limit is none: by default Newton has 1e6 and 1e10 for them, PhysX has 3.4e38."""


@dataclass
class Freedom:
    """One degree of freedom; several of them with one ``joint`` are a ball, a free joint or a joint of many axes."""

    joint: str
    body: str
    kind: str
    """``hinge``, ``slide``, ``scalar`` (one of the two), ``ball``, ``free``, or ``axis`` of a joint of many axes."""

    limit: tuple[float | None, float | None] = (None, None)
    stiffness: float = 0.0
    """Of the drive [N/m, N*m/rad], as all of the next two."""

    damping: float = 0.0
    max_force: float | None = None
    armature: float = 0.0
    friction: float = 0.0
    passive_damping: float = 0.0
    passive_stiffness: float = 0.0


@dataclass
class Actuator:
    """A motor as MuJoCo describes it: force = gain * control + bias[0] + bias[1] * length + bias[2] * velocity."""

    name: str
    target: str
    transmission: str
    gain: list[float]
    bias: list[float]
    gear: list[float]
    simple: bool
    """Whether gain and bias are all: no dynamics, no muscle, no callback."""

    force_range: tuple[float, float] | None = None
    control_range: tuple[float, float] | None = None


@dataclass
class Seen:
    """A robot in an engine; rows and columns of ``mass_matrices`` are ``freedoms``, armature is not in them."""

    engine: str
    freedoms: list[Freedom] = field(default_factory=list)
    floating: list[str] = field(default_factory=list)
    """Bodies that nothing holds, each the root of a tree."""

    masses: dict[str, float] = field(default_factory=dict)
    actuators: list[Actuator] = field(default_factory=list)
    mass_matrices: list[list[list[float]]] = field(default_factory=list)
    """In the reference pose, then one for each configuration."""


def serve(see: Callable[[Path, Sequence[Configuration]], Seen]) -> None:
    """Main function of a worker: ``FILE.usda [CONFIGURATIONS.json]`` as arguments, one JSON object on standard output.

    What engines print goes to standard error.  The process ends without their clean-up, which crashes in some of them.
    """
    file = Path(sys.argv[1])
    configurations = json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else []
    answer = os.dup(1)
    os.dup2(2, 1)
    seen = see(file, configurations)
    with os.fdopen(answer, "w") as stream:
        json.dump(asdict(seen), stream)
    sys.stderr.flush()
    os._exit(0)


def load(text: str) -> Seen:
    """What a worker printed."""
    told = json.loads(text)
    told["freedoms"] = [Freedom(**{**row, "limit": tuple(row["limit"])}) for row in told["freedoms"]]
    told["actuators"] = [Actuator(**row) for row in told["actuators"]]
    return Seen(**told)


def name_of(path: str) -> str:
    """The name that things are matched by: the last part of a prim path, with only what an identifier may have.

    A name of MJCF may hold anything; OpenUSD's prims may not.
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", path.rpartition("/")[2])
    return f"_{name}" if name[:1].isdigit() else name


def find_position(configuration: Configuration, joint: str, body: str) -> float:
    """Where a joint is; one that is not in the configuration stays in the reference pose.

    A joint of MJCF may have no name, or that of a body beside it, which a prim may not: then its body tells.
    """
    joints, bodies = configuration.get("joints", {}), configuration.get("bodies", {})
    return joints.get(joint, bodies.get(body, 0.0))


def bound(value: float) -> float | None:
    """A limit or largest force; none where an engine writes a huge number for it."""
    return float(value) if math.isfinite(value) and abs(value) < UNLIMITED else None


def join_blocks(blocks: Sequence[Any]) -> list[list[float]]:
    """The mass matrix of trees that do not touch each other."""
    size = sum(len(block) for block in blocks)
    whole, start = np.zeros((size, size)), 0
    for block in blocks:
        stop = start + len(block)
        whole[start:stop, start:stop] = block
        start = stop
    return whole.tolist()

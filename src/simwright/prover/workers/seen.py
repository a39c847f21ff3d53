# SPDX-License-Identifier: Apache-2.0
"""What an engine sees of a robot, as plain data that goes from a worker to whoever asked, and how a worker is asked.

Nothing but numpy is imported: workers run in the environments of other projects.  Units are SI and radians,
quaternions w, x, y, z.  Joint positions and limits are counted from the reference pose, in which the bodies are where
the file places them.

A worker is asked by lines of JSON on its standard input and answers each with a line on standard output::

    {"ask": "open", "file": "robot.usda", "world": {...}}             {"answer": "PhysX (ovphysx 0.7)"}
    {"ask": "structure"}                                              {"answer": {"freedoms": [...], ...}}
    {"ask": "evaluate", "configurations": [...]}                      {"answer": [{"poses": ...}, ...]}
    {"ask": "move", "order": {...}}                                   {"answer": {"joints": [...], ...}}

An error of the engine is answered by ``{"error": "what it said"}``, what it has no way to do by ``{"unable": "why"}``.
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
from typing import Any, Protocol
from xml.etree import ElementTree as ET

import numpy as np

Configuration = Mapping[str, Mapping[str, Any]]
"""Positions of hinges and slides, by the name of the joint (``joints``) and of the body that it moves (``bodies``),
their speeds likewise (``speeds``, ``body_speeds``), and where links are in the reference pose (``roots``): that of
the one that floats counts, where the format or the engine has lost it.
"""

WORLD = "world"
"""The root link that a URDF has where its base is held."""

UNLIMITED = 1e6
"""From here on a force or a limit is none: by default Newton has 1e6 and 1e10 for them, PhysX has 3.4e38."""


@dataclass
class SeenFreedom:
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
    label: str = ""
    """What the engine itself calls the joint; of a prim path, its last part."""


@dataclass
class SeenActuator:
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
    """A robot in an engine: ``blank`` has the aspects that it cannot tell, each with the reason."""

    engine: str
    freedoms: list[SeenFreedom] = field(default_factory=list)
    floating: list[str] = field(default_factory=list)
    """Bodies that nothing holds, each the root of a tree."""

    masses: dict[str, float] = field(default_factory=dict)
    inertias: dict[str, list[float]] = field(default_factory=dict)
    """Centre of mass [m], and xx, yy, zz, xy, xz, yz of the inertia about it [kg m^2], along the axes of the body."""

    actuators: list[SeenActuator] = field(default_factory=list)
    mimics: dict[str, list[Any]] = field(default_factory=dict)
    """Joints that follow another: its name, and how far for each unit of it."""

    filters: list[list[str]] = field(default_factory=list)
    """Pairs of bodies with shapes that do not touch each other, as far as the engine tells."""

    blank: dict[str, str] = field(default_factory=dict)


@dataclass
class Evaluated:
    """A robot in one configuration; rows and columns are its freedoms, armature is not in the mass matrix.

    ``poses`` are those of bodies in the world: position [m] and quaternion.  ``bias`` are the forces of gravity and
    of the speeds: M a + bias = applied forces.  None: the engine cannot tell.
    """

    poses: dict[str, list[float]] | None = None
    mass_matrix: list[list[float]] | None = None
    bias: list[float] | None = None


@dataclass
class WorldSettings:
    """What an asset is opened in: gravity [m/s^2], the friction of a ground at z = 0 (none: no ground), the solver.

    Formats with places for gravity and a ground have them in the file, and workers that read these look at neither.
    """

    gravity: list[float]
    ground: float | None = None
    solver: str = ""


@dataclass
class MotionOrder:
    """A motion that is asked for, at timesteps of ``step`` [s].

    It begins in the configuration ``start``, with drives going to ``targets``, which are positions as in one.
    ``samples`` moments follow the first one, ``stride`` steps apart.  ``bodies`` are the links to follow.
    """

    step: float
    stride: int
    samples: int
    start: dict[str, dict[str, Any]] = field(default_factory=dict)
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    bodies: list[str] = field(default_factory=list)


@dataclass
class Moved:
    """What came of it, for every moment.

    Positions of all freedoms in the order of ``Seen``, none for those that are not all of their joint, and poses of
    the links that were asked for.
    """

    joints: list[list[float | None]]
    bodies: dict[str, list[list[float]]]


Moment = tuple[Sequence[float | None], Mapping[str, Sequence[float]]]
"""Positions of freedoms, and poses of links by name."""


class NotAbleError(Exception):
    """The engine has no way to do what is asked; the message says why."""


class Opened(Protocol):
    """A robot that is open in an engine."""

    @property
    def engine(self) -> str:
        """The engine with its version."""
        ...

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        ...

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        ...

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion by the engine's own steps; raises ``NotAbleError``."""
        ...


def record(order: MotionOrder, advance: Callable[[int], None], read: Callable[[], Moment]) -> Moved:
    """Take down a motion; ``advance`` makes a number of steps."""
    moments = [read()]
    for _ in range(order.samples):
        advance(order.stride)
        moments.append(read())
    for time, moment in enumerate(moments):
        if not _has_numbers(moment):
            raise ValueError(f"positions are no numbers after {time * order.stride * order.step:.2f} s")
    known = [name for name in order.bodies if name in moments[0][1]]
    followed = {name: [[float(value) for value in poses[name]] for _, poses in moments] for name in known}
    joints = [[None if value is None else float(value) for value in row] for row, _ in moments]
    return Moved(joints, followed)


def _has_numbers(moment: Moment) -> bool:
    joints, poses = moment
    values = [value for value in joints if value is not None]
    return bool(np.isfinite(values).all() and np.isfinite(list(poses.values())).all())


def serve(open_file: Callable[[Path, WorldSettings], Opened]) -> None:
    """Main function of a worker.

    What engines print goes to standard error.  The process ends without their clean-up, which crashes in some of them.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    opened: Opened | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["ask"] == "open":
                opened = open_file(Path(asked["file"]), WorldSettings(**asked["world"]))
            answer = {"answer": _answer(opened, asked)}
        except NotAbleError as error:
            answer = {"unable": str(error)}
        # whatever an engine raises is its answer, and the worker's to pass on
        except Exception as error:  # noqa: BLE001
            answer = {"error": " ".join(str(error).split()) or type(error).__name__}
        print(json.dumps(answer), file=answers, flush=True)
    sys.stderr.flush()
    os._exit(0)


def _answer(opened: Opened | None, asked: Mapping[str, Any]) -> Any:
    if opened is None:
        raise ValueError("nothing is open")
    if asked["ask"] == "open":
        return opened.engine
    if asked["ask"] == "structure":
        return asdict(opened.describe())
    if asked["ask"] == "move":
        return asdict(opened.move(MotionOrder(**asked["order"])))
    return [asdict(opened.evaluate(configuration)) for configuration in asked["configurations"]]


def load(told: dict[str, Any]) -> Seen:
    """What a worker answered to ``structure``."""
    told["freedoms"] = [SeenFreedom(**{**row, "limit": tuple(row["limit"])}) for row in told["freedoms"]]
    told["actuators"] = [SeenActuator(**row) for row in told["actuators"]]
    return Seen(**told)


def label_of(path: str) -> str:
    """The last part of a prim path; a name of MJCF may have slashes and stays what it is."""
    return path.rpartition("/")[2] if path.startswith("/") else path


def name_of(path: str) -> str:
    """The name that things are matched by: the last part of a prim path, with only what an identifier may have.

    A name of MJCF may hold anything, slashes too; OpenUSD's prims may not, and have one underscore for all between.
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", label_of(path))
    return f"_{name}" if name[:1].isdigit() else name


def find_position(configuration: Configuration, joint: str, body: str) -> float:
    """Where a joint is; one that is not in the configuration stays in the reference pose.

    A joint of MJCF may have no name, or that of a body beside it, which a prim may not: then its body tells.
    """
    joints, bodies = configuration.get("joints", {}), configuration.get("bodies", {})
    return float(joints.get(joint, bodies.get(body, 0.0)))


def find_speed(configuration: Configuration, joint: str, body: str) -> float:
    """How fast a joint moves; see :func:`find_position`."""
    joints, bodies = configuration.get("speeds", {}), configuration.get("body_speeds", {})
    return float(joints.get(joint, bodies.get(body, 0.0)))


def find_root(file: Path) -> str:
    """The root link of a URDF file: the one that is the child of no joint."""
    robot = ET.parse(file).getroot()  # noqa: S314 - written by Simwright
    children = {child.get("link") for joint in robot.iter("joint") for child in joint.findall("child")}
    return next(name for link in robot.findall("link") if (name := link.get("name", "")) not in children)


def has_mimics(file: Path) -> bool:
    """Whether a joint of a URDF file follows another."""
    return next(ET.parse(file).getroot().iter("mimic"), None) is not None  # noqa: S314 - written by Simwright


def bound(value: float) -> float | None:
    """A limit or largest force; none where an engine writes a huge number for it."""
    return float(value) if math.isfinite(value) and abs(value) < UNLIMITED else None


def pack_inertia(center: Any, tensor: Any) -> list[float]:
    """A row of ``Seen.inertias``, of a centre of mass and the tensor about it along the axes of the body."""
    c, t = np.asarray(center, dtype=float), np.asarray(tensor, dtype=float).reshape(3, 3)
    return [*map(float, c), *map(float, (t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]))]


def rotate(quaternion: Any) -> Any:
    """The matrix of a quaternion w, x, y, z."""
    w, x, y, z = (float(value) for value in quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def join_blocks(blocks: Sequence[Any]) -> list[list[float]]:
    """The mass matrix of trees that do not touch each other."""
    size = sum(len(block) for block in blocks)
    whole, start = np.zeros((size, size)), 0
    for block in blocks:
        stop = start + len(block)
        whole[start:stop, start:stop] = block
        start = stop
    joined: list[list[float]] = whole.tolist()
    return joined

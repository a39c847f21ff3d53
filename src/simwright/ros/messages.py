# SPDX-License-Identifier: Apache-2.0
"""Parts of messages as dictionaries: times, headers, vectors, poses; and what arrives, read back.

At the end: robots as URDF texts, as ``robot_description`` has them, with meshes in files that live as long as a bridge.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.files import write_staged
from simwright.core.math3d import Array, Pose
from simwright.core.scratch import Scratch
from simwright.engines.protocol import Closeable
from simwright.formats.format import WriteOptions
from simwright.formats.urdf.writer.entry import build_files
from simwright.model.asset import Asset
from simwright.ros.graph import GraphRobot, RosGraph
from simwright.ros.transports.transport import Message

NANO = 1_000_000_000


def make_stamp(time: int) -> Message:
    """``builtin_interfaces/Time`` of nanoseconds."""
    return {"sec": time // NANO, "nanosec": time % NANO}


def make_header(time: int, frame: str) -> Message:
    """``std_msgs/Header``."""
    return {"stamp": make_stamp(time), "frame_id": frame}


def make_vector(values: Sequence[float] | Array) -> Message:
    """``geometry_msgs/Vector3`` or ``Point``."""
    x, y, z = (float(value) for value in values)
    return {"x": x, "y": y, "z": z}


def make_quaternion(q: Sequence[float] | Array) -> Message:
    """``geometry_msgs/Quaternion`` of w, x, y, z."""
    w, x, y, z = (float(value) for value in q)
    return {"x": x, "y": y, "z": z, "w": w}


def make_pose(pose: Pose) -> Message:
    """``geometry_msgs/Pose``."""
    return {"position": make_vector(pose.p), "orientation": make_quaternion(pose.q)}


def make_transform(time: int, parent: str, child: str, pose: Pose) -> Message:
    """``geometry_msgs/TransformStamped``."""
    return {
        "header": make_header(time, parent),
        "child_frame_id": child,
        "transform": {"translation": make_vector(pose.p), "rotation": make_quaternion(pose.q)},
    }


def make_twist(linear: Sequence[float] | Array, angular: Sequence[float] | Array) -> Message:
    """``geometry_msgs/Twist``."""
    return {"linear": make_vector(linear), "angular": make_vector(angular)}


def make_covariance(deviations: Sequence[float]) -> Array:
    """A diagonal matrix of squares, row by row."""
    return np.diag(np.square(np.asarray(deviations, dtype=np.float64))).ravel()


def read_seconds(duration: Any) -> float:
    """A time or duration [s]."""
    return int(duration["sec"]) + int(duration["nanosec"]) / NANO


def read_vector(vector: Message) -> tuple[float, float, float]:
    """A ``Vector3`` or ``Point``."""
    return float(vector["x"]), float(vector["y"]), float(vector["z"])


def read_pose(pose: Message) -> Pose:
    """A ``Pose``; a quaternion of zeros, as unset messages have it, is no turn."""
    turn = pose["orientation"]
    q = (float(turn["w"]), float(turn["x"]), float(turn["y"]), float(turn["z"]))
    return Pose.of(read_vector(pose["position"]), q if any(q) else (1.0, 0.0, 0.0, 0.0))


def are_finite(values: Sequence[float] | Array) -> bool:
    """Are all of them numbers?"""
    return all(math.isfinite(float(value)) for value in values)


_FILE_NAME = re.compile(r'(<(?:mesh|texture)\b[^>]*\bfilename=")([^":]+)"')
_ENTRY = "robot.urdf"


class RobotDescriptions(Closeable):
    """Writes robots of a graph; their files go with it."""

    def __init__(self, graph: RosGraph) -> None:
        self._graph = graph
        self._scratch: list[Scratch] = []

    def describe(self, robot: GraphRobot) -> str:
        """A robot as URDF; "" where URDF cannot hold it."""
        try:
            asset = self._take_out(robot)
            if asset is None or not asset.bodies:
                return ""
            files = build_files(asset, _ENTRY, WriteOptions(), Reporter())
        except SimwrightError:
            return ""
        text = files.pop(_ENTRY).decode()
        if files:
            folder = Scratch()
            self._scratch.append(folder)
            write_staged(folder.path, files)
            text = _FILE_NAME.sub(rf'\1file://{folder.path}/\2"', text)
        # the declaration of bytes is not part of a text
        return re.sub(r"^<\?xml[^>]*\?>\s*", "", text)

    def _take_out(self, robot: GraphRobot) -> Asset | None:
        """The asset itself, or one robot of several; None for a robot that is several mechanisms."""
        if len(self._graph.robots) == 1:
            return self._graph.asset
        links = {frame.id for frame in robot.frames.frames if frame.why == "link"}
        roots = [f.body for f in robot.frames.frames if f.why == "link" and f.parent not in links]
        return self._graph.asset.copy().detach(roots[0]) if len(roots) == 1 else None

    def close(self) -> None:
        """Remove all files."""
        for folder in self._scratch:
            folder.close()
        self._scratch.clear()

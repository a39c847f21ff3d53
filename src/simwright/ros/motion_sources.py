# SPDX-License-Identifier: Apache-2.0
"""Messages about motion: joint states, odometry, inertial measurements, poses, and the transforms of TF."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from simwright.core.math3d import (
    Array,
    Pose,
    poses_compose,
    quat_conjugate,
    quat_rotate,
    quats_conjugate,
    quats_multiply,
    quats_normalize,
    quats_rotate,
)
from simwright.engines.layout import Layout
from simwright.model.joint import WORLD
from simwright.ros.frames import FrameTree, GraphFrame
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import make_covariance
from simwright.ros.moment import SimulationMoment
from simwright.ros.serving import NoDataError
from simwright.ros.source_parts import Read, SourceContext, find_freedoms, make_stamped, read_noise
from simwright.ros.transports.cdr import MessageLayout, PackedMessage, Slot, make_slots
from simwright.ros.transports.transport import Message

TF = "tf2_msgs/msg/TFMessage"
ODOMETRY = "nav_msgs/msg/Odometry"
_WORLD_ROW = np.array([(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)])
_QUATERNION = (("x", 1), ("y", 2), ("z", 3), ("w", 0))
"""Fields of a quaternion, and where its number is in w, x, y, z."""


class TransformTable:
    """Transforms from frame to frame of all robots, worked out at once for each moment."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._edges: list[tuple[GraphFrame, GraphFrame]] = []
        self._sides: list[tuple[Array, Array | None]] = []

    def add(self, edges: Sequence[tuple[GraphFrame, GraphFrame]]) -> slice:
        """Take in pairs of parent and child; gives the rows they have."""
        start = len(self._edges)
        self._edges += edges
        self._sides = []
        return slice(start, len(self._edges))

    def read(self, moment: SimulationMoment) -> Array:
        """Poses of children in their parents (edges x 7) at a moment."""
        return moment.ask(self, lambda: self._compute(moment.poses))

    def _compute(self, bodies: Array) -> Array:
        if not self._sides:
            self._sides = [self._locate([edge[side] for edge in self._edges]) for side in (0, 1)]
        # the world is the row after all bodies
        poses = np.concatenate([bodies, _WORLD_ROW])
        parents, children = (
            poses[rows] if places is None else poses_compose(poses[rows], places)
            for rows, places in self._sides
        )
        back = quats_conjugate(parents[:, 3:])
        found = np.empty_like(parents)
        found[:, :3] = quats_rotate(back, children[:, :3] - parents[:, :3])
        found[:, 3:] = quats_normalize(quats_multiply(back, children[:, 3:]))
        return found

    def _locate(self, frames: Sequence[GraphFrame]) -> tuple[Array, Array | None]:
        """Rows of the bodies that frames are on, and their places there; None where they are the bodies' own."""
        last = len(self._layout.bodies)
        rows = [last if frame.body == WORLD else self._layout.find_body(frame.body) for frame in frames]
        places = np.array([(*frame.pose.p, *frame.pose.q) for frame in frames])
        is_own = bool((places == _WORLD_ROW).all())
        return np.array(rows, dtype=np.int64), None if is_own else places


def make_tf_source(
    frames: FrameTree, table: TransformTable, *, static: bool, odometry: dict[str, Callable[[], Pose]]
) -> Read:
    """All transforms of /tf or of /tf_static; ``odometry`` gives the counted pose of a controller's base."""
    edges = frames.list_edges(static=static)
    rows = table.add(edges)
    transforms = [
        {
            "header": make_stamped(parent.id),
            "child_frame_id": child.id,
            "transform": {
                "translation": make_slots("poses", 7 * number, "xyz"),
                "rotation": _make_turn("poses", 7 * number + 3),
            },
        }
        for number, (parent, child) in enumerate(edges)
    ]
    layout = MessageLayout(TF, {"transforms": transforms})
    counted = {
        number: odometry[c.controller] for number, (_, c) in enumerate(edges) if c.controller in odometry
    }

    def read(moment: SimulationMoment) -> PackedMessage:
        poses = table.read(moment)[rows]
        if counted:
            # the table keeps its rows for all who ask at this moment
            poses = poses.copy()
            for number, count in counted.items():
                pose = _place_counted(frames, *edges[number], count(), moment)
                poses[number] = (*pose.p, *pose.q)
        return layout.pack(moment.time, poses=poses)

    return read


def _place_counted(
    frames: FrameTree, parent: GraphFrame, child: GraphFrame, counted: Pose, moment: SimulationMoment
) -> Pose:
    """The pose of a frame that a controller counts, or of the one where counting began."""
    if child.why != "odometry":
        return counted
    # what is true, less what was counted
    base = next(frame for frame in frames.frames if frame.parent == child.id)
    return ~moment.find_frame(parent) @ moment.find_frame(base) @ ~counted


def _make_turn(name: str, start: int) -> Message:
    return {field: Slot(name, start + offset) for field, offset in _QUATERNION}


def _make_pose(name: str, start: int = 0) -> Message:
    return {"position": make_slots(name, start, "xyz"), "orientation": _make_turn(name, start + 3)}


def make_joint_states(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``sensor_msgs/JointState``; efforts are left out where the engine does not tell them, as the message allows."""
    freedoms = find_freedoms(context.layout, context.robot)
    names = [name for name in endpoint.joints if name in freedoms]
    if not names:
        raise NoDataError("it has no joints with a coordinate")
    q = np.array([freedoms[name].q for name in names])
    v = np.array([freedoms[name].v for name in names])
    told = ["position", "velocity"]
    if context.simulation.actuator_efforts() is not None:
        told.append("effort")
    slots = {part: Slot(part, 0, len(names)) for part in told}
    layout = MessageLayout(endpoint.type, {"header": make_stamped(endpoint.frame_id), "name": names, **slots})

    def read(moment: SimulationMoment) -> PackedMessage:
        values = {"position": moment.positions[q], "velocity": moment.velocities[v]}
        if moment.efforts is not None:
            values["effort"] = moment.efforts[v]
        return layout.pack(moment.time, **values)

    return read


def make_odometry_layout(frame: str, child: str) -> MessageLayout:
    """``nav_msgs/Odometry`` with the slots ``pose`` (7) and ``twist`` (6)."""
    twist = {"linear": make_slots("twist", 0, "xyz"), "angular": make_slots("twist", 3, "xyz")}
    return MessageLayout(
        ODOMETRY,
        {
            "header": make_stamped(frame),
            "child_frame_id": child,
            "pose": {"pose": _make_pose("pose")},
            "twist": {"twist": twist},
        },
    )


def make_true_odometry(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """Of an endpoint without a controller: where the body truly is."""
    at = endpoint.interface.at if endpoint.interface is not None else ""
    body = at if at in context.layout.bodies else next((f.body for f in context.frames.frames if f.body), "")
    if not body:
        raise NoDataError("it is attached to no body")
    child = next((f.id for f in context.frames.frames if f.body == body), body)
    origin = context.frames.find(endpoint.frame_id)
    begins = origin if origin is not None and origin.body == WORLD else None
    layout = make_odometry_layout(endpoint.frame_id if begins is not None else "world", child)

    def read(moment: SimulationMoment) -> PackedMessage | None:
        start = moment.find_frame(begins) if begins is not None else Pose.identity()
        pose = moment.find_pose(body)
        moved = moment.find_velocity(body, pose.p)
        if moved is None:
            return None
        # nav_msgs/Odometry: the pose in the header's frame, the twist in that of the child
        turn = quat_conjugate(pose.q)
        seen = ~start @ pose
        return layout.pack(
            moment.time,
            pose=np.concatenate([seen.p, seen.q]),
            twist=np.concatenate([quat_rotate(turn, part) for part in moved]),
        )

    return read


def make_imu(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``sensor_msgs/Imu``: orientation, turning and felt acceleration of its frame, with noise."""
    frame = context.find_place(endpoint)
    sensor = context.find_sensor(endpoint, "imu")
    spin = [read_noise(sensor, f"angular_velocity_{axis}") for axis in "xyz"]
    push = [read_noise(sensor, f"linear_acceleration_{axis}") for axis in "xyz"]
    before: list[tuple[int, Array]] = []
    layout = MessageLayout(
        endpoint.type,
        {
            "header": make_stamped(endpoint.frame_id),
            "orientation": _make_turn("turn", 0),
            "angular_velocity": make_slots("spin", 0, "xyz"),
            "angular_velocity_covariance": make_covariance([deviation for _, deviation in spin]),
            "linear_acceleration": make_slots("felt", 0, "xyz"),
            "linear_acceleration_covariance": make_covariance([deviation for _, deviation in push]),
        },
    )

    def read(moment: SimulationMoment) -> PackedMessage | None:
        place = moment.find_frame(frame)
        moved = moment.find_velocity(frame.body, place.p)
        if moved is None:
            return None
        velocity, turning = moved
        past, before[:] = list(before), [(moment.time, velocity)]
        # how fast the velocity changes takes two moments: the first gives none
        if not past or moment.time <= past[0][0]:
            return None
        change = (velocity - past[0][1]) / ((moment.time - past[0][0]) * 1e-9)
        turn = quat_conjugate(place.q)
        felt = quat_rotate(turn, change - context.gravity) + _draw(context, push)
        return layout.pack(
            moment.time, turn=place.q, spin=quat_rotate(turn, turning) + _draw(context, spin), felt=felt
        )

    return read


def _draw(context: SourceContext, noises: list[tuple[float, float]]) -> Array:
    return np.array([mean + deviation * context.random.standard_normal() for mean, deviation in noises])


def make_true_pose(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``geometry_msgs/PoseStamped`` on a body: where it truly is."""
    at = endpoint.interface.at if endpoint.interface is not None else ""
    if at not in context.layout.bodies:
        raise NoDataError("it is attached to no body")
    row = context.layout.find_body(at)
    layout = MessageLayout(endpoint.type, {"header": make_stamped("world"), "pose": _make_pose("pose")})
    return lambda moment: layout.pack(moment.time, pose=moment.poses[row])

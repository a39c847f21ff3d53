# SPDX-License-Identifier: Apache-2.0
"""What publishers of an asset send: computed from the simulation, never made up.

:func:`make_source` finds the source of an endpoint by its type; where there is none, or where it lacks what it would
measure with, it says why, and the endpoint is disabled.  A source is a function of the moment.
"""

from __future__ import annotations

from collections.abc import Callable

from simwright.ros.graph import RosEndpoint
from simwright.ros.moment import SimulationMoment
from simwright.ros.motion_sources import make_imu, make_joint_states, make_true_odometry, make_true_pose
from simwright.ros.sensor_sources import (
    make_camera_info,
    make_cloud,
    make_contact,
    make_image,
    make_range,
    make_scan,
)
from simwright.ros.serving import MessageSource, NoDataError
from simwright.ros.source_parts import Read, SourceContext

_MAKERS: dict[str, Callable[[RosEndpoint, SourceContext], Read]] = {
    "sensor_msgs/msg/JointState": make_joint_states,
    "nav_msgs/msg/Odometry": make_true_odometry,
    "sensor_msgs/msg/Imu": make_imu,
    "sensor_msgs/msg/LaserScan": make_scan,
    "sensor_msgs/msg/PointCloud2": make_cloud,
    "sensor_msgs/msg/Range": make_range,
    "sensor_msgs/msg/Image": make_image,
    "sensor_msgs/msg/CameraInfo": make_camera_info,
    "std_msgs/msg/Bool": make_contact,
    "geometry_msgs/msg/PoseStamped": make_true_pose,
}
"""Type -> what makes its source."""
_LOOKING_AHEAD = frozenset({"sensor_msgs/msg/Imu"})


def make_source(endpoint: RosEndpoint, context: SourceContext) -> MessageSource[SimulationMoment]:
    """What an endpoint sends; raises :class:`NoDataError` where nothing can be computed."""
    maker = _MAKERS.get(endpoint.type)
    if maker is None:
        raise NoDataError(f"nothing is computed for {endpoint.type}")
    return MessageSource(maker(endpoint, context), endpoint.type in _LOOKING_AHEAD)

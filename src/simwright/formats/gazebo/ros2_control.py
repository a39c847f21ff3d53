# SPDX-License-Identifier: Apache-2.0
"""Controller parameters of ros2_control: the YAML file a Gazebo plugin names, read as controllers.

Of the file only what the model has words for is read: which controllers the manager knows, their joints, and the
ROS interfaces each of them opens by its own documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import InputError
from simwright.core.files import MIB, read_bytes
from simwright.core.names import NameScope
from simwright.model.asset import Asset
from simwright.model.ros import Controller, Interface, InterfaceKind

PARAMETERS_UNREADABLE = declare(
    "ros2-control-parameters",
    Level.WARNING,
    "the controller parameters {file!r} cannot be read: {reason}",
    hint="check the path and the YAML; the controllers in it are not known",
    doc="A ros2_control plugin names a parameter file that is missing or is not valid YAML.",
)
CONTROLLER_JOINT = declare(
    "ros2-control-joint",
    Level.WARNING,
    "the controller {name!r} in {file!r} names the joint {joint!r}, which is not a joint of the robot",
    hint="correct the name in the parameter file",
    doc="A controller's parameters name a joint that the description does not have.",
)

# Parameter files are short; YAML is slow to parse.
MAX_BYTES = MIB
_TOPIC, _ACTION = InterfaceKind.TOPIC, InterfaceKind.ACTION

CONTROLLERS: dict[str, tuple[str, tuple[tuple[str, InterfaceKind, str, str, str], ...]]] = {
    "joint_state_broadcaster/JointStateBroadcaster": (
        "joint_state_broadcaster",
        (("publisher", _TOPIC, "publisher", "joint_states", "sensor_msgs/msg/JointState"),),
    ),
    "joint_trajectory_controller/JointTrajectoryController": (
        "joint_trajectory",
        (
            (
                "server",
                _ACTION,
                "server",
                "~/follow_joint_trajectory",
                "control_msgs/action/FollowJointTrajectory",
            ),
        ),
    ),
    "position_controllers/GripperActionController": (
        "gripper_action",
        (("server", _ACTION, "server", "~/gripper_cmd", "control_msgs/action/GripperCommand"),),
    ),
    "diff_drive_controller/DiffDriveController": (
        "diff_drive",
        (
            ("subscriber", _TOPIC, "subscription", "~/cmd_vel", "geometry_msgs/msg/TwistStamped"),
            ("odom", _TOPIC, "publisher", "~/odom", "nav_msgs/msg/Odometry"),
        ),
    ),
    "imu_sensor_broadcaster/IMUSensorBroadcaster": (
        "imu_broadcaster",
        (("publisher", _TOPIC, "publisher", "~/imu", "sensor_msgs/msg/Imu"),),
    ),
    "force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster": (
        "force_torque_broadcaster",
        (("publisher", _TOPIC, "publisher", "~/wrench", "geometry_msgs/msg/WrenchStamped"),),
    ),
    **{
        f"{group}/JointGroup{word}Controller": (
            f"joint_{word.lower()}",
            (("subscriber", _TOPIC, "subscription", "~/commands", "std_msgs/msg/Float64MultiArray"),),
        )
        for group, word in (
            ("position_controllers", "Position"),
            ("velocity_controllers", "Velocity"),
            ("effort_controllers", "Effort"),
        )
    },
}
"""Controller type -> kind of the model, and its interfaces: (role on the controller, kind, role, name, type)."""

_JOINT_LISTS = {
    "left": ("left_wheel_names",),
    "right": ("right_wheel_names",),
    "command": ("joints", "joint"),
}


class AssetReader(Protocol):
    """What is needed of a reader: its asset, its reporter, and a way to follow an address."""

    asset: Asset
    reporter: Reporter

    def resolve(self, uri: str, where: Where) -> Path:
        """The file an address means."""
        ...


def read_parameters(reader: AssetReader, uri: str, where: Where) -> None:
    """Add the controllers of a parameter file and the interfaces they open."""
    try:
        table = _load(reader.resolve(uri, where))
    except InputError as error:
        reader.reporter.report(PARAMETERS_UNREADABLE, where, file=uri, reason=error.message)
        return
    manager = _parameters(table, "controller_manager")
    names = NameScope(controller.name for controller in reader.asset.controllers)
    for name, entry in manager.items():
        kind = entry.get("type") if isinstance(entry, Mapping) else None
        if isinstance(kind, str):
            _add_controller(reader, str(name), kind, _parameters(table, str(name)), (names, uri, where))


def _load(path: Path) -> Mapping[str, Any]:
    import yaml

    try:
        table = yaml.load(read_bytes(path, MAX_BYTES), Loader=_make_loader())  # noqa: S506 - safe, see there
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(str(error).partition("\n")[0]) from None
    if not isinstance(table, Mapping):
        raise InputError("it holds no table")
    return table


def _make_loader() -> Any:
    """Safe YAML without aliases: an alias can unfold without end."""
    import yaml

    class PlainLoader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            # A few lines of aliases of aliases would fill the memory.
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("aliases are not followed")
            return super().compose_node(parent, index)

    return PlainLoader


def _parameters(table: Mapping[str, Any], node: str) -> Mapping[str, Any]:
    """``NODE: {ros__parameters: ...}``, also written with a leading slash or below ``/**``."""
    # "/**" gives parameters to nodes of any name.
    for root in (table, table.get("/**")):
        if not isinstance(root, Mapping):
            continue
        entry = root.get(node, root.get(f"/{node}"))
        if isinstance(entry, Mapping) and isinstance(entry.get("ros__parameters"), Mapping):
            found: Mapping[str, Any] = entry["ros__parameters"]
            return found
    return {}


def _add_controller(
    reader: AssetReader,
    name: str,
    type_name: str,
    settings: Mapping[str, Any],
    place: tuple[NameScope, str, Where],
) -> None:
    # One function: a controller is its joints and its interfaces, both from the same settings.
    names, uri, where = place
    kind, rows = CONTROLLERS.get(type_name, (type_name, ()))
    controller = Controller(names.claim(name), kind, path=type_name, source=where)
    controller.settings = {**settings, "plugin": type_name}
    for role, keys in _JOINT_LISTS.items():
        listed = [item for key in keys for item in _texts(settings.get(key))]
        known = {joint.name for joint in reader.asset.joints}
        for joint in listed:
            if joint not in known:
                reader.reporter.report(CONTROLLER_JOINT, where, name=name, file=uri, joint=joint)
        found = [joint for joint in listed if joint in known]
        if found:
            # A broadcaster reads its joints and commands none.
            controller.joints["state" if kind == "joint_state_broadcaster" else role] = found
    for key, interface_kind, role, topic, message in rows:
        # "~" is the node's own name, which is that of the controller.
        resolved = topic.replace("~", name, 1)
        interface = Interface(interface_kind, role, resolved, message, source=where)
        if role == "publisher":
            rate = settings.get("publish_rate")
            interface.rate = float(rate) if isinstance(rate, (int, float)) and rate > 0 else None
        reader.asset.interfaces.append(interface)
        controller.interfaces[key] = resolved
    reader.asset.controllers.append(controller)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

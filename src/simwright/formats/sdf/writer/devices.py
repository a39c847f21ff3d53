# SPDX-License-Identifier: Apache-2.0
"""``<sensor>`` on links and joints, and the ``<plugin>`` of controllers and publishers, with their topics.

Cameras that no sensor has become sensors too.  Nothing is injected: a plugin is written for a controller of the model
for which Gazebo has a system, and for nothing else (REP-0158 3.8).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from simwright.formats.gazebo.sensors import TOPICS, list_topics
from simwright.formats.sdf.writer.context import ModelElement, SdfWriteContext, add, add_pose, refer
from simwright.formats.sdf.writer.kept import put, restore, restore_plugins, restore_settings
from simwright.formats.sdf.writer.messages import CAMERA_AS_SENSOR
from simwright.formats.sdf.writer.sensor_settings import DIRECT, TYPES, list_places
from simwright.formats.sdf.writer.shapes import find_written_link
from simwright.formats.sdf.writer.systems import PREFIX
from simwright.formats.xml import Element
from simwright.model.asset import Camera, Sensor
from simwright.model.joint import Drive
from simwright.model.ros import Controller, Interface, InterfaceKind
from simwright.model.servo import pulls_to_position
from simwright.resolve.sensors import LOOK, generalize

_RESOLUTION = (640, 480)
"""Of a camera that says nothing [pixels]."""
_ASSUMED = {
    "horizontal_fov": 1.047, "image_width": 320, "image_height": 240, "clip_near": 0.1, "clip_far": 100.0,
}  # fmt: skip
"""What SDFormat takes where nothing is said."""
_CLOSE = 1e-9


def _find_known(sensor: Sensor) -> Sensor:
    """An engine's own sensor as one that SDFormat has: MuJoCo's gyro is an IMU, a single beam a lidar of one."""
    known = generalize(sensor)
    if known.kind != "range":
        return known
    said, angle = known.settings, known.settings.get("field_of_view", 0.0)
    if angle:
        radius = said["max"] * math.tan(angle / 2.0) if "max" in said else None
        return replace(
            known, kind="sonar", settings={**_pick(said, "min", "max"), "geometry": "cone", "radius": radius}
        )
    # Gazebo Sim has no sonar; a lidar with one sample is what its own range finders are.
    beam = {"scan_horizontal_samples": 1, "scan_horizontal_min_angle": 0.0, "scan_horizontal_max_angle": 0.0}
    reach = {f"range_{key}": value for key, value in _pick(said, "min", "max").items()}
    noise = {key: value for key, value in said.items() if key.startswith("noise_")}
    return replace(known, kind="lidar", settings={**beam, **reach, **noise})


def _pick(settings: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: settings[key] for key in keys if key in settings}


class SensorWriter:
    """Writes sensors; keeps what has to be said about them."""

    def __init__(self, context: SdfWriteContext) -> None:
        self._context = context
        self._cameras = {camera.name: camera for camera in context.asset.cameras}
        self._seen: set[str] = set()
        self._homeless: list[Sensor | Camera] = []
        self._reduced: list[Sensor] = []

    def write_all(self) -> None:
        """Sensors, then cameras."""
        context = self._context
        for sensor in context.asset.sensors:
            known = sensor if sensor.kind in TYPES else _find_known(sensor)
            # Other kinds are reported by the table.
            if known.kind in TYPES:
                self._write(known)
        loose = [camera for camera in context.asset.cameras if camera.name not in self._seen]
        for camera in loose:
            self._write_camera(camera)
        if loose:
            bare = sum(not all(camera.resolution) for camera in loose)
            context.report(CAMERA_AS_SENSOR, loose, bare=bare)
        context.lose("sensor(s) of the world", self._homeless, "write a world: --world", moves=False)
        advice = "SDFormat has no such setting of that kind of sensor"
        context.lose("sensor(s) with other settings", self._reduced, advice, moves=False)

    def _write(self, sensor: Sensor) -> None:
        context = self._context
        written_joint = context.written_joints.get(sensor.target) if sensor.kind == "force_torque" else None
        written = find_written_link(context, sensor)
        if written is None:
            self._homeless.append(sensor)
            self._seen.add(sensor.target)
            return
        word, family = TYPES[sensor.kind]
        pose = written.offset @ sensor.pose
        if written_joint is not None:
            node = add(
                written_joint.node,
                "sensor",
                name=context.claim(written.names, "sensor", sensor.name),
                type=word,
            )
            # A sensor on a joint is placed in the joint's frame.
            pose = ~written_joint.frame @ pose
        else:
            node = add(
                written.link, "sensor", name=context.claim(written.names, "sensor", sensor.name), type=word
            )
        add_pose(node, pose)
        if sensor.rate is not None:
            add(node, "update_rate", float(sensor.rate))
        self._write_settings(node, sensor, family, self._write_topic(node, sensor))
        restore(context, node, "sensor", sensor.name)
        restore_plugins(context, node, sensor.name)

    def _write_settings(self, node: Element, sensor: Sensor, family: str, more: dict[str, Any]) -> None:
        # One function: settings are used up step by step, and what is left over at the end is reported.
        settings = {key: value for key, value in {**more, **sensor.settings}.items() if value is not None}
        for tag in DIRECT:
            if tag in settings:
                found = node.find(tag)
                if found is not None:
                    node.remove(found)
                put(node, tag, settings.pop(tag))
        cameras = self._find_cameras(sensor) if family == "camera" else []
        if cameras:
            settings = self._write_cameras(node, sensor, cameras, settings)
        elif family:
            if family == "imu":
                self._spread_noise(settings)
            self._write_family(node, family, settings)
        if any(key != "pose" and value != "" for key, value in settings.items()):
            self._reduced.append(sensor)

    def _spread_noise(self, settings: dict[str, Any]) -> None:
        """Noise of an IMU as SDFormat 1.4 has it, for all three axes at once, as it is said since 1.5."""
        word = settings.get("noise_type")
        for old, new in (("accel", "linear_acceleration"), ("rate", "angular_velocity")):
            found = {k: settings.pop(k) for k in list(settings) if k.startswith(f"noise_{old}_")}
            for key, value in found.items():
                for axis in "xyz":
                    settings[f"{new}_{axis}_noise_{key.removeprefix(f'noise_{old}_')}"] = value
                    if word is not None:
                        settings[f"{new}_{axis}_noise_type"] = word
            if found:
                settings.pop("noise_type", None)

    def _write_family(self, node: Element, family: str, settings: dict[str, Any]) -> Element | None:
        """The element of the family with the settings that have a place; takes them out of the list."""
        places = list_places(family)
        found = {key: settings.pop(key) for key in list(settings) if key in places}
        more = [key for key in list(settings) if family == "contact" and key.startswith("collision_")]
        if not (found or more):
            return None
        element = add(node, family)
        for key, value in found.items():
            put(element, places[key], self._rename(family, key, value))
        for key in more:
            add(element, "collision", self._rename(family, "collision", settings.pop(key)))
        return element

    def _rename(self, family: str, key: str, value: Any) -> Any:
        """A contact sensor names collisions, which may have new names."""
        if family == "contact" and key == "collision":
            return self._context.shapes.get(str(value), value)
        return value

    def _find_cameras(self, sensor: Sensor) -> list[Camera]:
        """The cameras of a sensor: its target, and in a group those that are named after it."""
        names = [sensor.target] if sensor.target in self._cameras else []
        if sensor.kind == "multicamera":
            names += [n for n in self._cameras if n.startswith(f"{sensor.name}_") and n not in names]
        elif not names and sensor.name in self._cameras:
            names = [sensor.name]
        self._seen.update(names)
        return [self._cameras[name] for name in names]

    def _write_cameras(
        self, node: Element, sensor: Sensor, cameras: list[Camera], settings: dict[str, Any]
    ) -> dict[str, Any]:
        """``<camera>`` elements; what the model's camera says goes before the settings."""
        left = settings
        for camera in cameras:
            left = dict(settings)
            values = {**left, **_describe(camera, left)}
            # Size, angle and clipping are in the model's camera, which counts.
            for key in _ASSUMED:
                left.pop(key, None)
            if len(cameras) > 1:
                values["name"] = camera.name.removeprefix(f"{sensor.name}_")
            element = self._write_family(node, "camera", values)
            assert element is not None
            add_pose(element, ~sensor.pose @ camera.pose @ ~LOOK)
            left = {key: value for key, value in left.items() if key in values}
        return left

    def _write_camera(self, camera: Camera) -> None:
        context = self._context
        written = self._context.written_links.get(camera.body)
        if written is None:
            self._homeless.append(camera)
            return
        node = add(
            written.link, "sensor", name=context.claim(written.names, "sensor", camera.name), type="camera"
        )
        add_pose(node, written.offset @ camera.pose @ ~LOOK)
        self._write_family(node, "camera", _describe(camera, {}))

    def _write_topic(self, node: Element, sensor: Sensor) -> dict[str, Any]:
        """``<topic>``, and what the sensor has to be told beside it."""
        rows = self._list_published(sensor)
        topic = _choose_topic(sensor.kind, rows)
        if not topic:
            return {}
        add(node, "topic", topic)
        more: dict[str, Any] = {}
        # Gazebo derives the topic of the calibration from the sensor's; it is said only where it is another one.
        info = next((i.name for i in rows if i.type.endswith("/CameraInfo")), "")
        derived = set(list_topics(sensor.kind, topic))
        if info and info not in {name for name, _ in derived}:
            more["camera_info_topic"] = info
        derived |= set(list_topics(sensor.kind, topic, info))
        self._context.published.update(id(row) for row in rows if (row.name, row.type) in derived)
        frame = next((i.frame_override for i in rows if i.frame_override), "")
        if frame and frame not in (sensor.settings.get(k) for k in (*DIRECT, "optical_frame_id")):
            more["gz_frame_id"] = frame
        return more

    def _list_published(self, sensor: Sensor) -> list[Interface]:
        """Topics that a sensor publishes on."""
        return [
            row
            for row in self._context.asset.interfaces
            if row.at == sensor.name and row.kind is InterfaceKind.TOPIC and row.role == "publisher"
        ]


def _choose_topic(kind: str, rows: list[Interface]) -> str:
    """The topic that most of the published ones follow from."""
    names = {(row.name, row.type) for row in rows}
    # The topic is not in the model, only what Gazebo derives from it: tried backwards.
    candidates = [
        row.name.removesuffix(ending)
        for ending, message in TOPICS.get(kind, ())
        if ending != "camera_info"
        for row in rows
        if row.type == message and row.name.endswith(ending)
    ]
    return max(candidates, key=lambda topic: len(names & set(list_topics(kind, topic))), default="")


def _describe(camera: Camera, settings: dict[str, Any]) -> dict[str, Any]:
    """Field of view across, size and clipping of a camera; the settings' own angle where it means the same."""
    wide, high = (int(v) for v in (camera.resolution if all(camera.resolution) else _RESOLUTION))
    # SDFormat gives the angle across, the model the one up and down.
    across = 2.0 * math.atan(math.tan(camera.fov_y / 2.0) * wide / high)
    said = settings.get("horizontal_fov")
    # Its own number, so that nothing changes by being computed twice.
    if isinstance(said, (int, float)) and abs(said - across) <= _CLOSE * across:
        across = float(said)
    values = {
        "horizontal_fov": across,
        "image_width": wide,
        "image_height": high,
        "clip_near": float(camera.near),
        "clip_far": float(camera.far),
    }
    return {key: v for key, v in values.items() if key in settings or abs(v - _ASSUMED[key]) > _CLOSE * v}


ODOMETRY = "nav_msgs/msg/Odometry"
TF = "tf2_msgs/msg/TFMessage"
_GAINS = ("p_gain", "i_gain", "d_gain", "i_max", "i_min", "cmd_max", "cmd_min", "cmd_offset")
_BASE = (
    "wheel_separation", "wheel_radius", "max_linear_velocity", "min_linear_velocity", "max_linear_acceleration",
    "min_linear_acceleration", "max_angular_velocity", "min_angular_velocity", "max_angular_acceleration",
    "min_angular_acceleration",
)  # fmt: skip
_FRAMES = {"odom_frame": "frame_id", "base_frame": "child_frame_id"}


@dataclass(frozen=True, slots=True)
class GazeboSystem:
    """A system of Gazebo: its library and class, and the tags of joints, settings and topics by role."""

    library: str
    name: str
    joints: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    rate: str = ""


_WHEELS = {name: name for name in _BASE} | _FRAMES
_DRIVE_TOPICS = {"subscriber": "topic", "odom": "odom_topic"}
SYSTEMS: dict[str, GazeboSystem] = {
    "diff_drive": GazeboSystem(
        "gz-sim-diff-drive-system", "DiffDrive", {"left": "left_joint", "right": "right_joint"}, _WHEELS,
        _DRIVE_TOPICS, "odom_publish_frequency",
    ),
    "mecanum": GazeboSystem(
        "gz-sim-mecanum-drive-system", "MecanumDrive",
        {role: f"{role}_joint" for role in ("front_left", "front_right", "back_left", "back_right")},
        _WHEELS | {"wheel_base": "wheelbase"}, _DRIVE_TOPICS, "odom_publish_frequency",
    ),
    "ackermann": GazeboSystem(
        "gz-sim-ackermann-steering-system", "AckermannSteering",
        {role: f"{role}_joint" for role in ("left", "right", "left_steering", "right_steering")},
        _WHEELS | {n: n for n in ("wheel_base", "kingpin_width", "steering_limit", "steer_p_gain")},
        _DRIVE_TOPICS, "odom_publish_frequency",
    ),
    "joint_state_broadcaster": GazeboSystem(
        "gz-sim-joint-state-publisher-system", "JointStatePublisher", {"state": "joint_name"}, {},
        {"publisher": "topic"}, "update_rate",
    ),
    "joint_trajectory": GazeboSystem(
        "gz-sim-joint-trajectory-controller-system", "JointTrajectoryController", {"command": "joint_name"}, {},
        {"subscriber": "topic"},
    ),
    "joint_position": GazeboSystem(
        "gz-sim-joint-position-controller-system", "JointPositionController", {"command": "joint_name"},
        {name: name for name in _GAINS}, {"subscriber": "topic"},
    ),
    "joint_velocity": GazeboSystem(
        "gz-sim-joint-controller-system", "JointController", {"command": "joint_name"},
        {name: name for name in _GAINS}, {"subscriber": "topic"},
    ),
    "joint_effort": GazeboSystem(
        "gz-sim-apply-joint-force-system", "ApplyJointForce", {"command": "joint_name"}, {}, {"subscriber": "topic"},
    ),
    "rigid_body_twist": GazeboSystem(
        "gz-sim-velocity-control-system", "VelocityControl", {}, {}, {"subscriber": "topic"},
    ),
}  # fmt: skip
"""Kind of controller -> the system that does the same."""
_IGNORED = frozenset({"body", "plugin"})


class ControllerWriter:
    """Writes plugins; keeps what has to be said about them."""

    def __init__(self, context: SdfWriteContext) -> None:
        self._context = context
        self._topics = {interface.name: interface for interface in context.asset.interfaces}
        self.lost: list[Controller] = []
        self.reduced: list[Controller] = []

    def write_all(self) -> None:
        """Controllers, then publishers that are none."""
        for controller in self._context.asset.controllers:
            system = SYSTEMS.get(controller.kind)
            if system is None or not self._write(controller, system):
                self.lost.append(controller)
        for interface in self._context.asset.interfaces:
            if id(interface) not in self._context.published:
                self._publish(interface)
        self._write_drives()

    def _write_drives(self) -> None:
        """A position controller for each drive with a spring that no controller of the asset stands for."""
        context = self._context
        # joints that a controller of the asset commands: a second one would pull as well
        known = {
            name
            for controller in context.asset.controllers
            if controller.kind == "joint_position" and not any(controller is lost for lost in self.lost)
            for name in controller.joints.get("command", ())
        }
        system = SYSTEMS["joint_position"]
        for joint in context.asset.joints:
            for number, dof in enumerate(joint.dofs):
                axis, drive = context.dofs.get(dof.name), dof.drive
                if axis is None or drive is None or joint.name in known or not pulls_to_position(dof):
                    continue
                node = self._open(axis.model, system.library, system.name)
                add(node, "joint_name", axis.joint)
                if number:
                    add(node, "joint_index", number)
                for tag, value in _list_gains(drive).items():
                    add(node, tag, float(value))

    def _write(self, controller: Controller, system: GazeboSystem) -> bool:
        """The plugin of a controller; False if its joints, roles or topics have no place in the system."""
        # One function: either the whole controller has a place in the system or nothing is written.
        names = [name for names in controller.joints.values() for name in names]
        model = self._find_model(names, str(controller.settings.get("body", "")))
        known = {role: self._topics.get(name) for role, name in controller.interfaces.items()}
        topics = {role: topic for role, topic in known.items() if topic is not None and role in system.topics}
        if model is None or len(topics) < len(known) or set(controller.joints) - set(system.joints):
            return False
        node = self._open(model, system.library, system.name)
        for role, tag in system.joints.items():
            for name in controller.joints.get(role, ()):
                written_joint = self._context.written_joints[name]
                add(node, tag, refer(model, written_joint.model, written_joint.name))
        for key, tag in system.settings.items():
            if key in controller.settings:
                put(node, tag, controller.settings[key])
        self._write_topics(node, system, topics)
        restore_settings(self._context, node)
        if set(controller.settings) - set(system.settings) - _IGNORED:
            self.reduced.append(controller)
        return True

    def _write_topics(self, node: Element, system: GazeboSystem, topics: Mapping[str, Interface]) -> None:
        for role, topic in topics.items():
            add(node, system.topics[role], topic.name)
            self._context.published.add(id(topic))
            # Only what the system publishes has a rate; commands come when they come.
            if topic.rate is not None and system.rate and role in ("odom", "publisher"):
                add(node, system.rate, float(topic.rate))

    def _find_model(self, joints: Sequence[str], body: str) -> ModelElement | None:
        """The model that holds all joints; the only one there is where there are none."""
        context = self._context
        if any(name not in context.written_joints for name in joints):
            return None
        models = [context.written_joints[name].model for name in joints]
        if not models and body in context.written_links:
            models = [context.written_links[body].model]
        if not models:
            models = self._list_moving_models()[:1]
        # One function: the innermost model that all joints share, with two stand-ins where there are none.
        paths = [model.path() for model in models]
        shared = [row[0] for row in zip(*paths, strict=False) if all(model is row[0] for model in row)]
        return shared[-1] if shared and not shared[-1].is_world else None

    def _list_moving_models(self) -> list[ModelElement]:
        models = self._context.models
        return [model for model in models if not model.is_world and model.node.find("static") is None]

    def _open(self, model: ModelElement, library: str, name: str) -> Element:
        return add(model.node, "plugin", name=f"{PREFIX}{name}", filename=library)

    def _publish(self, interface: Interface) -> None:
        """Odometry and poses of a model."""
        if interface.role != "publisher" or interface.type not in (ODOMETRY, TF) or not interface.at:
            return
        written = self._context.written_links.get(interface.at)
        if written is None:
            return
        if interface.type == ODOMETRY:
            node = self._open(written.model, "gz-sim-odometry-publisher-system", "OdometryPublisher")
            add(node, "odom_topic", interface.name)
            rate = "odom_publish_frequency"
        else:
            node = self._open(written.model, "gz-sim-pose-publisher-system", "PosePublisher")
            # Said only where it is not the default: older versions of Gazebo do not read it.
            if interface.name != f"/model/{written.model.name}/pose":
                add(node, "topic", interface.name)
            rate = "update_frequency"
        if interface.rate is not None:
            add(node, rate, float(interface.rate))
        restore_settings(self._context, node)
        self._context.published.add(id(interface))


def _list_gains(drive: Drive) -> dict[str, float]:
    """The elements of Gazebo's position controller that make it a spring and a damper."""
    gains = {"p_gain": drive.stiffness, "i_gain": 0.0, "d_gain": drive.damping}
    if math.isfinite(drive.max_force):
        gains |= {"cmd_max": drive.max_force, "cmd_min": -drive.max_force}
    else:  # the wrong way round: without limits
        gains |= {"cmd_max": -1.0, "cmd_min": 1.0}
    return gains | ({"initial_position": drive.target_position} if drive.target_position else {})

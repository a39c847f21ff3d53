# SPDX-License-Identifier: Apache-2.0
"""How joints are driven: ``<transmission>``, ``<ros2_control>`` and Gazebo plugins.

A transmission becomes one actuator per ``<actuator>``, paired with the joint of the same position; its
``mechanicalReduction`` is the gear.  A ``<ros2_control>`` block becomes a controller of kind
``ros2_control`` whose settings hold hardware, parameters, interfaces and couplings as written.

For ``<gazebo><plugin>``, the table :data:`PLUGINS` says for each plugin library which topics it has (parameter,
default name, type, direction) and which controller it is.  Names follow the ROS 2 form (``<ros>`` with namespace and
remapping ``~/out:=scan``), the ROS 1 form (``robotNamespace``, ``topicName``) and the Gazebo form (``topic``).  The
settings of a plugin are kept on its controller, or as an extra under ``gazebo`` where it is none.

Default names are those of the plugins' own documentation.  A ROS plugin of Gazebo Classic has them below its
namespace, a system of Gazebo Sim below ``/model/NAME`` (``sim``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simwright.core.diag import Level, declare
from simwright.core.names import NameScope
from simwright.formats.gazebo.ros2_control import read_parameters
from simwright.formats.urdf.reader import UrdfReader, format_xml, read_settings
from simwright.formats.xml import BAD_NUMBER, RATIO_WORD, ROTOR_WORD, Element, spell
from simwright.model.asset import Actuator
from simwright.model.joint import Dof
from simwright.model.ros import Controller, Interface, InterfaceKind
from simwright.model.servo import has_rotor


@dataclass(frozen=True, slots=True)
class PluginTopic:
    """A topic of a plugin: its parameter tags, default name, message type and direction."""

    tags: tuple[str, ...]
    default: str
    type: str
    role: str = "publisher"
    frame_tags: tuple[str, ...] = ()
    key: str = "publisher"
    """Its role on a controller (see ``model.ros.CONTROLLER_ROLES``)."""
    sim: str = ""
    """Its default name in Gazebo Sim, with the model and the first joint to be filled in."""


@dataclass(frozen=True, slots=True)
class PluginRow:
    """What a plugin means: its topics, its controller kind, and the joints it names by role."""

    topics: tuple[PluginTopic, ...] = ()
    controller: str = ""
    joints: tuple[tuple[str, tuple[str, ...]], ...] = ()


# tags by which plugins of ROS 1, ROS 2, Ignition and Gazebo Sim name the frame of their messages
_FRAMES = ("frame_name", "frameName", "frame_id", "gz_frame_id", "ignition_frame_id")
_IMAGE = PluginTopic(("imageTopicName",), "image_raw", "sensor_msgs/msg/Image", frame_tags=_FRAMES)
_INFO = PluginTopic(("cameraInfoTopicName",), "camera_info", "sensor_msgs/msg/CameraInfo", frame_tags=_FRAMES)
_DEPTH = PluginTopic(("depthImageTopicName",), "depth/image_raw", "sensor_msgs/msg/Image", frame_tags=_FRAMES)
_DEPTH_INFO = PluginTopic(
    ("depthImageCameraInfoTopicName",), "depth/camera_info", "sensor_msgs/msg/CameraInfo", frame_tags=_FRAMES
)
_POINTS = PluginTopic(("pointCloudTopicName",), "points", "sensor_msgs/msg/PointCloud2", frame_tags=_FRAMES)
_SCAN = PluginTopic(("topicName", "topic"), "scan", "sensor_msgs/msg/LaserScan", frame_tags=_FRAMES)
_TWIST = PluginTopic(
    ("commandTopic", "topic"), "cmd_vel", "geometry_msgs/msg/Twist", "subscription", key="subscriber",
    sim="/model/{model}/cmd_vel",
)  # fmt: skip
_ODOMETRY = PluginTopic(
    ("odometryTopic", "odom_topic"),
    "odom",
    "nav_msgs/msg/Odometry",
    key="odom",
    sim="/model/{model}/odometry",
)
_STATES = PluginTopic(
    ("topicName", "topic"), "joint_states", "sensor_msgs/msg/JointState",
    sim="/world/default/model/{model}/joint_state",
)  # fmt: skip
_TRAJECTORY = PluginTopic(
    ("topic", "topicName"),
    "set_joint_trajectory",
    "trajectory_msgs/msg/JointTrajectory",
    "subscription",
    key="subscriber",
    sim="/model/{model}/joint_trajectory",
)
# skid-steer plugins name four wheels, differential drives two
_WHEELS = (
    ("left", ("left_joint", "leftJoint", "leftFrontJoint", "leftRearJoint")),
    ("right", ("right_joint", "rightJoint", "rightFrontJoint", "rightRearJoint")),
)
_STEERED = tuple((f"{side}_steering", (f"{side}_steering_joint",)) for side in ("left", "right"))
_CORNERS = tuple(
    (f"{end}_{side}", (f"{end}_{side}_joint",)) for end in ("front", "back") for side in ("left", "right")
)
_POSE_TOPIC = PluginTopic(
    ("topicName",), "odom", "nav_msgs/msg/Odometry", frame_tags=("frameName", "frame_name")
)
_CAMERA = PluginRow((_IMAGE, _INFO))
_DEPTH_CAMERA = PluginRow((_IMAGE, _INFO, _DEPTH, _DEPTH_INFO, _POINTS))
_DIFF_DRIVE = PluginRow((_TWIST, _ODOMETRY), "diff_drive", _WHEELS)
_LASER = PluginRow((_SCAN,))
_IMU_TOPIC = PluginTopic(("topicName", "topic"), "imu", "sensor_msgs/msg/Imu", frame_tags=_FRAMES)
_GPS_TOPIC = PluginTopic(("topicName", "topic"), "fix", "sensor_msgs/msg/NavSatFix", frame_tags=_FRAMES)
_WRENCH = PluginTopic(("topicName", "topic"), "wrench", "geometry_msgs/msg/WrenchStamped", frame_tags=_FRAMES)
_BUMPER = PluginTopic(
    ("bumperTopicName",), "bumper_states", "gazebo_msgs/msg/ContactsState", frame_tags=_FRAMES
)
ROS2_CONTROL = PluginRow((), "ros2_control")
_JOINT_NAME = (("command", ("joint_name",)),)


def _command(controller: str, ending: str) -> PluginRow:
    """A Gazebo Sim plugin that takes one number for a joint."""
    name = f"/model/{{model}}/joint/{{joint}}/{ending}"
    kind = "std_msgs/msg/Float64"
    topic = PluginTopic(
        ("topic",), ending.rpartition("/")[2], kind, "subscription", key="subscriber", sim=name
    )
    return PluginRow((topic,), controller, _JOINT_NAME)


PLUGINS: dict[str, PluginRow] = {
    "gazebo_ros_camera": _CAMERA,
    "gazebo_ros_multicamera": _CAMERA,
    "gazebo_ros_triggered_camera": _CAMERA,
    "gazebo_ros_depth_camera": _DEPTH_CAMERA,
    "gazebo_ros_openni_kinect": _DEPTH_CAMERA,
    "gazebo_ros_laser": _LASER,
    "gazebo_ros_gpu_laser": _LASER,
    "gazebo_ros_ray_sensor": _LASER,
    "gazebo_ros_imu": PluginRow((_IMU_TOPIC,)),
    "gazebo_ros_imu_sensor": PluginRow((_IMU_TOPIC,)),
    "hector_gazebo_ros_imu": PluginRow((_IMU_TOPIC,)),
    "gazebo_ros_gps_sensor": PluginRow((_GPS_TOPIC,)),
    "hector_gazebo_ros_gps": PluginRow((_GPS_TOPIC,)),
    "gazebo_ros_ft_sensor": PluginRow((_WRENCH,)),
    "gazebo_ros_bumper": PluginRow((_BUMPER,)),
    "gazebo_ros_p3d": PluginRow((_POSE_TOPIC,)),
    "gazebo_ros_diff_drive": _DIFF_DRIVE,
    "gazebo_ros_skid_steer_drive": _DIFF_DRIVE,
    "gazebo_ros_planar_move": PluginRow((_TWIST, _ODOMETRY), "rigid_body_twist"),
    "gazebo_ros_ackermann_drive": PluginRow((_TWIST, _ODOMETRY), "ackermann"),
    "gazebo_ros_joint_state_publisher": PluginRow(
        (_STATES,), "joint_state_broadcaster", (("state", ("joint_name",)),)
    ),
    "gazebo_ros_joint_pose_trajectory": PluginRow((_TRAJECTORY,), "joint_trajectory"),
    # the manager of controllers; which ones it runs is in its configuration
    "gazebo_ros_control": ROS2_CONTROL,
    "gazebo_ros2_control": ROS2_CONTROL,
    "gz_ros2_control-system": ROS2_CONTROL,
    "ign_ros2_control-system": ROS2_CONTROL,
    "gz-sim-diff-drive-system": _DIFF_DRIVE,
    "gz-sim-ackermann-steering-system": PluginRow((_TWIST, _ODOMETRY), "ackermann", _WHEELS + _STEERED),
    "gz-sim-mecanum-drive-system": PluginRow((_TWIST, _ODOMETRY), "mecanum", _CORNERS),
    "gz-sim-velocity-control-system": PluginRow((_TWIST,), "rigid_body_twist"),
    "gz-sim-odometry-publisher-system": PluginRow((_ODOMETRY,)),
    "gz-sim-joint-state-publisher-system": PluginRow(
        (_STATES,), "joint_state_broadcaster", (("state", ("joint_name",)),)
    ),
    "gz-sim-joint-trajectory-controller-system": PluginRow((_TRAJECTORY,), "joint_trajectory", _JOINT_NAME),
    "gz-sim-joint-position-controller-system": _command("joint_position", "0/cmd_pos"),
    "gz-sim-joint-controller-system": _command("joint_velocity", "cmd_vel"),
    "gz-sim-apply-joint-force-system": _command("joint_effort", "cmd_force"),
}
"""Plugin libraries by their bare file name (no ``lib``, no ``.so``, ``ignition-gazebo`` as ``gz-sim``)."""


CONTROL_JOINT = declare(
    "urdf-control-joint",
    Level.ERROR,
    "{what} {name!r} drives joint {joint!r}, which is not a joint of the robot",
    hint="check the name; it is left out",
    doc="A transmission or ros2_control block names a joint that does not exist.",
)
TRANSMISSION_EMPTY = declare(
    "urdf-transmission-empty",
    Level.WARNING,
    "transmission {name!r} has no {missing}",
    hint="a transmission connects a <joint> and an <actuator>; it is left out",
    doc="A transmission without joint or actuator.",
)
TRANSMISSION_MIXED = declare(
    "urdf-transmission-mixed",
    Level.WARNING,
    "transmission {name!r} ({type}) couples {joints} joints with {actuators} actuators",
    hint="each actuator is read as driving one joint; the coupling is kept in its settings only",
    doc="A differential or other coupled transmission; the model drives one joint per actuator.",
)

# word in the name of a hardware interface -> kind of actuator
_ACTUATOR_KINDS = (("position", "position"), ("velocity", "velocity"), ("effort", "motor"))


def read_control(reader: UrdfReader) -> None:
    """Transmissions, then ros2_control blocks."""
    names = NameScope()
    for element in reader.children(reader.root, "transmission"):
        _read_transmission(reader, element, names)
    for element in reader.children(reader.root, "ros2_control"):
        _read_ros2_control(reader, element)


# one function: the checks of a transmission in the order in which they make sense
def _read_transmission(reader: UrdfReader, element: Element, names: NameScope) -> None:
    name = str(element.get("name") or "transmission")
    # ROS 1 has the type as an element, some exporters as an attribute
    kind = str(element.findtext("type") or element.get("type") or "").strip()
    where = reader.where(element)
    joints = list(reader.children(element, "joint"))
    actuators = list(reader.children(element, "actuator"))
    if not joints or not actuators:
        missing = "joint" if not joints else "actuator"
        reader.reporter.report(TRANSMISSION_EMPTY, where, name=name, missing=missing)
        return
    if len(joints) > 1 or len(actuators) > 1:
        reader.reporter.report(
            TRANSMISSION_MIXED, where, name=name, type=kind, joints=len(joints), actuators=len(actuators)
        )
    known = {joint.name: joint for joint in reader.asset.joints}
    # by position: a transmission does not say which motor turns which joint
    for joint, motor in zip(joints, actuators, strict=False):
        target = str(joint.get("name") or "")
        if target not in known:
            reader.reporter.report(
                CONTROL_JOINT, reader.where(joint), what="transmission", name=name, joint=target
            )
            continue
        reader.asset.actuators.append(
            _make_actuator(reader, names, (element, joint, motor), (name, kind, target))
        )
        for dof in filter(has_rotor, known[target].dofs):
            _reflect_rotor(reader, motor, dof)


def _reflect_rotor(reader: UrdfReader, motor: Element, dof: Dof) -> None:
    """The inertia that Drake reflects to the joint: of the rotor, times the square of the gear ratio."""
    elements = {spell(child): child for child in reader.children(motor)}
    rotor, ratio = (
        default if element is None else reader.number(element, "value", default)
        for element, default in ((elements.get(ROTOR_WORD), 0.0), (elements.get(RATIO_WORD), 1.0))
    )
    if rotor < 0.0:
        element = elements[ROTOR_WORD]
        words: dict[str, Any] = {
            "what": f"<{ROTOR_WORD}>",
            "expected": "a number that is not negative",
            "default": "0",
        }
        reader.reporter.report(BAD_NUMBER, reader.where(element), text=str(element.get("value")), **words)
    elif rotor:
        dof.armature = (dof.armature or 0.0) + rotor * ratio**2


# one function: each part may stand in the transmission, its joint or its actuator
def _make_actuator(
    reader: UrdfReader,
    names: NameScope,
    elements: tuple[Element, Element, Element],
    labels: tuple[str, str, str],
) -> Actuator:
    transmission, joint, motor = elements
    name, kind, target = labels
    interfaces = [
        # ROS 1 writes hardware_interface/PositionJointInterface
        str(e.text or "").strip().split("/")[-1]
        for holder in (joint, motor)
        for e in reader.children(holder, "hardwareInterface")
    ]
    settings: dict[str, Any] = {"transmission": name, "type": kind}
    if interfaces:
        settings["hardware_interfaces"] = list(dict.fromkeys(interfaces))
    gear = 1.0
    # the reduction stands in any of the three; the innermost counts
    for holder in (transmission, joint, motor):
        text = holder.findtext("mechanicalReduction")
        if text is not None:
            gear = float(reader.numbers(holder, text, 1, (1.0,), "<mechanicalReduction>")[0])
    for holder in (joint, motor):
        for child in reader.children(holder):
            # leaves of the motor that no field of the model has
            if child.tag not in ("hardwareInterface", "mechanicalReduction") and not len(child):
                # elements of other tools, such as drake:gear_ratio, say it in an attribute
                said = str(child.text or "").strip() or str(child.get("value") or "").strip()
                settings[spell(child).replace(":", ".")] = said
    return Actuator(
        names.claim(str(motor.get("name") or f"{target}_motor")),
        _choose_actuator_kind(interfaces),
        target,
        gear=(gear,),
        settings=settings,
        path=name,
        source=reader.where(transmission),
    )


def _choose_actuator_kind(interfaces: list[str]) -> str:
    """Motor, position or velocity, from the first hardware interface that says it."""
    # the first that says it
    for interface in interfaces:
        for word, kind in _ACTUATOR_KINDS:
            if word in interface.lower():
                return kind
    return "motor"


# one function: a row for each part of the block
def _read_ros2_control(reader: UrdfReader, element: Element) -> None:
    name = str(element.get("name") or "ros2_control")
    hardware = element.find("hardware")
    settings: dict[str, Any] = {"type": str(element.get("type") or "system")}
    for key in ("rw_rate", "is_async"):
        if element.get(key):
            settings[key] = str(element.get(key))
    if hardware is not None:
        settings["plugin"] = str(hardware.findtext("plugin") or "").strip()
        settings["parameters"] = _read_parameters(reader, hardware)
    reader.report_unknown(element, {"hardware", "joint", "sensor", "gpio", "transmission"})
    # how joints and motors are coupled is the business of the hardware plugin: kept as text
    couplings = [format_xml(child) for child in reader.children(element, "transmission")]
    if couplings:
        settings["transmissions"] = couplings
    for tag in ("joint", "sensor", "gpio"):
        components = _read_components(reader, element, tag, name)
        if components:
            settings[f"{tag}s"] = components
    joints: dict[str, dict[str, Any]] = settings.get("joints", {})
    reader.asset.controllers.append(
        Controller(
            name,
            "ros2_control",
            joints={role: [n for n, row in joints.items() if row[role]] for role in ("command", "state")},
            settings=settings,
            path=name,
            source=reader.where(element),
        )
    )


def _read_components(reader: UrdfReader, element: Element, tag: str, block: str) -> dict[str, dict[str, Any]]:
    """The joints, sensors or GPIOs of a block by name; joints that the robot does not have are reported."""
    known = {joint.name for joint in reader.asset.joints}
    components: dict[str, dict[str, Any]] = {}
    for child in reader.children(element, tag):
        name = str(child.get("name") or "")
        if tag == "joint" and name not in known:
            where = reader.where(child)
            reader.reporter.report(CONTROL_JOINT, where, what="ros2_control", name=block, joint=name)
        else:
            components[name] = _read_component(reader, child)
    return components


def _read_component(reader: UrdfReader, element: Element) -> dict[str, Any]:
    """Command and state interfaces with their parameters, and parameters of the component itself."""
    result: dict[str, Any] = {
        role: {
            str(child.get("name") or ""): _read_parameters(reader, child)
            for child in reader.children(element, f"{role}_interface")
        }
        for role in ("command", "state")
    }
    parameters = _read_parameters(reader, element)
    if parameters:
        result["parameters"] = parameters
    if element.get("mimic"):
        result["mimic"] = str(element.get("mimic"))
    return result


def _read_parameters(reader: UrdfReader, element: Element) -> dict[str, str]:
    return {
        str(child.get("name") or ""): str(child.text or "").strip()
        for child in reader.children(element, "param")
    }


PLUGIN_KEPT = declare(
    "urdf-plugin-kept",
    Level.INFO,
    "Gazebo plugin {name!r} ({filename}) has no counterpart and is kept as it is",
    doc="A Gazebo plugin that Simwright does not know; its block is kept under the namespace gazebo.",
)
PLUGIN_JOINT = declare(
    "urdf-plugin-joint",
    Level.WARNING,
    "plugin {name!r} names joint {joint!r}, which is not a joint of the robot",
    hint="check the name",
    doc="A Gazebo plugin drives a joint that does not exist.",
)


def strip_library_name(filename: str) -> str:
    """``libgazebo_ros_imu.so`` -> ``gazebo_ros_imu``; Ignition names become Gazebo names."""
    # plugins are named by file, with or without the marks of a shared library
    name = filename.strip().rpartition("/")[2].removeprefix("lib").removesuffix(".so")
    return name.replace("ignition-gazebo", "gz-sim")


def read_plugin(
    reader: UrdfReader, element: Element, body: str, sensor: str, rate: float | None = None
) -> None:
    """The interfaces and the controller of a plugin on a body or inside a sensor."""
    filename = str(element.get("filename") or "")
    name = str(element.get("name") or strip_library_name(filename) or "plugin")
    row = PLUGINS.get(strip_library_name(filename))
    if row is None:
        where = reader.where(element)
        reader.reporter.report(PLUGIN_KEPT, where, name=name, filename=filename)
        _keep_plugin(reader, element, body, name)
        return
    # before the loop: namespace and remappings are those of the whole plugin
    names = _PluginTopicNames(element, reader.asset.name)
    interfaces: dict[str, str] = {}
    for topic in row.topics:
        interface = Interface(
            InterfaceKind.TOPIC,
            topic.role,
            names.resolve(topic),
            topic.type,
            rate=_read_rate(element) or (rate if topic.role == "publisher" else None),
            frame_override=_find_first_text(element, topic.frame_tags),
            at=sensor or body or _find_link(reader, element, topic),
            source=reader.where(element),
        )
        reader.asset.interfaces.append(interface)
        interfaces[topic.key] = interface.name
    # a plugin without a controller has settings that only Gazebo knows
    if row.controller:
        _add_controller(reader, element, row, name, interfaces)
    else:
        _keep_plugin(reader, element, body, name)


def _find_link(reader: UrdfReader, element: Element, topic: PluginTopic) -> str:
    """The link that a sensor plugin of the whole model is about, by its own word."""
    # only sensors sit on a link; odometry and commands are of the model
    if not topic.type.startswith("sensor_msgs/"):
        return ""
    name = _find_first_text(element, ("bodyName", "body_name"))
    return name if any(body.name == name for body in reader.asset.bodies) else ""


def _add_controller(
    reader: UrdfReader, element: Element, row: PluginRow, name: str, interfaces: dict[str, str]
) -> None:
    joints = {role: _read_plugin_joints(reader, element, tags, name) for role, tags in row.joints}
    settings: dict[str, Any] = read_settings(element)
    settings["plugin"] = str(element.get("filename") or "")
    # the controllers that the manager starts stand in a YAML file of their own
    if row is ROS2_CONTROL:
        for child in reader.children(element, "parameters"):
            read_parameters(reader, str(child.text or "").strip(), reader.where(child))
    unique = NameScope(c.name for c in reader.asset.controllers).claim(name)
    reader.asset.controllers.append(
        Controller(
            unique, row.controller, joints, interfaces, settings, path=name, source=reader.where(element)
        )
    )


def _read_plugin_joints(reader: UrdfReader, element: Element, tags: tuple[str, ...], name: str) -> list[str]:
    known = {joint.name for joint in reader.asset.joints}
    found = []
    for tag in tags:
        for child in reader.children(element, tag):
            joint = str(child.text or "").strip()
            if joint in known:
                found.append(joint)
            else:
                reader.reporter.report(PLUGIN_JOINT, reader.where(child), name=name, joint=joint)
    return found


def _keep_plugin(reader: UrdfReader, element: Element, body: str, name: str) -> None:
    owner = body or reader.asset.name
    kept = reader.asset.extras.table.get("gazebo", {}).get(owner, {})
    key, number = f"plugin:{name}", 2
    while key in kept:
        key, number = f"plugin:{name}_{number}", number + 1
    reader.asset.extras.keep("gazebo", owner, key, format_xml(element), reader.where(element))


def _find_first_text(element: Element, tags: tuple[str, ...]) -> str:
    for tag in tags:
        text = str(element.findtext(tag) or "").strip()
        if text:
            return text
    return ""


def _read_rate(element: Element) -> float | None:
    text = _find_first_text(element, ("update_rate", "updateRate", "updateRateHZ"))
    try:
        rate = float(text) if text else 0.0
    except ValueError:
        return None
    # zero means every step, which is not a rate
    return rate if 0.0 < rate < 1e9 else None


class _PluginTopicNames:
    """PluginTopic names of one plugin: parameter, camera name, remapping, namespace."""

    def __init__(self, element: Element, model: str) -> None:
        self._element = element
        self._model = model
        self._is_sim = strip_library_name(str(element.get("filename") or "")).startswith("gz-sim")
        self._namespace = _find_first_text(element, ("ros/namespace", "robotNamespace")).strip("/")
        camera = _find_first_text(element, ("camera_name", "cameraName"))
        self._camera = camera.strip("/")
        self._remaps: dict[str, str] = {}
        # ROS 2 calls them remapping, early releases argument
        for tag in ("ros/remapping", "ros/argument"):
            for child in element.iterfind(tag):
                old, arrow, new = str(child.text or "").strip().partition(":=")
                if arrow:
                    self._remaps[old.removeprefix("~/").strip()] = new.strip()

    def resolve(self, topic: PluginTopic) -> str:
        """The name the topic has in the end."""
        said = _find_first_text(self._element, topic.tags)
        if self._is_sim and topic.sim and not said:
            return self._make_sim_name(topic)
        name = self._remap(topic, self._put_below_camera(topic, said or topic.default))
        if name.startswith("/") or not self._namespace:
            return name
        return f"/{self._namespace}/{name}"

    def _make_sim_name(self, topic: PluginTopic) -> str:
        """The default of Gazebo Sim, which has the model in it and no ROS namespace."""
        below = _find_first_text(self._element, ("sub_topic",)) if topic.role == "subscription" else ""
        if below:
            return f"/model/{self._model}/{below}"
        joint = _find_first_text(self._element, ("joint_name",)) or "joint"
        return topic.sim.format(model=self._model, joint=joint)

    def _put_below_camera(self, topic: PluginTopic, name: str) -> str:
        """Topics of cameras are below the name of the camera, unless they say it themselves."""
        is_camera = "image" in topic.default or "camera_info" in topic.default or topic.default == "points"
        if not self._camera or not is_camera or name.startswith("/") or self._camera in name.split("/"):
            return name
        return f"{self._camera}/{name}"

    def _remap(self, topic: PluginTopic, name: str) -> str:
        # "out" is what ROS 2 sensor plugins call their one publisher
        for key in (name, topic.default, "out"):
            if key in self._remaps and (key != "out" or topic.role == "publisher"):
                return self._remaps[key]
        return name

# SPDX-License-Identifier: Apache-2.0
"""``<gazebo>``: Gazebo's extensions of a link, a joint or the whole robot, and the sensors in them.

Carried over: friction and contact stiffness (a physics material for the link's collisions), gravity, joint
springs, named materials (where the visual has none of its own), sensors and plugins.  Every other setting is
kept in the asset's extras under ``gazebo`` and reported for information.

Settings of SDFormat sensors are their leaves by path (``reader.read_settings``).  Gazebo sensors look along +X with +Z
up; the model's cameras look along -Z with +Y up.
"""

from __future__ import annotations

import math

from simwright.core.diag import Level, declare
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.formats.gazebo.materials import find_look
from simwright.formats.gazebo.sensors import SENSOR_KINDS, list_topics
from simwright.formats.urdf.control import read_plugin
from simwright.formats.urdf.reader import ORIGIN, UrdfReader, format_xml, read_settings
from simwright.formats.xml import Element
from simwright.model.asset import Body, Camera, Sensor
from simwright.model.joint import Joint
from simwright.model.material import PhysicsMaterial, RenderMaterial
from simwright.model.ros import Interface, InterfaceKind
from simwright.resolve.sensors import LOOK

GAZEBO_REFERENCE = declare(
    "urdf-gazebo-reference",
    Level.WARNING,
    "<gazebo> refers to {name!r}, which is not a link or joint of the robot",
    hint="check the name; its settings are kept as extras",
    doc="A Gazebo extension names an element that does not exist.",
)
GAZEBO_KEPT = declare(
    "urdf-gazebo-kept",
    Level.INFO,
    "Gazebo settings of {name!r} without a counterpart are kept as they are: {tags}",
    doc="Gazebo extensions the model has no word for; they are kept under the namespace gazebo.",
)
GAZEBO_VALUE = declare(
    "urdf-gazebo-value",
    Level.WARNING,
    "<{tag}> of {name!r} is {text!r}",
    hint="write {expected}; it is left out",
    doc="A Gazebo extension holds a value of the wrong type.",
)

# mu2, the friction across, has no field: the model's friction is the same in all directions
_SURFACE_FIELDS = {
    "mu1": "static_friction",
    "mu": "static_friction",
    "kp": "stiffness",
    "kd": "damping",
}
_SPRING_FIELDS = {"springStiffness": "stiffness", "springReference": "spring_ref"}


def read_gazebo(reader: UrdfReader) -> None:
    """Every ``<gazebo>`` block of the robot."""
    bodies = {body.name: body for body in reader.asset.bodies}
    joints = {joint.name: joint for joint in reader.asset.joints}
    for element in reader.children(reader.root, "gazebo"):
        name = str(element.get("reference") or "").strip()
        if not name:
            _read_robot_block(reader, element)
        elif name in bodies:
            _read_link_block(reader, element, bodies[name])
        elif name in joints:
            _read_joint_block(reader, element, joints[name])
        else:
            reader.reporter.report(GAZEBO_REFERENCE, reader.where(element), name=name)
            _keep_settings(reader, name, list(reader.children(element)))


def _read_robot_block(reader: UrdfReader, element: Element) -> None:
    rest = []
    for child in reader.children(element):
        if child.tag == "plugin":
            read_plugin(reader, child, "", "")
        else:
            rest.append(child)
    _keep_settings(reader, reader.asset.name, rest)


def _read_link_block(reader: UrdfReader, element: Element, body: Body) -> None:
    rest = []
    for child in reader.children(element):
        if child.tag == "sensor":
            _read_sensor(reader, child, body.name)
        elif child.tag == "plugin":
            read_plugin(reader, child, body.name, "")
        elif not _apply_to_link(reader, child, body):
            rest.append(child)
    _keep_settings(reader, body.name, rest)


def _apply_to_link(reader: UrdfReader, child: Element, body: Body) -> bool:
    """Carry a link setting over; False if it has to be kept as it is."""
    text = str(child.text or child.get("value") or "").strip()
    if child.tag in _SURFACE_FIELDS:
        value = _read_number(reader, child, body.name, text)
        if value is not None:
            surface = _find_surface(reader, body.name, child)
            setattr(surface, _SURFACE_FIELDS[child.tag], value)
            # Gazebo has one coefficient
            surface.dynamic_friction = surface.static_friction
        return True
    if child.tag in ("gravity", "turnGravityOff"):
        flag = _read_flag(reader, child, body.name, text)
        if flag is not None:
            # turnGravityOff says the opposite of gravity
            body.gravity_scale = 1.0 if flag == (child.tag == "gravity") else 0.0
        return True
    if child.tag == "material" and not len(child):
        return _apply_material(reader, child, body.name, text)
    return False


def _find_surface(reader: UrdfReader, link: str, element: Element) -> PhysicsMaterial:
    """The physics material of a link's collisions, made where there is none."""
    asset = reader.asset
    shapes = [s for s in asset.shapes if s.body == link and s.collision]
    # a link's <contact> may have made one already (links.py)
    wanted = next((s.physics_material for s in shapes if s.physics_material), f"{link}_surface")
    material = next((m for m in asset.physics_materials if m.name == wanted), None)
    if material is None:
        material = PhysicsMaterial(wanted, source=reader.where(element))
        asset.physics_materials.append(material)
    for shape in shapes:
        shape.physics_material = wanted
    return material


def _apply_material(reader: UrdfReader, element: Element, link: str, text: str) -> bool:
    """Give visuals without a material the named Gazebo colour; the name is kept as well."""
    look = find_look(text)
    reader.asset.extras.keep("gazebo", link, "material", text, reader.where(element))
    plain = [s for s in reader.asset.shapes if s.body == link and s.visual and not s.material]
    # a visual's own material wins
    if look is None or not plain:
        return True
    if all(m.name != text for m in reader.asset.materials):
        material = RenderMaterial(text, look.diffuse, source=reader.where(element))
        material.emissive, material.opacity = look.emissive, look.opacity
        reader.asset.materials.append(material)
    for shape in plain:
        shape.material, shape.color = text, (*look.diffuse, look.opacity)
    return True


def _read_joint_block(reader: UrdfReader, element: Element, joint: Joint) -> None:
    rest = []
    for child in reader.children(element):
        text = str(child.text or child.get("value") or "").strip()
        # a spring of a joint with several freedoms is not said which of them it is on
        if child.tag in _SPRING_FIELDS and len(joint.dofs) == 1:
            value = _read_number(reader, child, joint.name, text)
            if value is not None:
                setattr(joint.dofs[0], _SPRING_FIELDS[child.tag], value)
        elif child.tag == "sensor":
            _read_sensor(reader, child, joint.child, target=joint.name)
        elif child.tag == "plugin":
            read_plugin(reader, child, joint.child, "")
        else:
            rest.append(child)
    _keep_settings(reader, joint.name, rest)


def _read_number(reader: UrdfReader, element: Element, name: str, text: str) -> float | None:
    """One finite number; anything else is reported."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    reader.reporter.report(
        GAZEBO_VALUE, reader.where(element), tag=element.tag, name=name, text=text[:80], expected="a number"
    )
    return None


def _read_flag(reader: UrdfReader, element: Element, name: str, text: str) -> bool | None:
    if text.lower() in ("1", "true", "0", "false"):
        return text.lower() in ("1", "true")
    reader.reporter.report(
        GAZEBO_VALUE,
        reader.where(element),
        tag=element.tag,
        name=name,
        text=text[:80],
        expected="true or false",
    )
    return None


def _keep_settings(reader: UrdfReader, name: str, elements: list[Element]) -> None:
    """Keep settings as extras: text for plain ones, XML for blocks; repeated ones are numbered."""
    if not elements:
        return
    kept = reader.asset.extras.table.get("gazebo", {}).get(name, {})
    for element in elements:
        key, number = str(element.tag), 2
        # blocks for one link may stand in several places of the file
        while key in kept:
            key, number = f"{element.tag}_{number}", number + 1
        value = format_xml(element) if len(element) or set(element.attrib) - {"value", ORIGIN} else None
        text = str(element.text or element.get("value") or "").strip()
        reader.asset.extras.keep("gazebo", name, key, value or text, reader.where(element))
        kept = reader.asset.extras.table["gazebo"][name]
    tags = ", ".join(dict.fromkeys(str(e.tag) for e in elements))
    reader.reporter.report(GAZEBO_KEPT, reader.where(elements[0]), name=name, tags=tags)


SENSOR_KIND = declare(
    "urdf-sensor-kind",
    Level.WARNING,
    "sensor {name!r} has type {type!r}, which is unknown",
    hint="it is kept under that name",
    doc="A Gazebo sensor of a type Simwright does not know.",
)

_FRAME_TAGS = ("camera/optical_frame_id", "gz_frame_id", "ignition_frame_id", "frame_id")


def _read_sensor(reader: UrdfReader, element: Element, body: str, target: str = "") -> None:
    """A sensor, its camera, and the plugins inside it."""
    asset = reader.asset
    sensor = _make_sensor(reader, element, body, target)
    asset.sensors.append(sensor)
    holder = element.find("camera")
    # a logical camera lists models in a box: it takes no picture
    if holder is not None and sensor.kind.endswith("camera") and sensor.kind != "logical_camera":
        camera = _read_camera(reader, holder, sensor)
        asset.cameras.append(camera)
        sensor.target = sensor.target or camera.name
    # in Gazebo Classic plugins publish; where there is none, Gazebo Sim publishes by itself
    before = len(asset.interfaces)
    for plugin in reader.children(element, "plugin"):
        read_plugin(reader, plugin, body, sensor.name, rate=sensor.rate)
    if len(asset.interfaces) == before:
        _read_topics(reader, element, sensor)


def _make_sensor(reader: UrdfReader, element: Element, body: str, target: str) -> Sensor:
    where, word = reader.where(element), str(element.get("type") or "")
    written = str(element.get("name") or f"{body}_{word or 'sensor'}")
    name = NameScope(sensor.name for sensor in reader.asset.sensors).claim(written)
    kind = SENSOR_KINDS.get(word)
    if kind is None:
        reader.reporter.report(SENSOR_KIND, where, name=name, type=word)
        kind = word or "unknown"
    settings = read_settings(element)
    rate = settings.pop("update_rate", None)
    return Sensor(
        name,
        kind,
        body=body,
        pose=_read_pose(reader, element),
        target=target,
        rate=float(rate) if isinstance(rate, (int, float)) and rate > 0 else None,
        settings=settings,
        path=f"{body}/{name}",
        source=where,
    )


def _read_topics(reader: UrdfReader, element: Element, sensor: Sensor) -> None:
    """The interfaces of a sensor that names its topic itself (Gazebo Sim)."""
    topic = str(element.findtext("topic") or element.findtext("contact/topic") or "").strip()
    # the word by which SDFormat says that none is given
    if not topic or topic == "__default_topic__":
        return
    info = str(element.findtext("camera/camera_info_topic") or "").strip()
    frame = next((str(text).strip() for tag in _FRAME_TAGS if (text := element.findtext(tag))), "")
    reader.asset.interfaces.extend(
        Interface(
            InterfaceKind.TOPIC, "publisher", name, kind, sensor.rate,
            frame_override=frame, at=sensor.name, source=sensor.source,
        )
        for name, kind in list_topics(sensor.kind, topic, info)
    )  # fmt: skip


def _read_pose(reader: UrdfReader, element: Element) -> Pose:
    child = element.find("pose")
    if child is None or not (child.text or "").strip():
        return IDENTITY
    values = reader.numbers(child, child.text, 6, (0.0,) * 6, "<pose>")
    return Pose.from_rpy(values[:3], values[3:])


def _read_camera(reader: UrdfReader, element: Element, sensor: Sensor) -> Camera:
    def number(path: str, default: float) -> float:
        return float(reader.numbers(element, element.findtext(path), 1, (default,), f"<{path}>")[0])

    # defaults of SDFormat's camera
    width, height = number("image/width", 320.0), number("image/height", 240.0)
    wide = number("horizontal_fov", 1.047)
    tall = wide
    if width > 0 and height > 0 and 0 < wide < math.pi:
        # Gazebo has the horizontal angle, the model the vertical one; pixels are square
        tall = 2.0 * math.atan(math.tan(wide / 2.0) * height / width)
    names = NameScope(camera.name for camera in reader.asset.cameras)
    return Camera(
        names.claim(sensor.name),
        body=sensor.body,
        pose=sensor.pose @ _read_pose(reader, element) @ LOOK,
        fov_y=tall,
        resolution=(int(width), int(height)),
        near=number("clip/near", 0.1),
        far=number("clip/far", 100.0),
        path=sensor.path,
        source=sensor.source,
    )

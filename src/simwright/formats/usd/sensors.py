# SPDX-License-Identifier: Apache-2.0
"""What is mounted on a body and never touched, and the ROS side: sites, cameras, lights, sensors, ROS interfaces.

Sites are Xforms with RosFrameAPI (REP-0158 2.7) and the site schemas of Newton and MuJoCo.  Prims with a sensor schema
of the registry (4.2.4), and Isaac's inertial, contact and range sensors, become sensors, their values in SI in the
settings; other sensor types are kept as extras.

ROS schemas are contexts, topics, services, actions and controllers (REP-0158 2 and 4.2.3).  Attributes are read by
name, so it does not matter whether the schema plugins are registered.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdLux

from simwright.core.diag import Level, declare
from simwright.core.math3d import DEGREE, IDENTITY, Pose
from simwright.formats.usd.attributes import make_plain, read_settings
from simwright.formats.usd.naming import choose_names, name_prims
from simwright.formats.usd.notes import numbers, read_pose
from simwright.formats.usd.primitives import read_marker
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.shapes import place_geometry
from simwright.formats.usd.stage_reader import BodyFrame, StageReader, as_matrix
from simwright.formats.usd.transforms import ScaledPose, decompose, decompose_many
from simwright.model.asset import Camera, Light, LightKind, Sensor, Site
from simwright.model.material import make_display
from simwright.model.ros import ROLES, Controller, Interface, InterfaceKind, Qos, RosContext
from simwright.resolve.sensors import CAMERAS, FORMS, LOOK, PUBLISHERS, find_neutral_kind, understand


def read_sites(reader: StageReader, scan: StageScan) -> None:
    """Add every frame."""
    names = name_prims(scan.sites, noted=reader.noted)
    bodies = [reader.body_of(found.owner) for found in scan.sites]
    placements = place_geometry(reader, scan.sites, bodies, reader.world_matrices(scan.sites))
    if not scan.sites:
        return
    # shapes and sites are lists of their own: where a site stands between shapes is told by counting
    places = {path: number for number, path in enumerate(scan.all)}
    shapes = sorted(places.get(shape.path, -1) for shape in reader.asset.shapes)
    for found, body, placement in zip(scan.sites, bodies, placements, strict=True):
        reader.sites[found.path] = names[found.path]
        site = _read_site(reader, found, names[found.path], body, placement)
        site.after = bisect(shapes, places[found.path])
        reader.asset.sites.append(site)


def _read_site(
    reader: StageReader, found: FoundPrim, name: str, body: BodyFrame, placement: ScaledPose
) -> Site:
    site = Site(
        name=name,
        body=body.name,
        pose=placement.pose,
        geometry=read_marker(reader, found, placement.scale),
        path=found.path,
        source=reader.where(found),
    )
    if "RosFrameAPI" in found.apis:
        site.ros_frame = str(reader.get_authored(found, "ros:frame:id") or found.name)
        site.static = reader.get_flag(found, "ros:frame:static", True)
    return site


CAMERA_LOSS = declare(
    "usd-camera-loss",
    Level.WARNING,
    "{what} of camera {name!r} is left out",
    hint="use a centred perspective camera",
    doc="Orthographic projection and lens shift have no place in the model.",
    loss=True,
)
LIGHT_LOSS = declare(
    "usd-light-loss",
    Level.INFO,
    "{what} of light {name!r} is left out",
    doc="Dome textures and the extent of area lights have no place in the model.",
    section="3.6",
    loss=True,
)

_LIGHT_KINDS = {
    "DistantLight": LightKind.DIRECTIONAL,
    "SphereLight": LightKind.POINT,
    "DomeLight": LightKind.DOME,
    "DomeLight_1": LightKind.DOME,
}
# UsdGeomCamera: focal length and apertures are in tenths of a scene unit
_TENTH = 0.1
_SIZES = ("inputs:width", "inputs:height", "inputs:length")


def read_cameras(reader: StageReader, scan: StageScan) -> None:
    """Add every camera; the lens is in tenths of a scene unit."""
    names = name_prims(scan.cameras, noted=reader.noted)
    for found, body, placement in _place(reader, scan.cameras):
        reader.asset.cameras.append(_read_camera(reader, found, names[found.path], body, placement))


def _read_camera(
    reader: StageReader, found: FoundPrim, name: str, body: BodyFrame, placement: ScaledPose
) -> Camera:
    length = reader.units.length
    focal = reader.get_number(found, "focalLength", 50.0)
    width = reader.get_number(found, "horizontalAperture", 20.955)
    height = reader.get_number(found, "verticalAperture", 15.2908)
    near, far = reader.get_array(found, "clippingRange", (1.0, 1e6))
    is_flat = reader.get_text(found, "projection") == "orthographic"
    if any(reader.get_number(found, f"{side}ApertureOffset", 0.0) for side in ("horizontal", "vertical")):
        reader.reporter.report(CAMERA_LOSS, reader.where(found), what="lens shift", name=name)
    camera = Camera(
        name=name,
        body=body.name,
        pose=placement.pose,
        near=float(near) * length,
        far=float(far) * length,
        resolution=_read_resolution(reader, found),
        path=found.path,
        source=reader.where(found),
    )
    if is_flat:
        camera.orthographic_height = height * _TENTH * length
    else:
        # atan2: a focal length of zero gives 180 degrees and no error
        camera.fov_y = 2.0 * math.atan2(height / 2.0, focal)
        camera.focal_length = focal * _TENTH * length
        camera.aperture = (width * _TENTH * length, height * _TENTH * length)
    return camera


def _read_resolution(reader: StageReader, found: FoundPrim) -> tuple[int, int]:
    """Pixels that a sensor schema says, of colours before those of depths; zeros where none does."""
    for word in ("camera", "depth"):
        size = make_plain(reader.get_authored(found, f"sensor:{word}:resolution"))
        if isinstance(size, tuple) and len(size) == 2 and all(isinstance(v, int) and v > 0 for v in size):
            return size
    return (0, 0)


def read_lights(reader: StageReader, scan: StageScan) -> None:
    """Add every light; a hidden one has no intensity."""
    names = name_prims(scan.lights, noted=reader.noted)
    for found, body, placement in _place(reader, scan.lights):
        reader.asset.lights.append(_read_light(reader, found, names[found.path], body, placement))


def _read_light(
    reader: StageReader, found: FoundPrim, name: str, body: BodyFrame, placement: ScaledPose
) -> Light:
    kind = _LIGHT_KINDS.get(found.type, LightKind.AREA)
    cone = _read_cone(reader, found) if kind is LightKind.POINT else None
    intensity = reader.get_number(found, "inputs:intensity", 1.0)
    exposure = reader.get_number(found, "inputs:exposure", 0.0)
    radius = 0.0
    if kind is LightKind.POINT and not reader.get_flag(found, "treatAsPoint", False):
        # a sphere light has one radius; an uneven scale has no meaning for it
        size = float(np.max(np.abs(placement.scale))) * reader.units.length
        radius = reader.get_number(found, "inputs:radius", 0.5) * size
    _report_loss(reader, found, name, kind)
    normalized = reader.get_flag(found, "inputs:normalize", False)
    if normalized and kind in (LightKind.POINT, LightKind.AREA):
        intensity *= reader.units.length**2  # it is shared out over a surface in stage units
    return Light(
        name=name,
        kind=LightKind.SPOT if cone else kind,
        body=body.name,
        pose=placement.pose,
        color=_read_color(reader, found),
        intensity=(intensity if found.visible else 0.0) * 2.0**exposure,
        radius=radius,
        cone=cone,
        cast_shadows=reader.get_flag(found, "inputs:shadow:enable", True),
        angle=reader.get_number(found, "inputs:angle", 0.53) * DEGREE
        if kind is LightKind.DIRECTIONAL
        else None,
        normalized=normalized,
        path=found.path,
        source=reader.where(found),
    )


def _read_cone(reader: StageReader, found: FoundPrim) -> tuple[float, float] | None:
    """Inner and outer half-angle of a shaped light; None if it shines all round."""
    if "ShapingAPI" not in found.apis:
        return None
    angle = reader.get_number(found, "inputs:shaping:cone:angle", 90.0)
    # ShapingAPI with its widest cone shines all round
    if angle >= 180.0:
        return None
    softness = min(max(reader.get_number(found, "inputs:shaping:cone:softness", 0.0), 0.0), 1.0)
    return angle * (1.0 - softness) * DEGREE, angle * DEGREE


def _read_color(reader: StageReader, found: FoundPrim) -> tuple[float, float, float]:
    color = reader.get_array(found, "inputs:color", (1.0, 1.0, 1.0))
    if reader.get_flag(found, "inputs:enableColorTemperature", False):
        kelvin = reader.get_number(found, "inputs:colorTemperature", 6500.0)
        # colour and temperature multiply (UsdLux)
        color = color * np.array(UsdLux.BlackbodyTemperatureAsRgb(kelvin), dtype=np.float64)
    red, green, blue = (float(v) for v in color)
    return make_display((red, green, blue))


def _report_loss(reader: StageReader, found: FoundPrim, name: str, kind: LightKind) -> None:
    where = reader.where(found)
    if reader.get(found, "inputs:texture:file") is not None and kind in (LightKind.DOME, LightKind.AREA):
        reader.reporter.report(LIGHT_LOSS, where, what="the texture", name=name)
    if kind is LightKind.AREA and any(reader.get_authored(found, size) is not None for size in _SIZES):
        reader.reporter.report(LIGHT_LOSS, where, what="the extent", name=name)


def _place(
    reader: StageReader, founds: Sequence[FoundPrim]
) -> Iterator[tuple[FoundPrim, BodyFrame, ScaledPose]]:
    """Each with its body and its placement on it."""
    bodies = [reader.body_of(found.owner) for found in founds]
    placements = decompose_many(reader.place_on(bodies, reader.world_matrices(founds)))
    return zip(founds, bodies, placements, strict=True)


SENSOR_UNKNOWN = declare(
    "usd-sensor-unknown",
    Level.WARNING,
    "{count} sensor prim(s) of type {type} are kept as extras only, the first at {first}",
    hint="describe the sensor with a ROS topic on a frame, which every tool understands",
    doc="A prim of a sensor type that has no neutral form.",
)
SENSOR_BODILESS = declare(
    "usd-sensor-bodiless",
    Level.WARNING,
    "{kind} sensor {name!r} is on no rigid body; it measures nothing",
    hint="place the prim below the body it sits on",
    doc="Inertial and contact sensors measure a body.",
)

_SENSOR_KINDS = {
    "IsaacImuSensor": "imu",
    "IsaacContactSensor": "contact",
    "Lidar": "lidar",
    "OmniLidar": "lidar",
    "OmniRadar": "radar",
}
_BODILY = frozenset({"imu", "contact"})
_UNITS = {
    "radius": "length",
    "minRange": "length",
    "maxRange": "length",
    "threshold": "force",
    "horizontalFov": "angle",
    "verticalFov": "angle",
    "horizontalResolution": "angle",
    "verticalResolution": "angle",
    "yawOffset": "angle",
}
_ORDINARY = re.compile(r"xformOp|purpose\Z|visibility\Z|proxyPrim\Z|omni|physx|ros:|newton:|mjc:")
_UNKNOWN = re.compile(r"(?:Mjc\w*Sensor|Isaac\w*Sensor|\w+Sensor|UltrasonicArray|OmniSensor\w*)\Z")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_SPACES = ("mjc:sensor", "gazebo:sensor")
"""Where engine layers say the rest of a sensor."""


def read_registry_sensors(reader: StageReader, scan: StageScan) -> None:
    """Add the sensors that schemas of the registry make of prims."""
    founds = scan.list_sorts(lambda sort: bool(sort.apis and find_neutral_kind(sort.apis)))
    names = name_prims(founds, noted=reader.noted)
    cameras = name_prims(scan.cameras, noted=reader.noted) if founds else {}
    for found, body, placement in _place(reader, founds):
        sensor = _read_registry(reader, found, names[found.path], cameras)
        sensor.body = body.name
        sensor.pose = _settle_pose(reader, found, sensor, placement.pose)
        if sensor.kind in _BODILY and not body.name:
            reader.reporter.report(SENSOR_BODILESS, sensor.source, kind=sensor.kind, name=sensor.name)
        form = FORMS[sensor.kind][0]
        felt = [reader.find_shape(path) for path in reader.get_targets(found, form.name("colliders"))]
        for number, name in enumerate(filter(None, felt), 1):
            sensor.settings["collision" if number == 1 else f"collision_{number}"] = name
        for topic in reader.get_targets(found, form.name(PUBLISHERS)):
            reader.publishers.setdefault(topic, sensor.name)
        reader.asset.sensors.append(sensor)


def _read_registry(reader: StageReader, found: FoundPrim, name: str, cameras: dict[str, str]) -> Sensor:
    """A sensor by its attributes, and by what an engine layer of ours says beside them."""
    authored = found.prim.GetAuthoredPropertyNames() if found.authored is None else found.authored
    space = _find_space(authored) if reader.noted else ""
    kind = find_neutral_kind(found.apis)
    joints = reader.get_targets(found, FORMS[kind][0].name("joint"))
    words = [word for word in authored if word.startswith("sensor:") and found.prim.HasAttribute(word)]
    values = {word: make_plain(reader.get(found, word)) for word in words}
    turning = not (joints and _is_slide(reader, joints[0]))
    word = reader.get_text(found, f"{space}:kind", kind) if space else kind
    word, settings, rate = _settle_kind(found, word, values, turning=turning)
    target = str(reader.joints.get(joints[0], "")) if joints else cameras.get(found.path, "")
    if space:
        name = reader.get_text(found, f"{space}:name", name)
        target = reader.get_text(found, f"{space}:target", target)
        rest = read_settings(reader, found, f"{space}:setting:", set())
        # the neutral word counts; which Gaussian noise it is, only the engine's layer tells
        settings |= {k: v for k, v in rest.items() if k not in settings or k.endswith("noise_type")}
    where = reader.where(found)
    return Sensor(name, word, target=target, rate=rate, settings=settings, path=found.path, source=where)


def _find_space(authored: Iterable[str]) -> str:
    """The engine whose layer says more of a sensor."""
    return next((space for space in _SPACES if any(name.startswith(f"{space}:") for name in authored)), "")


def _settle_kind(
    found: FoundPrim, word: str, values: dict[str, Any], *, turning: bool
) -> tuple[str, dict[str, Any], float | None]:
    """Kind, settings and rate: by an engine's word, unless somebody changed the values to what it cannot say."""
    kind = find_neutral_kind(found.apis)
    forms = FORMS.get(word, ())
    said = understand(word, values, turning=turning) if forms and forms[0].api in found.apis else None
    if said is None:
        word, said = kind, understand(kind, values, turning=turning)
    assert said is not None, "a kind of the registry is always understood"
    return word, *said


def _is_slide(reader: StageReader, path: str) -> bool:
    found = reader.founds.get(path)
    return found is not None and found.type == "PhysicsPrismaticJoint"


def _settle_pose(reader: StageReader, found: FoundPrim, sensor: Sensor, pose: Pose) -> Pose:
    """The frame of the sensor: a camera's prim is its lens, and MuJoCo's range finder looks along another axis."""
    if sensor.kind in CAMERAS:
        for space in _SPACES if reader.noted else ():
            noted = [
                make_plain(reader.get_authored(found, f"{space}:{w}")) for w in ("position", "orientation")
            ]
            kept = read_pose([*numbers(noted[0]), *numbers(noted[1])])
            if kept is not None:
                return kept
        # +X ahead and +Z up, where the lens looks along -Z with +Y up
        return pose @ ~LOOK
    return pose @ ~FORMS[sensor.kind][0].turn


# known and unknown types together: a type counts as unknown only if it is not known
def read_sensors(reader: StageReader, scan: StageScan) -> None:
    """Add the sensors with a plain meaning; keep and report the others."""
    read_registry_sensors(reader, scan)
    known = scan.list_sorts(lambda sort: sort.type in _SENSOR_KINDS)
    names = choose_names(found.path for found in known)
    for found in known:
        reader.asset.sensors.append(_read_sensor(reader, found, names[found.path]))
    # types first: they are few, and the pattern need not be tried on every prim
    types = {sort.type for sort in scan.sorts} - _SENSOR_KINDS.keys()
    for kind in sorted(kind for kind in types if _UNKNOWN.match(kind)):
        prims = [found for found in scan.all.values() if found.type == kind]
        for found in prims:
            for name, value in _list_values(reader, found.prim):
                reader.asset.extras.keep("sensor", found.path, name, value, reader.where(found, name))
        where = reader.where(prims[0].prim)
        reader.reporter.report(SENSOR_UNKNOWN, where, type=kind, count=len(prims), first=prims[0].path)


def _read_sensor(reader: StageReader, found: FoundPrim, name: str) -> Sensor:
    kind, body = _SENSOR_KINDS[found.type], reader.body_of(found.owner)
    if kind in _BODILY and not body.name:
        reader.reporter.report(SENSOR_BODILESS, reader.where(found), kind=kind, name=name)
    sensor = Sensor(
        name=name,
        kind=kind,
        body=body.name,
        pose=~body.pose @ _find_pose(reader, found.prim),
        path=found.path,
        source=reader.where(found),
    )
    for attribute, value in _list_values(reader, found.prim):
        if attribute == "sensorPeriod":
            # a period of zero says nothing about a rate
            sensor.rate = 1.0 / value if isinstance(value, float) and value > 0.0 else None
        else:
            sensor.settings[_WORD.sub("_", attribute).replace(":", "_").lower()] = _scale(
                reader, attribute, value
            )
    return sensor


def _find_pose(reader: StageReader, prim: Usd.Prim) -> Pose:
    """OpenUSD ignores the transform of a type it does not know; the tool that wrote it does not."""
    world = reader.world_matrix(prim)
    # Isaac's sensor types are no registered schemas, so OpenUSD takes their xformOps for plain attributes
    if not prim.IsA(UsdGeom.Xformable):
        local = as_matrix(UsdGeom.Xformable(prim).GetLocalTransformation(reader.time))
        local[:3, 3] *= reader.units.length
        world = world @ local
    return decompose(world).pose


def _list_values(reader: StageReader, prim: Usd.Prim) -> list[tuple[str, Any]]:
    """Authored attributes that are the sensor's own."""
    names = [n for n in prim.GetAuthoredPropertyNames() if not _ORDINARY.match(n) and prim.HasAttribute(n)]
    values = ((name, make_plain(reader.get(prim, name))) for name in names)
    return [(name, value) for name, value in values if value is not None]


def _scale(reader: StageReader, attribute: str, value: Any) -> Any:
    unit = _UNITS.get(attribute)
    if unit is None or isinstance(value, (str, bool)):
        return value
    factor = DEGREE if unit == "angle" else float(getattr(reader.units, unit))
    scaled = np.asarray(value, dtype=np.float64) * factor
    return float(scaled) if scaled.ndim == 0 else [float(v) for v in scaled.ravel()]


INTERFACE_ROLE = declare(
    "usd-ros-role",
    Level.ERROR,
    "the role of {kind} {name!r} is {role!r}; it is left out",
    hint="author one of: {roles}",
    doc="A ROS interface has no role, or one that its kind does not have.",
    section="2.4",
    loss=True,
)
CONTROLLER_TARGET = declare(
    "usd-controller-target",
    Level.WARNING,
    "{relationship} of controller {name!r} names {target}, which is not a joint, interface or body",
    hint="correct the relationship",
    doc="A controller refers to something that was not read.",
    section="4.2.3",
)

_SCHEMAS = (
    ("RosTopicAPI", InterfaceKind.TOPIC),
    ("RosServiceAPI", InterfaceKind.SERVICE),
    ("RosActionAPI", InterfaceKind.ACTION),
)
_JOINT_ROLES = {
    "left_wheels": "left",
    "right_wheels": "right",
    "command_joints": "command",
    # the broadcaster reads joints and commands none
    "joints": "state",
}
"""Relationship of the registry's schemas -> joint role of the model."""
_CONTROLLER = re.compile(r"RosControl(\w+)API\Z")


def read_ros(reader: StageReader, scan: StageScan) -> None:
    """Add contexts and interfaces, then the controllers that refer to them."""
    interfaces: dict[str, Interface] = {}
    for found in scan.ros:
        if "RosContextAPI" in found.apis:
            reader.asset.contexts.append(_read_context(reader, scan, found))
        for api, kind in _SCHEMAS:
            if api in found.apis:
                interface = _read_interface(reader, scan, found, kind)
                if interface is not None:
                    # several APIs on one prim are against REP-0158 2.2; controllers then mean the first
                    interfaces.setdefault(found.path, interface)
                    reader.asset.interfaces.append(interface)
    names = name_prims(scan.controllers, noted=reader.noted)
    for found in scan.controllers:
        for word in list_controller_kinds(found):
            controller = _read_controller(reader, found, names[found.path], word, interfaces)
            reader.asset.controllers.append(controller)


def _read_context(reader: StageReader, scan: StageScan, found: FoundPrim) -> RosContext:
    prim = found.prim
    domain = reader.get_optional(prim, "ros:context:domain_id")
    at = _find_place(reader, scan, found)
    return RosContext(
        namespace=reader.get_text(prim, "ros:context:namespace"),
        domain_id=None if domain is None else int(domain),
        parent_frame=reader.get_text(prim, "ros:context:parent_frame", "world"),
        at=at,
        pose=_place_context(reader, found, at),
        path=found.path,
        source=reader.where(prim),
    )


def _place_context(reader: StageReader, found: FoundPrim, at: str) -> Pose:
    """Where the prim is on what ``at`` names."""
    pose = decompose(reader.world_matrix(found)).pose
    site = next((site for site in reader.asset.sites if site.name == at), None)
    bodies = {body.name: body.pose for body in reader.bodies.values()}
    if site is not None:
        return ~(bodies.get(site.body, IDENTITY) @ site.pose) @ pose
    return ~bodies[at] @ pose if at in bodies else pose


def _read_interface(
    reader: StageReader, scan: StageScan, found: FoundPrim, kind: InterfaceKind
) -> Interface | None:
    prim, space = found.prim, f"ros:{kind}"
    role, name = reader.get_text(prim, f"{space}:role"), reader.get_text(prim, f"{space}:name")
    if role not in ROLES[kind]:
        reader.reporter.report(
            INTERFACE_ROLE,
            reader.where(prim, f"{space}:role"),
            kind=kind.value,
            name=name or prim.GetName(),
            role=role,
            roles=", ".join(ROLES[kind]),
        )
        return None
    interface = Interface(
        kind=kind,
        role=role,
        name=name,
        type=reader.get_text(prim, f"{space}:type"),
        starts_enabled=reader.get_flag(prim, f"{space}:starts_enabled", True),
        at=reader.publishers.get(found.path) or _find_place(reader, scan, found),
        path=found.path,
        source=reader.where(prim),
    )
    if kind is InterfaceKind.TOPIC:
        interface.rate = reader.get_optional(prim, "ros:topic:publish_rate")
        interface.frame_override = reader.get_text(prim, "ros:topic:override_frame_id")
        interface.qos = _read_qos(reader, prim)
    return interface


def _read_qos(reader: StageReader, prim: Usd.Prim) -> Qos:
    space = "ros:topic:qos"
    return Qos(
        reliability=reader.get_text(prim, f"{space}:reliability", "system_default"),
        durability=reader.get_text(prim, f"{space}:durability", "system_default"),
        history=reader.get_text(prim, f"{space}:history", "system_default"),
        depth=int(reader.get_number(prim, f"{space}:depth", 10)),
        match_publisher=reader.get_flag(prim, f"{space}:match_publisher", False),
    )


def _find_place(reader: StageReader, scan: StageScan, found: FoundPrim) -> str:
    """The nearest site or body at or above a prim; the asset itself for its default prim."""
    at: FoundPrim | None = found
    while at is not None:
        if at.path in reader.sites:
            return reader.sites[at.path]
        if at.path in reader.bodies:
            return reader.bodies[at.path].name
        if at.prim == reader.stage.GetDefaultPrim():
            # an interface below the root belongs to no place on the robot
            return reader.asset.name if at is found else ""
        at = scan.all.get(at.path.rpartition("/")[0])
    return ""


def list_controller_kinds(found: FoundPrim) -> list[str]:
    """Controller kinds applied to a prim in snake case; "integrated" alone says nothing."""
    # sorted, since a set of schemas has no order and the first controller of a name keeps it
    matches = (_CONTROLLER.match(api) for api in sorted(found.apis))
    kinds = [_WORD.sub("_", match.group(1)).lower() for match in matches if match]
    return [kind for kind in kinds if kind != "integrated"]


def _read_controller(
    reader: StageReader, found: FoundPrim, name: str, kind: str, interfaces: dict[str, Interface]
) -> Controller:
    prim, space = found.prim, f"ros:{kind}:"
    controller = Controller(name, kind, path=found.path, source=reader.where(prim))
    # fallbacks too: a controller runs with them
    for prop in prim.GetPropertiesInNamespace(space.split(":")[:-1]):
        key = prop.GetName()[len(space) :].replace(":", ".")
        if isinstance(prop, Usd.Relationship):
            _read_target(reader, found, controller, key, interfaces)
            continue
        value = reader.get(prim, prop.GetName())
        if value is not None:
            controller.settings[key] = make_plain(value)
    return controller


def _read_target(
    reader: StageReader, found: FoundPrim, controller: Controller, key: str, interfaces: dict[str, Interface]
) -> None:
    relationship = f"ros:{controller.kind}:{key.replace('.', ':')}"
    for target in reader.get_targets(found, relationship):
        place: Any = reader.joints.get(target)
        if place is not None:
            controller.joints.setdefault(_JOINT_ROLES.get(key, key), []).append(place)
        elif target in interfaces:
            controller.interfaces[key] = interfaces[target].name
        elif target in reader.bodies:
            controller.settings[key] = reader.bodies[target].name
        else:
            where = reader.where(found, relationship)
            reader.reporter.report(
                CONTROLLER_TARGET, where, relationship=relationship, name=controller.name, target=target
            )

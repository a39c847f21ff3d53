# SPDX-License-Identifier: Apache-2.0
"""``<sensor>`` on links and joints, with its settings and its topic; cameras that no sensor has are sensors too."""

from __future__ import annotations

import math
from typing import Any

from simwright.formats.gazebo.sensors import LOOK, TOPICS, list_topics
from simwright.formats.sdf.writer.draft import Draft, add, add_pose
from simwright.formats.sdf.writer.kept import put, restore_plugins
from simwright.formats.sdf.writer.messages import CAMERA_AS_SENSOR
from simwright.formats.sdf.writer.sensor_settings import DIRECT, TYPES, list_places
from simwright.formats.sdf.writer.shapes import find_seat
from simwright.formats.xml import Element
from simwright.model.asset import Camera, Sensor
from simwright.model.ros import Interface, InterfaceKind

_RESOLUTION = (640, 480)
"""Of a camera that says nothing [pixels]."""
_ASSUMED = {
    "horizontal_fov": 1.047, "image_width": 320, "image_height": 240, "clip_near": 0.1, "clip_far": 100.0,
}  # fmt: skip
"""What SDFormat takes where nothing is said."""
_CLOSE = 1e-9


class SensorWriter:
    """Writes sensors; keeps what has to be said about them."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._cameras = {camera.name: camera for camera in draft.asset.cameras}
        self._seen: set[str] = set()
        self._homeless: list[Sensor | Camera] = []
        self._reduced: list[Sensor] = []

    def write_all(self) -> None:
        """Sensors, then cameras."""
        draft = self._draft
        for sensor in draft.asset.sensors:
            if sensor.kind in TYPES:
                self._write(sensor)
        loose = [camera for camera in draft.asset.cameras if camera.name not in self._seen]
        for camera in loose:
            self._write_camera(camera)
        if loose:
            bare = sum(not all(camera.resolution) for camera in loose)
            draft.report(CAMERA_AS_SENSOR, loose, bare=bare)
        draft.lose("sensor(s) of the world", self._homeless, "write a world: --world", moves=False)
        advice = "SDFormat has no such setting of that kind of sensor"
        draft.lose("sensor(s) with other settings", self._reduced, advice, moves=False)

    def _write(self, sensor: Sensor) -> None:
        draft = self._draft
        mounting = draft.mountings.get(sensor.target) if sensor.kind == "force_torque" else None
        seat = find_seat(draft, sensor)
        if seat is None:
            self._homeless.append(sensor)
            self._seen.add(sensor.target)
            return
        word, family = TYPES[sensor.kind]
        pose = seat.offset @ sensor.pose
        if mounting is not None:
            node = add(
                mounting.node, "sensor", name=draft.claim(seat.names, "sensor", sensor.name), type=word
            )
            pose = ~mounting.frame @ pose
        else:
            node = add(seat.link, "sensor", name=draft.claim(seat.names, "sensor", sensor.name), type=word)
        add_pose(node, pose)
        if sensor.rate is not None:
            add(node, "update_rate", float(sensor.rate))
        self._write_settings(node, sensor, family, self._write_topic(node, sensor))
        restore_plugins(draft, node, sensor.name)

    def _write_settings(self, node: Element, sensor: Sensor, family: str, more: dict[str, Any]) -> None:
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
            return self._draft.shapes.get(str(value), value)
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
        draft = self._draft
        seat = self._draft.seats.get(camera.body)
        if seat is None:
            self._homeless.append(camera)
            return
        node = add(seat.link, "sensor", name=draft.claim(seat.names, "sensor", camera.name), type="camera")
        add_pose(node, seat.offset @ camera.pose @ ~LOOK)
        self._write_family(node, "camera", _describe(camera, {}))

    def _write_topic(self, node: Element, sensor: Sensor) -> dict[str, Any]:
        """``<topic>``, and what the sensor has to be told beside it."""
        rows = [
            i for i in self._draft.asset.interfaces
            if i.at == sensor.name and i.kind is InterfaceKind.TOPIC and i.role == "publisher"
        ]  # fmt: skip
        topic = _choose_topic(sensor.kind, rows)
        if not topic:
            return {}
        add(node, "topic", topic)
        more: dict[str, Any] = {}
        info = next((i.name for i in rows if i.type.endswith("/CameraInfo")), "")
        derived = set(list_topics(sensor.kind, topic))
        if info and info not in {name for name, _ in derived}:
            more["camera_info_topic"] = info
        derived |= set(list_topics(sensor.kind, topic, info))
        for interface in rows:
            if (interface.name, interface.type) in derived:
                self._draft.published.add(id(interface))
        frame = next((i.frame_override for i in rows if i.frame_override), "")
        if frame and frame not in (sensor.settings.get(k) for k in (*DIRECT, "optical_frame_id")):
            more["gz_frame_id"] = frame
        return more


def _choose_topic(kind: str, rows: list[Interface]) -> str:
    """The topic that most of the published ones follow from."""
    names = {(row.name, row.type) for row in rows}
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
    across = 2.0 * math.atan(math.tan(camera.fov_y / 2.0) * wide / high)
    said = settings.get("horizontal_fov")
    if isinstance(said, int | float) and abs(said - across) <= _CLOSE * across:
        across = float(said)
    values = {
        "horizontal_fov": across,
        "image_width": wide,
        "image_height": high,
        "clip_near": float(camera.near),
        "clip_far": float(camera.far),
    }
    return {key: v for key, v in values.items() if key in settings or abs(v - _ASSUMED[key]) > _CLOSE * v}

# SPDX-License-Identifier: Apache-2.0
"""The registry's sensor schemas (``sensor:``, REP-0158 4.2.4): which setting of a kind of sensor is which attribute.

``express`` says a sensor of the model in the words of the registry, ``understand`` the other way round; readers and
writers of OpenUSD share the rows, and other writers take ``generalize`` where they do not know an engine's own word.
Settings are called as SDFormat calls them, with underscores; angles are radians in the model and degrees here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from simwright.core.math3d import DEGREE, IDENTITY, Pose
from simwright.model.asset import Sensor

_ALL_ROUND = {
    "scan_horizontal_samples": 360, "scan_horizontal_min_angle": -math.pi, "scan_horizontal_max_angle": math.pi,
}  # fmt: skip
"""Fallbacks of SensorLidarAPI."""
_SDF_SCAN = {
    "scan_horizontal_samples": 640, "scan_horizontal_min_angle": 0.0, "scan_horizontal_max_angle": 0.0,
}  # fmt: skip
"""What SDFormat takes where nothing is said."""
RATE = "updateRate"
PUBLISHERS = "publishers"
_CLOSE = 1e-9
_AXES = "xyz"
_FORMATS = {
    "R8G8B8": "rgb8", "RGB_INT8": "rgb8", "R8G8B8A8": "rgba8", "B8G8R8": "bgr8", "BGR_INT8": "bgr8", "L8": "mono8",
    "L_INT8": "mono8", "L16": "mono16", "L_INT16": "mono16",
}  # fmt: skip
_DIRECTIONS = {"child_to_parent": "childToParent", "parent_to_child": "parentToChild"}
_SIDES = {word: word for word in ("sensor", "parent", "child")}
AHEAD = Pose.of(q=(math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0))
"""+X of the registry's frame along +Z, where MuJoCo's range finders look."""
LOOK = Pose.of(q=(0.5, 0.5, -0.5, -0.5))
"""Orientation of a camera frame (-Z ahead, +Y up) in a sensor frame (+X ahead, +Z up)."""


@dataclass(frozen=True, slots=True)
class SensorRow:
    """One attribute and the settings that make its numbers; one setting named several times fills all of them.

    ``noise`` is the setting that has to be ``gaussian`` for the row to hold.
    """

    attribute: str
    type: str
    keys: tuple[str, ...]
    angle: bool = False
    noise: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SensorForm:
    """How one kind of sensor is said: the API, its namespace, its rows.

    ``fixed`` are attributes that follow from the kind; ``turn`` is the registry's frame in that of the kind; ``joint``:
    the sensor's target is a joint, and a relationship names it.
    """

    api: str
    space: str
    rows: tuple[SensorRow, ...]
    fixed: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    turn: Pose = IDENTITY
    joint: bool = False
    colliders: bool = False

    def name(self, attribute: str) -> str:
        """The whole name of an attribute."""
        return f"{self.space}:{attribute}"


@dataclass(frozen=True, slots=True)
class SensorOpinion:
    """An attribute to author."""

    name: str
    type: str
    value: Any


@dataclass(slots=True)
class NeutralSensor:
    """A sensor in the words of the registry; ``left`` are settings that it has no word for."""

    forms: tuple[SensorForm, ...]
    opinions: list[SensorOpinion]
    left: dict[str, Any]


def _make_noise(lead: str, key: str, *, angle: bool = False, bias: bool = False) -> tuple[SensorRow, ...]:
    """Rows of Gaussian noise of one number."""
    start = f"{key}_" if key else ""
    kind = (f"{start}noise_type",)
    words = {"Mean": "mean", "StdDev": "stddev"}
    rows = [
        SensorRow(_join(lead, f"noise{end}"), "double", (f"{start}noise_{word}",), angle, kind)
        for end, word in words.items()
    ]
    if bias:
        rows += [
            SensorRow(_join(lead, f"bias{end}"), "double", (f"{start}noise_bias_{word}",), angle, kind)
            for end, word in words.items()
        ]
    return tuple(rows)


def _make_noise3(
    lead: str, key: str, *, angle: bool = False, bias: tuple[str, ...] = ("",)
) -> tuple[SensorRow, ...]:
    """Rows of Gaussian noise of a vector."""
    kinds = tuple(f"{key}_{axis}_noise_type" for axis in _AXES)
    return tuple(
        SensorRow(
            _join(lead, f"{'bias' if part else 'noise'}{end}"),
            "double3",
            tuple(f"{key}_{axis}_noise_{part}{word}" for axis in _AXES),
            angle,
            kinds,
        )
        for part in bias
        for end, word in (("Mean", "mean"), ("StdDev", "stddev"))
    )


def _join(lead: str, word: str) -> str:
    return f"{lead}:{word}" if lead else word


def _make_scan(way: str) -> tuple[SensorRow, ...]:
    key = f"scan_{way}"
    return (
        SensorRow(f"{way}Samples", "int", (f"{key}_samples",)),
        SensorRow(f"{way}MinAngle", "double", (f"{key}_min_angle",), angle=True),
        SensorRow(f"{way}MaxAngle", "double", (f"{key}_max_angle",), angle=True),
    )


_SIZE = SensorRow("resolution", "int2", ("image_width", "image_height"))
_MEASURES = SensorRow("measures", "token[]", ("measures",))
_CAMERA = SensorForm(
    "SensorCameraAPI", "sensor:camera",
    (
        _SIZE, SensorRow("pixelFormat", "token", ("image_format",), words=_FORMATS), *_make_noise("", ""),
        SensorRow("distortion:radial", "double3", ("distortion_k1", "distortion_k2", "distortion_k3")),
        SensorRow("distortion:tangential", "double2", ("distortion_p1", "distortion_p2")),
    ),
)  # fmt: skip
_CLIP = (
    SensorRow("minRange", "double", ("depth_camera_clip_near",)),
    SensorRow("maxRange", "double", ("depth_camera_clip_far",)),
)
_DEPTH = SensorForm("SensorDepthAPI", "sensor:depth", (_SIZE, *_CLIP, *_make_noise("", "")))
_LIDAR = SensorForm(
    "SensorLidarAPI", "sensor:lidar",
    (
        *_make_scan("horizontal"), *_make_scan("vertical"),
        SensorRow("minRange", "double", ("range_min",)), SensorRow("maxRange", "double", ("range_max",)),
        SensorRow("rangeResolution", "double", ("range_resolution",)), *_make_noise("", ""),
    ),
)  # fmt: skip
_IMU = SensorForm(
    "SensorImuAPI", "sensor:imu",
    (
        _MEASURES, *_make_noise3("gyroscope", "angular_velocity", angle=True, bias=("", "bias_")),
        *_make_noise3("accelerometer", "linear_acceleration", bias=("", "bias_")),
    ),
)  # fmt: skip
_GNSS = SensorForm(
    "SensorGnssAPI", "sensor:gnss",
    tuple(
        SensorRow(
            f"{what}:{way}Noise{end}", "double", (f"{what}_sensing_{way}_noise_{word}",),
            noise=(f"{what}_sensing_{way}_noise_type",),
        )
        for what in ("position", "velocity") for way in ("horizontal", "vertical")
        for end, word in (("Mean", "mean"), ("StdDev", "stddev"))
    ),
)  # fmt: skip
_FORCE = (
    SensorRow("minForce", "double", ("min_force",)),
    SensorRow("saturationForce", "double", ("max_force",)),
)
_CONTACT = SensorForm("SensorContactAPI", "sensor:contact", (*_FORCE, *_make_noise("", "")), colliders=True)
_FORCE_TORQUE = SensorForm(
    "SensorForceTorqueAPI", "sensor:force_torque",
    (
        _MEASURES, SensorRow("measuredIn", "token", ("frame",), words=_SIDES),
        SensorRow("direction", "token", ("measure_direction",), words=_DIRECTIONS),
        *_make_noise3("force", "force"), *_make_noise3("torque", "torque"),
    ),
    joint=True,
)  # fmt: skip
_ENCODER = SensorForm(
    "SensorJointEncoderAPI", "sensor:joint_encoder",
    (
        _MEASURES, SensorRow("resolution", "double", ("resolution",)),
        *_make_noise("position", "position"), *_make_noise("velocity", "velocity"),
    ),
    joint=True,
)  # fmt: skip
_REACH = (SensorRow("minRange", "double", ("min",)), SensorRow("maxRange", "double", ("max",)))
_RANGE = SensorForm(
    "SensorRangeAPI", "sensor:range",
    (
        *_REACH, SensorRow("fieldOfView", "double", ("field_of_view",), angle=True),
        SensorRow("radiation", "token", ("radiation",)), *_make_noise("", ""),
    ),
)  # fmt: skip


def _make_part(form: SensorForm, word: str, noise: str, count: int, *, angle: bool = False) -> SensorForm:
    """One of MuJoCo's sensors, which measure one thing each and have one number for its noise."""
    row = SensorRow(noise, "double3" if count == 3 else "double", ("noise",) * count, angle)
    return replace(form, rows=(row,), fixed={"measures": ("token[]", [word])})


FORMS: dict[str, tuple[SensorForm, ...]] = {
    "camera": (_CAMERA,),
    "depth_camera": (_DEPTH,),
    # of two cameras in one the lens is said once, and its noise is that of the colours
    "rgbd_camera": (_CAMERA, replace(_DEPTH, rows=_CLIP)),
    "lidar": (_LIDAR,),
    "imu": (_IMU,),
    "navsat": (_GNSS,),
    "contact": (_CONTACT,),
    "force_torque": (_FORCE_TORQUE,),
    "joint_encoder": (_ENCODER,),
    "range": (_RANGE,),
    "sonar": (replace(_RANGE, rows=_REACH, fixed={"radiation": ("token", "ultrasound")}),),
    "accelerometer": (_make_part(_IMU, "linearAcceleration", "accelerometer:noiseStdDev", 3),),
    "gyro": (_make_part(_IMU, "angularVelocity", "gyroscope:noiseStdDev", 3, angle=True),),
    "force": (replace(_make_part(_FORCE_TORQUE, "force", "force:noiseStdDev", 3), joint=False),),
    "torque": (replace(_make_part(_FORCE_TORQUE, "torque", "torque:noiseStdDev", 3), joint=False),),
    "touch": (
        SensorForm(
            "SensorContactAPI", "sensor:contact",
            (SensorRow("saturationForce", "double", ("cutoff",)), SensorRow("noiseStdDev", "double", ("noise",))),
        ),
    ),
    "rangefinder": (
        SensorForm(
            "SensorRangeAPI", "sensor:range",
            (SensorRow("maxRange", "double", ("cutoff",)), SensorRow("noiseStdDev", "double", ("noise",))),
            turn=AHEAD,
        ),
    ),
    "jointpos": (_make_part(_ENCODER, "position", "position:noiseStdDev", 1),),
    "jointvel": (_make_part(_ENCODER, "velocity", "velocity:noiseStdDev", 1),),
}  # fmt: skip
"""The form of each kind of sensor that the registry has a word for; the second half are MuJoCo's kinds."""

NEUTRAL = {
    "SensorCameraAPI": "camera", "SensorDepthAPI": "depth_camera", "SensorLidarAPI": "lidar", "SensorImuAPI": "imu",
    "SensorGnssAPI": "navsat", "SensorContactAPI": "contact", "SensorForceTorqueAPI": "force_torque",
    "SensorJointEncoderAPI": "joint_encoder", "SensorRangeAPI": "range",
}  # fmt: skip
"""API -> the kind of sensor that it makes of a prim by itself."""
_OWN_KINDS = frozenset({*NEUTRAL.values(), "rgbd_camera"})
CAMERAS = frozenset({"camera", "depth_camera", "rgbd_camera"})


@lru_cache(maxsize=1024)
def find_neutral_kind(apis: frozenset[str]) -> str:
    """The kind of sensor that a prim is by its APIs; empty for none."""
    if apis >= {"SensorCameraAPI", "SensorDepthAPI"}:
        return "rgbd_camera"
    return next((kind for api, kind in NEUTRAL.items() if api in apis), "")


def express(sensor: Sensor, *, turning: bool = True) -> NeutralSensor | None:
    """A sensor in the words of the registry, None where it has none.

    ``turning``: a measured joint turns, so that its numbers are angles.
    """
    forms = FORMS.get(sensor.kind, ())
    # MuJoCo's own are about sites, and about joints; those about other things are no devices
    about = sensor.settings.get("object_type", "")
    # SDFormat's contact sensor is a bumper, MuJoCo's a query about any two elements
    is_query = sensor.kind == "contact" and "dimension" in sensor.settings
    if not forms or is_query or about not in ("", "site", "joint"):
        return None
    left, opinions = dict(sensor.settings), list[SensorOpinion]()
    settings = _complete_scan(sensor.settings) if sensor.kind == "lidar" else sensor.settings
    for form in forms:
        for row in form.rows:
            value = _express_row(row, settings, _is_angle(form, row, turning=turning))
            if value is not None:
                opinions.append(SensorOpinion(form.name(row.attribute), row.type, value))
                for key in row.keys:
                    left.pop(key, None)
        opinions += [SensorOpinion(form.name(word), *fixed) for word, fixed in form.fixed.items()]
    _drop_noise_types(forms, opinions, left)
    if sensor.kind == "sonar":
        opinions += _express_cone(sensor.settings)
    if sensor.rate is not None:
        opinions.append(SensorOpinion(forms[0].name(RATE), "double", sensor.rate))
    return NeutralSensor(forms, opinions, left)


def _complete_scan(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fan of a lidar as the registry has it: SDFormat's defaults are others, and Isaac says its width."""
    wide, step = settings.get("horizontal_fov"), settings.get("horizontal_resolution")
    if not isinstance(wide, float) or not isinstance(step, float) or step <= 0.0:
        return {**_SDF_SCAN, **settings}
    found = dict(settings)
    for way in ("horizontal", "vertical"):
        wide, step = settings.get(f"{way}_fov"), settings.get(f"{way}_resolution")
        if isinstance(wide, float) and isinstance(step, float) and step > 0.0:
            found[f"scan_{way}_samples"] = max(round(wide / step) + 1, 1)
            found |= {f"scan_{way}_min_angle": -wide / 2.0, f"scan_{way}_max_angle": wide / 2.0}
    for end in ("min", "max"):
        if f"{end}_range" in settings:
            found[f"range_{end}"] = settings[f"{end}_range"]
    return found


def _is_angle(form: SensorForm, row: SensorRow, *, turning: bool) -> bool:
    return row.angle or (form.api == "SensorJointEncoderAPI" and turning and row.type == "double")


# words, whole numbers and others, each only if all of it is there
def _express_row(row: SensorRow, settings: Mapping[str, Any], angle: bool) -> Any:
    """The value of an attribute; None where a setting is missing, no number, or noise of another kind."""
    values = [settings.get(key) for key in row.keys]
    if not _is_gaussian(row, settings):
        return None
    if row.type.startswith("token"):
        return _express_words(row, values[0])
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) != len(values):
        return None
    if row.type.startswith("int") and not all(number.is_integer() for number in numbers):
        return None
    make = int if row.type.startswith("int") else float
    made = [make(number / DEGREE if angle else number) for number in numbers]
    return made[0] if row.type in ("int", "double") else tuple(made)


def _is_gaussian(row: SensorRow, settings: Mapping[str, Any]) -> bool:
    return all(str(settings.get(key, "none")).startswith("gaussian") for key in row.noise)


def _express_words(row: SensorRow, value: Any) -> Any:
    if row.type == "token[]":
        return [_camel(str(word)) for word in value] if isinstance(value, (list, tuple)) else None
    return row.words.get(value) if row.words else value if isinstance(value, str) else None


def _drop_noise_types(
    forms: tuple[SensorForm, ...], opinions: list[SensorOpinion], left: dict[str, Any]
) -> None:
    """That noise is Gaussian is said by its deviation."""
    said = {opinion.name for opinion in opinions}
    for form in forms:
        for row in form.rows:
            if row.attribute.endswith("oiseStdDev") and form.name(row.attribute) in said:
                for key in row.noise:
                    if left.get(key) == "gaussian":
                        del left[key]


def _express_cone(settings: Mapping[str, Any]) -> Iterator[SensorOpinion]:
    """The opening angle of a sonar, which SDFormat says by the radius at its end."""
    radius, reach = settings.get("radius"), settings.get("max")
    if isinstance(radius, (int, float)) and isinstance(reach, (int, float)) and reach > 0.0:
        angle = 2.0 * math.atan2(float(radius), float(reach)) / DEGREE
        yield SensorOpinion("sensor:range:fieldOfView", "double", angle)


def understand(
    kind: str, values: Mapping[str, Any], *, turning: bool = True
) -> tuple[dict[str, Any], float | None] | None:
    """Settings and rate of a sensor of a kind by the authored attributes of its prim.

    None where the attributes say what that kind cannot: an engine's own word for a sensor whose neutral values somebody
    has changed.  ``kind`` is then to be the neutral one.
    """
    forms, settings = FORMS[kind], dict[str, Any]()
    for form in forms:
        for word, (_, wanted) in form.fixed.items():
            found = values.get(form.name(word))
            if found is not None and (list(found) if isinstance(wanted, list) else found) != wanted:
                return None
        for row in form.rows:
            found = values.get(form.name(row.attribute))
            if found is None or _understand_row(row, found, settings, _is_angle(form, row, turning=turning)):
                continue
            # of the registry's own kinds a value that makes no sense counts as not said
            if kind not in _OWN_KINDS:
                return None
    if kind == "sonar":
        _understand_cone(values, settings)
    if kind == "lidar":
        settings = {**_ALL_ROUND, **settings}
    rate = values.get(forms[0].name(RATE))
    return settings, float(rate) if isinstance(rate, (int, float)) and rate > 0.0 else None


def _understand_cone(values: Mapping[str, Any], settings: dict[str, Any]) -> None:
    angle, reach = values.get("sensor:range:fieldOfView"), settings.get("max")
    if isinstance(angle, float) and isinstance(reach, float) and 0.0 < angle < 180.0:
        settings["radius"] = float(f"{reach * math.tan(angle * DEGREE / 2.0):.12g}")


def _understand_row(row: SensorRow, found: Any, settings: dict[str, Any], angle: bool) -> bool:
    """Add the settings that an attribute says; False where its value is none that the row can have."""
    if row.type.startswith("token"):
        return _understand_words(row, found, settings)
    numbers = [found] if isinstance(found, (int, float, str)) else list(found)
    if len(numbers) != len(row.keys) or any(isinstance(v, (str, bool)) or math.isnan(v) for v in numbers):
        return False
    for key, value in zip(row.keys, numbers, strict=True):
        number: Any = to_radians(float(value)) if angle else value
        # one number for all axes cannot say three
        if len({*row.keys}) < len(row.keys) and not math.isclose(
            settings.get(key, number), number, rel_tol=_CLOSE
        ):
            return False
        settings[key] = number
    for key in row.noise:
        settings.setdefault(key, "gaussian")
    return True


def _understand_words(row: SensorRow, found: Any, settings: dict[str, Any]) -> bool:
    if row.type == "token[]":
        if isinstance(found, (list, tuple)):
            settings[row.keys[0]] = [_snake(str(word)) for word in found]
        return isinstance(found, (list, tuple))
    back = {word: key for key, word in reversed([*row.words.items()])}
    settings[row.keys[0]] = back.get(str(found), str(found))
    return True


def to_radians(degrees: float) -> float:
    """Degrees as radians: the shortest number that gives them, which is what a source most likely had."""
    plain = degrees * DEGREE
    short = float(f"{plain:.15g}")
    return short if short / DEGREE == degrees else plain


def generalize(sensor: Sensor, *, turning: bool = True) -> Sensor:
    """The same sensor under the registry's kind, with the registry's frame; itself where there is none.

    For writers and readers of messages that know an IMU and not MuJoCo's gyro.  Settings without a neutral word go.
    """
    neutral = express(sensor, turning=turning)
    if neutral is None or sensor.kind in _OWN_KINDS:
        return sensor
    kind = NEUTRAL[neutral.forms[0].api]
    values = {opinion.name: opinion.value for opinion in neutral.opinions}
    found = understand(kind, values, turning=turning)
    settings, rate = found if found is not None else ({}, sensor.rate)
    target = sensor.target if neutral.forms[0].joint else ""
    return replace(
        sensor,
        kind=kind,
        pose=sensor.pose @ neutral.forms[0].turn,
        target=target,
        rate=rate,
        settings=settings,
    )


def _camel(word: str) -> str:
    first, *rest = word.split("_")
    return first + "".join(part.title() for part in rest)


def _snake(word: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in word)

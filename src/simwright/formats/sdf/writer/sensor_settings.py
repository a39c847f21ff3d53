# SPDX-License-Identifier: Apache-2.0
"""Where each setting of a sensor stands in SDFormat: the paths of its family by the plain names of the model.

The model calls a setting by its path with underscores (``scan_horizontal_samples``), without the family.
"""

from __future__ import annotations

# libsdformat has the same noise element in all these places.
_NOISE = (
    "noise@type", "noise/mean", "noise/stddev", "noise/bias_mean", "noise/bias_stddev", "noise/dynamic_bias_stddev",
    "noise/dynamic_bias_correlation_time", "noise/precision",
)  # fmt: skip
_SCAN = ("samples", "resolution", "min_angle", "max_angle")


def _spread(*places: str) -> tuple[str, ...]:
    return tuple(f"{place}/{leaf}" for place in places for leaf in _NOISE)


_SENSING = _spread(
    "position_sensing/horizontal", "position_sensing/vertical", "velocity_sensing/horizontal",
    "velocity_sensing/vertical",
)  # fmt: skip
_LIDAR = (
    *(f"scan/{way}/{leaf}" for way in ("horizontal", "vertical") for leaf in _SCAN),
    "range/min", "range/max", "range/resolution", "noise/type", "noise/mean", "noise/stddev", "visibility_mask",
)  # fmt: skip
_CAMERA = (
    "@name", "horizontal_fov", "image/width", "image/height", "image/format", "image/anti_aliasing", "clip/near",
    "clip/far", "save@enabled", "save/path", "depth_camera/output", "depth_camera/clip/near", "depth_camera/clip/far",
    "segmentation_type", "box_type", "noise/type", "noise/mean", "noise/stddev", "distortion/k1", "distortion/k2",
    "distortion/k3", "distortion/p1", "distortion/p2", "distortion/center", "lens/type", "lens/scale_to_hfov",
    *(f"lens/custom_function/{leaf}" for leaf in ("c1", "c2", "c3", "f", "fun")),
    "lens/cutoff_angle", "lens/env_texture_size",
    *(f"lens/intrinsics/{leaf}" for leaf in ("fx", "fy", "cx", "cy", "s")),
    *(f"lens/projection/{leaf}" for leaf in ("p_fx", "p_fy", "p_cx", "p_cy", "tx", "ty")),
    "visibility_mask", "trigger_topic", "triggered", "camera_info_topic", "optical_frame_id",
)  # fmt: skip

FAMILIES: dict[str, tuple[str, ...]] = {
    "air_pressure": ("reference_altitude", *_spread("pressure")),
    "air_speed": _spread("pressure"),
    "altimeter": _spread("vertical_position", "vertical_velocity"),
    "camera": _CAMERA,
    "contact": ("collision", "topic"),
    "force_torque": ("frame", "measure_direction", *_spread(*(f"{w}/{x}" for w in ("force", "torque") for x in "xyz"))),
    "imu": (
        "orientation_reference_frame/localization", "orientation_reference_frame/custom_rpy",
        "orientation_reference_frame/custom_rpy@parent_frame", "orientation_reference_frame/grav_dir_x",
        "orientation_reference_frame/grav_dir_x@parent_frame", "enable_orientation",
        *_spread(*(f"{w}/{x}" for w in ("angular_velocity", "linear_acceleration") for x in "xyz")),
    ),
    "lidar": _LIDAR,
    "logical_camera": ("near", "far", "aspect_ratio", "horizontal_fov"),
    "magnetometer": _spread("x", "y", "z"),
    "navsat": _SENSING,
    "gps": _SENSING,
    "sonar": ("geometry", "min", "max", "radius"),
    "transceiver": ("essid", "frequency", "min_frequency", "max_frequency", "gain", "power", "sensitivity"),
}  # fmt: skip
"""Family element -> paths of its leaves."""
DIRECT = ("always_on", "visualize", "enable_metrics", "gz_frame_id", "ignition_frame_id", "frame_id")
"""Settings of the sensor itself."""

_CAMERAS = (
    "boundingbox_camera", "camera", "depth_camera", "multicamera", "rgbd_camera", "segmentation_camera",
    "thermal_camera", "wide_angle_camera",
)  # fmt: skip
TYPES: dict[str, tuple[str, str]] = {
    **{kind: (kind, "camera") for kind in _CAMERAS},
    **{
        kind: (kind, kind)
        for kind in FAMILIES
        if kind not in ("camera", "lidar", "gps", "navsat", "transceiver")
    },
    "lidar": ("gpu_lidar", "lidar"),
    "navsat": ("navsat", "navsat"),
    "rfid": ("rfid", ""),
    "rfid_tag": ("rfidtag", ""),
    "custom": ("custom", ""),
    "wireless_receiver": ("wireless_receiver", "transceiver"),
    "wireless_transmitter": ("wireless_transmitter", "transceiver"),
}
"""Kind of sensor of the model -> type and family of SDFormat."""


def list_places(family: str) -> dict[str, str]:
    """The path of each setting of a family."""
    return {path.replace("@", "/").replace("/", "_").lstrip("_"): path for path in FAMILIES.get(family, ())}

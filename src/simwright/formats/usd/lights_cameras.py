# SPDX-License-Identifier: Apache-2.0
"""Cameras (UsdGeomCamera) and lights (UsdLux, REP-0158 3.6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from pxr import UsdLux

from simwright.core.colors import make_display
from simwright.core.diag import Level, declare
from simwright.core.units import DEGREE
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.placement import Placement, decompose_many
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import BodyFrame, Source
from simwright.model.asset import Camera, Light, LightKind

CAMERA_LOSS = declare(
    "usd-camera-loss",
    Level.WARNING,
    "{what} of camera {name!r} is not carried",
    hint="use a centred perspective camera",
    doc="Orthographic projection and lens shift have no place in the model.",
    loss=True,
)
LIGHT_LOSS = declare(
    "usd-light-loss",
    Level.INFO,
    "{what} of light {name!r} is not carried",
    doc="Dome textures and the extent of area lights have no place in the model.",
    section="3.6",
    loss=True,
)

_KINDS = {
    "DistantLight": LightKind.DIRECTIONAL,
    "SphereLight": LightKind.POINT,
    "DomeLight": LightKind.DOME,
    "DomeLight_1": LightKind.DOME,
}
_TENTH = 0.1
_SIZES = ("inputs:width", "inputs:height", "inputs:length")


def read_cameras(source: Source, scan: Scan) -> None:
    """Add every camera; the lens is in tenths of a scene unit."""
    names = name_prims(scan.cameras, noted=source.noted)
    for found, body, placement in _place(source, scan.cameras):
        source.asset.cameras.append(_read_camera(source, found, names[found.path], body, placement))


def _read_camera(source: Source, found: Found, name: str, body: BodyFrame, placement: Placement) -> Camera:
    length = source.units.length
    focal = source.get_number(found, "focalLength", 50.0)
    width = source.get_number(found, "horizontalAperture", 20.955)
    height = source.get_number(found, "verticalAperture", 15.2908)
    near, far = source.get_array(found, "clippingRange", (1.0, 1e6))
    if source.get_text(found, "projection") == "orthographic":
        source.reporter.report(CAMERA_LOSS, source.where(found), what="orthographic projection", name=name)
    if any(source.get_number(found, f"{side}ApertureOffset", 0.0) for side in ("horizontal", "vertical")):
        source.reporter.report(CAMERA_LOSS, source.where(found), what="lens shift", name=name)
    return Camera(
        name=name,
        body=body.name,
        pose=placement.pose,
        fov_y=2.0 * math.atan2(height / 2.0, focal),
        near=float(near) * length,
        far=float(far) * length,
        focal_length=focal * _TENTH * length,
        aperture=(width * _TENTH * length, height * _TENTH * length),
        path=found.path,
        source=source.where(found),
    )


def read_lights(source: Source, scan: Scan) -> None:
    """Add every light; a hidden one has no intensity."""
    names = name_prims(scan.lights, noted=source.noted)
    for found, body, placement in _place(source, scan.lights):
        source.asset.lights.append(_read_light(source, found, names[found.path], body, placement))


def _read_light(source: Source, found: Found, name: str, body: BodyFrame, placement: Placement) -> Light:
    kind = _KINDS.get(found.type, LightKind.AREA)
    cone = _read_cone(source, found) if kind is LightKind.POINT else None
    intensity = source.get_number(found, "inputs:intensity", 1.0)
    exposure = source.get_number(found, "inputs:exposure", 0.0)
    radius = 0.0
    if kind is LightKind.POINT and not source.get_flag(found, "treatAsPoint", False):
        size = float(np.max(np.abs(placement.scale))) * source.units.length
        radius = source.get_number(found, "inputs:radius", 0.5) * size
    _report_loss(source, found, name, kind)
    normalized = source.get_flag(found, "inputs:normalize", False)
    if normalized and kind in (LightKind.POINT, LightKind.AREA):
        intensity *= source.units.length**2  # it is shared out over a surface in stage units
    return Light(
        name=name,
        kind=LightKind.SPOT if cone else kind,
        body=body.name,
        pose=placement.pose,
        color=_read_color(source, found),
        intensity=(intensity if found.visible else 0.0) * 2.0**exposure,
        radius=radius,
        cone=cone,
        cast_shadows=source.get_flag(found, "inputs:shadow:enable", True),
        angle=source.get_number(found, "inputs:angle", 0.53) * DEGREE
        if kind is LightKind.DIRECTIONAL
        else None,
        normalized=normalized,
        path=found.path,
        source=source.where(found),
    )


def _read_cone(source: Source, found: Found) -> tuple[float, float] | None:
    """Inner and outer half-angle of a shaped light; None if it shines all round."""
    if "ShapingAPI" not in found.apis:
        return None
    angle = source.get_number(found, "inputs:shaping:cone:angle", 90.0)
    if angle >= 180.0:
        return None
    softness = min(max(source.get_number(found, "inputs:shaping:cone:softness", 0.0), 0.0), 1.0)
    return angle * (1.0 - softness) * DEGREE, angle * DEGREE


def _read_color(source: Source, found: Found) -> tuple[float, float, float]:
    color = source.get_array(found, "inputs:color", (1.0, 1.0, 1.0))
    if source.get_flag(found, "inputs:enableColorTemperature", False):
        kelvin = source.get_number(found, "inputs:colorTemperature", 6500.0)
        color = color * np.array(UsdLux.BlackbodyTemperatureAsRgb(kelvin), dtype=np.float64)
    red, green, blue = (float(v) for v in color)
    return make_display((red, green, blue))


def _report_loss(source: Source, found: Found, name: str, kind: LightKind) -> None:
    where = source.where(found)
    if source.get(found, "inputs:texture:file") is not None and kind in (LightKind.DOME, LightKind.AREA):
        source.reporter.report(LIGHT_LOSS, where, what="the texture", name=name)
    if kind is LightKind.AREA and any(source.get_authored(found, size) is not None for size in _SIZES):
        source.reporter.report(LIGHT_LOSS, where, what="the extent", name=name)


def _place(source: Source, founds: Sequence[Found]) -> Iterator[tuple[Found, BodyFrame, Placement]]:
    """Each with its body and its placement on it."""
    bodies = [source.body_of(found.owner) for found in founds]
    placements = decompose_many(source.place_on(bodies, source.world_matrices(founds)))
    return zip(founds, bodies, placements, strict=True)

# SPDX-License-Identifier: Apache-2.0
"""Cameras: field of view, resolution and intrinsics.

Clip distances are MuJoCo's ``znear`` and ``zfar``, which count in model extents.
"""

from __future__ import annotations

import math

from simwright.formats.mjcf.context import Context, pose_of, read_floats
from simwright.formats.mjcf.losses import report_loss
from simwright.model.asset import Camera


def read_cameras(context: Context) -> None:
    """Cameras in MuJoCo's order."""
    model = context.model
    extent = float(model.stat.extent)
    flat = []
    for index in range(context.count("camera")):
        camera = Camera(
            name=context.name("camera", index),
            body=context.name("body", int(model.cam_bodyid[index])),
            pose=pose_of(model.cam_pos[index], model.cam_quat[index]),
            near=float(model.vis.map.znear) * extent,
            far=float(model.vis.map.zfar) * extent,
            path=context.key("camera", index),
            source=context.where("camera", index),
        )
        if is_orthographic(context, index):
            flat.append(index)
            context.keep("camera", index, "orthographic_height", float(model.cam_fovy[index]))
        else:
            camera.fov_y = math.radians(float(model.cam_fovy[index]))
        width, height = (int(v) for v in model.cam_resolution[index])
        camera.resolution = (0, 0) if (width, height) == (1, 1) else (width, height)
        _read_intrinsics(context, index, camera)
        context.asset.cameras.append(camera)
        keep_mode(context, "camera", index, "cam")
        context.keep("camera", index, "ipd", model.cam_ipd[index], 0.068)
        context.keep_user("camera", index, "cam_user")
    if flat:
        report_loss(
            context,
            "camera",
            flat,
            "the cameras become perspective ones",
            "orthographic projections of cameras",
        )


def is_orthographic(context: Context, index: int) -> bool:
    """By the field of this MuJoCo: ``cam_projection``, before it ``cam_orthographic``."""
    value = context.field("cam_projection", index)
    return bool(context.field("cam_orthographic", index, 0) if value is None else value)


def keep_mode(context: Context, family: str, index: int, array: str) -> None:
    """Keep how a camera or light follows its body or looks at a target."""
    mode = int(getattr(context.model, f"{array}_mode")[index])
    if mode:
        name = str(context.mujoco.mjtCamLight(mode).name)[11:].lower()
        context.keep(family, index, "mode", name)
    target = int(getattr(context.model, f"{array}_targetbodyid")[index])
    if target >= 0:
        context.keep(family, index, "target", context.name("body", target))


def _read_intrinsics(context: Context, index: int, camera: Camera) -> None:
    width, height = read_floats(context.model.cam_sensorsize[index])
    if width <= 0 or height <= 0:
        return
    focal_x, focal_y, principal_x, principal_y = read_floats(context.model.cam_intrinsic[index])
    camera.aperture = (width, height)
    camera.focal_length = focal_y
    context.keep("camera", index, "focal", (focal_x, focal_y), (focal_y, focal_y))
    context.keep("camera", index, "principal", (principal_x, principal_y), (0.0, 0.0))

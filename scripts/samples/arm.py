# SPDX-License-Identifier: Apache-2.0
"""The six-axis arm with a parallel gripper and a wrist camera: xacro, URDF, meshes, controllers."""

from __future__ import annotations

from samples import arm_text
from samples.arm_shapes import LinkShape, arm_shapes, camera_parts, finger_hull, gripper_shapes
from samples.meshes import Mesh
from samples.meshfiles import write_mtl, write_obj, write_stl
from samples.palette import LOOKS
from samples.solids import inertial_of_mesh, inertial_of_solids
from samples.xacrofile import expand_xacro
from simwright.model.inertia import Inertial

FOLDER = "arm"
README = ("six-axis arm, gripper, wrist camera, ros2_control", "URDF, xacro", "`urdf/arm.urdf.xacro`")
"""What it is, its formats, where it starts."""
OBJ_LOOKS = ("shell",)
"""Looks written as OBJ with smooth normals; the small dark and coloured parts are STL."""


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    files = _meshes()
    links = {**arm_shapes(), **gripper_shapes()}
    inertials = {name: _inertial(name, shape) for name, shape in links.items()}
    files[f"{FOLDER}/urdf/arm_macro.xacro"] = arm_text.arm_macro(links, inertials)
    files[f"{FOLDER}/urdf/gripper_macro.xacro"] = arm_text.gripper_macro(links, inertials)
    files[f"{FOLDER}/urdf/arm.urdf.xacro"] = arm_text.top_level()
    files[f"{FOLDER}/config/controllers.yaml"] = arm_text.controllers()
    files[f"{FOLDER}/urdf/arm.urdf"] = expand_xacro(files, f"{FOLDER}/urdf/arm.urdf.xacro")
    return files


def _inertial(name: str, shape: LinkShape) -> Inertial:
    if name == "finger":
        return inertial_of_mesh(finger_hull(), shape.mass)
    return inertial_of_solids(shape.solids, shape.mass)


def _meshes() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for link, shape in {**arm_shapes(), **gripper_shapes()}.items():
        for look, mesh in shape.visuals:
            if link == "finger":
                files |= _mesh_file(f"left_finger_{look}", look, mesh)
                files |= _mesh_file(f"right_finger_{look}", look, mesh.mirrored("y"))
            else:
                files |= _mesh_file(f"{link.removesuffix('_link')}_{look}", look, mesh)
    files[f"{FOLDER}/meshes/visual/wrist_camera.obj"] = write_obj(camera_parts(), "wrist_camera", "arm.mtl")
    files[f"{FOLDER}/meshes/visual/arm.mtl"] = write_mtl(
        {name: LOOKS[name] for name in ("shell", "glass", "accent")}, "arm looks"
    )
    hull = finger_hull()
    files[f"{FOLDER}/meshes/collision/left_finger.stl"] = write_stl(hull, "left finger hull")
    files[f"{FOLDER}/meshes/collision/right_finger.stl"] = write_stl(hull.mirrored("y"), "right finger hull")
    return files


def _mesh_file(stem: str, look: str, mesh: Mesh) -> dict[str, bytes]:
    path = f"{FOLDER}/meshes/visual/{stem}"
    if look in OBJ_LOOKS:
        return {f"{path}.obj": write_obj([(look, mesh)], stem, "arm.mtl")}
    return {f"{path}.stl": write_stl(mesh, stem)}

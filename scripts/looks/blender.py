# SPDX-License-Identifier: Apache-2.0
"""Pictures of glTF files by Blender: base colours only, no light; runs in the environment ``blender``.

``python blender.py jobs.json``: a list of objects with ``file``, ``picture``, ``size`` [width, height], ``position``,
``forward``, ``up`` (in the file's Z-up world) and ``fovy`` [degrees].  Pixels outside of everything are transparent.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import bpy
from mathutils import Matrix, Vector

SAMPLES = 16


def main(jobs: list[dict[str, Any]]) -> None:
    """Render every job."""
    for job in jobs:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.import_scene.gltf(filepath=job["file"])
        for material in bpy.data.materials:
            if material.node_tree is not None:
                make_unlit(material.node_tree)
        place_camera(job)
        render(job)


def make_unlit(tree: Any) -> None:
    """Let a material glow in its base colour, and let through what its alpha lets through."""
    surface = next((node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
    output = next((node for node in tree.nodes if node.type == "OUTPUT_MATERIAL"), None)
    if surface is None or output is None:
        return
    glow = tree.nodes.new("ShaderNodeEmission")
    clear = tree.nodes.new("ShaderNodeBsdfTransparent")
    mix = tree.nodes.new("ShaderNodeMixShader")
    for name, target in (("Base Color", glow.inputs["Color"]), ("Alpha", mix.inputs[0])):
        source = surface.inputs[name]
        if source.is_linked:
            tree.links.new(source.links[0].from_socket, target)
        else:
            target.default_value = source.default_value
    tree.links.new(clear.outputs[0], mix.inputs[1])
    tree.links.new(glow.outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], output.inputs["Surface"])


def place_camera(job: dict[str, Any]) -> None:
    """A camera of our own; those of the file are not looked through."""
    data = bpy.data.cameras.new("judge")
    camera = bpy.data.objects.new("judge", data)
    bpy.context.scene.collection.objects.link(camera)
    back, up = -Vector(job["forward"]), Vector(job["up"])
    right = up.cross(back)
    # Blender's cameras look along their -Z, as those of MuJoCo do
    turn = Matrix((right, up, back)).transposed().to_4x4()
    camera.matrix_world = Matrix.Translation(job["position"]) @ turn
    data.sensor_fit = "VERTICAL"
    data.angle_y = math.radians(job["fovy"])
    data.clip_start, data.clip_end = 0.001, 1000.0
    bpy.context.scene.camera = camera


def render(job: dict[str, Any]) -> None:
    """One picture, in display colours and without any grading of them."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = SAMPLES
    scene.cycles.use_denoising = False
    scene.cycles.use_adaptive_sampling = False
    scene.cycles.max_bounces = 0
    scene.cycles.transparent_max_bounces = 32
    scene.cycles.pixel_filter_type = "BOX"
    scene.cycles.filter_width = 1.0
    scene.render.film_transparent = True
    scene.render.resolution_x, scene.render.resolution_y = job["size"]
    scene.render.resolution_percentage = 100
    scene.render.dither_intensity = 0.0
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGBA"
    scene.render.filepath = job["picture"]
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))

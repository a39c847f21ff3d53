"""ImageCache: the source as MuJoCo draws it, and the exported file as another loader (trimesh) reads it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

import simwright
from simwright.model.material import to_display

from .reading import open_gltf

SCRIPT = """
import sys
import mujoco, numpy
pictures = []
for path in sys.argv[3:]:
    model = mujoco.MjModel.from_xml_path(path)
    model.vis.headlight.ambient[:] = 0.4
    model.light_active[:] = 0
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    distance = float(sys.argv[2])
    camera.lookat[:], camera.distance = (0, 0, distance / 4), distance
    camera.azimuth, camera.elevation = 140, -20
    options = mujoco.MjvOption()
    options.geomgroup[3:] = 0
    renderer = mujoco.Renderer(model, 240, 320)
    renderer.update_scene(data, camera, options)
    pictures.append(renderer.render().copy())
    renderer.close()
numpy.save(sys.argv[1], numpy.array(pictures))
"""


def draw(paths: list[Path], folder: Path, distance: float) -> np.ndarray:
    """ImageCache of models, drawn by a process of its own: MuJoCo chooses its graphics when it is imported."""
    result = folder / "pictures.npy"
    command = [sys.executable, "-c", SCRIPT, str(result), str(distance), *map(str, paths)]
    for graphics in ("egl", "osmesa"):
        environment = {**os.environ, "MUJOCO_GL": graphics}
        subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False, timeout=120)
        if result.exists():
            return np.load(result).astype(int)
    pytest.skip("MuJoCo finds neither EGL nor OSMesa to draw with")


def write_scene(glb: Path, folder: Path) -> tuple[Path, np.ndarray]:
    """An MJCF scene of everything in a .glb where it stands, and the bounds of it all (Z-up)."""
    scene = trimesh.load(glb)
    up = trimesh.transformations.rotation_matrix(np.pi / 2, (1, 0, 0))
    meshes, geoms, corners = [], [], []
    for number, node in enumerate(sorted(scene.graph.nodes_geometry)):
        matrix, name = scene.graph[node]
        mesh = scene.geometry[name].copy()
        mesh.apply_transform(up @ matrix)
        mesh.visual, look = trimesh.visual.ColorVisuals(), mesh.visual.material
        mesh.export(folder / f"m{number}.obj", include_normals=True, include_texture=False)
        corners.append(mesh.bounds)
        factor = (255, 255, 255, 255) if look.baseColorFactor is None else look.baseColorFactor
        color = [to_display(value / 255) for value in factor[:3]]
        rgba = " ".join(str(value) for value in (*color, factor[3] / 255))
        meshes.append(f'<mesh name="m{number}" file="m{number}.obj" inertia="shell"/>')
        geoms.append(f'<geom type="mesh" mesh="m{number}" rgba="{rgba}" contype="0" conaffinity="0"/>')
    target = folder / "scene.xml"
    target.write_text(
        f"<mujoco><asset>{''.join(meshes)}</asset><worldbody>{''.join(geoms)}</worldbody></mujoco>"
    )
    low, high = np.array(corners)[:, 0].min(axis=0), np.array(corners)[:, 1].max(axis=0)
    return target, np.array((low, high))


def measure(path: Path) -> np.ndarray:
    """Bounds of all visual meshes of an MJCF file where they stand."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    points = []
    for geom in range(model.ngeom):
        mesh = model.geom_dataid[geom]
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH and model.geom_group[geom] < 3:
            start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            turn = data.geom_xmat[geom].reshape(3, 3)
            points.append(model.mesh_vert[start : start + count] @ turn.T + data.geom_xpos[geom])
    every = np.concatenate(points)
    return np.array((every.min(axis=0), every.max(axis=0)))


@pytest.mark.realworld
@pytest.mark.parametrize(("name", "distance"), [("unitree_h1/h1", 3.0)])
def test_looks_the_same(name, distance, shared_assets, tmp_path):
    source = shared_assets / "mjcf" / f"{name}.xml"
    glb = simwright.convert(source, tmp_path / "robot.glb")
    scene, bounds = write_scene(glb, tmp_path)
    assert bounds == pytest.approx(measure(source), abs=2e-4)
    first, second = draw([source, scene], tmp_path, distance)
    one, two = (picture.max(axis=2) > 0 for picture in (first, second))
    assert 0.01 < one.mean() < 0.9  # there is a robot in the picture
    assert (one & two).sum() / (one | two).sum() > 0.99
    assert np.abs(first - second)[one & two].mean() < 12.0


@pytest.mark.realworld
@pytest.mark.parametrize("name", ["franka_emika_panda/panda"])
def test_same_tree(name, shared_assets, tmp_path):
    source = shared_assets / "mjcf" / f"{name}.xml"
    document = open_gltf(simwright.convert(source, tmp_path / "robot.glb"))
    model = mujoco.MjModel.from_xml_path(str(source))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for number in range(1, model.nbody):
        body = model.body(number)
        node = document.find(body.name)
        parent = model.body(body.parentid[0]).name
        assert document.parent_of(node) == (0 if parent == "world" else document.find(parent))
        place = document.world(node)
        assert place[:3, 3] == pytest.approx(data.xpos[number], abs=1e-6)
        assert place[:3, :3].reshape(-1) == pytest.approx(data.xmat[number], abs=1e-6)

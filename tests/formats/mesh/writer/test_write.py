# SPDX-License-Identifier: Apache-2.0
"""Mesh files come back as they were, as far as each format goes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from simwright.formats.mesh import load_mesh, load_mesh_materials
from simwright.formats.mesh.writer import MESH_FORMATS, write_mesh
from simwright.model.geometry import Mesh, MeshData, Subset
from simwright.model.material import RenderMaterial
from simwright.model.moments import compute_moments

BOX = np.array([(x, y, z) for x in (0.0, 0.1) for y in (0.0, 1 / 3) for z in (0.0, 0.7)])
QUADS = np.array((0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3), dtype=np.int32)
LOOKS = {
    "red paint": RenderMaterial("red paint", (0.8, 0.1, 0.2), roughness=0.25),
    "glass": RenderMaterial("glass", (0.2, 0.4, 0.6), opacity=0.5),
}


def make_box(*, left_handed: bool = False, rich: bool = True) -> MeshData:
    indices = QUADS.reshape(-1, 4)[:, ::-1].reshape(-1) if left_handed else QUADS
    rng = np.random.default_rng(0)
    normals = np.repeat(
        np.array(((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1.0))), 4, axis=0
    )
    sets = (
        Subset("a", np.array((0, 1), dtype=np.int32), "red paint"),
        Subset("b", np.array((4,), dtype=np.int32), "glass"),
    )
    return MeshData(
        BOX, indices.copy(), np.full(6, 4, dtype=np.int32), normals if rich else None,
        rng.random((24, 2)) if rich else None, subsets=sets, left_handed=left_handed,
    )  # fmt: skip


def write_and_read(data: MeshData, word: str, folder: Path) -> tuple[MeshData, dict[str, RenderMaterial]]:
    for file, content in write_mesh(data, word, "box", LOOKS).items():
        (folder / file).write_bytes(content)
    path = folder / f"box.{word}"
    return load_mesh(path), {material.name: material for material in load_mesh_materials(path)}


@pytest.mark.parametrize("left_handed", [False, True])
@pytest.mark.parametrize("word", MESH_FORMATS)
def test_the_solid_is_the_same(word, left_handed, tmp_path):
    data = make_box(left_handed=left_handed, rich=False)
    again, _ = write_and_read(data, word, tmp_path)
    volume = 0.1 / 3 * 0.7
    assert compute_moments(Mesh(data)).volume == pytest.approx(volume)
    assert compute_moments(Mesh(again)).volume == pytest.approx(volume, rel=1e-6)
    assert np.allclose(again.vertices.max(axis=0), BOX.max(axis=0), rtol=1e-6)


@pytest.mark.parametrize("word", ["obj", "dae", "glb"])
def test_normals_texture_coordinates_and_looks_stay(word, tmp_path):
    data = make_box()
    again, looks = write_and_read(data, word, tmp_path)
    assert {name: look.opacity for name, look in looks.items()} == {"red_paint": 1.0, "glass": 0.5}
    assert np.allclose(looks["red_paint"].diffuse, (0.8, 0.1, 0.2), atol=1e-6)
    assert looks["red_paint"].roughness == pytest.approx(0.25, abs=1e-6)
    faces = {subset.material: len(subset.faces) for subset in again.subsets}
    assert faces["red_paint"] == (4 if word == "glb" else 2)
    assert _list_corners(again) == _list_corners(data)


def test_collada_adds_no_light_of_its_own():
    """Programs add the ambient colour to every picture, and a highlight where none was said."""
    (content,) = write_mesh(make_box(), "dae", "box", LOOKS).values()
    root = ET.fromstring(content)
    for kind in ("ambient", "emission", "specular"):
        colors = [one.text for one in root.findall(f".//{{*}}phong/{{*}}{kind}/{{*}}color")]
        assert len(colors) == 2
        assert all([float(v) for v in str(text).split()][:3] == [0.0, 0.0, 0.0] for text in colors)


def _list_corners(data):
    rows = np.hstack((_corners(data, data.normals), _corners(data, data.uvs))).astype(np.float64)
    return {tuple(row) for row in np.round(rows, 5).tolist()}


def _corners(data, rows):
    return rows if len(rows) == len(data.indices) else rows[data.indices]


def test_obj_keeps_every_bit(tmp_path):
    data = make_box()
    again, _ = write_and_read(data, "obj", tmp_path)
    assert set(map(tuple, again.vertices)) == set(map(tuple, data.vertices))
    assert again.counts is not None
    assert list(again.counts) == [4] * 6


def test_other_readers_of_obj_get_a_shininess():
    """They know no Pr: Ns is the exponent of a highlight as wide as the roughness, sqrt(2 / (Ns + 2))."""
    looks = {"red paint": LOOKS["red paint"], "glass": RenderMaterial("glass", roughness=0.0)}
    written = write_mesh(make_box(), "obj", "box", looks)["box.mtl"].decode()
    assert [line for line in written.splitlines() if line.startswith("Ns")] == ["Ns 30.0", "Ns 1000.0"]


def test_the_same_mesh_is_the_same_file():
    for word in MESH_FORMATS:
        assert write_mesh(make_box(), word, "box", LOOKS) == write_mesh(make_box(), word, "box", LOOKS)


@pytest.mark.parser
@pytest.mark.parametrize("rich", [False, True])
def test_the_validator_accepts_gltf(rich, tmp_path, accept_gltf):
    write_and_read(make_box(rich=rich), "glb", tmp_path)
    assert json.loads(accept_gltf(tmp_path / "box.glb"))["issues"]["numErrors"] == 0

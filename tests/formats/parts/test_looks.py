# SPDX-License-Identifier: Apache-2.0
"""Materials of mesh files become looks of the asset, each once."""

from __future__ import annotations

import dataclasses

import numpy as np

from simwright.formats.gltf.messages import LOOK_HIGHLIGHTS, LOOK_UNREADABLE
from simwright.formats.mesh import mesh_geometry
from simwright.formats.parts.looks import FileLooks, is_plain, list_uncovered, rename_looks
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh, Sphere, Subset
from simwright.model.material import RenderMaterial

PAINT = "newmtl paint\nKd 1 0 0\nKs 0.5 0.5 0.5\nd 0\n"


def write_obj(folder, name, library):
    folder.mkdir()
    (folder / f"{name}.mtl").write_text(library)
    text = f"mtllib {name}.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl paint\nf 1 2 3\n"
    (folder / f"{name}.obj").write_text(text)
    return str(folder / f"{name}.obj")


def test_equal_looks_are_taken_once_and_others_get_a_name(tmp_path, reporter):
    files = [write_obj(tmp_path / n, "part", PAINT) for n in ("a", "b")]
    other = write_obj(tmp_path / "c", "part", PAINT.replace("1 0 0", "0 1 0"))
    asset = Asset("robot", materials=[RenderMaterial("steel")])
    looks = FileLooks(asset, reporter, LOOK_UNREADABLE)
    assert looks.own == {"steel"}
    assert [dict(looks.take(mesh_geometry(file))) for file in files] == [{"paint": "paint"}] * 2
    name = looks.take(mesh_geometry(other))["paint"]
    assert name not in ("paint", "steel")
    assert [material.name for material in asset.materials] == ["steel", "paint", name]
    assert asset.materials[1].opacity == 1.0


def test_highlights_are_left_out_and_reported_unless_wanted(tmp_path, reporter):
    file = write_obj(tmp_path / "a", "part", PAINT)
    dim, bright = Asset("dim"), Asset("bright")
    looks = FileLooks(dim, reporter, LOOK_UNREADABLE)
    looks.take(mesh_geometry(file))
    FileLooks(bright, reporter, LOOK_UNREADABLE, highlights=True).take(mesh_geometry(file))
    assert dim.materials[0].specular is None
    assert bright.materials[0].specular is not None
    looks.report_dimmed(LOOK_HIGHLIGHTS)
    assert [(finding.kind, finding.data["first"]) for finding in reporter] == [
        (LOOK_HIGHLIGHTS.code, "paint")
    ]


def test_a_file_that_cannot_be_read_is_reported_once(tmp_path, reporter):
    looks = FileLooks(Asset("robot"), reporter, LOOK_UNREADABLE)
    for _ in range(2):
        assert looks.take(mesh_geometry(tmp_path / "absent.obj")) == {}
    assert [finding.kind for finding in reporter] == [LOOK_UNREADABLE.code]


def test_face_sets_get_the_names_of_the_asset():
    faces = [np.array([n], dtype=np.int32) for n in range(2)]
    subsets = (Subset("a", faces[0], "paint"), Subset("b", faces[1], "rust"))
    mesh = Mesh.of(np.eye(3), [(0, 1, 2), (0, 2, 1), (1, 2, 0)])
    data = dataclasses.replace(mesh.data, subsets=subsets)
    assert [(s.name, s.material) for s in rename_looks(data, {"paint": "red"}).subsets] == [("a", "red")]
    assert list_uncovered(data).tolist() == [2]


def test_a_shape_with_a_look_is_plain():
    assert not is_plain(Shape("s", Sphere(1.0)))
    assert is_plain(Shape("s", Sphere(1.0), material="steel"))
    assert is_plain(Shape("s", Sphere(1.0), color=(1.0, 0.0, 0.0, 1.0)))

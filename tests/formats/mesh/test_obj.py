"""OBJ and MTL."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from simwright.core.errors import ParseError
from simwright.formats.mesh import load_mesh, load_mesh_materials
from simwright.formats.mesh.obj import has_several_objects

QUAD = """
mtllib look.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vn 0 0 1
usemtl red
f 1/1/1 2/2/1 3/3/1 4/4/1
usemtl blue
f -4/1/1 -3/2/1 \\
  -2/3/1
"""


def write(folder: Path, text: str, name: str = "a.obj") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_polygons_corners_and_subsets(tmp_path: Path) -> None:
    mesh = load_mesh(write(tmp_path, QUAD))
    assert mesh.counts is not None
    assert mesh.counts.tolist() == [4, 3]
    assert mesh.indices.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert mesh.uvs is not None
    assert mesh.uvs.shape == (7, 2)
    assert mesh.uvs[3].tolist() == [0, 1]
    assert mesh.normals is not None
    assert np.array_equal(mesh.normals, np.tile((0.0, 0, 1), (7, 1)))
    assert [(s.material, s.faces.tolist()) for s in mesh.subsets] == [("red", [0]), ("blue", [1])]
    assert len(mesh.triangles()) == 3


def test_only_triangles_need_no_counts_and_unused_vertices_go(tmp_path: Path) -> None:
    mesh = load_mesh(write(tmp_path, "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 2 3 4\n"))
    assert mesh.counts is None
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert mesh.uvs is None
    assert mesh.subsets == ()


def test_vertex_colours_of_the_six_column_dialect(tmp_path: Path) -> None:
    mesh = load_mesh(write(tmp_path, "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n"))
    assert mesh.colors is not None
    assert mesh.colors.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_materials_of_the_library(tmp_path: Path) -> None:
    write(
        tmp_path,
        "newmtl red\nKd 1 0 0\nd 0.5\nNs 98\nmap_Kd tex/a.png\n"
        "newmtl blue\nKd 0 0 1\nPr 0.2\nPm 1\nTr 0.25\n",
        "look.mtl",
    )
    red, blue = load_mesh_materials(write(tmp_path, QUAD))
    assert (red.name, red.diffuse, red.opacity) == ("red", (1, 0, 0), 0.5)
    assert math.isclose(red.roughness, math.sqrt(2 / 100))
    assert red.textures["diffuse"].file == str(tmp_path / "tex" / "a.png")
    assert (blue.roughness, blue.metallic, blue.opacity) == (0.2, 1.0, 0.75)
    assert red.source.line == 1


def test_a_library_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "newmtl red\nKd 1 0 0\n", "look.mtl")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert load_mesh_materials(write(inner, QUAD.replace("look.mtl", "../look.mtl"))) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", 4),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", 4),
        ("v 0 0\n", 1),
        ("v a b c\n", 1),
    ],
)
def test_bad_statements_name_their_line(text: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        load_mesh(write(tmp_path, text))
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_no_faces_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="no faces"):
        load_mesh(write(tmp_path, "v 0 0 0\n"))


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("# of g o\nv 0 0 0\nf 1 1 1\n", False),
        ("o a\nv 0 0 0\nf 1 1 1\no b\nf 1 1 1\n", True),
        ("g a\nv 0 0 0\nf 1 1 1\ng b\n# nothing of it\n", False),
        ("v 0 0 0\nusemtl of_fog\nf 1 1 1\ns off\nf 1 1 1\n", False),
        ("# " + "fog " * 2000 + "\nv 0 0 0\nf 1 1 1\n# " + "fog " * 2000 + "\ng b\nf 1 1 1\n", True),
    ],
)
def test_several_objects(text: str, several: bool, tmp_path: Path) -> None:
    file = tmp_path / "a.obj"
    file.write_text(text)
    assert has_several_objects(file) is several

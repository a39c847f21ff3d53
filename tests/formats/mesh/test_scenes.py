"""COLLADA, glTF and PLY."""

from __future__ import annotations

import base64
import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from simwright.core.errors import InputError, LimitError, ParseError
from simwright.formats.mesh import MESH_EXTENSIONS, MeshLibrary, load_mesh, load_mesh_materials
from simwright.formats.mesh.join import reverse_corners

DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_effects><effect id="fx"><profile_COMMON><technique sid="t"><phong>
    <diffuse><color>1 0 0 1</color></diffuse><shininess><float>98</float></shininess>
  </phong></technique></profile_COMMON></effect></library_effects>
  <library_materials><material id="m" name="red"><instance_effect url="#fx"/></material></library_materials>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="12">0 0 0 1000 0 0 0 1000 0 5000 5000 5000</float_array>
      <technique_common><accessor source="#pa" count="4" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="1" material="sym">
      <input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node>
    <matrix>MATRIX</matrix>
    <instance_geometry url="#g"><bind_material><technique_common>
      <instance_material symbol="sym" target="#m"/></technique_common></bind_material></instance_geometry>
  </node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def dae(folder: Path, matrix: str = "1 0 0 0 0 1 0 0 0 0 1 2000 0 0 0 1") -> Path:
    file = folder / "a.dae"
    file.write_text(DAE.replace("MATRIX", matrix))
    return file


def test_collada_units_and_matrix_count_and_up_axis_does_not(tmp_path: Path) -> None:
    mesh = load_mesh(dae(tmp_path))
    assert np.allclose(mesh.vertices, [[0, 0, 2], [1, 0, 2], [0, 1, 2]])
    assert mesh.triangles().tolist() == [[0, 1, 2]]
    assert [(s.material, s.faces.tolist()) for s in mesh.subsets] == [("red", [0])]


def test_a_mirroring_matrix_turns_the_faces(tmp_path: Path) -> None:
    mesh = load_mesh(dae(tmp_path, "-1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"))
    a, b, c = mesh.vertices[mesh.triangles()[0]]
    assert np.allclose(np.cross(b - a, c - a), (0, 0, 1))


def test_collada_materials(tmp_path: Path) -> None:
    (red,) = load_mesh_materials(dae(tmp_path))
    assert (red.name, red.diffuse, red.opacity) == ("red", (1.0, 0.0, 0.0), 1.0)
    assert red.roughness == pytest.approx(np.sqrt(2 / 100))


def test_collada_without_a_word_on_transparency_is_opaque(tmp_path: Path) -> None:
    file = dae(tmp_path)
    file.write_text(
        re.sub(r"<transparen(t|cy)\b.*?</transparen(t|cy)>", "", file.read_text(), flags=re.DOTALL)
    )
    assert [look.opacity for look in load_mesh_materials(file)] == [1.0]


@pytest.mark.parametrize(
    "change",
    [
        ("<COLLADA", '<!DOCTYPE a [<!ENTITY b "c">]><COLLADA'),
        ("</COLLADA>", ""),
        ("COLLADA", "ADALLOC"),
        ("<triangles", "<lines"),
        ("0 1 2</p>", "0 1 99</p>"),
    ],
)
def test_bad_collada_is_an_input_error(change: tuple[str, str], tmp_path: Path) -> None:
    file = dae(tmp_path)
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(InputError):
        load_mesh(file)


@pytest.mark.parametrize("word", ["lines", "linestrips"])
def test_lines_of_a_collada_mesh_do_not_cost_its_faces(word: str, tmp_path: Path) -> None:
    file = dae(tmp_path)
    lines = f'<{word} count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></{word}>'
    file.write_text(file.read_text().replace("</mesh>", f"<!-- edges -->{lines}</mesh>"))
    assert load_mesh(file).triangles().tolist() == [[0, 1, 2]]


def test_a_third_texture_coordinate_is_left_out(tmp_path: Path) -> None:
    file = dae(tmp_path)
    params = "".join(f'<param name="{name}" type="float"/>' for name in "STP")
    source = (
        '<source id="t"><float_array id="ta" count="9">0.5 0 9 1 0.25 9 0 1 9</float_array><technique_common>'
        f'<accessor source="#ta" count="3" stride="3">{params}</accessor></technique_common></source>'
    )
    text = file.read_text().replace("<vertices", f"{source}<vertices")
    text = text.replace("<p>0 1 2</p>", '<input semantic="TEXCOORD" source="#t" offset="0"/><p>0 1 2</p>')
    file.write_text(text)
    uvs = load_mesh(file).uvs
    assert uvs is not None
    assert uvs.tolist() == [[0.5, 0.0], [1.0, 0.25], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "vertex"),
    [("0 0 0 1e3 0 0 0 1000 0", [1.0, 0.0, 0.0]), ("0 0 0 nan 0 0 0 1000 0", [0.0, 0.0, 0.0])],
    ids=["exponent", "not a number"],
)
def test_numbers_of_collada_that_are_unusual(text: str, vertex: list[float], tmp_path: Path) -> None:
    file = dae(tmp_path, "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1")
    file.write_text(file.read_text().replace("0 0 0 1000 0 0 0 1000 0 5000 5000 5000", text))
    assert load_mesh(file).vertices[1].tolist() == vertex


def test_pycollada_is_not_changed_for_others(tmp_path: Path) -> None:
    import collada.source

    before = dict(vars(collada.source)), dict(vars(collada.source.FloatSource))
    load_mesh(dae(tmp_path))
    assert (dict(vars(collada.source)), dict(vars(collada.source.FloatSource))) == before


def gltf_tree() -> tuple[dict[str, object], bytes]:
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    data = points + struct.pack("<3H", 0, 1, 2)
    tree: dict[str, object] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"children": [1], "translation": [0, 5, 0]}, {"mesh": 0, "scale": [2, 2, 2]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"name": "shiny", "pbrMetallicRoughness": {"baseColorFactor": [0, 1, 0, 1]}}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 6},
        ],
        "buffers": [{"byteLength": len(data)}],
    }
    return tree, data


def glb(folder: Path, tree: dict[str, object], data: bytes) -> Path:
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    chunks = (
        struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    )
    file = folder / "a.glb"
    file.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
    return file


EXPECTED = [[0, 0, 5], [2, 0, 5], [0, 0, 7]]


def test_glb_is_turned_from_y_up_to_z_up(tmp_path: Path) -> None:
    mesh = load_mesh(glb(tmp_path, *gltf_tree()))
    assert np.allclose(mesh.vertices, EXPECTED)
    assert mesh.subsets[0].material == "shiny"
    (material,) = load_mesh_materials(tmp_path / "a.glb")
    assert (material.name, material.diffuse, material.metallic) == ("shiny", (0, 1, 0), 1.0)


@pytest.mark.parametrize(
    ("mode", "triangles"),
    [
        (4, [(0, 1, 2)]),
        (5, [(0, 1, 2), (2, 1, 3), (2, 3, 4)]),
        (6, [(0, 1, 2), (0, 2, 3), (0, 3, 4)]),
    ],
)
def test_strips_and_fans_of_gltf_face_one_way(
    mode: int, triangles: list[tuple[int, ...]], tmp_path: Path
) -> None:
    """Triangle i of a strip is i, i + (1 + i % 2), i + (2 - i % 2) (glTF 2.0, 3.7.2.1); of a fan i + 1, i + 2, 0."""
    tree, _ = gltf_tree()
    numbers = [value for i in range(5) for value in (i // 2, i % 2, 0)]
    tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}, "mode": mode}]}]
    tree["nodes"] = [{"mesh": 0}]
    tree["accessors"] = [{"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"}]
    tree["bufferViews"] = [{"buffer": 0, "byteOffset": 0, "byteLength": 60}]
    tree["buffers"] = [{"byteLength": 60}]
    mesh = load_mesh(glb(tmp_path, tree, struct.pack("<15f", *numbers)))

    def turn(face):
        return min(face[i:] + face[:i] for i in range(3))

    assert [turn(tuple(face)) for face in mesh.triangles().tolist()] == [turn(face) for face in triangles]


def test_gltf_with_embedded_and_neighbour_buffers(tmp_path: Path) -> None:
    tree, data = gltf_tree()
    for number, uri in enumerate(("data:;base64," + base64.b64encode(data).decode(), "a.bin")):
        tree["buffers"] = [{"byteLength": len(data), "uri": uri}]
        (tmp_path / "a.bin").write_bytes(data)
        file = tmp_path / f"{number}.gltf"
        file.write_text(json.dumps(tree))
        assert np.allclose(load_mesh(file).vertices, EXPECTED)


def test_gltf_does_not_leave_its_folder(tmp_path: Path) -> None:
    tree, data = gltf_tree()
    (tmp_path / "a.bin").write_bytes(data)
    tree["buffers"] = [{"byteLength": len(data), "uri": "../a.bin"}]
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "a.gltf"
    file.write_text(json.dumps(tree))
    with pytest.raises(InputError, match="outside the asset"):
        load_mesh(file)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("nodes", [{"children": [0]}], "cycles"),
        ("nodes", [{"mesh": 7}], "does not exist"),
        (
            "accessors",
            [{"bufferView": 0, "componentType": 5126, "count": 1 << 40, "type": "VEC3"}],
            "outside",
        ),
        ("asset", {"version": "1.0"}, "only glTF 2.0"),
        ("nodes", "text", "not a list"),
    ],
)
def test_bad_gltf_is_an_input_error(key: str, value: object, message: str, tmp_path: Path) -> None:
    tree, data = gltf_tree()
    tree[key] = value
    with pytest.raises((ParseError, LimitError), match=message):
        load_mesh(glb(tmp_path, tree, data))


def test_ply_ascii_with_colours(tmp_path: Path) -> None:
    file = tmp_path / "a.ply"
    file.write_text(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "property uchar red\nproperty uchar green\nproperty uchar blue\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0 255 0 0\n1 0 0 0 255 0\n0 1 0 0 0 255\n3 0 1 2\n"
    )
    mesh = load_mesh(file)
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert mesh.colors is not None
    assert mesh.colors[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "text",
    [
        "garbage",
        "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nend_header\n",
        "ply\nend_header",
    ],
)
def test_bad_ply_is_a_parse_error(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.ply"
    file.write_text(text)
    with pytest.raises(ParseError):
        load_mesh(file)


def test_an_unknown_ending_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.step").write_text("x")
    with pytest.raises(ParseError, match="not supported") as caught:
        load_mesh(tmp_path / "a.step")
    assert ".stl" in caught.value.hint


def test_the_library_shares_one_lazy_mesh_per_file(tmp_path: Path) -> None:
    file = dae(tmp_path)
    library = MeshLibrary()
    first, second = library.mesh(file), library.mesh(file)
    assert first is second
    assert not first.is_loaded
    assert first.data.face_count == 1
    file.write_text(file.read_text() + "\n")
    assert library.mesh(file) is not first


def test_reversing_corners_walks_each_face_backwards() -> None:
    assert reverse_corners(np.array([3, 4], dtype=np.int32)).tolist() == [2, 1, 0, 6, 5, 4, 3]


@pytest.mark.realworld
def test_every_mesh_of_the_urdf_collection_loads_as_trimesh_sees_it(shared_assets: Path) -> None:
    import trimesh

    files = [
        file
        for file in sorted((shared_assets / "urdf").rglob("*"))
        if file.suffix.lower() in MESH_EXTENSIONS and file.stat().st_size < 400_000
    ]
    assert len(files) > 50
    for file in files:
        mesh = load_mesh(file)
        other = trimesh.load(file, process=False, force="mesh", skip_materials=True)
        assert len(mesh.triangles()) == len(other.faces), file
        assert np.allclose(other.bounds, (mesh.vertices.min(0), mesh.vertices.max(0)), atol=1e-6), file


@pytest.mark.parametrize(
    ("word", "found"),
    [("skin.png", True), ("file://skin.png", True), ("https://example.org/skin.png", False)],
)
def test_an_image_of_collada_is_a_file_beside_it_or_nothing(word: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "skin.png").write_bytes(b"an image")
    file = dae(tmp_path)
    images = f'<library_images><image id="i"><init_from>{word}</init_from></image></library_images>'
    sampler = (
        '<newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>'
        '<newparam sid="t0"><sampler2D><source>s</source></sampler2D></newparam>'
    )
    text = file.read_text().replace("<library_effects>", f"{images}<library_effects>")
    text = text.replace('<technique sid="t">', f'{sampler}<technique sid="t">')
    text = text.replace("<color>1 0 0 1</color>", '<texture texture="t0" texcoord="u"/>')
    file.write_text(text)
    (material,) = load_mesh_materials(file)
    files = [Path(texture.file).name for texture in material.textures.values()]
    assert files == (["skin.png"] if found else [])

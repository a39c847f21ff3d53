"""Looks of a written asset: materials of mesh files, linear colours, images in allowed formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pxr import Sdf, Usd, UsdShade
from test_colliders import BLOCK, CORNERS, find_errors, make_asset
from writing import make_trip

import simwright
from simwright.core.diag import Reporter
from simwright.model.asset import Shape
from simwright.model.geometry import Mesh, MeshData, Sphere
from simwright.model.material import RenderMaterial, Texture, to_linear

MTL = """newmtl shell
Kd 0.5 0.5 0.5
Ks 0.9 0.9 0.9
Ns 98
newmtl sticker
Kd 1 0 0
map_Kd sticker.tga
newmtl ghost
Tr 1.0
"""
OBJ = """mtllib part.mtl
v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1
vt 0 0\nvt 1 0\nvt 0 1
usemtl shell
f 1 3 2
f 1 2 4
usemtl sticker
f 1/1 4/2 3/3
f 2/1 3/2 4/3
"""
URDF = """<robot name="r"><link name="base">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  {visuals}
</link></robot>"""
VISUAL = '<visual name="{name}"><geometry><mesh filename="part.obj"/></geometry>{look}</visual>'
RED = '<material name="red"><color rgba="0.5 0 0 1"/></material>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part.obj").write_text(OBJ)
    (tmp_path / "part.mtl").write_text(MTL)
    Image.new("RGB", (2, 2), (200, 10, 10)).save(tmp_path / "sticker.tga")
    return tmp_path


def convert(folder: Path, *visuals: str) -> tuple[Path, Reporter]:
    (folder / "r.urdf").write_text(URDF.format(visuals="".join(visuals)))
    reporter = Reporter()
    return simwright.convert(folder / "r.urdf", folder / "out", reporter=reporter), reporter


def test_mesh_file_brings_its_looks(folder):
    entry, reporter = convert(folder, VISUAL.format(name="v", look=""))
    back = simwright.load(entry)
    (shape,) = back.shapes
    looks = {material.name: material for material in back.materials}
    assert [subset.material for subset in shape.geometry.data.subsets] == ["shell", "sticker"]
    assert looks["shell"].diffuse == pytest.approx((0.5,) * 3)
    assert read_diffuse(entry, "shell") == pytest.approx((to_linear(0.5),) * 3)
    assert looks["shell"].roughness == pytest.approx((2 / 100) ** 0.5)
    assert looks["shell"].specular is None
    assert looks["ghost"].opacity == 1.0
    texture = looks["sticker"].textures["diffuse"]
    assert texture.file.endswith("textures/sticker.png")
    assert texture.color_space == "sRGB"
    assert shape.geometry.data.uvs is not None
    assert "usd-write-look-highlights" in {d.kind for d in reporter}
    assert find_errors(entry) == []


def test_look_of_the_robot_file_wins(folder):
    entry, _ = convert(folder, VISUAL.format(name="v", look=RED))
    back = simwright.load(entry)
    (shape,) = back.shapes
    assert (shape.material, shape.geometry.data.subsets) == ("red", ())
    assert back.materials[0].diffuse == pytest.approx((0.5, 0.0, 0.0))
    assert read_diffuse(entry, "red") == pytest.approx((to_linear(0.5), 0.0, 0.0))


def test_instances_of_a_mesh_with_face_sets_keep_the_looks(folder):
    visuals = [VISUAL.format(name=f"v{n}", look=RED if n == 2 else "") for n in range(3)]
    entry, _ = convert(folder, *visuals)
    trip_stage = simwright.load(entry)
    found = {s.name: [subset.material for subset in s.geometry.data.subsets] for s in trip_stage.shapes}
    assert found["v0"] == found["v1"] == ["shell", "sticker"]
    assert found["v2"] == []
    assert find_errors(entry) == []


def test_unreadable_materials_are_said(folder):
    (folder / "part.mtl").write_text("newmtl shell\nKd red\n")
    _, reporter = convert(folder, VISUAL.format(name="v", look=""))
    assert "usd-write-look-unreadable" in {d.kind for d in reporter}


def test_a_turned_image_is_written_with_identifiers_that_cannot_change_in_time(tmp_path):
    Image.new("RGB", (2, 2), (200, 10, 10)).save(tmp_path / "a.png")
    asset = make_asset(Shape("m", Sphere(1.0), material="wood"))
    image = Texture(str(tmp_path / "a.png"), scale=(3.0, 4.0), offset=(0.5, 0.25), rotation=0.5)
    asset.materials = [RenderMaterial("wood", textures={"diffuse": image})]
    trip = make_trip(asset, tmp_path / "out")
    shaders = [UsdShade.Shader(prim) for prim in trip.stage.Traverse() if prim.IsA(UsdShade.Shader)]
    assert "UsdTransform2d" in {shader.GetShaderId() for shader in shaders}
    written = [spec for shader in shaders for spec in shader.GetIdAttr().GetPropertyStack()]
    assert {spec.variability for spec in written} == {Sdf.VariabilityUniform}
    back = trip.back.materials[0].textures["diffuse"]
    assert (*back.scale, *back.offset, back.rotation) == pytest.approx((3.0, 4.0, 0.5, 0.25, 0.5), rel=1e-6)


def test_model_has_display_colours_and_the_layers_linear_ones(tmp_path):
    Image.new("RGB", (2, 2), (200, 10, 10)).save(tmp_path / "a.png")
    block = Mesh(MeshData(CORNERS, BLOCK.reshape(-1), colors=np.linspace(0.0, 1.0, 24).reshape(8, 3)))
    asset = make_asset(
        Shape("m", Sphere(1.0), material="grey"),
        Shape("c", Sphere(1.0), color=(0.1, 0.5, 0.9, 0.25)),
        Shape("v", block),
    )
    image = Texture(str(tmp_path / "a.png"), gain=(0.3, 0.6, 1.0, 0.5))
    maps = Texture(str(tmp_path / "a.png"), "r", gain=(0.3, 0.3, 0.3, 0.3))
    grey = RenderMaterial("grey", (0.5, 0.4, 0.02), emissive=(0.1, 3.0, 0.0), specular=(0.2, 0.2, 0.2))
    grey.textures = {"diffuse": image, "roughness": maps}
    asset.materials = [grey]
    trip = make_trip(asset, tmp_path / "out")
    (back,) = trip.back.materials
    shapes = {shape.name: shape for shape in trip.back.shapes}
    for word in ("diffuse", "emissive", "specular"):
        assert getattr(back, word) == pytest.approx(getattr(grey, word), rel=2e-7)
    assert back.textures["diffuse"].gain == pytest.approx(image.gain, rel=2e-7)
    assert back.textures["roughness"].gain == pytest.approx(maps.gain, rel=2e-7)
    assert shapes["c"].color == pytest.approx((0.1, 0.5, 0.9, 0.25), rel=2e-7)
    np.testing.assert_allclose(shapes["v"].geometry.data.colors, block.data.colors, rtol=2e-7)
    stage = trip.stage
    surface = stage.GetPrimAtPath("/prop/materials/grey/surface")
    assert surface.GetAttribute("inputs:emissiveColor").Get() == pytest.approx((to_linear(0.1), 3.0, 0.0))
    drawn = next(p for p in stage.Traverse() if p.GetName() == "c")
    assert drawn.GetAttribute("primvars:displayColor").Get()[0] == pytest.approx(
        [to_linear(v) for v in (0.1, 0.5, 0.9)]
    )


def read_diffuse(entry: Path, name: str) -> tuple[float, ...]:
    """The colour that other tools see."""
    stage = Usd.Stage.Open(str(entry))
    shader = stage.GetPrimAtPath(f"/r/materials/{name}/surface")
    return tuple(shader.GetAttribute("inputs:diffuseColor").Get())


@pytest.mark.parametrize(
    ("name", "mode", "slot", "channel", "suffix"),
    [
        ("a.bmp", "RGB", "diffuse", "rgb", ".png"),
        ("a.jpg", "RGB", "diffuse", "rgb", ".jpg"),
        ("a.jpg", "L", "roughness", "r", ".png"),
        ("a.png", "I;16", "roughness", "r", ".png"),
        ("a.webp", "RGBA", "opacity", "a", ".png"),
    ],
)
def test_images_come_in_allowed_formats(name, mode, slot, channel, suffix, tmp_path):
    Image.new(mode, (2, 2)).save(tmp_path / name)
    asset = make_asset(Shape("m", Sphere(1.0), material="skin"))
    asset.materials = [RenderMaterial("skin", textures={slot: Texture(str(tmp_path / name), channel)})]
    trip = make_trip(asset, tmp_path / "out")
    (file,) = (tmp_path / "out/textures").iterdir()
    assert file.suffix == suffix
    assert not [error for error in find_errors(trip.entry) if error.startswith("tex-")]
    with Image.open(file) as image:
        assert image.mode in ("L", "RGB", "RGBA")


def test_equal_images_are_one(tmp_path):
    for name in "ab":
        Image.new("RGB", (2, 2)).save(tmp_path / f"{name}.png")
    asset = make_asset(Shape("m", Sphere(1.0), material="skin"))
    files = {"diffuse": Texture(str(tmp_path / "a.png")), "emissive": Texture(str(tmp_path / "b.png"))}
    asset.materials = [RenderMaterial("skin", textures=files)]
    trip = make_trip(asset, tmp_path / "out")
    assert len(list((tmp_path / "out/textures").iterdir())) == 1
    assert UsdShade.Material(trip.stage.GetPrimAtPath("/prop/materials/skin"))


def make_glb(folder: Path) -> None:
    """A triangle with a picture and a metal map, both inside the file."""
    import trimesh

    look = trimesh.visual.material.PBRMaterial(
        name="paint",
        baseColorTexture=Image.new("RGB", (2, 2), (10, 200, 10)),
        baseColorFactor=[128, 255, 255, 255],
        metallicRoughnessTexture=Image.new("RGB", (2, 2), (0, 128, 255)),
        metallicFactor=1.0,
        roughnessFactor=0.5,
    )
    uvs = np.array([(0, 0), (1, 0), (0, 1)])
    mesh = trimesh.Trimesh(np.eye(3), [(0, 1, 2)], visual=trimesh.visual.TextureVisuals(uvs, material=look))
    mesh.export(folder / "part.glb")


def test_images_inside_a_gltf_file_are_taken_out(tmp_path):
    make_glb(tmp_path)
    entry, reporter = convert(tmp_path, VISUAL.format(name="v", look="").replace("part.obj", "part.glb"))
    assert not [d for d in reporter if d.kind == "usd-write-texture"]
    (look,) = simwright.load(entry).materials
    assert set(look.textures) == {"diffuse", "metallic", "roughness"}
    assert look.textures["metallic"].channel == "b"
    assert look.textures["roughness"].gain[1] == pytest.approx(0.5)
    assert to_linear(look.textures["diffuse"].gain[0]) == pytest.approx(128 / 255, rel=0.01)
    with Image.open(look.textures["diffuse"].file) as picture:
        assert picture.convert("RGB").getpixel((0, 0)) == (10, 200, 10)
    assert find_errors(entry) == []

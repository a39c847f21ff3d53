"""Materials, textures, and what MuJoCo generates itself."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simwright.core.errors import ParseError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.formats.mesh import load_image, name_image


def png(rows: bytes = zlib.compress((b"\0" + b"\xff" * 6) * 2)) -> bytes:
    """A 2 x 2 image, white unless told otherwise."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def model(assets: str, material: str = "m") -> str:
    return (
        f"<mujoco><asset>\n{assets}</asset>"
        f'<worldbody><geom type="box" size="1 1 1" material="{material}"/></worldbody></mujoco>'
    )


def test_a_plain_material(read_text):
    asset = read_text(
        model('<material name="m" rgba=".1 .2 .3 .4" emission=".5" shininess=".8" specular=".1"/>')
    )
    (material,) = asset.materials
    assert (material.diffuse, material.opacity) == ((0.1, 0.2, 0.3), 0.4)
    assert material.emissive == pytest.approx((0.05, 0.1, 0.15))
    assert material.roughness == pytest.approx(0.2)
    assert material.metallic == 0.0
    assert asset.extras.values()["mjc"]["material/m"] == {"specular": 0.1, "shininess": 0.8}


def test_metallic_roughness_is_taken_as_written(read_text):
    (material,) = read_text(model('<material name="m" metallic=".7" roughness=".3"/>')).materials
    assert (material.metallic, material.roughness) == (0.7, 0.3)


def test_the_colour_space_that_is_said_of_an_image_is_kept(read_text):
    def find_space(said: str) -> str | None:
        assets = f'<texture name="t" type="2d" file="white.png" {said}/><material name="m" texture="t"/>'
        asset = read_text(model(assets), white__png=png())
        return asset.extras.values().get("mjc", {}).get("texture/t", {}).get("colorspace")

    assert find_space('colorspace="linear"') == "linear"
    assert find_space('colorspace="sRGB"') == "sRGB"
    assert find_space("") is None


def test_an_image_file_tinted_by_the_colour(read_text, reporter):
    assets = '<texture name="t" type="2d" file="white.png"/>'
    assets += '<material name="m" texture="t" texrepeat="2 3" rgba=".5 .6 .7 1"/>'
    asset = read_text(model(assets), white__png=png())
    texture = asset.materials[0].textures["diffuse"]
    assert texture.file.endswith("white.png")
    assert texture.scale == (2.0, 3.0)
    assert texture.gain == (0.5, 0.6, 0.7, 1.0)
    assert len(reporter) == 0


PLAIN = '<texture name="t" type="2d" file="a.png"/><material name="m" texture="t"/>'


def test_pixels_that_nobody_takes_are_not_decoded(read_text):
    # sound as a file, but MuJoCo could not make pixels of it
    asset = read_text(model(PLAIN), a__png=png(b"no pixels"))
    assert asset.materials[0].textures["diffuse"].file.endswith("a.png")


def test_a_damaged_image_is_refused_as_MuJoCo_does(read_text):
    damaged = png()[:-20] + bytes(20)
    with pytest.raises(ParseError, match="MuJoCo refuses"):
        read_text(model(PLAIN), a__png=damaged)


def test_layers(read_text):
    assets = (
        '<texture name="t" type="2d" file="white.png"/><material name="m"><layer texture="t" role="orm"/>'
    )
    assets += '<layer texture="t" role="normal"/></material>'
    textures = read_text(model(assets), white__png=png()).materials[0].textures
    assert {name: texture.channel for name, texture in textures.items()} == {
        "occlusion": "r",
        "roughness": "g",
        "metallic": "b",
        "normal": "rgb",
    }


def test_a_generated_texture_is_reported_and_kept(read_text, reporter):
    assets = '<texture name="t" type="2d" builtin="checker" rgb1="1 0 0" width="8" height="8"/>'
    asset = read_text(model(assets + '<material name="m" texture="t"/>'))
    (finding,) = reporter
    assert (finding.kind, finding.where.line) == ("mjcf-texture-generated", 2)
    kept = asset.extras.values()["mjc"]
    assert (kept["texture/t"]["builtin"], kept["texture/t"]["rgb1"]) == ("checker", [1.0, 0.0, 0.0])
    assert kept["material/m"]["texture_rgb"] == "t"
    texture = asset.materials[0].textures["diffuse"]
    assert name_image(texture.file) == "t"
    pixels = decode(texture.file)
    assert pixels.shape == (8, 8, 3)
    assert {tuple(pixel) for pixel in pixels.reshape(-1, 3).tolist()} == {(255, 0, 0), (127, 127, 127)}


def decode(file: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(load_image(file, MIB, Tally()))))


def test_a_pattern_goes_before_a_file(read_text):
    """As in MuJoCo, which does not look at the file of a texture that has both."""
    assets = '<texture name="t" type="2d" builtin="flat" rgb1="1 0 0" width="2" height="2" file="white.png"/>'
    asset = read_text(model(assets + '<material name="m" texture="t"/>'), white__png=png())
    assert (decode(asset.materials[0].textures["diffuse"].file) == (255, 0, 0)).all()
    assert asset.extras.get("mjc", "texture/t", "builtin") == "flat"


def test_images_are_shown_as_they_are(read_text):
    """MuJoCo converts neither rgba nor images: both are display colours, and data are what they are."""
    assets = (
        '<texture name="t" type="2d" file="white.png"/><material name="m"><layer texture="t" role="rgb"/>'
    )
    assets += '<layer texture="t" role="orm"/></material>'
    textures = read_text(model(assets), white__png=png()).materials[0].textures
    spaces = {key: texture.color_space for key, texture in textures.items()}
    assert spaces == {"diffuse": "sRGB", "occlusion": "raw", "roughness": "raw", "metallic": "raw"}


def test_an_image_that_is_turned_over_is_taken_so(read_text):
    stream = io.BytesIO()
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0] = 255
    Image.fromarray(pixels).save(stream, "PNG")
    assets = '<texture name="t" type="2d" file="half.png" vflip="true"/><material name="m" texture="t"/>'
    asset = read_text(model(assets), half__png=stream.getvalue())
    assert (decode(asset.materials[0].textures["diffuse"].file) == pixels[::-1]).all()


@pytest.mark.parametrize(("uniform", "word"), [("false", "st_side"), ("true", "st_side_uniform")])
def test_one_image_on_all_sides_of_a_cube_is_its_file(uniform, word, read_text, reporter):
    assets = '<texture name="t" type="cube" file="white.png"/>'
    assets += f'<material name="m" texture="t" texuniform="{uniform}"/>'
    asset = read_text(model(assets), white__png=png())
    assert len(reporter) == 0
    assert asset.extras.get("mjc", "texture/t", "file").endswith("white.png")
    texture = asset.materials[0].textures["diffuse"]
    assert (Path(texture.file).name, texture.uv_set) == ("white.png", word)


def test_one_image_that_is_turned_over_on_all_sides_is_taken_so(read_text):
    stream = io.BytesIO()
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0] = 255
    Image.fromarray(pixels).save(stream, "PNG")
    assets = '<texture name="t" type="cube" file="half.png" vflip="true"/><material name="m" texture="t"/>'
    texture = read_text(model(assets), half__png=stream.getvalue()).materials[0].textures["diffuse"]
    assert texture.uv_set == "st_side"
    assert (decode(texture.file) == pixels[::-1]).all()


def test_a_side_that_is_not_square_is_refused_as_mujoco_does(read_text):
    stream = io.BytesIO()
    Image.new("RGB", (4, 2)).save(stream, "PNG")
    assets = '<texture name="t" type="cube" file="wide.png"/><material name="m" texture="t"/>'
    with pytest.raises(ParseError):
        read_text(model(assets), wide__png=stream.getvalue())


def test_a_cube_map_is_a_strip_of_its_sides(read_text, reporter):
    sides = " ".join(f'file{side}="white.png"' for side in ("right", "left", "up", "down", "front", "back"))
    assets = f'<texture name="t" type="cube" {sides}/><material name="m" texture="t"/>'
    asset = read_text(model(assets), white__png=png())
    assert len(reporter) == 0
    texture = asset.materials[0].textures["diffuse"]
    assert (decode(texture.file).shape, texture.uv_set) == ((12, 2, 3), "st_cube")


@pytest.mark.parametrize("around", ["%s", "<body><freejoint/>%s</body>"])
@pytest.mark.parametrize("count", [1, 2])
def test_an_image_lies_on_a_mesh_as_the_file_of_the_mesh_says(count, around, read_text):
    """On the first mesh of a model as on any other, and where MuJoCo has to read it for its mass."""
    tetrahedron = (
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0.25 0.5\nvt 0.75 0.5\nvt 0.25 1\n"
        b"f 1/1 3/3 2/2\nf 1/1 2/2 4/3\nf 1/1 4/2 3/3\nf 2/1 3/2 4/3\n"
    )
    names = [f"m{number}" for number in range(count)]
    assets = '<texture name="t" type="2d" file="white.png"/><material name="m" texture="t"/>'
    assets += "".join(f'<mesh name="{name}" file="part.obj"/>' for name in names)
    geoms = "".join(f'<geom name="{name}" type="mesh" mesh="{name}" material="m"/>' for name in names)
    text = f"<mujoco><asset>{assets}</asset><worldbody>{around % geoms}</worldbody></mujoco>"
    asset = read_text(text, white__png=png(), part__obj=tetrahedron)
    for shape in asset.shapes:
        uvs = shape.geometry.data.uvs
        assert {tuple(uv) for uv in uvs.tolist()} == {(0.25, 0.5), (0.75, 0.5), (0.25, 1.0)}, shape.name

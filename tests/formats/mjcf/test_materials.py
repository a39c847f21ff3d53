"""Materials, textures, and what MuJoCo generates itself."""

from __future__ import annotations

import struct
import zlib

import pytest


def png() -> bytes:
    """A 2 x 2 white image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff" * 6) * 2)
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


def test_an_image_file_tinted_by_the_colour(read_text, reporter):
    assets = '<texture name="t" type="2d" file="white.png"/>'
    assets += '<material name="m" texture="t" texrepeat="2 3" rgba=".5 .6 .7 1"/>'
    asset = read_text(model(assets), white__png=png())
    texture = asset.materials[0].textures["diffuse"]
    assert texture.file.endswith("white.png")
    assert texture.scale == (2.0, 3.0)
    assert texture.gain == (0.5, 0.6, 0.7, 1.0)
    assert len(reporter) == 0


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
    assert asset.materials[0].textures == {}


def test_a_cube_map_is_reported(read_text, reporter):
    assets = '<texture name="t" type="cube" file="white.png"/><material name="m" texture="t"/>'
    asset = read_text(model(assets), white__png=png())
    assert [finding.kind for finding in reporter] == ["mjcf-not-carried"]
    assert asset.extras.get("mjc", "texture/t", "file").endswith("white.png")

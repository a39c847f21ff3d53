"""UsdPreviewSurface as metallic-roughness, input by input."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import simwright

from .conftest import QUAD, texture


def pixels(document, texture_index: int) -> np.ndarray:
    """The image behind a texture."""
    image = document["images"][document["textures"][texture_index]["source"]]
    view = document["bufferViews"][image["bufferView"]]
    content = document.content[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
    return np.asarray(Image.open(io.BytesIO(content)))


def test_constants(surface, accept_gltf):
    found = surface(
        "color3f inputs:diffuseColor = (0.2, 0.4, 0.6)\nfloat inputs:metallic = 0.7\n"
        "float inputs:roughness = 0.3\nfloat inputs:opacity = 0.5\ncolor3f inputs:emissiveColor = (4, 2, 0)\n"
        "float inputs:clearcoat = 0.8\nfloat inputs:clearcoatRoughness = 0.2\nfloat inputs:ior = 1.3"
    )
    look = found.document.material_of("q")
    core = look["pbrMetallicRoughness"]
    assert core["baseColorFactor"] == pytest.approx([0.2, 0.4, 0.6, 0.5], abs=1e-6)
    assert (core["metallicFactor"], core["roughnessFactor"]) == pytest.approx((0.7, 0.3))
    assert look["alphaMode"] == "BLEND"
    assert look["emissiveFactor"] == pytest.approx([1.0, 0.5, 0.0])
    extensions = look["extensions"]
    assert extensions["KHR_materials_emissive_strength"]["emissiveStrength"] == pytest.approx(4.0)
    assert extensions["KHR_materials_clearcoat"] == pytest.approx(
        {"clearcoatFactor": 0.8, "clearcoatRoughnessFactor": 0.2}
    )
    assert extensions["KHR_materials_ior"]["ior"] == pytest.approx(1.3)
    assert set(found.document["extensionsUsed"]) == set(extensions)
    accept_gltf(found.file)


def test_specular_workflow_is_a_reflectance(surface):
    """F0 = 0.04 * specularColorFactor at the default refractive index; metal plays no part."""
    look = surface(
        "int inputs:useSpecularWorkflow = 1\ncolor3f inputs:specularColor = (0.5, 0.04, 0)\n"
        "float inputs:metallic = 1"
    ).document.material_of("q")
    assert look["pbrMetallicRoughness"]["metallicFactor"] == 0.0
    factor = look["extensions"]["KHR_materials_specular"]["specularColorFactor"]
    assert factor == pytest.approx([12.5, 1.0, 0.0], abs=1e-5)


def test_packed_image_is_copied(surface, paint, tmp_path, accept_gltf):
    paint("orm.png", (255, 128, 0))
    found = surface(
        "".join(
            f"float inputs:{name}.connect = </R/look/t.outputs:{channel}>\n"
            for name, channel in (("occlusion", "r"), ("roughness", "g"), ("metallic", "b"))
        ),
        texture("t", "orm.png", "r", "float outputs:g\nfloat outputs:b"),
        name="out.gltf",
    )
    look = found.document.material_of("q")
    assert look["occlusionTexture"]["index"] == 0
    assert look["pbrMetallicRoughness"]["metallicRoughnessTexture"]["index"] == 0
    assert "metallicFactor" not in look["pbrMetallicRoughness"]
    [image] = found.document["images"]
    assert (tmp_path / image["uri"]).read_bytes() == (tmp_path / "orm.png").read_bytes()
    accept_gltf(found.file)


def test_separate_images_are_packed(surface, paint):
    paint("rough.png", (60,))
    paint("metal.png", (200, 10, 10), size=8)
    found = surface(
        "float inputs:roughness.connect = </R/look/a.outputs:r>\n"
        "float inputs:metallic.connect = </R/look/b.outputs:r>",
        texture("a", "rough.png", "r") + texture("b", "metal.png", "r"),
    )
    core = found.document.material_of("q")["pbrMetallicRoughness"]
    image = pixels(found.document, core["metallicRoughnessTexture"]["index"])
    assert image.shape == (8, 8, 3)
    assert image[0, 0].tolist() == [255, 60, 200]


def test_opacity_of_another_image(surface, paint):
    paint("color.png", (200, 100, 50))
    paint("mask.png", (90,))
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>\n"
        "float inputs:opacity.connect = </R/look/b.outputs:r>\nfloat inputs:opacityThreshold = 0.25",
        texture("a", "color.png", "rgb") + texture("b", "mask.png", "r"),
    )
    look = found.document.material_of("q")
    assert (look["alphaMode"], look["alphaCutoff"]) == ("MASK", 0.25)
    image = pixels(found.document, look["pbrMetallicRoughness"]["baseColorTexture"]["index"])
    assert image[0, 0].tolist() == [200, 100, 50, 90]


def test_an_opacity_that_is_sampled_unlike_the_colour_is_told(surface, paint):
    """glTF has both in one image: there is one way to repeat it."""
    paint("color.png", (200, 100, 50))
    paint("mask.png", (90,))
    inputs = (
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>\n"
        "float inputs:opacity.connect = </R/look/b.outputs:r>"
    )
    clamped = texture("b", "mask.png", "r", 'token inputs:wrapS = "clamp"\ntoken inputs:wrapT = "clamp"')
    found = surface(inputs, texture("a", "color.png", "rgb") + clamped)
    assert any("sampled unlike" in one.message for one in found.reporter)
    alike = surface(inputs, texture("a", "color.png", "rgb") + texture("b", "mask.png", "r"), name="b.glb")
    assert not any("sampled unlike" in one.message for one in alike.reporter)


def test_alpha_that_nobody_reads_does_not_fade(surface, paint):
    paint("color.png", (200, 100, 50, 40))
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>\nfloat inputs:opacity = 0.5",
        texture("a", "color.png", "rgb"),
    )
    core = found.document.material_of("q")["pbrMetallicRoughness"]
    assert pixels(found.document, core["baseColorTexture"]["index"])[0, 0].tolist() == [200, 100, 50]
    assert core["baseColorFactor"] == [1.0, 1.0, 1.0, 0.5]


def test_linear_picture_is_made_srgb(surface, paint):
    paint("raw.png", (128, 128, 128))
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>",
        texture("a", "raw.png", "rgb", 'token inputs:sourceColorSpace = "raw"'),
    )
    core = found.document.material_of("q")["pbrMetallicRoughness"]
    value = pixels(found.document, core["baseColorTexture"]["index"])[0, 0, 0]
    assert value == round(255 * (1.055 * (128 / 255) ** (1 / 2.4) - 0.055))


def test_scale_and_bias_of_colours(surface, paint):
    paint("a.png", (255, 255, 255))
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>",
        texture("a", "a.png", "rgb", "float4 inputs:scale = (0.5, 0.25, 1, 1)"),
    )
    core = found.document.material_of("q")["pbrMetallicRoughness"]
    assert core["baseColorFactor"] == pytest.approx([0.5, 0.25, 1.0, 1.0], abs=1e-6)


def test_normal_maps(surface, paint, accept_gltf):
    paint("n.png", (128, 64, 255))

    def make(scale, bias):
        more = f"float4 inputs:scale = {scale}\nfloat4 inputs:bias = {bias}"
        more += '\ntoken inputs:sourceColorSpace = "raw"'
        return surface(
            "normal3f inputs:normal.connect = </R/look/a.outputs:rgb>", texture("a", "n.png", "rgb", more)
        )

    usual = make((2, 2, 2, 1), (-1, -1, -1, 0))
    assert usual.document.material_of("q")["normalTexture"] == {"index": 0}
    assert "TANGENT" in usual.document.primitives_of("q")[0]["attributes"]
    accept_gltf(usual.file)
    weak = make((1, 1, 2, 1), (-0.5, -0.5, -1, 0))
    assert weak.document.material_of("q")["normalTexture"]["scale"] == pytest.approx(0.5)
    turned = make((2, -2, 2, 1), (-1, 1, -1, 0))
    assert pixels(turned.document, 0)[0, 0].tolist() == [128, 255 - 64, 255]


def test_tangents_follow_u(surface, paint):
    paint("n.png", (128, 128, 255))
    mesh = QUAD.replace("(0, 0), (1, 0), (1, 1), (0, 1)] (inter", "(1, 0), (0, 0), (0, 1), (1, 1)] (inter")
    for quad, expected in ((QUAD, (1, 0, 0, 1)), (mesh, (-1, 0, 0, -1))):
        found = surface(
            "normal3f inputs:normal.connect = </R/look/a.outputs:rgb>", texture("a", "n.png", "rgb"), quad
        )
        rows = found.document.array(found.document.primitives_of("q")[0]["attributes"]["TANGENT"])
        assert rows == pytest.approx(np.tile(expected, (4, 1)))


def test_transform_and_wrap(surface, paint):
    """The transform of glTF on flipped coordinates is that of OpenUSD on its own."""
    paint("a.png", (1, 2, 3))
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>",
        texture("a", "a.png", "rgb", 'token inputs:wrapS = "mirror"\ntoken inputs:wrapT = "clamp"').replace(
            "<../a_st.outputs:result>", "</R/look/x.outputs:result>"
        )
        + """def Shader "x" {
            uniform token info:id = "UsdTransform2d"
            float2 inputs:in.connect = </R/look/a_st.outputs:result>
            float2 inputs:scale = (2, 3)
            float inputs:rotation = 30
            float2 inputs:translation = (0.1, 0.2)
            float2 outputs:result
        }""",
    )
    info = found.document.material_of("q")["pbrMetallicRoughness"]["baseColorTexture"]
    given = info["extensions"]["KHR_texture_transform"]
    [sampler] = found.document["samplers"]
    assert (sampler["wrapS"], sampler["wrapT"]) == (33648, 33071)
    s, t, angle = 0.3, 0.7, np.radians(30)
    turned = (np.cos(angle) * 2 * s - np.sin(angle) * 3 * t, np.sin(angle) * 2 * s + np.cos(angle) * 3 * t)
    wanted = np.array(turned) + np.array((0.1, 0.2))
    u, v = 2 * s, 3 * (1 - t)
    c, d = np.cos(given["rotation"]), np.sin(given["rotation"])
    there = np.array((c * u + d * v, -d * u + c * v)) + given["offset"]
    assert (there[0], 1 - there[1]) == pytest.approx(wanted, abs=1e-6)


def test_further_coordinates(surface, paint):
    paint("a.png", (1, 2, 3))
    paint("b.png", (3,))
    mesh = (
        QUAD
        + 'texCoord2f[] primvars:uv2 = [(0, 0), (.5, 0), (.5, .5), (0, .5)] (interpolation = "faceVarying")'
    )
    second = texture("b", "b.png", "r").replace('"st"', '"uv2"')
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>\n"
        "float inputs:roughness.connect = </R/look/b.outputs:r>",
        texture("a", "a.png", "rgb") + second,
        mesh,
    )
    core = found.document.material_of("q")["pbrMetallicRoughness"]
    assert "texCoord" not in core["baseColorTexture"]
    assert core["metallicRoughnessTexture"]["texCoord"] == 1
    rows = found.document.array(found.document.primitives_of("q")[0]["attributes"]["TEXCOORD_1"])
    assert sorted(rows.tolist()) == [[0.0, 0.5], [0.0, 1.0], [0.5, 0.5], [0.5, 1.0]]


def test_no_coordinates_no_image(surface, paint, accept_gltf):
    paint("a.png", (1, 2, 3))
    bare = "\n".join(line for line in QUAD.splitlines() if "primvars:st" not in line)
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>", texture("a", "a.png", "rgb"), bare
    )
    assert "gltf-write-coordinates" in found.kinds
    assert "baseColorTexture" not in found.document.material_of("q")["pbrMetallicRoughness"]
    accept_gltf(found.file)


def test_missing_image_is_reported(surface):
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>", texture("a", "none.png", "rgb")
    )
    assert {"usd-texture-missing", "gltf-write-texture"} <= found.kinds
    assert "textures" not in found.document.rows


def test_displacement_is_lost(surface, paint):
    paint("a.png", (9,))
    found = surface("float inputs:displacement.connect = </R/look/a.outputs:r>", texture("a", "a.png", "r"))
    assert "gltf-write-input" in found.kinds


def test_both_sides(surface):
    assert "doubleSided" not in surface("").document.material_of("q")
    found = surface("", mesh=QUAD + "uniform bool doubleSided = 1")
    assert found.document.material_of("q")["doubleSided"] is True


@pytest.mark.parametrize("content", [b"", b"no image", b"\x89PNG\r\n\x1a\n" + b"\0" * 60])
def test_damaged_image_is_left_out(surface, content, tmp_path, accept_gltf):
    (tmp_path / "a.png").write_bytes(content)
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>", texture("a", "a.png", "rgb")
    )
    assert "gltf-write-texture" in found.kinds
    accept_gltf(found.file)


def test_what_gltf_ignores_of_a_png_is_left_out(tmp_path, accept_gltf):
    """A colour profile and oblong pixels: gltf-validator warns of both, and no reader may heed them."""
    from PIL import Image, ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    picture = Image.new("RGB", (4, 4), (200, 30, 60))
    picture.save(tmp_path / "image.png", icc_profile=profile, dpi=(72, 36))
    (tmp_path / "box.xml").write_text(
        """<mujoco><asset><texture name="t" type="2d" file="image.png"/><material name="m" texture="t"/>
        <mesh name="tri" vertex="0 0 0 1 0 0 0 1 0 0 0 1" texcoord="0 0 1 0 0 1 1 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/>
        </asset><worldbody><geom type="mesh" mesh="tri" material="m"/></worldbody></mujoco>"""
    )
    written = simwright.convert(tmp_path / "box.xml", tmp_path / "box.glb")
    accept_gltf(written)
    assert b"iCCP" not in written.read_bytes()

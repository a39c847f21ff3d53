"""Image files by their first bytes: formats, bit depths, alpha, and files inside a .usdz package."""

from __future__ import annotations

import struct
import zlib

import pytest
from case_file import TINY_JPEG, make_png
from pxr import UsdUtils

from simwright.checker.facts.shading import list_textures
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.textures import extension_of, identify, read_image
from simwright.usd.open import open_stage


def reader(data: bytes):
    return lambda count, offset: data[offset : offset + count]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x76\x2f\x31\x01\x02\0\0\0", "exr"),
        (b"MM\0*\0\0\0\x08", "tiff"),
        (b"II+\0\x08\0\0\0", "tiff"),
        (b"#?RADIANCE\n", "hdr"),
        (b"\xabKTX 20\xbb\r\n\x1a\n", "ktx2"),
        (b"\xabKTX 11\xbb\r\n\x1a\n", "ktx"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "webp"),
        (b"\0\0\0\x1cftypavif", "avif"),
        (b"DDS \x7c\0\0\0", "dds"),
        (b"", "unknown"),
        (b"\x89PN", "unknown"),
        (b"hello", "unknown"),
    ],
)
def test_signatures(data, expected):
    assert identify(reader(data)).format == expected


def test_formats_without_a_signature_are_believed_by_extension():
    assert identify(reader(b"\0\0\x02\0"), "tga").format == "tga"
    assert identify(reader(b"sB\x13\0"), "basis").format == "basis"
    assert identify(reader(b"sB\x13\0"), "png").format == "unknown"


@pytest.mark.parametrize(
    ("arguments", "bits", "alpha"),
    [("2x2 rgb 8", 8, False), ("2x2 rgba 8", 8, True), ("2x2 grey 16", 16, False)],
)
def test_png_depth_and_alpha(arguments, bits, alpha):
    image = identify(reader(make_png(arguments)))
    assert (image.format, image.bits, image.has_alpha) == ("png", bits, alpha)


def test_png_transparency_chunk_is_alpha():
    data = make_png("2x2 rgb 8")
    body = b"tRNS" + bytes(6)
    chunk = struct.pack(">I", 6) + body + struct.pack(">I", zlib.crc32(body))
    assert identify(reader(data[:33] + chunk + data[33:])).has_alpha


@pytest.mark.parametrize("cut", range(8, 40, 4))
def test_truncated_files_do_not_crash(cut):
    assert identify(reader(make_png("2x2 rgb 8")[:cut])).format == "png"
    assert identify(reader(TINY_JPEG[:cut])).format == "jpeg"


def test_jpeg_precision():
    assert identify(reader(TINY_JPEG)).bits == 8


def test_extension_of_a_packaged_file():
    assert extension_of("robot.usdz[textures/Body.PNG]") == "png"
    assert extension_of("textures\\a.b.jpg") == "jpg"
    assert extension_of("noextension") == ""


def test_a_missing_file_is_judged_by_its_name(tmp_path):
    layer = tmp_path / "a.usda"
    layer.write_text("#usda 1.0\n")
    image = read_image("./gone.exr", "", StageSnapshot(open_stage(layer)))
    assert (image.format, image.found) == ("exr", False)


def test_a_texture_inside_a_package(tmp_path):
    (tmp_path / "a.png").write_bytes(make_png("2x2 rgb 16"))
    layer = tmp_path / "a.usda"
    layer.write_text(
        """#usda 1.0
def Material "m"
{
    token outputs:surface.connect = </m/preview.outputs:surface>
    def Shader "preview"
    {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </m/a.outputs:rgb>
        token outputs:surface
    }
    def Shader "a"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @./a.png@
        float3 outputs:rgb
    }
}
"""
    )
    package = tmp_path / "a.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(layer), str(package))
    (tmp_path / "a.png").unlink()
    snapshot = StageSnapshot(open_stage(package))
    (texture,) = list_textures(snapshot)
    assert texture.roles == {"diffuseColor"}
    image = read_image(texture.path, texture.resolved, snapshot)
    assert (image.format, image.bits, image.found) == ("png", 16, True)

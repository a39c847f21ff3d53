"""Images are decoded without being cut off, and written so that OpenUSD reads the same numbers."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import simwright
from simwright.core.packages import PackageMap
from simwright.sanitizer.fixes.textures import UnreadableError, decode_image, decode_radiance
from simwright.sanitizer.workspace import Workspace
from simwright.usd.edit import Editor, Refused

HEAD = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n"
STAGE = """#usda 1.0
(
    defaultPrim = "m"
)
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
        asset inputs:file = @./maps/a.bmp@
        float3 outputs:rgb
    }
}
"""


def encode(image: Image.Image, kind: str) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    folder = tmp_path / "asset"
    (folder / "maps").mkdir(parents=True)
    (folder / "maps" / "a.bmp").write_bytes(encode(Image.new("RGB", (2, 2), (1, 2, 3)), "BMP"))
    (folder / "asset.usda").write_text(STAGE)
    return folder / "asset.usda"


def test_packed_and_plain_rows_of_radiance_are_the_same() -> None:
    pixel = bytes([128, 64, 32, 129])
    plain = decode_radiance(HEAD + pixel * 8)
    packed = decode_radiance(HEAD + b"\x02\x02\x00\x08" + b"".join(bytes([128 + 8, v]) for v in pixel))
    literal = decode_radiance(
        HEAD + b"\x02\x02\x00\x08" + b"".join(bytes([8]) + bytes([v]) * 8 for v in pixel)
    )
    assert np.array_equal(plain, packed)
    assert np.array_equal(plain, literal)
    assert plain[0, 0].tolist() == pytest.approx([1.0, 0.5, 0.25])


@pytest.mark.parametrize(
    "content",
    [b"", b"#?RADIANCE\n\n-Y 1 +X 8\n\x02\x02\x00\x08\x90", HEAD, b"#?RADIANCE\n\n-Y 99999 +X 99999\n"],
)
def test_broken_radiance_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode_radiance(content)


def test_what_is_brighter_than_white_is_not_cut_off() -> None:
    with pytest.raises(Refused, match="exposure"):
        decode_image(HEAD + bytes([128, 64, 32, 140]) * 8, "sky.hdr")


def test_sixteen_bits_are_scaled() -> None:
    wide = np.array([[0, 257, 65535]], dtype=np.uint16)
    picture = decode_image(encode(Image.fromarray(wide), "PNG"), "wide.png")
    assert np.asarray(picture.image).tolist() == [[0, 1, 255]]
    assert picture.is_raw


def test_a_palette_becomes_colours_of_eight_bits() -> None:
    image = Image.new("RGB", (2, 1), (10, 20, 30)).quantize(4)
    content = decode_image(encode(image, "PNG"), "few.png").encode()
    assert content[24] == 8
    assert Image.open(io.BytesIO(content)).convert("RGB").getpixel((0, 0)) == (10, 20, 30)


def test_a_new_folder_has_the_new_file_and_not_the_old(asset: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = simwright.fix(asset, out, select=["tex-png-jpeg"], unsafe=True)
    assert sorted(result.files) == ["asset.usda", "maps/a.png"]
    assert sorted(p.name for p in out.rglob("*") if p.is_file()) == ["a.png", "asset.usda"]
    assert Image.open(out / "maps" / "a.png").getpixel((0, 0)) == (1, 2, 3)
    assert (asset.parent / "maps" / "a.bmp").exists()


def test_in_place_keeps_what_others_may_use(asset: Path) -> None:
    result = simwright.fix(asset, select=["tex-png-jpeg"], unsafe=True, in_place=True)
    names = sorted(p.name for p in asset.parent.rglob("*") if p.is_file())
    assert names == ["a.bmp", "a.png", "asset.usda", "asset.usda.orig"]
    assert "@./maps/a.png@" in asset.read_text()
    assert result.backups == [f"{asset}.orig"]


def test_undo_takes_new_files_away(asset: Path) -> None:
    workspace = Workspace(asset, PackageMap())
    try:
        editor = Editor(workspace.open(), workspace.list_own())
        address = editor.add_file(editor.root, "maps/b.png", b"new")
        assert address == "./maps/b.png"
        assert editor.add_file(editor.root, "maps/b.png", b"other") == "./maps/b_2.png"
        editor.make_edits()
        assert (workspace.folder / "maps" / "b.png").read_bytes() == b"new"
        workspace.undo()
        assert sorted(p.name for p in workspace.folder.rglob("*") if p.is_file()) == ["a.bmp", "asset.usda"]
    finally:
        workspace.close()

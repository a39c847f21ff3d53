# SPDX-License-Identifier: Apache-2.0
"""``<texture>``: images copied into the folder, and the ones MuJoCo generates.

MuJoCo reads PNG; other images are turned into PNG where Pillow is installed, and reported where it is not.
"""

from __future__ import annotations

import io
from pathlib import PurePath
from typing import Any

from simwright.core.errors import SimwrightError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.core.names import NameScope
from simwright.formats.mesh import load_image
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.meshes import make_file_name
from simwright.formats.mjcf.writer.messages import TEXTURE_LEFT_OUT
from simwright.model.material import RenderMaterial, Texture

FOLDER = "textures"
MAX_BYTES = 256 * MIB
_PNG = b"\x89PNG\r\n\x1a\n"
_SPACES = {"raw": "linear", "sRGB": "sRGB"}
_GENERATED = (
    "type", "builtin", "rgb1", "rgb2", "mark", "markrgb", "random", "width", "height", "gridsize", "gridlayout",
    "hflip", "vflip",
)  # fmt: skip
_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_MARKS = ("none", "edge", "cross", "random")


class TextureLibrary:
    """Hands out texture names; writes each image once."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._known: dict[tuple[str, str], str | None] = {}
        self._file_names = NameScope()
        self._tally = Tally()

    def restore_generated(self) -> None:
        """Gradients, checkers and flat colours that MuJoCo paints itself, and images on cubes."""
        for key in self._draft.solver.find_keys("texture/"):
            builtin = self._draft.solver.take(key, "builtin")
            files = self._find_files(key)
            name = key.partition("/")[2]
            contents = {attribute: self._read(file, name) for attribute, file in files.items()}
            if None in contents.values() or (builtin is None and not files):
                continue
            values: dict[str, Any] = {"name": self._draft.claim("texture", name)}
            for attribute in _GENERATED:
                values[attribute] = self._draft.solver.take(key, attribute)
            values["type"] = values["type"] or "2d"
            if values["mark"] is not None:
                values["mark"] = _MARKS[int(values["mark"])]
            if values["random"] is not None and values["mark"] != "random":
                values["random"] = None
            for attribute, file in files.items():
                values[attribute] = self._store(file, contents[attribute])
            self._draft.add(self._draft.section("asset"), "texture", values)

    def _find_files(self, key: str) -> dict[str, str]:
        """Images of a cube that the reader of MJCF has found; what an attribute of a stage says is no file to open."""
        if self._draft.solver.find_place(key).prim:
            return {}
        found = {attribute: self._draft.solver.take(key, attribute) for attribute in _FILES}
        return {attribute: str(file) for attribute, file in found.items() if file}

    def find(self, material: RenderMaterial, texture: Texture) -> str | None:
        """The texture asset of an image; None, and a finding, if MuJoCo cannot read it."""
        key = (texture.file, texture.color_space)
        if key not in self._known:
            self._known[key] = self._add(material, texture)
        return self._known[key]

    def _add(self, material: RenderMaterial, texture: Texture) -> str | None:
        content = self._read(texture.file, material.name)
        if content is None:
            return None
        draft, stem = self._draft, PurePath(texture.file).stem
        values = {
            "type": "2d",
            "name": draft.claim("texture", stem),
            "file": self._store(texture.file, content),
            "colorspace": _SPACES.get(texture.color_space),
        }
        for attribute in ("hflip", "vflip"):
            values[attribute] = draft.solver.take(f"texture/{stem}", attribute)
        draft.add(draft.section("asset"), "texture", values)
        return str(values["name"])

    def _store(self, file: str, content: bytes | None) -> str | None:
        if content is None:
            return None
        name = f"{self._file_names.claim(make_file_name(PurePath(file).stem))}.png"
        self._draft.files[f"{FOLDER}/{name}"] = content
        return name

    def _read(self, file: str, material: str) -> bytes | None:
        """The content as PNG."""
        why, advice = "it cannot be read", "check the path"
        try:
            content = load_image(file, MAX_BYTES, self._tally)
        except SimwrightError as error:
            why = error.message
        else:
            if content.startswith(_PNG):
                return content
            made, why, advice = make_png(content)
            if made is not None:
                return made
        shown = PurePath(file).name
        self._draft.reporter.report(TEXTURE_LEFT_OUT, file=shown, name=material, why=why, advice=advice)
        return None


def make_png(content: bytes) -> tuple[bytes | None, str, str]:
    """An image as PNG; else why not and what to do."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return None, "MuJoCo reads PNG only, and Pillow is not installed", "python -m pip install pillow"
    try:
        with Image.open(io.BytesIO(content)) as image:
            buffer = io.BytesIO()
            image.convert("RGBA" if "A" in image.getbands() else "RGB").save(buffer, "PNG")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        return None, f"it is no image that can be read ({type(error).__name__})", "provide it as PNG"
    return buffer.getvalue(), "", ""

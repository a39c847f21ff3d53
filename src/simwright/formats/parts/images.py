# SPDX-License-Identifier: Apache-2.0
"""Images that materials name, copied into the folder once each."""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

from simwright.core.diag import Kind, Reporter
from simwright.core.errors import SimwrightError
from simwright.core.files import MIB
from simwright.core.limits import Tally
from simwright.core.names import NameScope
from simwright.formats.mesh import load_image, name_image
from simwright.model.material import RenderMaterial, Texture

FOLDER = "textures"
_MAX_BYTES = 256 * MIB
_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff", ".gif", ".webp", ".dds", ".ppm"}
)


class ImageFiles:
    """Hands out paths of images in ``files``.

    ``failed`` is the kind of finding for those that cannot be read: it has ``file``, ``name`` (of the material) and
    ``why``.
    """

    def __init__(self, files: dict[str, bytes], reporter: Reporter, failed: Kind) -> None:
        self._files = files
        self._reporter = reporter
        self._failed = failed
        self._names = NameScope()
        self._known: dict[str, str] = {}
        self._tally = Tally()

    def take(self, file: str, material: str) -> str:
        """The path of an image in the folder; empty, and a finding, if it cannot be read."""
        if file not in self._known:
            self._known[file] = self._bring(file, material)
        return self._known[file]

    def add(self, word: str, ending: str, content: bytes) -> str:
        """The path of an image that is made here."""
        stem = make_file_name(word)
        candidate, number = f"{stem}{ending}", 2
        # Numbered before the ending, which readers go by.
        while candidate in self._names:
            candidate, number = f"{stem}_{number}{ending}", number + 1
        path = f"{FOLDER}/{self._names.claim(candidate)}"
        self._files[path] = content
        return path

    def _bring(self, file: str, material: str) -> str:
        try:
            content = load_image(file, _MAX_BYTES, self._tally)
        except SimwrightError as error:
            shown = name_image(file) if file.startswith("data:") else PurePath(file).name
            self._reporter.report(self._failed, file=shown, name=material, why=error.message)
            return ""
        # An image inside a glTF file has the name of that file.
        suffix = PurePath(file.partition("#image")[0]).suffix.lower()
        ending = suffix if suffix in _SUFFIXES else guess_ending(content)
        return self.add(name_image(file), ending, content)

    def copy_images(self, material: RenderMaterial) -> RenderMaterial:
        """Copy the images of a material to the output: the material with their paths, as seen from mesh files."""
        textures: dict[str, Texture] = {}
        for slot, texture in material.textures.items():
            path = self.take(texture.file, material.name)
            if path:
                # Mesh files lie in a folder beside that of the images.
                textures[slot] = dataclasses.replace(texture, file=f"../{path}")
        return dataclasses.replace(material, textures=textures)


def guess_ending(content: bytes) -> str:
    """The ending of an image by its first bytes."""
    return ".jpg" if content.startswith(b"\xff\xd8\xff") else ".png"


def make_file_name(word: str) -> str:
    """A name that every file system and every address takes, and that stays in its folder."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "._-+") else "_" for c in word)
    return name.strip("._") or "part"

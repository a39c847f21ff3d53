# SPDX-License-Identifier: Apache-2.0
"""Materials of Gazebo: OGRE scripts (``*.material``), and the plain colours it ships (``Gazebo/Red``).

A script is a nest of ``material``, ``technique``, ``pass`` and ``texture_unit`` blocks with one statement per line.
What the model has words for is in the first pass of the first technique; programs, further passes, blending and
filtering are for one renderer and are not read.  A material may start as a copy of another one of the same files
(``material B : A``).

The values of the plain materials are those of Gazebo's ``gazebo.material``.  Materials made of images (wood, bricks
...) are not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simwright.core.files import MIB, read_bytes
from simwright.core.gate import Gate
from simwright.model.material import Rgb

SUFFIX = ".material"
# Gazebo's own script, with some hundred materials, has 60 kB.
MAX_BYTES = 4 * MIB
MAX_FILES = 200
_MAX_PARENTS = 32
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(slots=True)
class ScriptMaterial:
    """What a script says of a material; None where it says nothing.  ``parent`` is the one it starts from."""

    name: str
    parent: str = ""
    ambient: tuple[float, ...] | None = None
    diffuse: tuple[float, ...] | None = None
    specular: tuple[float, ...] | None = None
    emissive: tuple[float, ...] | None = None
    texture: str = ""
    is_blended: bool = False
    double_sided: bool = False

    def rgb(self, slot: str) -> Rgb | None:
        """A colour, without its alpha."""
        values = getattr(self, slot)
        return None if values is None else (values[0], values[1], values[2])

    @property
    def opacity(self) -> float:
        """The alpha of the diffuse colour, which counts only where the pass is blended."""
        said = self.diffuse is not None and len(self.diffuse) > 3 and self.is_blended
        return self.diffuse[3] if said and self.diffuse is not None else 1.0


def read_scripts(paths: Iterable[Path], gate: Gate) -> dict[str, ScriptMaterial]:
    """Materials by name of script files and of folders with such files, what a file says first counting."""
    found: dict[str, ScriptMaterial] = {}
    for path in _list_files(paths, gate):
        text = read_bytes(path, MAX_BYTES).decode("utf-8", "replace")
        for material in parse_script(text):
            found.setdefault(material.name, material)
    return {name: _inherit(material, found) for name, material in found.items()}


def _list_files(paths: Iterable[Path], gate: Gate) -> Iterator[Path]:
    count = 0
    for path in paths:
        inside = sorted(path.iterdir())[:MAX_FILES] if path.is_dir() else [path]
        for file in inside:
            count += 1
            # A folder of scripts may hold links to anywhere.
            if count <= MAX_FILES and file.suffix.lower() == SUFFIX and file.is_file() and gate.admits(file):
                yield file


def parse_script(text: str) -> list[ScriptMaterial]:
    """The materials of a script; what is not understood is passed over, as OGRE does."""
    materials: list[ScriptMaterial] = []
    blocks: list[str] = []
    parser = _Parser()
    heading = ""
    for line in _list_lines(text):
        if line == "{":
            blocks.append(heading.split(maxsplit=1)[0] if heading else "")
            if len(blocks) == 1 and blocks[0] == "material":
                parser = _Parser(_head(heading))
                materials.append(parser.material)
            parser.enter(blocks)
            heading = ""
        elif line == "}":
            if blocks:
                blocks.pop()
            heading = ""
        else:
            heading = line
            if blocks[:1] == ["material"]:
                parser.take(blocks, line.split())
    return materials


def _list_lines(text: str) -> Iterator[str]:
    """Statements and braces, each on its own."""
    for line in _COMMENT.sub(" ", text).splitlines():
        for part in re.split(r"([{}])", line):
            if part.strip():
                yield part.strip()


def _head(heading: str) -> ScriptMaterial:
    names, _, parent = heading.removeprefix("material").partition(" : ")
    return ScriptMaterial(_unquote(names), _unquote(parent))


def _unquote(text: str) -> str:
    return text.strip().strip('"')


@dataclass(slots=True)
class _Parser:
    """One material; counts its techniques and passes, of which only the first are read."""

    material: ScriptMaterial = field(default_factory=lambda: ScriptMaterial(""))
    techniques: int = 0
    passes: int = 0

    def enter(self, blocks: list[str]) -> None:
        if blocks[-1] == "technique":
            self.techniques += 1
        elif blocks[-1] == "pass":
            self.passes += 1

    def take(self, blocks: list[str], words: list[str]) -> None:
        if self.techniques > 1 or self.passes > 1 or len(words) < 2:
            return
        material, key = self.material, words[0].lower()
        if blocks[-1] == "pass":
            if key in ("ambient", "diffuse", "specular", "emissive"):
                self._take_color(key, words[1:])
            elif key == "scene_blend":
                material.is_blended = words[1].lower() in ("alpha_blend", "src_alpha")
            elif key == "cull_hardware":
                material.double_sided = words[1].lower() == "none"
        elif blocks[-1] == "texture_unit" and key == "texture" and not material.texture:
            material.texture = _unquote(words[1])

    def _take_color(self, key: str, words: list[str]) -> None:
        numbers = []
        for word in words[:4]:
            try:
                numbers.append(float(word))
            except ValueError:
                break
        # "specular" ends with the shininess; "vertexcolour" is not a colour.
        count = 3 if key == "specular" and len(words) == 4 else len(numbers)
        if len(numbers) >= 3 and all(0.0 <= abs(number) < 1e6 for number in numbers):
            setattr(self.material, key, tuple(min(max(number, 0.0), 1.0) for number in numbers[:count]))


def _inherit(material: ScriptMaterial, known: dict[str, ScriptMaterial]) -> ScriptMaterial:
    result, parent = material, known.get(material.parent)
    for _ in range(_MAX_PARENTS):
        if parent is None:
            break
        for slot in ("ambient", "diffuse", "specular", "emissive"):
            if getattr(result, slot) is None:
                setattr(result, slot, getattr(parent, slot))
        result.texture = result.texture or parent.texture
        result.is_blended = result.is_blended or parent.is_blended
        result.double_sided = result.double_sided or parent.double_sided
        parent = known.get(parent.parent)
    return result


def list_texture_folders(places: Iterable[Path]) -> list[Path]:
    """Folders in which the images of scripts are looked for: those that are named, and ``textures`` beside scripts."""
    folders: dict[Path, None] = {}
    for place in places:
        folder = place if place.is_dir() else place.parent
        for candidate in (folder, folder.parent / "textures", folder / "materials" / "textures"):
            folders[candidate] = None
    return list(folders)


PREFIX = "Gazebo/"


@dataclass(frozen=True, slots=True)
class GazeboMaterial:
    """A colour, what it shines by itself, and how much of it is there."""

    diffuse: Rgb
    emissive: Rgb = (0.0, 0.0, 0.0)
    opacity: float = 1.0


# Diffuse colours: the model has no ambient ones.
_BASIC: dict[str, Rgb] = {
    "Black": (0.0, 0.0, 0.0),
    "Blue": (0.0, 0.0, 1.0),
    "DarkGrey": (0.175, 0.175, 0.175),
    "DarkYellow": (0.7, 0.7, 0.0),
    "FlatBlack": (0.1, 0.1, 0.1),
    "Gold": (0.8, 0.64869, 0.120759),
    "Green": (0.0, 1.0, 0.0),
    "Grey": (0.7, 0.7, 0.7),
    "Indigo": (0.33, 0.0, 0.5),
    "Orange": (1.0, 0.5088, 0.0468),
    "Pioneer2Body": (0.681193, 0.000923, 0.000923),
    "Purple": (1.0, 0.0, 1.0),
    "Red": (1.0, 0.0, 0.0),
    "RedBright": (0.87, 0.26, 0.07),
    "SkyBlue": (0.0, 0.0, 1.0),
    "Turquoise": (0.0, 1.0, 1.0),
    "White": (1.0, 1.0, 1.0),
    "Yellow": (1.0, 1.0, 0.0),
    "ZincYellow": (0.9725, 0.9529, 0.2078),
}
_GLOWING = ("White", "Red", "Green", "Blue", "Yellow", "Purple", "Turquoise")
_TRANSPARENT: dict[str, tuple[Rgb, float]] = {
    "RedTransparent": ((1.0, 0.0, 0.0), 0.5),
    "GreenTransparent": ((0.0, 1.0, 0.0), 0.5),
    "BlueTransparent": ((0.0, 0.0, 1.0), 0.5),
    "GreyTransparent": ((0.5, 0.5, 0.5), 0.5),
    "YellowTransparent": ((1.0, 1.0, 0.0), 0.5),
    "OrangeTransparent": ((1.0, 0.44, 0.0), 0.4),
    "BlueLaser": ((0.0, 0.0, 1.0), 0.4),
}

LOOKS: dict[str, GazeboMaterial] = {
    **{name: GazeboMaterial(color) for name, color in _BASIC.items()},
    **{f"{name}Glow": GazeboMaterial(_BASIC[name], _BASIC[name]) for name in _GLOWING},
    **{name: GazeboMaterial(color, opacity=opacity) for name, (color, opacity) in _TRANSPARENT.items()},
    "LightOn": GazeboMaterial((0.0, 1.0, 0.0), (0.0, 1.0, 0.0)),
    "LightOff": GazeboMaterial((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
}
"""Looks by the name after ``Gazebo/``."""

_BY_WORD = {name.lower(): look for name, look in LOOKS.items()}


def find_look(name: str) -> GazeboMaterial | None:
    """The look of a material name, in any spelling of its case and with ``gray`` for ``grey``."""
    # URDF files spell these names by hand.
    word = name.removeprefix(PREFIX).lower().replace("gray", "grey")
    return _BY_WORD.get(word)

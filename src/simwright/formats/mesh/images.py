# SPDX-License-Identifier: Apache-2.0
"""Where the image lies that a mesh file or a material library names."""

from __future__ import annotations

from pathlib import Path


def find_image(file: Path, name: str) -> Path:
    """The image beside ``file``, else in ``materials/textures`` of the model, where Gazebo looks next.

    The path is not checked: it has to pass the gate.  Where there is no such image, it is the one beside the file.
    """
    beside = file.parent / name
    textures = file.parent.parent / "materials" / "textures"
    others = (textures / name, textures / Path(name).name)
    return beside if beside.exists() else next((path for path in others if path.is_file()), beside)

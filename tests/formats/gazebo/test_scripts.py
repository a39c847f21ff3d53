# SPDX-License-Identifier: Apache-2.0
"""Material scripts of OGRE."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.gazebo.materials import parse_script
from simwright.formats.sdf.read import read

SCRIPT = """
// a comment { with a brace
material Can/Base
{
  receive_shadows on
  technique {
    pass {
      ambient 0.1 0.2 0.3
      diffuse 0.5 0.6 0.7 0.25 /* alpha */
      specular 0.3 0.3 0.3 12.5
      emissive 0.01 0 0
      scene_blend alpha_blend
      cull_hardware none
      texture_unit { texture can.png
        scale 2 2 }
    }
    pass { diffuse 1 0 0 texture_unit { texture other.png } }
  }
  technique { pass { diffuse 0 1 0 } }
}
material "Can/Red" : Can/Base
{
  technique { pass { diffuse 1 0 0 } }
}
vertex_program glow glsl { source glow.vert }
material Broken { technique { pass { diffuse vertexcolour
"""


def test_colours_and_images() -> None:
    first, second, broken = parse_script(SCRIPT)
    assert (first.name, first.texture) == ("Can/Base", "can.png")
    assert first.rgb("diffuse") == (0.5, 0.6, 0.7)
    assert first.rgb("specular") == (0.3, 0.3, 0.3)
    assert (first.opacity, first.double_sided) == (0.25, True)
    assert (second.name, second.parent, second.diffuse) == ("Can/Red", "Can/Base", (1.0, 0.0, 0.0))
    assert broken.diffuse is None


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "can"
    (folder / "materials" / "scripts").mkdir(parents=True)
    (folder / "materials" / "textures").mkdir()
    (folder / "materials" / "scripts" / "can.material").write_text(SCRIPT)
    Image.new("RGB", (2, 2), (255, 0, 0)).save(folder / "materials" / "textures" / "can.png")
    (folder / "model.config").write_text("<model><sdf version='1.9'>model.sdf</sdf></model>")
    return folder


def read_look(folder: Path, script: str, reporter: Reporter):
    visual = f"""<visual name="v"><geometry><box><size>1 1 1</size></box></geometry>
      <material><script>{script}</script></material></visual>"""
    file = folder / "model.sdf"
    file.write_text(f'<sdf version="1.9"><model name="can"><link name="l">{visual}</link></model></sdf>')
    asset = read(file, ReadOptions(), reporter)
    return next(m for m in asset.materials if m.name == asset.shapes[0].material)


@pytest.mark.parametrize(
    "uris",
    [
        "<uri>model://can/materials/scripts</uri><uri>model://can/materials/textures</uri>",
        "<uri>model://can/materials/scripts/can.material</uri>",
        "<uri>materials/scripts/can.material</uri>",
    ],
)
def test_a_visual_gets_its_look(model: Path, reporter: Reporter, uris: str) -> None:
    look = read_look(model, f"{uris}<name>Can/Base</name>", reporter)
    assert look.diffuse == (0.5, 0.6, 0.7)
    assert look.emissive == (0.01, 0.0, 0.0)
    assert look.double_sided
    assert look.opacity == 0.25
    assert Path(look.textures["diffuse"].file) == (model / "materials" / "textures" / "can.png").resolve()
    assert not [finding for finding in reporter if finding.loss]


def test_a_parent_gives_what_is_not_said(model: Path, reporter: Reporter) -> None:
    look = read_look(model, "<uri>materials/scripts</uri><name>Can/Red</name>", reporter)
    assert look.diffuse == (1.0, 0.0, 0.0)
    assert "diffuse" in look.textures


def test_what_is_not_there_is_told(model: Path, reporter: Reporter) -> None:
    read_look(model, "<uri>materials/scripts</uri><name>Can/Blue</name>", reporter)
    (model / "materials" / "textures" / "can.png").unlink()
    read_look(model, "<uri>materials/scripts</uri><name>Can/Base</name>", reporter)
    assert [f.kind for f in reporter if f.loss] == ["sdf-material-script", "sdf-texture-failed"]


def test_a_script_outside_is_not_opened(model: Path, tmp_path: Path, reporter: Reporter) -> None:
    (tmp_path / "away.material").write_text(SCRIPT)
    (model / "materials" / "scripts" / "can.material").unlink()
    (model / "materials" / "scripts" / "link.material").symlink_to(tmp_path / "away.material")
    look = read_look(model, "<uri>materials/scripts</uri><name>Can/Base</name>", reporter)
    assert not look.textures
    assert [f.kind for f in reporter if f.loss] == ["sdf-material-script"]


def test_images_of_meshes_are_found_in_materials_textures(model: Path) -> None:
    from simwright.formats.mesh.images import find_image

    mesh = model / "meshes" / "can.obj"
    mesh.parent.mkdir()
    assert find_image(mesh, "can.png") == model / "materials" / "textures" / "can.png"
    assert find_image(mesh, "gone.png") == model / "meshes" / "gone.png"

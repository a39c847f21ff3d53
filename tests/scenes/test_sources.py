# SPDX-License-Identifier: Apache-2.0
"""Files of a scene are found beside it, in its text, and laid beside each other."""

import pytest

from simwright.core.diag import Reporter, Where
from simwright.core.errors import InputError, NotFoundError
from simwright.scenes.document import parse_scene
from simwright.scenes.document_sources import SourceFields
from simwright.scenes.load import assemble_scene
from simwright.scenes.sources import SourceFinder


def finder_of(folder, compat=None, reporter=None):
    return SourceFinder(parse_scene("name: s", folder=folder, compat=compat), reporter)


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    scene, work = tmp_path / "scene", tmp_path / "work"
    for folder in (scene, work):
        folder.mkdir()
        (folder / "both.txt").write_text(folder.name)
    (work / "only.txt").write_text("work")
    monkeypatch.chdir(work)
    return scene


def test_paths_count_from_the_scene(two_folders):
    reporter = Reporter()
    finder = finder_of(two_folders, reporter=reporter)
    assert finder.find_file("both.txt").read_text() == "scene"
    assert not reporter.found
    assert finder.find_file("only.txt").read_text() == "work"
    assert [finding.kind for finding in reporter] == ["scene-file-elsewhere"]
    assert finder.find_file(str(two_folders / "both.txt")).read_text() == "scene"


def test_paths_count_from_the_working_folder_in_compat(two_folders):
    finder = finder_of(two_folders, compat="sap")
    assert finder.find_file("both.txt").read_text() == "work"


@pytest.mark.parametrize("path", ["bth.txt", "none/x", "a\0b", "x" * 5000, "."])
def test_what_is_not_there(two_folders, path):
    with pytest.raises(NotFoundError) as caught:
        finder_of(two_folders).find_file(path, Where("s.yaml", 2, 3))
    assert caught.value.where.line == 2
    if path == "bth.txt":
        assert "both.txt" in caught.value.hint


URDF = (
    "<robot name='r'><link name='l'><collision><geometry>"
    "<mesh filename='m/t.obj'/></geometry></collision></link></robot>"
)
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_xml_in_the_scene_finds_meshes_beside_the_scene(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/t.obj").write_text(OBJ)
    text = f'assets: [{{type: urdf, source: "{URDF}"}}]\n'
    reporter = Reporter()
    file = parse_scene(text, folder=tmp_path, name="s.yaml")
    loaded = assemble_scene(file, reporter=reporter)
    assert list(loaded.body_labels) == ["r/l"]
    assert loaded.model.shape_count == 2
    assert not reporter.found
    finder = SourceFinder(file)
    assert finder.find_source(file.scene.assets[0].source, "urdf") == finder.find_source(
        SourceFields(text=URDF), "urdf"
    )


MJCF = (
    '<mujoco model="m"><asset><mesh file="parts/t.obj"/><mesh name="own" file="parts/own.obj"/></asset>'
    '<worldbody><body name="b"><geom type="mesh" mesh="t"/><geom type="mesh" mesh="own"/></body></worldbody></mujoco>'
)


def test_external_assets_are_laid_beside_an_mjcf_file(tmp_path):
    (tmp_path / "model/parts").mkdir(parents=True)
    (tmp_path / "model/parts/own.obj").write_text(OBJ)
    (tmp_path / "model/m.xml").write_text(MJCF)
    (tmp_path / "else.obj").write_text(OBJ)
    text = "assets: [{type: mjcf, source: model/m.xml, external_assets: [{target: parts/t.obj, path: else.obj}]}]\n"
    reporter = Reporter()
    loaded = assemble_scene(parse_scene(text, folder=tmp_path, name="s.yaml"), reporter=reporter)
    assert loaded.model.shape_count == 3
    assert not reporter.found
    assert sorted(path.name for path in (tmp_path / "model/parts").iterdir()) == ["own.obj"]


def test_an_external_asset_replaces_a_file_of_its_name(tmp_path):
    (tmp_path / "parts").mkdir()
    for name in ("t", "own"):
        (tmp_path / f"parts/{name}.obj").write_text(OBJ)
    (tmp_path / "m.xml").write_text(MJCF)
    (tmp_path / "large.obj").write_text(OBJ.replace("v 1 0 0", "v 3 0 0"))
    external = ", external_assets: [{target: parts/t.obj, path: large.obj}]"
    masses = []
    for more in ("", external):
        text = f"assets: [{{type: mjcf, source: m.xml{more}}}]\n"
        loaded = assemble_scene(parse_scene(text, folder=tmp_path, name="s.yaml"), reporter=Reporter())
        masses.append(float(loaded.model.body_mass.sum()))
    # two equal tetrahedra, of which one gets three times as large along x
    assert masses[1] == pytest.approx(2.0 * masses[0])
    assert (tmp_path / "parts/t.obj").read_text() == OBJ, "the original stays"


def test_an_external_asset_may_not_replace_a_folder(tmp_path):
    (tmp_path / "parts/inner").mkdir(parents=True)
    (tmp_path / "m.xml").write_text(MJCF)
    (tmp_path / "e.obj").write_text(OBJ)
    text = "assets: [{type: mjcf, source: m.xml, external_assets: [{target: parts/inner, path: e.obj}]}]\n"
    with pytest.raises(InputError, match="has the name of a folder"):
        assemble_scene(parse_scene(text, folder=tmp_path, name="s.yaml"))


@pytest.mark.parametrize("target", ["../x", "/x", "a/../../x", ""])
def test_external_assets_stay_beside(target):
    with pytest.raises(InputError, match="target"):
        parse_scene(
            f"assets: [{{type: mjcf, source: a, external_assets: [{{target: '{target}', path: b}}]}}]"
        )


def test_no_git_source_no_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("SIMWRIGHT_ASSET_CACHE", str(tmp_path / "cache"))
    assemble_scene(parse_scene("bodies: [{id: b, shapes: [{}]}]"))
    assert not (tmp_path / "cache").exists()

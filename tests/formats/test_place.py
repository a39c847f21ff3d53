"""A result goes into a folder of its own, or beside other files without touching them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import simwright
from simwright.app.converting import ConvertOptions, Task, convert_one
from simwright.core.errors import OutputError, UsageError

ROBOT = """<robot name="r"><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial><visual><geometry><mesh filename="part.stl"/></geometry></visual></link></robot>"""
CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
SIDES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    sides = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*CORNERS[k]) for k in side)
        + "endloop\nendfacet\n"
        for side in SIDES
    )
    (folder / "part.stl").write_text(f"solid t\n{sides}endsolid t\n")
    (folder / "r.urdf").write_text(ROBOT)
    return folder / "r.urdf"


@pytest.mark.parametrize("name", ["r.xml", "r.usda", "other.urdf"])
def test_a_named_file_goes_beside_others(source: Path, tmp_path: Path, name: str) -> None:
    place = tmp_path / "work"
    place.mkdir()
    (place / "notes.txt").write_text("mine")
    entry = simwright.convert(source, place / name)
    assert entry == place / name
    assert (place / "notes.txt").read_text() == "mine"
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    simwright.convert(source, place / name)
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
    assert not [path for path in place.iterdir() if path.name.startswith(".")]


def test_what_says_something_else_is_not_replaced_unless_asked(source: Path, tmp_path: Path) -> None:
    place = tmp_path / "work"
    entry = simwright.convert(source, place / "r.xml")
    (place / "notes.txt").write_text("mine")
    simwright.convert(source, place / "r.xml")
    mesh = next((place / "r_xml" / "meshes").iterdir())
    mesh.write_text("mine too")
    entry.write_text("old")
    with pytest.raises(OutputError, match="already exists with other content"):
        simwright.convert(source, place / "r.xml")
    assert mesh.read_text() == "mine too"
    assert entry.read_text() == "old"
    simwright.convert(source, place / "r.xml", overwrite=True)
    assert mesh.read_bytes() != b"mine too"
    assert entry.read_text() != "old"
    assert (place / "notes.txt").read_text() == "mine"


def test_results_in_one_folder_have_their_own_meshes(source: Path, tmp_path: Path) -> None:
    place = tmp_path / "work"
    place.mkdir()
    (place / "notes.txt").write_text("mine")
    for name in ("r.xml", "r.urdf"):
        simwright.convert(source, place / name)
    for name in ("r.xml", "r.urdf"):
        found = simwright.load(place / name)
        assert found.shapes[0].geometry.data.triangles().shape == (4, 3)
    simwright.convert(place / "r.urdf", place / "r.xml", overwrite=True)


def test_a_folder_with_other_things_is_no_asset_folder(source: Path, tmp_path: Path) -> None:
    place = tmp_path / "work"
    (place / "meshes").mkdir(parents=True)
    (place / "meshes" / "mine.stl").write_text("mine")
    with pytest.raises(OutputError, match="not part of the asset"):
        simwright.convert(source, place, to="mjcf")
    assert (place / "meshes" / "mine.stl").read_text() == "mine"


def test_the_source_is_never_the_result(source: Path) -> None:
    text = source.read_text()
    with pytest.raises(OutputError, match="the source itself"):
        simwright.convert(source, source)
    assert source.read_text() == text
    simwright.convert(source, source.with_suffix(".xml"))
    assert source.read_text() == text


def test_a_link_out_of_the_folder_is_not_followed(source: Path, tmp_path: Path) -> None:
    place, outside = tmp_path / "work", tmp_path / "outside"
    place.mkdir()
    outside.mkdir()
    (place / "r_xml").symlink_to(outside)
    with pytest.raises(simwright.SimwrightError, match="leaves its folder"):
        simwright.convert(source, place / "r.xml")
    assert not list(outside.iterdir())
    assert not (place / "r.xml").exists()


def test_a_word_no_writer_knows(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no writer knows 'lods'"):
        simwright.convert(source, tmp_path / "x", lods=True)


@pytest.mark.parametrize("name", ["r.usda", "r.xml", "r.urdf", "r.sdf", "r.glb", "r.gltf"])
@pytest.mark.parametrize("first", [True, False], ids=["empty", "an earlier result"])
def test_the_current_folder_stays_under_the_shell(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, first: bool
) -> None:
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    if not first:
        simwright.convert(source, name)
    number = place.stat().st_ino
    simwright.convert(source, name)
    assert place.stat().st_ino == number
    assert name in os.listdir()
    assert sorted(os.listdir()) == sorted(os.listdir(place))
    assert not [item for item in os.listdir() if item.startswith(".")]


def test_files_of_an_earlier_result_go_and_those_of_others_stay(source: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    simwright.convert(source, place / "r.xml")
    (mesh,) = (place / "meshes").iterdir()
    (place / "meshes" / "mine.stl").write_text("mine")
    (place / "meshes" / "broken.stl").symlink_to("nowhere")
    source.write_text(ROBOT.replace('<mesh filename="part.stl"/>', '<box size="1 1 1"/>'))
    simwright.convert(source, place / "r.xml")
    assert not mesh.exists()
    assert sorted(os.listdir(place / "meshes")) == ["broken.stl", "mine.stl"]
    assert sorted(os.listdir(place)) == ["meshes", "r.xml"]


def test_only_the_files_of_the_result_are_reported(source: Path, tmp_path: Path) -> None:
    """A link that leads nowhere, a folder that cannot be read, others' files: nobody looks at them."""
    place = tmp_path / "work"
    (place / "deep" / "er").mkdir(parents=True)
    (place / "deep" / "er" / "broken").symlink_to("nowhere")
    for number in range(300):
        (place / "deep" / f"{number}.txt").touch()
    found = convert_one(Task(str(source), str(place / "r.xml")), ConvertOptions(check=False))
    assert found.status == "written"
    assert [file.partition("/")[0] for file in found.files] == ["r.xml", "r_xml"]
    assert all((place / file).is_file() for file in found.files)
    assert len(list((place / "deep").iterdir())) == 301


@pytest.mark.parametrize("name", ["r.usda", "r.usdz", "r.glb"])
def test_every_writer_tells_what_it_wrote(source: Path, tmp_path: Path, name: str) -> None:
    found = convert_one(Task(str(source), str(tmp_path / "out" / name)), ConvertOptions(check=False))
    there = [path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")]
    assert found.files == sorted(path for path in there if (tmp_path / "out" / path).is_file())
    flat = convert_one(
        Task(str(source), str(tmp_path / "flat" / "r.usdc")),
        ConvertOptions(check=False, writing={"flatten": True}),
    )
    assert flat.files == ["r.usdc"]

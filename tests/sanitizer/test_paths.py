"""Files that an asset names outside itself: collected, named by package, or left alone."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

import simwright
from simwright.core.errors import UnknownNameError
from simwright.sanitizer.result import FixResult


@pytest.fixture(autouse=True)
def _allow_what_is_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assets here name files beside their own folder, as a user may allow."""
    monkeypatch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", str(tmp_path))


PATHS = ("path-self-contained", "path-no-absolute", "path-no-proprietary")


def make_png(size: int = 4) -> bytes:
    stream = BytesIO()
    Image.new("RGB", (size, size)).save(stream, "PNG")
    return stream.getvalue()


def write_asset(folder: Path, address: str) -> Path:
    folder.mkdir(parents=True)
    file = folder / "robot.usda"
    file.write_text(f'#usda 1.0\ndef Xform "robot"\n{{\n    asset inputs:file = @{address}@\n}}\n')
    return file


def fix_paths(source: Path, target: Path, **options: object) -> FixResult:
    return simwright.fix(source, target, select=PATHS, unsafe=True, **options)  # type: ignore[arg-type]


def test_an_absolute_image_is_collected(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "wood.png").write_bytes(make_png())
    source = write_asset(tmp_path / "robot", str(library / "wood.png"))
    result = fix_paths(source, tmp_path / "out")
    assert "@./external/library/wood.png@" in (tmp_path / "out" / "robot.usda").read_text()
    assert (tmp_path / "out" / "external" / "library" / "wood.png").read_bytes() == make_png()
    assert not [finding for finding in result.after if finding.kind in PATHS]


def test_tiles_are_collected_together(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for number in (1001, 1002):
        (library / f"wood.{number}.png").write_bytes(make_png())
    source = write_asset(tmp_path / "robot", "../library/wood.<UDIM>.png")
    fix_paths(source, tmp_path / "out")
    assert "@./external/library/wood.<UDIM>.png@" in (tmp_path / "out" / "robot.usda").read_text()
    assert len(list((tmp_path / "out" / "external" / "library").iterdir())) == 2


def test_two_files_of_one_name_get_folders_of_their_own(tmp_path: Path) -> None:
    for name, size in (("a", 4), ("b", 8)):
        (tmp_path / name / "textures").mkdir(parents=True)
        (tmp_path / name / "textures" / "wood.png").write_bytes(make_png(size))
    source = write_asset(tmp_path / "robot", "../a/textures/wood.png")
    text = source.read_text().replace("}", "    asset inputs:other = @../b/textures/wood.png@\n}")
    source.write_text(text)
    fix_paths(source, tmp_path / "out")
    found = sorted(
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.png")
    )
    assert found == ["external/textures/wood.png", "external/textures_2/wood.png"]


def test_other_files_of_the_machine_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    source = write_asset(tmp_path / "robot", str(tmp_path / "secret.txt"))
    result = fix_paths(source, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("secret*"))
    assert any("copy it by hand" in note.message for note in result.notes)


def test_a_table_says_where_files_of_a_server_are(tmp_path: Path) -> None:
    (tmp_path / "mirror" / "props").mkdir(parents=True)
    (tmp_path / "mirror" / "props" / "wood.png").write_bytes(make_png())
    source = write_asset(tmp_path / "robot", "omniverse://server/props/wood.png")
    values = {"address.omniverse://server/": str(tmp_path / "mirror")}
    result = simwright.fix(
        source, tmp_path / "out", select=PATHS, values=values
    )  # said, so no unsafe is needed
    assert result.fixed == {"path-no-proprietary": 1}
    assert "@./external/props/wood.png@" in (tmp_path / "out" / "robot.usda").read_text()


def test_in_place_the_collected_files_arrive_with_the_layer(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "wood.png").write_bytes(make_png())
    source = write_asset(tmp_path / "robot", "../library/wood.png")
    simwright.fix(source, select=PATHS, unsafe=True, in_place=True)
    assert "@./external/library/wood.png@" in source.read_text()
    assert (source.parent / "external" / "library" / "wood.png").is_file()


def test_a_misspelled_value_is_an_error(tmp_path: Path) -> None:
    source = write_asset(tmp_path / "robot", "./wood.png")
    with pytest.raises(UnknownNameError, match="identifer") as caught:
        simwright.fix(source, tmp_path / "out", values={"identifer": "x"})
    assert "identifier" in str(caught.value.hint)

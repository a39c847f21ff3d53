"""Which files of a folder are assets."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from pxr import Sdf

from simwright.app.cli.main import run
from simwright.checker.cache import Cache
from simwright.checker.entry_points import find_assets, find_owners
from simwright.core.errors import UsageError


def write(file: Path, *mentions: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    arcs = "".join(f'def "P{number}" (references = @{text}@) {{}}\n' for number, text in enumerate(mentions))
    if file.suffix == ".usdc":
        layer = Sdf.Layer.CreateAnonymous(".usda")
        assert layer.ImportFromString(f"#usda 1.0\n{arcs}")
        assert layer.Export(str(file))
    else:
        file.write_text(f"#usda 1.0\n{arcs}")
    return file


def names(folder: Path, cache: Cache | None = None) -> list[str]:
    return [Path(path).relative_to(folder).as_posix() for path in find_assets([folder], cache)]


def test_parts_beside_and_below_are_no_assets(tmp_path):
    write(tmp_path / "robot" / "robot.usda", "./base.usda", "parts/physics.usda")
    write(tmp_path / "robot" / "base.usda", "mesh/geometry.usdc")
    write(tmp_path / "robot" / "mesh" / "geometry.usdc")
    write(tmp_path / "robot" / "parts" / "physics.usda", "../base.usda", "./more.usda")
    write(tmp_path / "robot" / "parts" / "more.usda")
    assert names(tmp_path) == ["robot/robot.usda"]


def test_a_used_neighbour_is_an_asset_of_its_own(tmp_path):
    write(tmp_path / "scene" / "scene.usda", "../box/box.usda", "package://box/box.usda")
    write(tmp_path / "box" / "box.usda")
    assert names(tmp_path) == ["box/box.usda", "scene/scene.usda"]


def test_binary_layers_and_packages_count(tmp_path):
    write(tmp_path / "robot.usdc", "./base.usda")
    write(tmp_path / "base.usda")
    (tmp_path / "packed.usdz").write_bytes(b"PK")
    assert names(tmp_path) == ["packed.usdz", "robot.usdc"]


def test_a_circle_has_one_asset(tmp_path):
    write(tmp_path / "a.usda", "./b.usda")
    write(tmp_path / "b.usda", "./a.usda")
    write(tmp_path / "self.usda", "./self.usda")
    assert names(tmp_path) == ["a.usda", "self.usda"]


def test_hidden_and_other_files_are_left_out(tmp_path):
    write(tmp_path / ".git" / "a.usda")
    write(tmp_path / ".b.usda")
    (tmp_path / "c.txt").write_text("x")
    write(tmp_path / "d.usda")
    assert names(tmp_path) == ["d.usda"]


def test_a_broken_file_is_still_an_asset(tmp_path):
    (tmp_path / "a.usdc").write_bytes(b"PXR-USDC" + b"\0" * 100)
    (tmp_path / "b.usda").write_bytes(b"")
    assert names(tmp_path) == ["a.usdc", "b.usda"]


def test_what_was_learnt_is_remembered_until_a_file_changes(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "cache")
    folder = tmp_path / "assets"
    write(folder / "robot.usdc", "./base.usda")
    write(folder / "base.usda")
    monkeypatch.setattr("simwright.checker.entry_points._SETTLED_NS", 0)
    assert names(folder, cache) == ["robot.usdc"]
    with monkeypatch.context() as patch:
        patch.setattr(
            "simwright.checker.entry_points.read_mentions", lambda file: pytest.fail("was read again")
        )
        assert names(folder, cache) == ["robot.usdc"]
    (folder / "robot.usdc").unlink()
    write(folder / "robot.usdc")
    assert names(folder, cache) == ["base.usda", "robot.usdc"]


def test_files_globs_and_duplicates(tmp_path, monkeypatch):
    for name in ("a.usda", "b.usda", "sub/c.usda"):
        write(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert find_assets(["b.usda", "*.usda", "./a.usda"]) == ["b.usda", "a.usda"]
    assert find_assets(["**/*.usda"]) == ["a.usda", "b.usda", "sub/c.usda"]
    assert find_assets(["gone.usda"]) == ["gone.usda"]


def test_nothing_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no USD file in this folder"):
        find_assets([tmp_path])
    with pytest.raises(UsageError, match="no USD file matches"):
        find_assets(["*.usda"])


def test_changed_layers_mean_the_assets_that_they_are_part_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("arm/arm.usda"), "./base.usda", "./shared/mesh.usda")
    write(Path("arm/other.usda"), "./shared/mesh.usda")
    write(Path("arm/base.usda"))
    write(Path("arm/shared/mesh.usda"))
    write(Path("box/box.usda"), "../arm/arm.usda")
    elsewhere = write(tmp_path.parent / f"{tmp_path.name}-elsewhere.usda")
    cache = Cache(None)
    assert find_owners(["arm/base.usda"], ".", cache) == ["arm/arm.usda"]
    assert find_owners(["arm/shared/mesh.usda", "box/box.usda"], ".", cache) == [
        "arm/arm.usda",
        "arm/other.usda",
        "box/box.usda",
    ]
    assert find_owners([str(elsewhere), "gone.usda"], ".", cache) == [str(elsewhere), "gone.usda"]


def test_a_hook_checks_the_asset_of_a_changed_layer(samples, tmp_path, monkeypatch, capsys):
    shutil.copytree(samples / "box", tmp_path / "box")
    monkeypatch.chdir(tmp_path)
    hook = yaml.safe_load(Path(__file__).parents[2].joinpath(".pre-commit-hooks.yaml").read_text())[0]
    words = hook["entry"].split()[1:]
    layers = sorted(str(file) for file in Path("box").glob("*.usda"))
    assert len(layers) > 1
    assert run([*words, *layers]) == 0
    assert "1 asset" in capsys.readouterr().out
    broken = Path("box/physics.usda")
    broken.write_text("#usda 1.0\n(\n")
    assert run([*words, str(broken)]) == 1

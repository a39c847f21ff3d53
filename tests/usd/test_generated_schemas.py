# SPDX-License-Identifier: Apache-2.0
"""The generated plugin files are what their schema.usda gives today."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from simwright.usd.plugins import SCHEMAS

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "generate_schemas.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_schemas", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("folder", sorted(p.parent.name for p in SCHEMAS.glob("*/schema.usda")))
def test_generated_files_are_fresh(generator: ModuleType, folder: str) -> None:
    stale = generator.refresh_folder(SCHEMAS / folder, write=False)
    assert stale == [], "run python scripts/generate_schemas.py"


def test_check_finds_a_stale_file_and_writing_heals_it(
    generator: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mimic"
    shutil.copytree(SCHEMAS / "extended_physics_mimic", folder)
    schema = folder / "schema.usda"
    schema.write_text(schema.read_text().replace("multiplier = 1 ", "multiplier = 2 "))
    assert generator.main(["--check", str(folder)]) == 1
    assert capsys.readouterr().out == "stale: mimic/generatedSchema.usda\n"
    assert generator.main([str(folder)]) == 0
    assert "multiplier = 2 " in (folder / "generatedSchema.usda").read_text()
    assert generator.main(["--check", str(folder)]) == 0


def test_generator_failure_is_told(generator: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "schema.usda").write_text("#usda 1.0\n")
    with pytest.raises(SystemExit, match="usdGenSchema failed"):
        generator.main([str(tmp_path)])

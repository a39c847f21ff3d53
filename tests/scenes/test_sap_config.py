"""Scene files of SAP, read as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright import load_sap_scene_config
from simwright.scenes.sap import SapSceneLoaderError


@pytest.mark.parametrize("version", ["2", "new", "[1]", "null"])
def test_a_version_that_is_not_known_is_refused(tmp_path: Path, version: str) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(f"schema_version: {version}\n")
    with pytest.raises(SapSceneLoaderError, match="schema version"):
        load_sap_scene_config(file)


@pytest.mark.parametrize("text", ["schema_version: 1\nname: a\n", "name: a\n"])
def test_the_first_version_needs_no_word(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(text)
    assert load_sap_scene_config(file)["name"] == "a"

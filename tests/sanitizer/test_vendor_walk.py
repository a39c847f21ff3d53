"""A robot as an editor for Isaac Sim saves it, other than the one of the tutorial, by the two words that a user says.

``palletizer`` is in centimetres with Y up: a base that is held, payloads in payloads, instanced visuals, contact
reports, a distance field, a camera, a variant with a collider, MDL, and a graph that publishes joints, images and time.
"""

from __future__ import annotations

from pathlib import Path

import simwright
from simwright.core.diag import Level

PALLETIZER = Path(__file__).parent / "palletizer" / "palletizer.usda"
VALUES = {"identifier": "acme/palletizer", "version": "1.0.0"}


def test_an_asset_of_isaac_sim_is_left_without_errors(tmp_path: Path) -> None:
    result = simwright.fix(PALLETIZER, tmp_path / "fixed", unsafe=True, values=VALUES)
    assert result.proven
    assert result.exit_code == 0
    found = [f for asset in simwright.check(result.entry, profile="all").assets for f in asset.findings]
    assert not [f for f in found if f.level is Level.ERROR]
    # files of Omniverse that nobody has, and links that are siblings: a person decides
    assert {note.kind for note in result.notes} <= {"fix-refused", "fix-comments-lost"}
    assert {note.data["rule"] for note in result.notes if note.kind == "fix-refused"} == {
        "path-relative",
        "path-self-contained",
        "joint-placement",
    }
    again = simwright.fix(result.entry, tmp_path / "again", unsafe=True, values=VALUES)
    one, two = (
        {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        for folder in (Path(result.entry).parent, Path(again.entry).parent)
    )
    assert one == two


def test_what_only_isaac_sim_reads_is_in_its_own_layers(tmp_path: Path) -> None:
    result = simwright.fix(PALLETIZER, tmp_path / "fixed", unsafe=True, values=VALUES)
    texts = {name: (tmp_path / "fixed" / name).read_text() for name in result.files if name.endswith(".usda")}
    vendors = {
        "isaac.usda": ("OmniGraph", "isaac:"),
        "physx.usda": ("Physx", "physxJoint:", "physxCollision:", "PhysicsJointStateAPI"),
    }
    for name, text in texts.items():
        for layer, words in vendors.items():
            assert name == layer or not any(word in text for word in words), (name, layer)
    assert "ROS2PublishClock" not in texts["isaac.usda"]

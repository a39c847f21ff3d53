"""``compat="sap"`` against what SAP Warp's own loader computed for the same scenes, array by array."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simwright.scenes.load import LoadedScene, load_scene
from simwright.scenes.sap import load_sap_scene

ORACLES = Path(__file__).resolve().parents[3] / "shared" / "oracles" / "scenes"
NAMES = sorted(path.stem for path in ORACLES.glob("*.json"))
POSES = ("body_q", "shape_transform", "joint_X_p", "joint_X_c")
NOT_KEPT = {
    "shape_sdf_index": "no distance fields are built",
    "shape_heightfield_index": "heightfields are geometry objects",
    "heightfield_data": "heightfields are geometry objects",
    "heightfield_elevations": "heightfields are geometry objects",
    "texture_sdf_data": "no distance fields are built",
    "_shape_voxel_resolution": "no distance fields are built",
}
"""Arrays of SAP Warp that have no counterpart, and why (docs/scene-differences.md)."""
ELSEWHERE = {"shape_contact_pairs": "compared as a set below"}

pytestmark = pytest.mark.realworld


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, shared_assets: Path) -> None:
    monkeypatch.setenv("SIMWRIGHT_ASSET_CACHE", str(shared_assets / "scenes" / "cache"))
    monkeypatch.setenv("SIMWRIGHT_ASSET_OFFLINE", "1")


def read_oracle(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))
    return data


def load(name: str, shared_assets: Path) -> tuple[dict[str, Any], LoadedScene]:
    oracle = read_oracle(name)
    path = shared_assets / "scenes" / oracle["scene"]
    return oracle, load_scene(path, oracle["num_worlds"], True, compat="sap")


def sections(oracle: dict[str, Any], loaded: LoadedScene) -> Iterator[tuple[str, dict[str, Any], Any]]:
    yield "model", oracle["sap_model"], loaded.model
    yield "state", oracle["sap_state"], loaded.state
    yield "control", oracle["sap_control"], loaded.control
    yield "collision_model", oracle["collision_model"], loaded.collision_model
    yield "collision_state", oracle["collision_state"], loaded.collision_state


def check_array(name: str, expected: Any, ours: Any) -> None:
    theirs, mine = np.asarray(expected, dtype=np.float64), np.asarray(ours, dtype=np.float64)
    assert mine.shape == theirs.shape, name
    if name in POSES:  # q and -q are the same turn
        mine = mine.copy()
        mine[:, 3:] *= np.where((mine[:, 3:] * theirs[:, 3:]).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_every_array_agrees(name: str, shared_assets: Path) -> None:
    oracle, loaded = load(name, shared_assets)
    compared = set()
    for title, section, ours in sections(oracle, loaded):
        for key, value in section.items():
            if not (isinstance(value, dict) and "data" in value) or key in NOT_KEPT or key in ELSEWHERE:
                continue
            check_array(key, value["data"], getattr(ours, key))
            compared.add((title, key))
    assert len(compared) > 60
    pairs = {tuple(sorted(pair)) for pair in oracle["collision_model"]["shape_contact_pairs"]["data"]}
    assert {tuple(pair) for pair in loaded.collision_model.shape_contact_pairs.tolist()} == pairs


@pytest.mark.parametrize("name", NAMES)
def test_counts_labels_and_colours_agree(name: str, shared_assets: Path) -> None:
    oracle, loaded = load(name, shared_assets)
    model = loaded.model
    for key, value in oracle["counts"].items():
        assert getattr(model, key) == value
    assert loaded.collision_model.rigid_contact_max == oracle["collision_model"]["rigid_contact_max"]
    assert loaded.collision_model.shape_contact_pair_count == oracle["contact_pairs"]
    for key in ("body_label", "joint_label", "articulation_label", "shape_label"):
        assert list(getattr(model, key)) == oracle["sap_model"][key]
    assert list(loaded.body_labels) == oracle["body_labels"]
    assert list(loaded.shape_labels) == oracle["shape_labels"]
    assert list(loaded.unsupported_features) == oracle["unsupported_features"]
    for ours, theirs in zip(loaded.shape_colors, oracle["shape_colors"], strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_meshes_are_the_same_size(name: str, shared_assets: Path) -> None:
    oracle, loaded = load(name, shared_assets)
    for shape, described in enumerate(oracle["sap_model"]["shape_source"]):
        source = loaded.model.source_of(shape)
        assert (source is None) == (described is None)
        if described is not None:
            vertices, mesh = source.data.vertices, described["mesh"]
            assert len(source.data.triangles()) == mesh["tris"]
            np.testing.assert_allclose(vertices.min(axis=0), mesh["min"], atol=1e-6)
            np.testing.assert_allclose(vertices.max(axis=0), mesh["max"], atol=1e-6)


def test_the_names_of_sap_warp(shared_assets: Path) -> None:
    oracle = read_oracle("multi_joints.w3")
    loaded = load_sap_scene(shared_assets / "scenes" / oracle["scene"], num_worlds=3)
    check_array("joint_q", oracle["sap_state"]["joint_q"]["data"], loaded.sap_state.joint_q)
    assert list(loaded.body_labels) == oracle["body_labels"]
    assert loaded.sap_model.state().joint_q is not loaded.sap_state.joint_q
    loaded.sap_state.clear_forces()
    loaded.sap_control.clear()


def test_the_default_is_right_where_sap_is_not(shared_assets: Path) -> None:
    """Forward kinematics always run: the robot stands where its joints have it."""
    path = shared_assets / "scenes" / "anymal_c_urdf.yaml"
    quirky, right = load_scene(path, compat="sap"), load_scene(path)
    assert not quirky.state.body_q[:, :3].any()
    assert right.state.body_q[0, :3] == pytest.approx((0.0, 0.0, 0.62), abs=1e-6)
    assert np.ptp(right.state.body_q[:, 2]) > 0.3
    base = right.body_labels.find("anymal/base")
    assert right.model.body_mass[base] == 0.0
    assert quirky.model.body_mass[0] > 29.0

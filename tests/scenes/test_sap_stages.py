"""``compat="sap"`` of stages against numbers that SAP Warp's loader (c0c861c) computed from the same files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simwright.scenes.load import LoadedScene, load_scene

SCENE = """
schema_version: 1
name: marks
builder:
  rigid_gap: 0.002
  defaults:
    shape: {{ke: 1000000.0, tau: 0.01, mu: 0.75}}
assets:
  - {{id: arm, type: usd, source: {file}}}
"""
STAGE = Path(__file__).parent / "stages" / "marks.usda"


def load(folder: Path) -> LoadedScene:
    (folder / "marks.usda").write_text(STAGE.read_text(encoding="utf-8"), encoding="utf-8")
    path = folder / "marks.yaml"
    path.write_text(SCENE.format(file="marks.usda"), encoding="utf-8")
    return load_scene(path, compat="sap")


def test_marks_stand_between_what_is_seen_and_colliders_last(tmp_path: Path) -> None:
    scene = load(tmp_path)
    assert list(scene.shape_labels) == [
        "/arm/base/seen", "/arm/base/mark", "/arm/base/also_seen", "/arm/tool/handle", "/arm/base/touched",
        "ground_plane",
    ]  # fmt: skip
    model = scene.model
    # a mark is visible and a site; a collider beside something seen is not shown
    assert model.shape_flags.tolist() == [1, 9, 1, 1, 6, 7]
    assert scene.collision_model.shape_collision_group.tolist() == [1, 0, 1, 1, 1, 1]


def test_gains_are_the_scenes_and_friction_is_the_materials(tmp_path: Path) -> None:
    model = load(tmp_path).model
    np.testing.assert_allclose(model.shape_material_ke, [2500.0] * 4 + [1e6] * 2)
    np.testing.assert_allclose(model.shape_material_tau, [0.01] * 6, rtol=1e-6)
    np.testing.assert_allclose(model.shape_material_mu, [1.0] * 4 + [0.4, 0.75], rtol=1e-6)
    np.testing.assert_allclose(model.shape_gap, [0.002] * 4 + [0.003, 0.002], rtol=1e-6)


def test_a_generic_root_without_limits_has_no_freedom(tmp_path: Path) -> None:
    model = load(tmp_path).model
    assert model.joint_type.tolist() == [6, 1]
    assert model.joint_qd_start.tolist() == [0, 0, 1]
    assert model.joint_limit_lower.tolist() == [-np.inf]
    assert model.joint_limit_upper.tolist() == [np.inf]


def test_a_mass_without_shape_is_a_ball_of_the_scenes_density(tmp_path: Path) -> None:
    model = load(tmp_path).model
    assert model.body_inertia[0] == pytest.approx(0.0133333337 * np.eye(3), rel=1e-6)
    assert model.body_inertia[1] == pytest.approx(0.0017348614 * np.eye(3), rel=1e-5)


LABELS = ["robot/b/s", "robot/d/s", "robot/a/c", "cube", "floor", "step", "robot/a/m"]


def load_things(folder: Path, compat: str | None) -> LoadedScene:
    """A robot of three bodies, a cube, a floor and a step in one stage, the robot's parts not touching each other."""
    (folder / "things.usda").write_bytes((STAGE.parent / "things.usda").read_bytes())
    path = folder / "things.yaml"
    options = "enable_self_collisions: false, skip_mesh_approximation: true"
    path.write_text(
        f"schema_version: 1\nground: false\nassets:\n  - {{id: m, type: usd, source: things.usda, {options}}}\n"
    )
    return load_scene(path, compat=compat)


def test_planes_come_before_meshes(tmp_path: Path) -> None:
    """The order of UsdPhysics' own types; SAP Warp's arrays have their colliders in it."""
    assert list(load_things(tmp_path, "sap").shape_labels) == [f"/World/{label}" for label in LABELS]


@pytest.mark.parametrize("compat", ["sap", None])
def test_what_is_not_the_robot_is_touched_though_it_does_not_touch_itself(
    tmp_path: Path, compat: str | None
) -> None:
    """As SAP Warp lists the pairs: else a robot would fall through the floor of its own stage."""
    scene = load_things(tmp_path, compat)
    names = [str(label).split("/World/")[-1] for label in scene.shape_labels]
    found = {frozenset(names[i] for i in pair) for pair in scene.collision_model.shape_contact_pairs}
    robot, things = [label for label in LABELS if label.startswith("robot")], ["floor", "step"]
    wanted = {frozenset((part, thing)) for part in [*robot, "cube"] for thing in things}
    assert found == wanted | {frozenset((part, "cube")) for part in robot}

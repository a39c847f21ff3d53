"""Scene files end to end: load order, worlds, strictness, joints of every kind, and the same bits every time."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simwright.core.errors import LimitError, SimwrightError, UsageError
from simwright.runtime.arrays import iterate_arrays
from simwright.runtime.kinds import JointType, ShapeType
from simwright.scenes.document import parse_scene
from simwright.scenes.load import LoadedScene, assemble_scene, load_scene
from simwright.scenes.messages import SceneError, UnsupportedSceneFeature
from simwright.scenes.sap import (
    SapSceneLoaderError,
    SapUnsupportedSceneFeature,
    load_sap_scene,
    load_sap_scene_config,
)

MINIMAL = """
schema_version: 1
name: single_box
simulation: {dt: 0.003, num_worlds: 1, max_rigid_contact: 64}
builder:
  rigid_gap: 0.002
  defaults: {shape: {density: 1000.0, ke: 1000000.0, tau: 0.01, mu: 0.5}}
ground: {enabled: true, label: DEFAULT_GROUND}
bodies:
  - id: box
    mass: 1.0
    transform: {p: [0.0, 0.0, 1.0], q: identity}
    shapes: [{type: box, hx: 0.5, hy: 0.5, hz: 0.5}]
joints: [{id: box_free, type: free, parent: world, child: box}]
articulations: [{id: box_articulation, joints: [box_free]}]
"""
ARM = """
<robot name="arm">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="tip">
    <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="tip"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="6"/><dynamics damping="0.1" friction="0.2"/>
  </joint>
</robot>
"""


def load(text: str, **options: object) -> LoadedScene:
    return assemble_scene(parse_scene(text, compat=options.pop("compat", None)), **options)  # type: ignore[arg-type]


def hash_scene(loaded: LoadedScene) -> str:
    digest = hashlib.sha256()
    for thing in (loaded.model, loaded.state, loaded.control, loaded.collision_model):
        for info, values in iterate_arrays(thing):
            digest.update(info.name.encode() + values.tobytes())
    digest.update(loaded.collision_model.shape_contact_pairs.tobytes())
    digest.update("\n".join([*loaded.body_labels, *loaded.shape_labels]).encode())
    return digest.hexdigest()


def test_the_smallest_scene() -> None:
    loaded = load(MINIMAL)
    model = loaded.model
    assert list(loaded.body_labels) == ["box"]
    assert list(loaded.shape_labels) == ["shape_0", "DEFAULT_GROUND"]
    assert model.body_mass.tolist() == [1001.0]
    assert loaded.state.joint_q.tolist() == [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    assert model.shape_gap.tolist() == [np.float32(0.002)] * 2
    assert model.gravity.tolist() == [[0.0, 0.0, np.float32(-9.81)]]
    assert loaded.collision_model.shape_contact_pairs.tolist() == [[0, 1]]
    assert loaded.collision_model.rigid_contact_max == 64
    assert loaded.scene.simulation.dt == 0.003
    assert loaded.unsupported_features == ()


def test_worlds_from_the_call_the_file_and_the_replicate_block() -> None:
    assert load(MINIMAL, num_worlds=3).model.world_count == 3
    assert load(MINIMAL.replace("num_worlds: 1", "num_worlds: 2")).model.world_count == 2
    own = MINIMAL.replace("num_worlds: 1, ", "") + "replicate: {num_worlds: 4, spacing: [0, 5, 0]}\n"
    loaded = load(own)
    assert loaded.model.world_offset[:, 1].tolist() == [-7.5, -2.5, 2.5, 7.5]
    assert loaded.collision_model.rigid_contact_max == 64 * 4
    assert loaded.state.joint_q[1::7].tolist() == [-7.5, -2.5, 2.5, 7.5]
    assert load(own, spacing=(1.0, 0.0, 0.0)).model.world_offset[:, 0].tolist() == [-1.5, -0.5, 0.5, 1.5]
    with pytest.raises(UsageError, match="num_worlds"):
        load(MINIMAL, num_worlds=0)
    with pytest.raises(UsageError, match="spacing"):
        load(MINIMAL, spacing=(1.0, math.nan, 0.0))


def test_edits_run_before_copies_and_the_ground_after() -> None:
    text = MINIMAL + "post_build: [{op: set_array, array: shape_material_mu, range: all, value: 0.9}]\n"
    model = load(text, num_worlds=2).model
    assert model.shape_material_mu.tolist() == [np.float32(0.9), np.float32(0.9), np.float32(0.5)]


def test_assets_come_before_bodies_and_gravity_is_the_scenes(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM, encoding="utf-8")
    text = MINIMAL + "assets: [{id: arm, type: urdf, source: arm.urdf, xform: {p: [0, 0, 2]}}]\n"
    loaded = assemble_scene(parse_scene(text, folder=tmp_path))
    assert list(loaded.body_labels) == ["arm/base", "arm/tip", "box"]
    np.testing.assert_allclose(loaded.state.body_q[:2, 2], (2.0, 3.0))
    assert loaded.model.joint_friction.tolist()[0] == np.float32(0.2)
    assert loaded.model.joint_velocity_limit.tolist()[0] == 6.0
    assert loaded.model.joint_articulation.tolist() == [0, 0, 1]


def test_inline_xml_and_the_same_asset_twice() -> None:
    source = json.dumps(ARM)
    text = (
        MINIMAL
        + f"assets: [{{id: left, type: urdf, source: {source}}}, {{id: right, type: urdf, source: {source}}}]\n"
    )
    loaded = load(text)
    assert list(loaded.body_labels) == ["arm/base", "arm/tip", "right/arm/base", "right/arm/tip", "box"]


def test_joints_of_every_kind() -> None:
    axes = (
        "linear_axes: [{axis: x, limit_lower: -1, limit_upper: 1}], angular_axes: [{axis: z, friction: 0.5}]"
    )
    bodies = "".join(f"\n  - {{id: b{i}, mass: 1, shapes: [{{type: sphere}}]}}" for i in range(7))
    joints = [
        "{id: j0, type: fixed, child: b0}",
        "{id: j1, type: revolute, parent: b0, child: b1, axis: y, target_ke: 5, armature: 0.1}",
        "{id: j2, type: prismatic, parent: b1, child: b2, axis: [0, 0, 2], velocity_limit: 3}",
        "{id: j3, type: ball, parent: b2, child: b3, friction: 0.3}",
        f"{{id: j4, type: d6, parent: b3, child: b4, {axes}}}",
        "{id: j5, type: distance, parent: b4, child: b5, max_distance: 2}",
        "{id: j6, type: free, child: b6}",
    ]
    rows = "\n".join(f"  - {row}" for row in joints)
    text = f"bodies:{bodies}\njoints:\n{rows}\narticulations: [{{id: all, joints: [j0, j1, j2, j3, j4, j5, j6]}}]\n"
    model = load(text).model
    assert model.joint_type.tolist() == [
        JointType.FIXED, JointType.REVOLUTE, JointType.PRISMATIC, JointType.BALL, JointType.D6,
        JointType.DISTANCE, JointType.FREE,
    ]  # fmt: skip
    assert model.joint_dof_dim.tolist() == [[0, 0], [0, 1], [1, 0], [0, 3], [1, 1], [3, 3], [3, 3]]
    assert np.diff(model.joint_q_start).tolist() == [0, 1, 1, 4, 2, 7, 7]
    assert model.joint_axis[1].tolist() == [0.0, 0.0, 1.0]
    assert model.joint_friction[2:5].tolist() == [np.float32(0.3)] * 3
    at = model.joint_qd_start[5]
    assert (model.joint_limit_lower[at], model.joint_limit_upper[at]) == (-1.0, 2.0)


CHAIN = """
bodies: [{id: a, mass: 1, shapes: [{}]}, {id: b, mass: 1, shapes: [{}]}, {id: c, mass: 1, shapes: [{}]}, {id: d}]
joints:
  - {id: ja, type: prismatic, child: a, axis: x}
  - {id: jb, type: revolute, parent: a, child: b, axis: z, parent_xform: {p: [1, 0, 0]}}
  - {id: loop, type: ball, child: b}
  - {id: jc, type: free, child: c}
articulations: [{id: last, joints: [jc]}]
initial_joint_q: [{joint: ja, value: 2}]
"""


def test_articulations_are_made_where_none_is_said() -> None:
    loaded = load(CHAIN)
    model = loaded.model
    assert list(model.articulation_label) == ["ja", "last"]
    assert model.joint_articulation.tolist() == [0, 0, -1, 1]
    assert model.articulation_start.tolist() == [0, 3, 4]
    assert model.articulation_end.tolist() == [2, 4]
    assert loaded.state.body_q[:2, 0].tolist() == [2.0, 3.0]
    told = {found.kind: found for found in loaded.findings}
    assert set(told) == {"scene-articulation-made", "scene-body-alone"}
    assert told["scene-articulation-made"].where.line == 4
    assert told["scene-body-alone"].where.line == 2
    assert load(CHAIN, num_worlds=2).model.articulation_end.tolist() == [2, 4, 6, 8]
    quirky = load(CHAIN, compat="sap").model
    assert quirky.joint_articulation.tolist() == [-1, -1, -1, 0]


def test_initial_positions_move_bodies() -> None:
    text = MINIMAL + "initial_joint_q: [{joint: box_free, offset: 2, value: 2.5}]\n"
    loaded = load(text)
    assert loaded.state.joint_q[2] == 2.5
    assert loaded.state.body_q[0, 2] == 2.5
    assert loaded.collision_state.body_q[0, 2] == 2.5


def test_what_is_not_supported_is_told_or_raised() -> None:
    text = (
        MINIMAL + f"assets: [{{id: a, type: urdf, source: {json.dumps(ARM)}, collapse_fixed_joints: true}}]\n"
    )
    assert load(text).unsupported_features == ("asset[a] collapse_fixed_joints",)
    assert list(load(text).body_labels) == ["box"]
    with pytest.raises(UnsupportedSceneFeature, match="collapse_fixed_joints") as caught:
        load(text, strict=True)
    assert caught.value.features == ("asset[a] collapse_fixed_joints",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("joints: [{id: j, type: free, child: nobody}]", "nobody"),
        ("articulations: [{id: a, joints: [nothing]}]", "nothing"),
        ("joints: [{id: j, type: revolute, parent: box, child: box}]", "leads from"),
        ("assets: [{id: a, type: urdf, source: missing.urdf}]", "missing.urdf"),
    ],
)
def test_errors_have_a_place(change: str, message: str) -> None:
    key = change.split(":", maxsplit=1)[0]
    kept = "\n".join(
        line for line in MINIMAL.splitlines() if not line.startswith((f"{key}:", "articulations:"))
    )
    with pytest.raises(SimwrightError, match=message) as caught:
        load(f"{kept}\n{change}\n")
    assert caught.value.where is not None
    assert caught.value.where.line


def test_a_scene_without_shapes_is_none() -> None:
    with pytest.raises(SceneError, match="no shape"):
        load("ground: false\n")


def test_more_worlds_than_memory_are_refused() -> None:
    with pytest.raises(LimitError, match="worlds have"):
        load(MINIMAL, num_worlds=90_000_000)


def test_arrays_stay_on_the_cpu(tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(MINIMAL, encoding="utf-8")
    assert load_scene(file, device="cpu").source_path == str(file)
    with pytest.raises(UsageError, match="CPU"):
        load_scene(file, device="cuda:0")


def test_the_same_file_gives_the_same_bits(tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(MINIMAL, encoding="utf-8")
    here = hash_scene(load_scene(file, 17))
    assert hash_scene(load_scene(file, 17)) == here
    code = f"from test_load import hash_scene, load_scene; print(hash_scene(load_scene({str(file)!r}, 17)))"
    for seed in ("1", "2"):
        settings = {
            "PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, check=True, env=settings,
        )  # fmt: skip
        assert done.stdout.strip() == here


@pytest.mark.realworld
def test_a_robot_gives_the_same_bits(shared_assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMWRIGHT_ASSET_CACHE", str(shared_assets / "scenes" / "cache"))
    monkeypatch.setenv("SIMWRIGHT_ASSET_OFFLINE", "1")
    path = shared_assets / "scenes" / "anymal_d_usd.yaml"
    assert hash_scene(load_scene(path, 5)) == hash_scene(load_scene(path, 5))


def test_sap_quirks_and_names(tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(MINIMAL + "joints_: 3\n", encoding="utf-8")
    loaded = load_sap_scene(file, num_worlds=2)
    assert loaded.body_labels == ("box", "box")
    assert loaded.collision_model.rigid_contact_max == 64
    assert load_sap_scene(file).sap_model.body_world.tolist() == [-1]
    assert load_sap_scene_config(file)["name"] == "single_box"
    file.write_text(MINIMAL + "post_build: [{op: dance}]\n", encoding="utf-8")
    with pytest.raises(SapUnsupportedSceneFeature, match=r"does not yet support: .*dance") as caught:
        load_sap_scene(file)
    assert len(caught.value.features) == 1
    assert load_sap_scene(file, strict=False).unsupported_features == caught.value.features
    file.write_text("schema_version: 7\n", encoding="utf-8")
    for read in (load_sap_scene, load_sap_scene_config):
        with pytest.raises(SapSceneLoaderError, match="version"):
            read(file)
    with pytest.raises(SapSceneLoaderError, match="gradients"):
        load_sap_scene(file, requires_grad=True)


def test_a_mesh_file_is_a_shape(tmp_path: Path) -> None:
    (tmp_path / "tetra.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", encoding="utf-8"
    )
    shape = "{type: mesh, path: tetra.obj, scale: 2.0, cfg: {density: 3.0}}"
    text = MINIMAL.replace("{type: box, hx: 0.5, hy: 0.5, hz: 0.5}", shape)
    model = assemble_scene(parse_scene(text, folder=tmp_path)).model
    assert model.shape_type[0] == ShapeType.MESH
    assert model.body_mass[0] == pytest.approx(1.0 + 3.0 * 8.0 / 6.0)


def test_a_body_on_two_joints_is_told_with_the_line_of_the_second() -> None:
    text = MINIMAL.replace(
        "joints: [{id: box_free, type: free, parent: world, child: box}]",
        "joints:\n  - {id: box_free, type: free, child: box}\n  - {id: again, type: revolute, child: box}",
    ).replace("joints: [box_free]", "joints: [box_free, again]")
    with pytest.raises(SceneError, match="carried by two joints") as caught:
        load(text)
    assert caught.value.where is not None
    assert text.splitlines()[caught.value.where.line - 1].strip().startswith("- {id: again")

"""Resolved solver values against Newton's, for every stage and every order of resolvers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read
from simwright.model.asset import Asset
from simwright.resolve import schema_attrs

pytestmark = pytest.mark.realworld

NAMES = (
    "ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder",
    "four_link_chain_articulation", "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation",
    "simple_articulation_with_mesh",
)  # fmt: skip
ORDERS = {"n": "n", "npm": "npm", "pnm": "pnm", "mnp": "mnp"}
SOLVERS = {"n": "newton", "p": "physx", "m": "mjc"}
CASES = [(name, tag) for name in NAMES for tag in ORDERS]

DOF_DEFAULTS = {
    "armature": 0.0, "friction": 0.0, "damping": 0.0, "limit_stiffness": 1e4, "limit_damping": 10.0,
    "velocity_limit": 1e6, "velocity": 0.0,
}  # fmt: skip
QUATERNIONS = ("newton:testJointQuat", "newton:localmarkerRot")
THEIR_NAMES = {"limit_stiffness": "limit_ke", "limit_damping": "limit_kd", "velocity": "qd"}


def load(assets: Path, name: str, tag: str) -> tuple[Asset, dict]:
    options = ReadOptions(schema_resolvers=tuple(SOLVERS[letter] for letter in tag))
    asset = read(assets / "usd" / f"{name}.usda", options, Reporter())
    oracle = assets.parent / "oracles" / "newton" / f"{name}.{tag}.json"
    return asset, json.loads(oracle.read_text())


def filled(value: float | None, default: float) -> float:
    return default if value is None else value


@pytest.mark.parametrize(("name", "tag"), CASES)
def test_joints(shared_assets, name, tag):
    asset, oracle = load(shared_assets, name, tag)
    joints = {joint.path: joint for joint in asset.joints}
    for row in oracle["joints"]:
        for path in row["paths"]:
            dofs = joints[path].dofs
            if path == "/Robot/D6":
                continue  # Newton drops its axes without PhysicsLimitAPI
            assert len(dofs) == len(row["dofs"])
            for dof, theirs in zip(dofs, row["dofs"], strict=True):
                for field, default in DOF_DEFAULTS.items():
                    expected = float(theirs[THEIR_NAMES.get(field, field)])
                    assert filled(getattr(dof, field), default) == pytest.approx(expected, rel=1e-5), field
            if all(dof.positions == 1 for dof in dofs):
                ours = [filled(dof.position, 0.0) for dof in dofs]
                assert ours == pytest.approx(row["q"], abs=1e-6)


@pytest.mark.parametrize(("name", "tag"), CASES)
def test_shapes_and_materials(shared_assets, name, tag):
    asset, oracle = load(shared_assets, name, tag)
    materials = {material.name: material for material in asset.physics_materials}
    theirs = {row["path"]: row for row in oracle["shapes"]}
    colliders = [shape for shape in asset.shapes if shape.collision and shape.path in theirs]
    assert colliders or not any("COLLIDE_SHAPES" in row["flag_names"] for row in oracle["shapes"])
    for shape in colliders:
        row, material = theirs[shape.path], materials.get(shape.physics_material)
        torsional = material.torsional_friction if material else None
        rolling = material.rolling_friction if material else None
        assert filled(torsional, 0.005) == pytest.approx(row["mu_torsional"], rel=1e-5)
        assert filled(rolling, 1e-4) == pytest.approx(row["mu_rolling"], rel=1e-5)
        assert filled(shape.margin, 0.0) == pytest.approx(row["margin"], rel=1e-5)
        assert filled(shape.gap, 0.1) == pytest.approx(row["gap"], rel=1e-5)


@pytest.mark.parametrize(("name", "tag"), CASES)
def test_scene(shared_assets, name, tag):
    asset, oracle = load(shared_assets, name, tag)
    scene = oracle["scene"]
    path = scene["physics_scene_path"]
    if path is None:
        assert asset.environment.timestep is None
        return
    assert filled(asset.environment.timestep, 0.001) == pytest.approx(scene["physics_dt"])
    np.testing.assert_allclose(asset.environment.gravity, scene["gravity"], rtol=1e-5, atol=1e-12)
    iterations = asset.origins[path]["max_solver_iterations"]
    assert iterations.value == scene["max_solver_iterations"]
    assert asset.environment.settings.get("max_solver_iterations", -1) == iterations.value


@pytest.mark.parametrize(("name", "tag"), CASES)
def test_self_collision(shared_assets, name, tag):
    """PhysX switches it off in two stages; Newton alone does not see that."""
    asset, oracle = load(shared_assets, name, tag)
    off = [a for a in asset.articulations if not a.self_collide]
    pairs = {frozenset(pair) for pair in oracle["filter_pairs"]["pairs"]}
    assert len(pairs) == oracle["filter_pairs"]["count"]
    paths = {body.name: body.path for body in asset.bodies}
    for articulation in asset.articulations:
        members = [
            s for s in asset.shapes
            if s.collision and s.body and paths[s.body].startswith(articulation.path)
        ]  # fmt: skip
        every = {frozenset((a.path, b.path)) for a in members for b in members if a.body != b.body}
        assert articulation.self_collide or every <= pairs
        if len(members) > 3:
            assert (every <= pairs) == (articulation in off)
    if name in ("ant", "ant_mixed", "cartpole"):
        assert bool(off) == (tag != "n")


@pytest.mark.parametrize(("name", "tag"), CASES)
def test_solver_attributes_are_kept(shared_assets, name, tag):
    asset, oracle = load(shared_assets, name, tag)
    ours = schema_attrs(asset, [SOLVERS[letter] for letter in tag])
    assert set(ours) == set(oracle["schema_attrs"])
    for solver, prims in oracle["schema_attrs"].items():
        for path, attributes in prims.items():
            assert set(ours[solver].get(path, {})) == set(attributes), path
            for attribute, value in attributes.items():
                kept = ours[solver][path][attribute]
                if attribute in QUATERNIONS:
                    kept = (*kept[1:], kept[0])
                assert_same(kept, value)


def assert_same(ours, theirs):
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(theirs, str) and theirs.lstrip("-") in ("inf", "nan"):
        assert str(ours) == theirs
    elif isinstance(ours, float) and isinstance(theirs, int | float):
        assert ours == pytest.approx(theirs, rel=1e-5) or math.isclose(ours, theirs)
    else:
        assert ours == theirs

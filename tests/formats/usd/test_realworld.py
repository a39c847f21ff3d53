"""Physics stages of other projects, against what Newton makes of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read
from simwright.model.asset import Asset
from simwright.model.joint import JointKind

pytestmark = pytest.mark.realworld

COMPARED = (
    "ant",
    "ant_mixed",
    "boxes_fourbar",
    "cartpole",
    "cartpole_mjc",
    "cube_cylinder",
    "four_link_chain_articulation",
    "humanoid",
    "pendulum_revolute_vs_d6",
    "revolute_articulation",
    "simple_articulation_with_mesh",
)
UNLIMITED = 1e9


def load(assets: Path, name: str) -> tuple[Asset, dict]:
    asset = read(assets / "usd" / f"{name}.usda", ReadOptions(), Reporter())
    oracle = assets.parent / "oracles" / "newton" / f"{name}.n.json"
    return asset, json.loads(oracle.read_text())


def pose_of(row: list[float]) -> Pose:
    return Pose.of(row[:3], (row[6], *row[3:6]))


def test_every_stage_is_read(shared_assets):
    files = sorted(shared_assets.rglob("*.usd*"))
    assert len(files) > 11
    for file in files:
        asset = read(file, ReadOptions(), Reporter())
        assert asset.bodies or asset.shapes, file.name
        for shape in asset.shapes:
            if shape.geometry.kind == "mesh":
                assert np.all(np.isfinite(shape.geometry.data.vertices))


@pytest.mark.parametrize("name", COMPARED)
def test_bodies_are_where_and_as_heavy_as_in_newton(shared_assets, name):
    asset, oracle = load(shared_assets, name)
    bodies = {body.path: body for body in asset.bodies}
    assert set(bodies) == {row["path"] for row in oracle["bodies"]}
    for row in oracle["bodies"]:
        body = bodies[row["path"]]
        assert pose_of(row["q"]).is_close(body.pose, 1e-4), row["path"]
        inertial = body.inertial
        assert inertial.mass == pytest.approx(row["mass"], rel=1e-5)
        np.testing.assert_allclose(inertial.com, row["com"], atol=1e-5)
        expected = np.reshape(row["inertia"], (3, 3))
        np.testing.assert_allclose(inertial.inertia, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", COMPARED)
def test_joints_move_as_in_newton(shared_assets, name):
    asset, oracle = load(shared_assets, name)
    joints = {joint.path: joint for joint in asset.joints}
    rows = {path: row for row in oracle["joints"] for path in row["paths"]}
    assert set(joints) == set(rows)
    for path, row in rows.items():
        joint = joints[path]
        assert pose_of(row["X_p"]).is_close(joint.parent_frame, 1e-3), path
        assert pose_of(row["X_c"]).is_close(joint.child_frame, 1e-3), path
        if path == "/Robot/D6":
            # five of its axes author limits without PhysicsLimitAPI: free by UsdPhysics, dropped by Newton
            assert (joint.kind, len(joint.dofs), len(row["dofs"])) == (JointKind.D6, 6, 1)
            continue
        assert len(joint.dofs) == len(row["dofs"])
        for dof, theirs in zip(joint.dofs, row["dofs"], strict=True):
            np.testing.assert_allclose(dof.axis, theirs["axis"], atol=1e-6)
            for ours, value in ((dof.lower, theirs["lower"]), (dof.upper, theirs["upper"])):
                if math.isfinite(ours) or abs(value) < UNLIMITED:
                    assert ours == pytest.approx(value, abs=1e-6)
            if dof.drive is not None:
                assert dof.drive.stiffness == pytest.approx(theirs["ke"], rel=1e-5)
                assert dof.drive.damping == pytest.approx(theirs["kd"], rel=1e-5)

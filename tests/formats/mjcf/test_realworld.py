"""Every MJCF model of the shared assets: kinematics, mass, places and points as MuJoCo has them."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from simwright.core.diag import Level, Reporter
from simwright.core.errors import ParseError
from simwright.formats.format import ReadOptions
from simwright.formats.mjcf.read import read
from simwright.model.asset import ELEMENT_LISTS, scaled
from simwright.model.geometry import Mesh

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "assets" / "mjcf"
FRAGMENTS = {"shadow_hand/keyframes.xml"}
MODELS = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.xml")) if FOLDER.is_dir() else ["none"]


@pytest.mark.realworld
@pytest.mark.parametrize("name", [n for n in MODELS if n not in FRAGMENTS])
def test_model(name, shared_assets, compare):
    path = shared_assets / "mjcf" / name
    reporter = Reporter()
    asset = read(path, ReadOptions(), reporter)
    assert not reporter.has(Level.WARNING)
    compare(asset, path)
    check_names(asset)
    check_points(asset, path)
    assert all(shape.source.line for shape in asset.shapes)
    assert all(body.source.line for body in asset.bodies)


def check_names(asset):
    """Names are unique within their list, and what is referred to exists."""
    for listed in ELEMENT_LISTS:
        names = [e.name for e in getattr(asset, listed) if getattr(e, "name", "")]
        assert len(names) == len(set(names)), listed
    dofs = {dof.name for joint in asset.joints for dof in joint.dofs}
    tendons = {tendon.name for tendon in asset.tendons}
    sites = {site.name for site in asset.sites}
    for actuator in asset.actuators:
        assert actuator.target in dofs | tendons | sites
    for mimic in asset.mimics:
        assert {mimic.follower, mimic.leader} <= dofs
    materials = {material.name for material in asset.materials}
    assert {shape.material for shape in asset.shapes} <= materials | {""}


def check_points(asset, path):
    """Mesh points on their bodies are where the compiled model has them."""
    compiled = mujoco.MjModel.from_xml_path(str(path))
    for index, shape in enumerate(asset.shapes):
        if not isinstance(shape.geometry, Mesh):
            continue
        mesh = compiled.geom_dataid[index]
        start, count = compiled.mesh_vertadr[mesh], compiled.mesh_vertnum[mesh]
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, compiled.geom_quat[index])
        expected = compiled.mesh_vert[start : start + count] @ turn.reshape(3, 3).T + compiled.geom_pos[index]
        ours = shape.pose.apply(shape.geometry.data.vertices * scaled(shape))
        assert np.allclose(ours, expected, atol=1e-6)


@pytest.mark.realworld
def test_a_fragment_is_refused_with_a_line(shared_assets):
    with pytest.raises(ParseError) as caught:
        read(shared_assets / "mjcf" / "shadow_hand" / "keyframes.xml", ReadOptions(), Reporter())
    assert caught.value.where.line == 3

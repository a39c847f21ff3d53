# SPDX-License-Identifier: Apache-2.0
"""Clip distances of cameras count in extents of the model, of meshes too that MuJoCo need not load."""

import mujoco
import numpy as np
import pytest
import trimesh

import simwright

ROBOT = """<mujoco model="eye"><asset><mesh name="rod" file="rod.stl" scale="0.1 0.1 0.1"/></asset><worldbody>
  <body name="arm" pos="0 0 0.3" euler="0 30 0"><joint name="hinge" axis="0 1 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
    <geom name="rod" type="mesh" mesh="rod" pos="0.1 0 0"/><camera name="eye" pos="0 0 0.1"/>
    <body name="tip" pos="0.2 0 0"><joint name="wrist"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <geom name="small" type="mesh" mesh="rod"/><geom name="ball" size="0.05"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("statistic", ["", '<statistic extent="3"/>'], ids=["found", "said"])
def test_clip_distances_are_those_of_mujoco(statistic, tmp_path):
    shape = trimesh.creation.box((3.0, 0.4, 0.3))
    shape.apply_translation((0.5, 0.2, 0.0))
    shape.export(tmp_path / "rod.stl")
    file = tmp_path / "eye.xml"
    file.write_text(ROBOT.replace("<asset>", statistic + "<asset>"))
    model = mujoco.MjModel.from_xml_path(str(file))
    (camera,) = simwright.load(file).cameras
    near, far = model.vis.map.znear * model.stat.extent, model.vis.map.zfar * model.stat.extent
    np.testing.assert_allclose((camera.near, camera.far), (near, far), rtol=1e-6)


def test_a_mesh_that_cannot_be_read_is_no_reason_to_stop(tmp_path):
    (tmp_path / "rod.stl").write_bytes(b"solid nothing")
    file = tmp_path / "eye.xml"
    file.write_text(ROBOT)
    with pytest.raises(ValueError, match="rod"):
        mujoco.MjModel.from_xml_path(str(file))
    assert simwright.load(file).cameras[0].near > 0.0

# SPDX-License-Identifier: Apache-2.0
"""Chains of links against MuJoCo's own kinematics, world by world."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simwright.tasks.chains import BodyChain

MODEL = """
<mujoco><worldbody>
  <body name="fixed" pos="0.1 0.2 0.3" quat="0.8 0 0.6 0"><geom size="0.1"/></body>
  <body name="base" pos="0 0 1"><freejoint/><geom size="0.1"/>
    <body name="arm" pos="0.2 0 0.1" quat="0.6 0 0 0.8">
      <joint type="hinge" axis="0 1 1" pos="0.05 0 0"/><geom size="0.1"/>
      <body name="hand" pos="0 0.3 0"><joint type="slide" axis="1 0 0"/><geom size="0.1"/>
        <site name="tool" pos="0 0 0.1" quat="0.5 0.5 -0.5 0.5"/>
      </body>
    </body>
  </body>
</worldbody></mujoco>
"""


@pytest.mark.parametrize("name", ["fixed", "base", "arm", "hand", "tool"])
def test_a_chain_ends_where_mujoco_says(name: str) -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    rng = np.random.default_rng(7)
    qpos = rng.normal(size=(5, model.nq))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1)[:, None]
    if name == "tool":
        found = BodyChain.of_site(model, model.site(name).id).place(qpos)
    else:
        found = BodyChain.of_body(model, model.body(name).id).place(qpos)
    data = mujoco.MjData(model)
    for row, pose in zip(qpos, found, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        place = data.site(name) if name == "tool" else data.body(name)
        np.testing.assert_allclose(pose[:3], place.xpos, atol=1e-12)
        turned = np.empty(9)
        mujoco.mju_quat2Mat(turned, pose[3:])
        np.testing.assert_allclose(turned, place.xmat.ravel(), atol=1e-12)

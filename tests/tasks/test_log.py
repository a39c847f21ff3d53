"""A simulation that goes wrong leaves no log file behind."""

from __future__ import annotations

import numpy as np

from simwright.tasks.environments import make_rollout

WILD = """
<mujoco><worldbody><body><joint name="j" axis="0 0 1"/><geom size="0.1" mass="0.001"/>
<body pos="0.3 0 0"><joint name="k" axis="0 1 0"/><geom size="0.1" mass="0.001"/></body></body></worldbody>
<actuator><position joint="j" kp="1e9" kv="1e9"/><position joint="k" kp="1e9"/></actuator></mujoco>"""


def test_an_unstable_rollout_writes_nothing_into_the_current_folder(tmp_path, monkeypatch):
    file = tmp_path / "wild.xml"
    file.write_text(WILD)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    rollout = make_rollout("reach", file)
    rollout.reset(seed=0)
    ended = False
    for _ in range(20):
        result = rollout.step(np.full(rollout.action_size, 3.0))
        ended = ended or bool(result.info.get("unstable"))
    assert sum(int(warning.number) for warning in rollout.data.warning) > 0 or ended, "MuJoCo has warned"
    assert not list(folder.iterdir())

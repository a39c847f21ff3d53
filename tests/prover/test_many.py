"""Several assets proved as a job."""

from __future__ import annotations

import json

import pytest

from simwright.app.cli.main import run

URDF = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.judge("prove")
def test_engines_are_asked_about_several_assets(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "broken.urdf").write_text("<robot name='b'><link")
    names = ["--engines", "pybullet", "--level", "structure", "--jobs", "1", "--no-cache", "--format", "json"]
    assert run(["prove", "arm.urdf", "broken.urdf", *names]) == 1
    told = json.loads(capsys.readouterr().out)
    first, second = told["assets"]
    assert [engine["engine"] for engine in first["result"]["proofs"][0]["engines"]] == ["pybullet"]
    assert first["status"] in ("same", "different")
    assert second["status"] == "failed"

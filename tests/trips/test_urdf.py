# SPDX-License-Identifier: Apache-2.0
"""Small URDF files through OpenUSD and back, held against the source field by field (``scripts/compare_urdf.py``)."""

from __future__ import annotations

from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]

MASS = '<inertial><mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
BALL = '<geometry><sphere radius="0.1"/></geometry>'
ROBOTS = {
    "a root without mass": f"""
<link name="base_footprint"/>
<link name="base">{MASS}<collision>{BALL}</collision></link>
<joint name="lift" type="fixed"><parent link="base_footprint"/><child link="base"/><origin xyz="0 0 1"/></joint>
""",
    "links without mass on links without mass, with shapes and a joint below": f"""
<link name="base">{MASS}</link>
<link name="mount"><visual>{BALL}</visual><collision>{BALL}</collision></link>
<link name="plate"><visual>{BALL}</visual></link>
<link name="arm">{MASS}<visual>{BALL}</visual></link>
<joint name="hold" type="fixed"><parent link="base"/><child link="mount"/><origin xyz="1 0 0" rpy="0 0 1"/></joint>
<joint name="hold again" type="fixed"><parent link="mount"/><child link="plate"/><origin rpy="1 0 0"/></joint>
<joint name="turn" type="revolute"><parent link="plate"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
""",
    "a link without mass that moves, under a turned one": f"""
<link name="base">{MASS}</link>
<link name="finger"/>
<link name="pad">{MASS}<collision>{BALL}</collision></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="finger"/><axis xyz="1 0 0"/>
<origin xyz="0 0.0061 0.0471" rpy="0.1 0.2 0.3"/><limit lower="0" upper="1" effort="3" velocity="4"/></joint>
<joint name="mount" type="fixed"><parent link="finger"/><child link="pad"/>
<origin xyz="0.0371 -0.0220203446692936 0.03242" rpy="0.4 0.1 -0.7"/></joint>
""",
    "a frame of the world": f"""
<link name="world"/>
<link name="table"/>
<link name="arm">{MASS}</link>
<joint name="stand" type="fixed"><parent link="world"/><child link="table"/><origin xyz="0 0 1"/></joint>
<joint name="turn" type="continuous"><parent link="table"/><child link="arm"/><axis xyz="0 0 1"/></joint>
""",
}


@pytest.mark.parametrize("name", ROBOTS)
def test_links_without_mass_come_back_with_their_joints_and_shapes(name, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(REPO))
    from scripts.compare_urdf import compare_file

    file = tmp_path / "robot.urdf"
    file.write_text(f'<robot name="robot">{ROBOTS[name]}</robot>')
    line = compare_file(file, tmp_path, {})
    assert (line.verdict, line.changes) == ("same", [])

# SPDX-License-Identifier: Apache-2.0
"""``simwright convert ... robot.urdf``: any format to URDF from the command line."""

from __future__ import annotations

import pytest
from lxml import etree

import simwright
from simwright.app.cli.main import run


@pytest.mark.parametrize("source", ["fourbar/fourbar.usda", "quadruped/quadruped.xml", "rover/model.sdf"])
def test_any_format_to_urdf(samples, tmp_path, capsys, source, accept_urdf):
    target = tmp_path / "out" / "robot.urdf"
    assert run(["convert", str(samples / source), str(target)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"wrote {target}"
    accept_urdf(target)
    names = {body.name for body in simwright.load(samples / source).bodies}
    assert names <= {body.name for body in simwright.load(target).bodies}


def test_options_of_meshes(samples, tmp_path, accept_urdf):
    target = tmp_path / "my_robot" / "robot.urdf"
    options = ["--mesh-format", "dae", "--mesh-paths", "package", "--package-name", "my_robot"]
    assert run(["convert", str(samples / "arm/urdf/arm.urdf"), str(target), *options]) == 0
    files = [mesh.get("filename") for mesh in etree.parse(str(target)).iter("mesh")]
    assert files
    for file in files:
        assert file.startswith("package://my_robot/meshes/")
        assert (target.parent / file.removeprefix("package://my_robot/")).suffix == ".dae"
        assert (target.parent / file.removeprefix("package://my_robot/")).is_file()
    accept_urdf(target)


def test_a_loss_is_refused_in_strict_mode(samples, tmp_path):
    target = tmp_path / "out" / "robot.urdf"
    assert run(["convert", str(samples / "fourbar/fourbar.usda"), str(target), "--strict"]) == 1
    assert not target.exists()

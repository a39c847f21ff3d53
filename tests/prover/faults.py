"""A robot, and the faults that are planted in what an engine is given of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.math3d import Pose
from simwright.formats.table import write_asset
from simwright.model.asset import Asset
from simwright.model.inertia import Inertial
from simwright.prover import proving

MJCF = """<mujoco model="planted">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base" pos="0 0 0.2">
      <inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>
      <body name="upper" pos="0 0 0.5">
        <joint name="turn" axis="0 1 0" range="-1 2" damping="0.6"/>
        <inertial pos="0.2 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
        <body name="lower" pos="0.4 0 0">
          <joint name="push" type="slide" axis="1 0 0" range="-0.1 0.2"/>
          <inertial pos="0.1 0.05 0" mass="1" diaginertia="0.01 0.01 0.02"/>
          <body name="finger" pos="0.1 0 0">
            <joint name="bend" axis="0 0 1" range="-2 4"/>
            <inertial pos="0.05 0 0.01" mass="0.3" diaginertia="0.001 0.001 0.001"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <equality>
    <joint joint1="bend" joint2="turn" polycoef="0 2 0 0 0"/>
  </equality>
  <actuator>
    <position name="servo" joint="turn" kp="200" kv="20" forcerange="-30 30"/>
  </actuator>
</mujoco>
"""


def _flip_axis(asset: Asset) -> None:
    (dof,) = asset.joint("turn").dofs
    dof.axis = -dof.axis


def _add_mass(asset: Asset) -> None:
    inertial = asset.body("upper").inertial
    asset.body("upper").inertial = Inertial(1.01 * inertial.mass, inertial.com, inertial.inertia)


def _remove_drive(asset: Asset) -> None:
    asset.actuators = []


def _misplace_root(asset: Asset) -> None:
    shift = Pose.of((0.0, 0.01, 0.0))
    for body in asset.bodies:
        body.pose = shift @ body.pose
    for joint in asset.joints:
        if joint.parent == "":
            joint.parent_frame = shift @ joint.parent_frame


def _drop_mimic(asset: Asset) -> None:
    asset.mimics = []


FAULTS = {
    "axis flipped": _flip_axis,
    "mass": _add_mass,
    "missing drive": _remove_drive,
    "root misplaced": _misplace_root,
    "mimic dropped": _drop_mimic,
}
"""The cause that must be found, and the change."""

FOUND = {
    "axis flipped": {"poses", "matrix", "bias"},
    "mass": {"masses", "matrix", "bias"},
    "missing drive": {"drives", "damping"},
    "root misplaced": {"poses"},
    "mimic dropped": {"mimics"},
}
"""The aspects of structure and dynamics that a fault shows in."""

MOVES = {
    "axis flipped": {"swing", "response", "coupled"},
    "mass": {"swing"},
    "missing drive": {"response"},
    "root misplaced": set(),
    "mimic dropped": {"response", "coupled"},
}
"""The motions that a fault shows in."""

AT = {
    "axis flipped": ("poses", 7),
    "mass": ("masses", 6),
    "missing drive": ("drives", 7),
    "root misplaced": ("poses", 4),
    "mimic dropped": ("mimics", 21),
}
"""The aspect that tells the cause, and the line of the element in the asset."""


def write_robot(folder: Path) -> Path:
    file = folder / "planted.xml"
    file.write_text(MJCF)
    return file


def plant(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let engines have a robot with the fault, whatever they are asked about and whatever was left out of it."""

    def write_faulty(asset: Asset, *rest: object, **more: object) -> Path:
        faulty = asset.copy()
        FAULTS[fault](faulty)
        return write_asset(faulty, *rest, **more)

    monkeypatch.setattr(proving, "write_asset", write_faulty)

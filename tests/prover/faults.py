"""A robot, and the faults that are planted in what an engine is given of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import simwright
from simwright.formats.table import write_asset
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

FAULTS = {
    "axis flipped": ('axis="0 1 0"', 'axis="0 -1 0"'),
    "mass": ('mass="2"', 'mass="2.02"'),
    "missing drive": ('<position name="servo" joint="turn" kp="200" kv="20" forcerange="-30 30"/>', ""),
    "root misplaced": ('pos="0 0 0.2"', 'pos="0 0.01 0.2"'),
    "mimic dropped": ('<joint joint1="bend" joint2="turn" polycoef="0 2 0 0 0"/>', ""),
}
"""The cause that must be found, and the change."""

FOUND = {
    "axis flipped": {"poses", "matrix", "bias"},
    "mass": {"masses", "matrix", "bias"},
    "missing drive": {"drives", "damping"},
    "root misplaced": {"poses"},
    "mimic dropped": {"mimics"},
}
"""The aspects that a fault shows in."""

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


def plant(fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let engines have a robot with the fault, whatever they are asked about."""
    old, new = FAULTS[fault]
    assert MJCF.count(old) == 1
    file = folder / "faulty.xml"
    file.write_text(MJCF.replace(old, new))
    faulty = simwright.load(file)
    faulty.name = "planted"
    monkeypatch.setattr(
        proving, "write_asset", lambda _asset, *rest, **more: write_asset(faulty, *rest, **more)
    )

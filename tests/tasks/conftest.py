# SPDX-License-Identifier: Apache-2.0
"""Robots that tests of tasks share: opened once."""

from __future__ import annotations

import pytest

from simwright.tasks.robot import open_robot

from ..conftest import SAMPLES


@pytest.fixture(scope="session")
def arm():
    """The sample arm: six joints and a gripper, fixed."""
    return open_robot(SAMPLES / "arm" / "robot.yaml")


@pytest.fixture(scope="session")
def quadruped():
    """The sample quadruped: a floating base."""
    return open_robot(SAMPLES / "quadruped" / "robot.yaml")

# SPDX-License-Identifier: Apache-2.0
"""The ROS package around the samples: manifest, build file, readme."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType


def build(samples: Sequence[ModuleType]) -> dict[str, bytes]:
    """Every file of the package itself; a sample has its ``FOLDER``, and its row of the ``README``."""
    cmake = _CMAKE.replace("@folders@", " ".join(sample.FOLDER for sample in samples))
    rows = "\n".join(f"| `{sample.FOLDER}` | {' | '.join(sample.README)} |" for sample in samples)
    return {
        "package.xml": _MANIFEST.encode("utf-8"),
        "CMakeLists.txt": cmake.encode("utf-8"),
        "README.md": _README.replace("@rows@", rows).encode("utf-8"),
    }


_MANIFEST = """<?xml version="1.0"?>
<package format="3">
  <name>simwright_samples</name>
  <version>1.0.0</version>
  <description>Sample robots, props and scenes in URDF, SDF, MJCF and OpenUSD.</description>
  <maintainer email="developers@simwright.invalid">The Simwright developers</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <exec_depend>xacro</exec_depend>
  <export>
    <build_type>ament_cmake</build_type>
  </export>
</package>
"""

_CMAKE = """cmake_minimum_required(VERSION 3.16)
project(simwright_samples)
find_package(ament_cmake REQUIRED)
install(DIRECTORY @folders@ DESTINATION share/${PROJECT_NAME})
ament_package()
"""

_README = """# simwright_samples

Sample assets of Simwright, made by `scripts/make_samples.py`: change the script, not these files.
All shapes are our own; the licence is Apache-2.0.

| folder | what | format | starts at |
|---|---|---|---|
@rows@

A `robot.yaml` beside a robot is its manifest: `simwright robots list` finds it, `--robot sample_arm` takes it.

The OpenUSD assets follow REP 0158. An entry layer refers to `ros.usda`, `physics.usda` and `base.usda`
(always loaded); `base.usda` refers to `instances.usda`, which loads `geometries.usdc` and `materials.usda`
by payload. `visual_representation` chooses mesh_low, mesh_medium or mesh_high; `collision_fidelity` chooses
`baseline` (primitives and convex hulls) or `advanced` (exact meshes).
"""

# SPDX-License-Identifier: Apache-2.0
"""The ROS package around the samples: manifest, build file, readme."""

from __future__ import annotations

FOLDERS = ("arm", "rover", "quadruped", "fourbar", "rack", "box", "floor", "warehouse", "lab", "playground")


def build() -> dict[str, bytes]:
    """Every file of the package itself."""
    cmake = _CMAKE.replace("@folders@", " ".join(FOLDERS))
    return {
        "package.xml": _MANIFEST.encode("utf-8"),
        "CMakeLists.txt": cmake.encode("utf-8"),
        "README.md": _README.encode("utf-8"),
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
| `arm` | six-axis arm, gripper, wrist camera, ros2_control | URDF, xacro | `urdf/arm.urdf.xacro` |
| `rover` | differential-drive base with lidar, IMU and caster | SDF 1.10 | `model.sdf` |
| `quadruped` | twelve-joint walker with position actuators | MJCF | `scene.xml`, `quadruped.xml` |
| `fourbar` | closed four-bar linkage with a ROS topic | OpenUSD | `fourbar.usda` |
| `rack` | static pallet rack with instanced parts | OpenUSD | `rack.usda` |
| `box` | cardboard box, 2.4 kg | OpenUSD | `box.usda` |
| `floor` | floor slab with painted lanes | OpenUSD | `floor.usda` |
| `warehouse` | the props together; the rover | OpenUSD, SDF | `warehouse.usda`, `warehouse.sdf` |
| `lab` | four rooms with furniture, things, doors and robots in the plane | 2D world | `lab.yaml` |
| `playground` | the walker, a pendulum and boxes, to be run | scene | `playground.yaml` |

A `robot.yaml` beside a robot is its manifest: `simwright robots list` finds it, `--robot sample_arm` takes it.

The OpenUSD assets follow REP 0158. An entry layer refers to `ros.usda`, `physics.usda` and `base.usda`
(always loaded); `base.usda` refers to `instances.usda`, which loads `geometries.usdc` and `materials.usda`
by payload. `visual_representation` chooses mesh_low, mesh_medium or mesh_high; `collision_fidelity` chooses
`baseline` (primitives and convex hulls) or `advanced` (exact meshes).
"""

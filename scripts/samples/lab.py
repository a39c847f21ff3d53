# SPDX-License-Identifier: Apache-2.0
"""A small laboratory: a 2D world with furniture, things on it, doors in every state and two robots."""

from __future__ import annotations

FOLDER = "lab"
README = ("four rooms with furniture, things, doors and robots in the plane", "2D world", "`lab.yaml`")
"""What it is, its formats, where it starts."""


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    return {
        f"{FOLDER}/lab.yaml": _WORLD.encode("utf-8"),
        f"{FOLDER}/furniture.yaml": _FURNITURE.encode("utf-8"),
        f"{FOLDER}/things.yaml": _THINGS.encode("utf-8"),
        f"{FOLDER}/plan.yaml": _PLAN.encode("utf-8"),
    }


_WORLD = """# A small laboratory in PyRoboSim's world format.
params:
  name: lab
  object_radius: 0.02
  wall_height: 2.4

metadata:
  locations: $PWD/furniture.yaml
  objects: $PWD/things.yaml

rooms:
  - name: workshop
    footprint: {type: box, dims: [5.0, 4.0]}
    pose: {position: {x: 0.0, y: 0.0}}
    nav_poses: [[-0.8, 0.6]]
    color: steelblue
  - name: storage
    footprint: {type: box, dims: [3.0, 4.0]}
    pose: {position: {x: 5.2, y: 0.0}}
    nav_poses: [[5.2, -0.4]]
    color: darkgoldenrod
  - name: office
    footprint:
      type: polygon
      coords: [[-2.5, 3.4], [1.6, 3.4], [2.6, 4.4], [2.6, 6.6], [-2.5, 6.6]]
    color: seagreen
  - name: server_room
    footprint: {type: circle, radius: 1.5, height: 3.0}
    pose: {position: {x: 5.2, y: 4.9}}
    nav_poses: [[5.2, 4.2]]
    color: slategray

hallways:
  - {room_start: workshop, room_end: storage, width: 1.1}
  - {room_start: workshop, room_end: office, width: 1.0, conn_method: angle, conn_angle: 1.5708, offset: 1.2}
  - {room_start: storage, room_end: server_room, width: 0.9, is_open: false}
  - room_start: office
    room_end: server_room
    width: 0.9
    conn_method: points
    conn_points: [[1.5, 5.4], [3.4, 5.4], [5.2, 4.9]]
    is_open: false
    is_locked: true

locations:
  - name: bench
    category: workbench
    parent: workshop
    pose: {position: {x: 1.2, y: -1.4}}
  - category: desk
    parent: office
    pose: {position: {x: -1.5, y: 5.9}}
  - category: desk
    parent: office
    pose: {position: {x: 0.6, y: 5.9}}
  - category: shelf
    parent: storage
    pose:
      position: {x: 1.1, y: 0.9}
      rotation_eul: {yaw: 90.0, angle_units: degrees}
      relative_to: storage
  - name: dock
    category: charger
    parent: workshop
    pose: {position: {x: -2.15, y: -1.6}}
    is_charger: true

objects:
  - {category: gear, parent: bench, pose: {position: {x: -0.5, y: 0.1}, relative_to: bench}}
  - {category: gear, parent: bench}
  - {category: wrench, parent: bench}
  - {name: blue_mug, category: mug, parent: [desk0, desk1], color: "#3060c0"}
  - {category: mug, parent: {choices: [desk0, desk1], probabilities: [0.8, 0.2]}}
  - {category: carton, parent: storage shelf}
  - {category: carton, parent: storage shelf}

robots:
  - name: tender
    radius: 0.2
    height: 0.5
    location: workshop
    pose: {position: {x: -1.6, y: 1.2}, rotation_eul: {yaw: -45.0, angle_units: degrees}}
    color: crimson
    initial_battery_level: 80.0
    max_linear_velocity: 0.8
    max_angular_velocity: 2.0
    path_planner: {type: rrt, bidirectional: true, rrt_connect: true, max_connection_dist: 0.5}
    path_executor: {type: constant_velocity, linear_velocity: 0.8, dt: 0.1, max_angular_velocity: 2.0}
    grasping: {generator: parallel_grasp, max_width: 0.12, depth: 0.1, height: 0.04}
    sensors:
      lidar:
        type: lidar
        update_rate_s: 0.1
        angle_units: degrees
        min_angle: -120.0
        max_angle: 120.0
        angular_resolution: 2.0
        max_range_m: 6.0
    action_execution_options:
      navigate: {battery_usage: 0.5}
      pick: {delay: 0.5, success_probability: 0.9, rng_seed: 1, battery_usage: 1.0}
  - name: courier
    radius: 0.15
    location: office
    path_planner: {type: astar, grid_resolution: 0.05, grid_inflation_radius: 0.15}

# What PyRoboSim's format has no place for; PyRoboSim passes over it.
simwright:
  seed: 3
  entities:
    hall_server_room_storage: {height: 2.1}
  categories:
    gear: {mass: 0.2}
    wrench: {mass: 0.35}
    mug: {mass: 0.3}
    carton: {mass: 0.8}
"""

_FURNITURE = """workbench:
  footprint: {type: box, dims: [1.8, 0.7], height: 0.9}
  color: [0.55, 0.36, 0.2]
  nav_poses: [[-0.5, 0.75, 0.0, -1.5708], [0.5, 0.75, 0.0, -1.5708]]
  locations:
    - {name: top, footprint: {type: parent, padding: 0.03}}
desk:
  footprint: {type: box, dims: [1.3, 0.7], height: 0.74}
  color: burlywood
  nav_poses: [[0.0, -0.75, 0.0, 1.5708]]
  locations:
    - {name: top, footprint: {type: parent, padding: 0.03}}
shelf:
  footprint: {type: box, dims: [1.6, 0.5], height: 1.2}
  color: "#708090"
  locations:
    - name: left
      footprint: {type: box, dims: [0.7, 0.4], offset: [-0.4, 0.0]}
      nav_poses: [[0.0, 0.75, 0.0, -1.5708]]
    - name: right
      footprint: {type: box, dims: [0.7, 0.4], offset: [0.4, 0.0], height: 0.6}
      nav_poses: [[0.0, 0.75, 0.0, -1.5708]]
charger:
  footprint: {type: box, dims: [0.4, 0.5], height: 0.3}
  color: "#f0c040"
  nav_poses: [[0.55, 0.0, 0.0, 3.1416]]
  locations:
    - {name: plate}
"""

_THINGS = """gear:
  footprint: {type: circle, radius: 0.06, height: 0.03}
  color: [0.45, 0.47, 0.5]
wrench:
  footprint: {type: box, dims: [0.24, 0.05], height: 0.015}
  color: firebrick
mug:
  footprint: {type: circle, radius: 0.045, height: 0.1}
  color: tomato
carton:
  footprint: {type: box, dims: [0.22, 0.16], height: 0.12}
  color: [0.7, 0.52, 0.32]
"""

_PLAN = """# What the robots of the laboratory do: simwright world run lab.yaml --plan plan.yaml
tender:
  - navigate bench
  - detect
  - pick gear
  - navigate desk0
  - place
  - navigate hall_server_room_storage
  - open
  - navigate dock
courier:
  - navigate desk1
  - {type: pick, object: blue_mug}
  - {type: navigate, target: bench}
  - {type: place, pose: [1.6, -1.2]}
  - navigate office
"""

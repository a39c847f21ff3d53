# SPDX-License-Identifier: Apache-2.0
"""A scene file: the walker drops onto a floor beside a swinging pendulum and a stack of boxes."""

from __future__ import annotations

FOLDER = "playground"
README = ("the walker, a pendulum and boxes, to be run", "scene", "`playground.yaml`")
"""What it is, its formats, where it starts."""


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    return {f"{FOLDER}/playground.yaml": _SCENE.encode("utf-8")}


_SCENE = """# A walker, a pendulum and two boxes, for `simwright run`.
schema_version: 1
name: playground

simulation:
  dt: 0.002
  num_worlds: 1
  max_rigid_contact: 256

builder:
  rigid_gap: 0.002
  defaults:
    shape: {density: 400.0, ke: 50000.0, tau: 0.01, mu: 0.7}

ground: {enabled: true, label: floor}

assets:
  - id: walker
    type: mjcf
    source: ../quadruped/quadruped.xml
    xform: {p: [0.0, 0.0, 0.05]}

bodies:
  - id: bob
    transform: {p: [1.0, 0.0, 0.5]}
    shapes:
      - {type: sphere, radius: 0.08, color: [0.85, 0.3, 0.2]}
      - {type: capsule, radius: 0.01, half_height: 0.25, transform: {p: [0.0, 0.0, 0.25]}, cfg: {density: 100.0}}
  - id: lower_box
    transform: {p: [-1.0, 0.0, 0.15]}
    shapes: [{type: box, hx: 0.15, hy: 0.15, hz: 0.15, color: [0.2, 0.45, 0.8]}]
  - id: upper_box
    transform: {p: [-1.0, 0.02, 0.4], q: {axis_angle: {axis: [0, 0, 1], angle: pi / 6}}}
    shapes: [{type: box, hx: 0.1, hy: 0.1, hz: 0.1, color: [0.9, 0.75, 0.2]}]

joints:
  - {id: pivot, type: revolute, parent: world, child: bob, axis: y, parent_xform: {p: [1.0, 0.0, 1.0]},
     child_xform: {p: [0.0, 0.0, 0.5]}}
  - {id: lower_free, type: free, parent: world, child: lower_box}
  - {id: upper_free, type: free, parent: world, child: upper_box}

articulations:
  - {id: pendulum, joints: [pivot]}
  - {id: lower, joints: [lower_free]}
  - {id: upper, joints: [upper_free]}

initial_joint_q:
  - {joint: pivot, value: pi / 3}
  - {joint: quadruped/FL_thigh, value: 0.8}
  - {joint: quadruped/FL_calf, value: -1.6}
  - {joint: quadruped/FR_thigh, value: 0.8}
  - {joint: quadruped/FR_calf, value: -1.6}
  - {joint: quadruped/RL_thigh, value: 0.8}
  - {joint: quadruped/RL_calf, value: -1.6}
  - {joint: quadruped/RR_thigh, value: 0.8}
  - {joint: quadruped/RR_calf, value: -1.6}

post_build:
  - {op: copy_joint_q_to_joint_targets, label_prefix: quadruped/}
  - {op: set_joint_targets, joints: [quadruped/FL_thigh, quadruped/FL_calf, quadruped/FL_abduction, quadruped/FR_thigh,
     quadruped/FR_calf, quadruped/FR_abduction, quadruped/RL_thigh, quadruped/RL_calf, quadruped/RL_abduction,
     quadruped/RR_thigh, quadruped/RR_calf, quadruped/RR_abduction], mode: position, ke: 120.0, kd: 4.0}

replicate: {spacing: [3.0, 2.0, 0.0]}
"""

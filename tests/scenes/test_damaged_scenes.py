# SPDX-License-Identifier: Apache-2.0
"""Scenes with something wrong in them load, or are refused with a place; nothing else happens."""

import copy
import random

import pytest
import yaml

from simwright.core.errors import SimwrightError
from simwright.scenes.document import parse_scene
from simwright.scenes.load import assemble_scene

SCENE = yaml.safe_load("""
simulation: {dt: 0.01, num_worlds: 2, solver: {a: 1}}
builder: {gravity: -9.81, rigid_gap: 0.01, defaults: {joint: {armature: 0.1}, shape: {mu: 0.5}}}
ground: {enabled: true, height: 0, cfg: {mu: 1}}
bodies:
  - {id: base, transform: {p: [0, 0, 1], q: identity}, mass: 1, shapes: [{hx: 0.5, cfg: {density: 10}}]}
  - {id: arm, shapes: [{type: capsule, radius: 0.1, transform: {q: {axis_angle: {axis: x, angle: pi}}}}]}
joints:
  - {id: root, type: free, child: base}
  - {id: hinge, type: revolute, parent: base, child: arm, axis: [0, 1, 0], limit_lower: -1, limit_upper: 1}
articulations: [{id: robot, joints: [root, hinge]}]
initial_joint_q: [{joint: hinge, value: 0.5}, {index: 2, value: 1}]
post_build:
  - {op: set_array, array: joint_qd, joint: hinge, value: 0.25}
  - {op: set_joint_targets, range: 'head:3', mode: position, ke: 1, kd: 2}
  - {op: copy_array, src: joint_q, dst: joint_q, src_range: {range: all}}
  - {op: add_shape, type: sphere, radius: 1, body: arm}
  - {op: scale_sphere_shapes, factor: 2}
  - {op: copy_joint_q_to_joint_targets, joints: [hinge]}
replicate: {spacing: [2, 2, 0]}
""")
JUNK = [
    None, True, 0, -1, 2, 1e308, float("inf"), float("nan"), "", "x", "pi", "1/0", "<a>", "world", [], {}, [1], [1, 2],
    [0, 0, 0], [0, 0, 0, 0], ["a"], {"a": 1}, "all", "head:9", "from:-9", 10**30, "-", [None, None], {"range": "all"},
    [[1]], "identity", "base", "hinge",
]  # fmt: skip


def list_places(data):
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(pairs):
        yield data, key
        yield from list_places(value)


def damage(seed):
    chance = random.Random(seed)
    data = copy.deepcopy(SCENE)
    for _ in range(chance.choice([1, 1, 2, 3])):
        places = list(list_places(data))
        owner, key = chance.choice(places)
        what = chance.random()
        if what < 0.75:
            owner[key] = copy.deepcopy(chance.choice(JUNK))
        elif what < 0.85:
            del owner[key]
        else:
            other, there = chance.choice(places)
            owner[key] = copy.deepcopy(other[there])
    return yaml.safe_dump(data), chance.choice([None, None, "sap"])


@pytest.mark.parametrize("block", range(4))
def test_damage_is_told(block):
    refused = 0
    for seed in range(block * 60, block * 60 + 60):
        text, compat = damage(seed)
        try:
            assemble_scene(parse_scene(text, name="s.yaml", compat=compat))
        except SimwrightError:
            refused += 1
    assert 20 < refused < 60


@pytest.mark.parametrize(
    "text",
    [
        "bodies: [{id: b, shapes: [{hx: 1e7}]}]",
        "bodies: [{id: b, transform: {p: [1e10, 0, 0]}}]",
        "bodies: [{id: b, mass: .inf}]",
        "bodies: [{id: b, shapes: [{cfg: {density: 1e9}}]}]",
        "builder: {gravity: .inf}",
        "initial_joint_q: [{index: 0, value: 1e300}]",
        "joints: [{id: j, type: revolute, child: b, axis: [.inf, 0, 0]}]",
    ],
)
def test_numbers_that_overflow(text):
    with pytest.raises(SimwrightError, match=r"has to be|less than or equal|finite"):
        parse_scene(text)


def test_limits_may_be_infinite():
    joint = parse_scene(
        "joints: [{id: j, type: revolute, child: b, limit_upper: .inf, effort_limit: .inf}]"
    ).scene.joints[0]
    assert joint.limit_upper == joint.effort_limit == float("inf")

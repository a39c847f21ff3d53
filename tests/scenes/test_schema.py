# SPDX-License-Identifier: Apache-2.0
"""The published JSON Schema is fresh, takes what the loader takes and refuses what editors should mark."""

import json

import jsonschema
import pytest
import yaml

from simwright.scenes.document import FILE, build_schema, render_schema


@pytest.fixture(scope="module")
def validator():
    return jsonschema.Draft202012Validator(json.loads(FILE.read_text()))


def test_the_published_schema_is_fresh():
    assert FILE.read_text() == render_schema(), "run `make docs`"


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(build_schema())


GOOD = [
    "name: a",
    "ground: false",
    "ground:",
    "bodies: [{id: b, transform: identity, contact_margin: 0.1, shapes: [{type: mesh, path: a.stl}, {hx: pi / 2}]}]",
    "bodies: [{id: b, transform: {p: [0, 0, pi], q: {axis_angle: {axis: z, angle: 1}}}}]",
    "assets: [{type: usd, source: a.usda}]",
    "assets: [{type: urdf, source: {git: {repo: r, rev: v, path: p}}, joint_ordering: null}]",
    "joints: [{id: j, type: revolute, child: b, axis: X, limit_lower: -pi, actuator_mode: position}]",
    "post_build: [{op: set_joint_targets, range: 'head:6', mode: none}]",
    "post_build: [{op: set_array, array: joint_q, range: [0, null], value: 1}]",
    "post_build: [{op: add_shape, body: world, type: sphere, radius: 1}]",
    "post_build: [{op: set_attr, name: gravity, value: [0, 0, -1]}]",
    "builder: {gravity: -9.81, defaults: {joint: {armature: 0.1}, shape: {relaxation_time: 0.1}}}",
    "initial_joint_q: [{joint: a, value: pi * 0.5}]\nreplicate: {spacing: [2, 2, 0]}",
    "control: {source: a.json, loop: true}",
]


@pytest.mark.parametrize("text", GOOD)
def test_what_it_takes(validator, text):
    assert [error.message for error in validator.iter_errors(yaml.safe_load(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "nam: a",
        "bodies: [{shapes: []}]",
        "bodies: [{id: b, shapes: [{type: plane}]}]",
        "bodies: [{id: b, shapes: [{type: sphere, hx: 1}]}]",
        "joints: [{id: j, type: hinge, child: b}]",
        "assets: [{type: obj, source: a}]",
        "post_build: [{op: fly}]",
        "post_build: [{op: set_array, array: body_mass, value: 1}]",
        "post_build: [{op: set_joint_targets, range: some}]",
        "simulation: {dt: [1]}",
        "schema_version: 2",
    ],
)
def test_what_it_refuses(validator, text):
    assert list(validator.iter_errors(yaml.safe_load(text)))


def test_every_key_has_a_description():
    missing = []
    for name, definition in build_schema()["$defs"].items():
        body = definition if "properties" in definition else definition.get("anyOf", [{}])[0]
        for key, value in body.get("properties", {}).items():
            if key not in {"type", "op"} and "description" not in value:
                missing.append(f"{name}.{key}")
    assert missing == []


@pytest.mark.realworld
def test_it_takes_the_shared_scenes(validator, shared_assets):
    for file in sorted((shared_assets / "scenes").glob("*.yaml")):
        assert not list(validator.iter_errors(yaml.safe_load(file.read_text()))), file

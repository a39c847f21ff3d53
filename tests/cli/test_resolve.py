"""``simwright resolve``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simwright.app.cli.main import run

STAGE = """#usda 1.0
(
    defaultPrim = "R"
    metersPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene" {
    double mjc:option:timestep = 0.005
}
def Xform "R" {
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 1
    }
    def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 1
    }
    def PhysicsRevoluteJoint "j" {
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
        double newton:armature = 0.01
        double physxJoint:armature = 0.02
        double mjc:armature = 0.03
        float newton:velocityLimit = inf
    }
}
"""


@pytest.fixture
def stage(tmp_path: Path) -> str:
    file = tmp_path / "arm.usda"
    file.write_text(STAGE)
    return str(file)


def resolve_json(capsys, *arguments: str) -> dict:
    assert run(["resolve", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("order", "values"),
    [("newton,physx,mjc", [0.01, 0.02, 0.03]), ("physx, mjc", [0.02, 0.03]), ("mjc,newton", [0.03, 0.01])],
)
def test_json_names_winner_and_losers(stage, capsys, order, values):
    data = resolve_json(capsys, stage, "--schema-resolvers", order, "--prim", "/R/j")
    assert data["order"] == ["ext_physics", *order.replace(" ", "").split(",")]
    (prim,) = data["prims"]
    assert (prim["path"], prim["types"]) == ("/R/j", ["joint"])
    row = next(row for row in prim["values"] if row["key"] == "armature")
    assert [row["value"], *(lost["value"] for lost in row["lost"])] == values
    assert row["origin"] == "authored"
    assert row["attribute"].endswith("armature")


def test_text(stage, capsys):
    assert run(["resolve", stage, "--schema-resolvers", "physx,newton,mjc"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["/scene", "(scene)"] in lines
    assert ["time_steps_per_second", "200", "authored", "mjc:", "mjc:option:timestep"] in lines
    start = lines.index(["armature", "0.02", "authored", "physx:", "physxJoint:armature"])
    assert lines[start + 1] == ["0.01", "lost", "newton:", "newton:armature"]
    assert lines[start + 2] == ["0.03", "lost", "mjc:", "mjc:armature"]
    assert [
        "velocity_limit",
        "engine's",
        "own",
        "importer",
        "default",
        "newton:",
        "newton:velocityLimit",
    ] in lines


def test_defaults_show_the_schema_layer(stage, capsys):
    data = resolve_json(capsys, stage, "--schema-resolvers", "physx,newton", "--defaults")
    prims = {prim["path"]: {row["key"]: row for row in prim["values"]} for prim in data["prims"]}
    rate = prims["/scene"]["time_steps_per_second"]
    assert (rate["value"], rate["origin"], rate["namespace"]) == (60, "schema default", "physx")
    joint = prims["/R/j"]
    assert joint["armature"]["origin"] == "authored"
    assert joint["limit_angular_ke"]["origin"] == "schema default"
    assert "limit_linear_ke" not in joint
    assert prims["/R/a"]["rigid_body_angular_damping"]["value"] == 0.05


def test_nothing_authored(stage, capsys):
    assert run(["resolve", stage, "--prim", "/R/a"]) == 0
    assert "no value is authored" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--schema-resolvers", "newtn"], "unknown schema resolver 'newtn'"),
        (["--schema-resolvers", "mjc,mjc"], "twice"),
        (["--prim", "/nowhere"], "/nowhere"),
    ],
)
def test_wrong_use(stage, capsys, arguments, message):
    assert run(["resolve", stage, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_inspect_shows_origins_and_solver_attributes(stage, capsys):
    run(["inspect", stage, "--format", "json"])
    data = json.loads(capsys.readouterr().out)
    origin = data["origins"]["/R/j"]["armature"]
    assert (origin["value"], origin["namespace"], len(origin["lost"])) == (0.01, "newton", 2)
    assert data["schema_attrs"]["mjc"]["/R/j"] == {"mjc:armature": 0.03}
    assert data["environment"]["timestep"] == 0.005

"""A new solver is one file: rows in a module that a package announces, and every command knows them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = '''"""What Bullet calls things."""

from simwright.resolve.table import INERTIA, LENGTH, PrimType, Row

NAMESPACES = ("bulletScene",)
ROWS = (
    Row(PrimType.JOINT, "armature", ("bullet:rotor",), "BulletJointAPI", INERTIA, 0.5, doc="Rotor inertia."),
    Row(PrimType.SHAPE, "margin", ("bullet:margin",), "BulletCollisionAPI", LENGTH, 0.04, doc="Rounding."),
)
'''
STAGE = """#usda 1.0
(
    defaultPrim = "R"
    metersPerUnit = 0.01
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene" {
    int bulletScene:substeps = 4
}
def Xform "R" {
    def Sphere "a" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
    ) {
        float bullet:margin = 3
    }
    def Sphere "b" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    ) {
    }
    def PhysicsRevoluteJoint "j" {
        rel physics:body1 = </R/a>
        float bullet:rotor = 20000
        double newton:armature = 1
    }
}
"""


@pytest.fixture
def run(tmp_path: Path):
    """A command in a process that can import the file and sees its announcement."""
    site = tmp_path / "site"
    about = site / "bullet_words-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "bullet_words.py").write_text(ROWS)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: bullet-words\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[simwright.resolvers]\nbullet = bullet_words\n")
    stage = tmp_path / "arm.usda"
    stage.write_text(STAGE)
    paths = [str(site), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}

    def run_command(*words: str, script: Path | None = None) -> dict:
        command = [sys.executable, "-m", "simwright", *words, str(stage), "--format", "json"]
        if script is not None:
            command = [sys.executable, str(script), str(stage)]
        done = subprocess.run(
            command, capture_output=True, check=False, text=True, timeout=60, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run_command


@pytest.mark.parametrize(("order", "armature"), [("bullet,newton", 2.0), ("newton,bullet", 1e-4)])
def test_its_rows_are_resolved_in_the_order_given(run, order, armature):
    data = run("resolve", "--schema-resolvers", order)
    prims = {prim["path"]: {row["key"]: row for row in prim["values"]} for prim in data["prims"]}
    row = prims["/R/j"]["armature"]
    first = order.partition(",")[0]
    assert (row["value"], row["namespace"]) == (pytest.approx(armature), first)
    assert [lost["namespace"] for lost in row["lost"]] == [order.partition(",")[2]]
    assert prims["/R/a"]["margin"]["value"] == pytest.approx(0.03)


def test_its_fallbacks_are_the_third_layer(run):
    data = run("resolve", "--schema-resolvers", "bullet,newton", "--defaults", "--prim", "/R/b")
    row = next(row for prim in data["prims"] for row in prim["values"] if row["key"] == "margin")
    assert (row["origin"], row["namespace"], row["value"]) == (
        "schema default",
        "bullet",
        pytest.approx(4e-4),
    )


COLLECT = """
import json, sys
import simwright
from simwright.resolve import schema_attrs

asset = simwright.load(sys.argv[1], schema_resolvers=["bullet"])
print(json.dumps(schema_attrs(asset, ["bullet"])))
"""


def test_its_namespaces_are_collected(run, tmp_path):
    script = tmp_path / "collect.py"
    script.write_text(COLLECT)
    assert run(script=script) == {
        "bullet": {
            "/scene": {"bulletScene:substeps": 4},
            "/R/a": {"bullet:margin": 3.0},
            "/R/j": {"bullet:rotor": 20000.0},
        }
    }

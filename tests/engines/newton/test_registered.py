"""Attributes that solvers and users register on a builder, against Newton's importer."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.engines.newton import add_usd

NAMES = ("newton", "physx", "mjc")


@pytest.fixture
def make_builder(newton):
    def make():
        builder = newton.ModelBuilder()
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        return builder

    return make


@pytest.fixture
def resolvers(newton):
    known = {
        "newton": newton.usd.SchemaResolverNewton,
        "physx": newton.usd.SchemaResolverPhysx,
        "mjc": newton.usd.SchemaResolverMjc,
    }
    return [known[name]() for name in NAMES]


def list_values(builder):
    """Every value of every registered attribute, shapes by label."""
    found = {}
    for key, attribute in builder.custom_attributes.items():
        values = attribute.values or {}
        rows = enumerate(values) if isinstance(values, list) else values.items()
        for at, value in rows:
            frequency = attribute.frequency
            shape = not isinstance(frequency, str) and frequency.name == "SHAPE"
            found[key, builder.shape_label[at] if shape else at] = value
    return found


@pytest.mark.realworld
@pytest.mark.parametrize(
    "name", ["ant_mixed", "cartpole_mjc", "humanoid", "cartpole", "simple_articulation_with_mesh"]
)
def test_every_registered_value_is_newtons(make_builder, import_theirs, resolvers, shared_assets, name):
    path = shared_assets / "usd" / f"{name}.usda"
    ours, theirs = make_builder(), make_builder()
    reporter = Reporter()
    add_usd(ours, path, resolvers=NAMES, reporter=reporter)
    import_theirs(path, theirs, schema_resolvers=resolvers)
    mine, expected = list_values(ours), list_values(theirs)
    assert mine.keys() == expected.keys()
    for key, value in expected.items():
        if value is None or isinstance(value, str):
            assert mine[key] == value, key
        else:
            np.testing.assert_allclose(
                np.array(mine[key], dtype=float), np.array(value, dtype=float), rtol=1e-5, err_msg=str(key)
            )
    assert [d for d in reporter if d.kind == "newton-elements-lost"] == []
    ours.finalize(device="cpu")


STAGE = """#usda 1.0
( metersPerUnit = 1
 kilogramsPerUnit = 1
 upAxis = "Z" )
def PhysicsScene "scene" { custom float newton:speed = 4 }
def Xform "r" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) { custom float newton:wear = 3 }
    def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) { }
    def PhysicsFixedJoint "f" { rel physics:body1 = </r/a> }
    def PhysicsRevoluteJoint "j" {
        rel physics:body0 = </r/a>
        rel physics:body1 = </r/b>
        custom float newton:ns:grease = 7
    }
    def MjcActuator "servo" {
        rel mjc:target = </r/j>
        double[] mjc:gainPrm = [20, 0, 0]
        double[] mjc:biasPrm = [0, -20, -2]
        uniform token mjc:biasType = "affine"
        double mjc:forceRange:min = -5
        double mjc:forceRange:max = 5
    }
    def MjcActuator "lost" { }
}
"""


@pytest.fixture
def stage(tmp_path):
    path = tmp_path / "stage.usda"
    path.write_text(STAGE.replace("}", "\n}\n"))
    return path


def test_a_user_registers_attributes_of_their_own(newton, builder, stage):
    import warp

    frequency, model = newton.Model.AttributeFrequency, newton.Model.AttributeAssignment.MODEL
    for name, at, namespace in (
        ("wear", frequency.BODY, None),
        ("grease", frequency.JOINT_DOF, "ns"),
        ("speed", frequency.ONCE, None),
    ):
        attribute = newton.ModelBuilder.CustomAttribute(
            name=name, frequency=at, assignment=model, dtype=warp.float32, default=0.0, namespace=namespace
        )
        builder.add_custom_attribute(attribute)
    result = add_usd(builder, stage)
    model = builder.finalize(device="cpu")
    assert model.wear.numpy().tolist() == [3.0, 0.0]
    assert model.ns.grease.numpy().tolist() == [7.0]
    assert model.speed.numpy().tolist() == [4.0]
    assert result.path_articulation_map == {"/r": 0}


def test_a_servo_drives_its_freedom_and_a_motor_without_target_is_said(newton, make_builder, stage):
    builder, reporter = make_builder(), Reporter()
    add_usd(builder, stage, reporter=reporter)
    assert builder.joint_target_ke == [20.0]
    assert builder.joint_target_kd == [2.0]
    assert builder.joint_target_mode == [int(newton.JointTargetMode.POSITION)]
    columns = {
        key.partition("_")[2] or key: a.values for key, a in builder.custom_attributes.items() if a.values
    }
    source = newton.solvers.SolverMuJoCo.CtrlSource
    assert builder.custom_attributes["mujoco:ctrl_source"].values[0] == int(source.JOINT_TARGET)
    assert columns["label"] == ["/r/servo"]
    lost = {(d.where.prim, d.data["name"]) for d in reporter if d.kind == "newton-attribute-lost"}
    assert ("/r/servo", "mujoco:actuator_gainprm") in lost, "Newton wants ten numbers"
    assert ("/r/lost", "mujoco:actuator_target_label") in lost


def test_without_the_solvers_attributes_motors_set_effort_limits(builder, stage):
    add_usd(builder, stage)
    assert builder.joint_effort_limit == [5.0]

"""Attributes that solvers and users register on a builder, against Newton's importer."""

from __future__ import annotations

import numpy as np
import pytest

import simwright
from simwright.core.diag import Reporter
from simwright.engines.newton import add_usd

pytestmark = pytest.mark.judge("newton")

NAMES = ("newton", "physx", "mjc")


@pytest.fixture
def resolvers(make_resolvers):
    return make_resolvers(NAMES)


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
    add_usd(ours, path, schema_resolvers=NAMES, reporter=reporter)
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
    assert result["path_articulation_map"] == {"/r": 0}


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


EQUALITIES = """#usda 1.0
( metersPerUnit = 1
 kilogramsPerUnit = 1
 upAxis = "Z" )
def Xform "r" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
    BODIES
    def PhysicsFixedJoint "mount" { rel physics:body1 = </r/a> }
    def PhysicsRevoluteJoint "ab" {
        rel physics:body0 = </r/a>
        rel physics:body1 = </r/b>
        point3f physics:localPos0 = (0, 0, 1)
    }
    def PhysicsRevoluteJoint "ac" {
        rel physics:body0 = </r/a>
        rel physics:body1 = </r/c>
        point3f physics:localPos0 = (0, 0, 2)
    }
    def PhysicsSphericalJoint "connect" ( prepend apiSchemas = ["MjcEqualityConnectAPI"] ) {
        rel physics:body0 = </r/b>
        rel physics:body1 = </r/c>
        point3f physics:localPos0 = (0.1, 0.2, 0.3)
        point3f physics:localPos1 = (0.1, 0.2, -0.7)
        bool physics:excludeFromArticulation = 1
        uniform double[] mjc:solref = [0.05, 0.8]
    }
    def PhysicsFixedJoint "weld" ( prepend apiSchemas = ["MjcEqualityWeldAPI"] ) {
        rel physics:body0 = </r/b>
        rel physics:body1 = </r/c>
        point3f physics:localPos0 = (0, 0, 0.5)
        point3f physics:localPos1 = (0, 0, -0.5)
        quatf physics:localRot0 = (0.8, 0, 0, 0.6)
        quatf physics:localRot1 = (0.8, 0, 0, 0.6)
        bool physics:excludeFromArticulation = 1
        uniform double[] mjc:solimp = [0.8, 0.9, 0.01, 0.4, 1]
        uniform double mjc:torqueScale = 3
    }
}
"""
LINK = """def Xform "NAME" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        double3 xformOp:translate = (0, 0, HEIGHT)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Sphere "ball" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) { double radius = 0.1 }
    }
"""


def test_connects_and_welds_are_rows_of_the_mujoco_solver(make_builder, import_theirs, resolvers, tmp_path):
    path = tmp_path / "stage.usda"
    bodies = "".join(LINK.replace("NAME", n).replace("HEIGHT", str(i)) for i, n in enumerate("abc"))
    path.write_text(EQUALITIES.replace("BODIES", bodies).replace("}", "\n}\n"))
    ours, theirs = make_builder(), make_builder()
    add_usd(ours, path, schema_resolvers=NAMES)
    import_theirs(path, theirs, schema_resolvers=resolvers)
    mine, expected = list_rows(ours), list_rows(theirs)
    assert mine.keys() == expected.keys() == {"/r/connect", "/r/weld"}
    for label, row in expected.items():
        assert len(row) == 17
        assert ours.joint_label[mine[label].pop("mujoco:equality_constraint_target")] == label
        for key in row.keys() & mine[label].keys() - {"mujoco:equality_constraint_label"}:
            found, value = (np.array(r[key], dtype=float) for r in (mine[label], row))
            np.testing.assert_allclose(found, value, atol=1e-6, err_msg=f"{label} {key}")
    ours.finalize(device="cpu")


LOOPS = """<mujoco><worldbody><body name="a"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
<body name="c"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body></worldbody><equality>
<weld body1="c" body2="b" solimp="0.8 0.9 0.01 0.4 1" torquescale="3"/>
<connect body1="c" body2="b" anchor="0 0 1" solref="0.05 0.8"/>
<connect body1="b" body2="c" anchor="0 1 1"/></equality></mujoco>"""


def test_equalities_of_mjcf_are_the_same_rows_as_in_newton(make_builder, import_theirs, resolvers, tmp_path):
    (tmp_path / "loops.xml").write_text(LOOPS)
    stage = simwright.convert(tmp_path / "loops.xml", tmp_path / "loops", for_="newton")
    ours, theirs = make_builder(), make_builder()
    add_usd(ours, stage, schema_resolvers=NAMES)
    import_theirs(stage, theirs, schema_resolvers=resolvers)
    mine, expected = list_rows(ours), list_rows(theirs)
    assert list(mine) == list(expected)
    assert len(expected) == 3
    for label, row in expected.items():
        assert mine[label].keys() == row.keys()
        for key in row.keys() - {"mujoco:equality_constraint_label"}:
            found, value = (np.array(r[key], dtype=float) for r in (mine[label], row))
            np.testing.assert_allclose(found, value, atol=1e-6, err_msg=f"{label} {key}")


def list_rows(builder):
    """Rows of equalities by label."""
    rows = {}
    for (key, at), value in list_values(builder).items():
        if "mujoco:eq" in key:
            rows.setdefault(at, {})[key] = value
    return {row["mujoco:equality_constraint_label"]: row for row in rows.values()}

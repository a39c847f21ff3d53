"""Every row, both ways."""

from __future__ import annotations

import math

import pytest

from simwright.core.math3d import vec3
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.resolve import Row, Scale, SchemaResolver, SchemaResolverMjc, find_resolver, make_resolvers
from simwright.resolve.table import (
    ANGULAR_AXES,
    GAIN,
    HUGE,
    RATE,
    UNSET,
    PrimType,
    ValueForm,
    find_axis,
    fits,
    read_solref,
)

RESOLVERS = make_resolvers(["newton", "physx", "mjc"])
ROWS = [(resolver, row) for resolver in RESOLVERS for row in resolver.rows]
SCALE = Scale(length=0.01, mass=2.0, angle=1.0)
DEG = math.pi / 180
TEXTS = {"mass_model": "shell", "gainType": "affine", "biasType": "affine", "dynType": "filter"}


def find(name: str, prim: PrimType, key: str) -> Row:
    (row,) = find_resolver(name).rows_of(prim, key)
    return row


def example(row: Row) -> object:
    """A value that the row can say."""
    if row.key in TEXTS:
        return TEXTS[row.key]
    if row.form is ValueForm.TEXT:
        return "uint16"
    if row.key.endswith("Prm") or row.key == "gear":
        return (2.0, 3.0)
    if row.form is ValueForm.FLAG and row.key != "gravity_scale":
        return False
    return 0.0 if row.key == "gravity_scale" else 0.375


@pytest.mark.parametrize("angular", [False, True])
@pytest.mark.parametrize(("resolver", "row"), ROWS, ids=[f"{r.name}-{w.prim}-{w.key}" for r, w in ROWS])
def test_round_trip(resolver: SchemaResolver, row: Row, angular: bool):
    value = example(row)
    others = {"ke": 400.0, "kd": 0.5, "margin": 0.25} | {row.key: value}
    written = row.write(value, others, SCALE, angular=angular)
    assert written
    assert set(written) <= set(row.attributes)
    back = row.read(written, SCALE, angular=angular)
    assert back == pytest.approx(value)
    for name, form in row.list_forms():
        assert name not in written or fits(form, written[name])
    assert resolver.owns(row.attributes[0])


@pytest.mark.parametrize(("resolver", "row"), ROWS, ids=[f"{r.name}-{w.prim}-{w.key}" for r, w in ROWS])
def test_nothing_authored_is_nothing(resolver: SchemaResolver, row: Row):
    assert row.read({}) is None
    assert row.doc
    assert row.axis == "" or row.axis in row.key


@pytest.mark.parametrize(
    ("name", "prim", "key", "authored", "turning", "sliding"),
    [
        ("newton", PrimType.JOINT, "armature", {"newton:armature": 2.0}, 2.0, 2.0),
        ("newton", PrimType.JOINT, "friction", {"newton:friction": 2.0}, 2.0, 2.0),
        ("newton", PrimType.JOINT, "damping", {"newton:damping": 2.0}, 2.0 / DEG, 2.0),
        ("newton", PrimType.JOINT, "velocity_limit", {"newton:velocityLimit": 180.0}, math.pi, 180.0),
        ("newton", PrimType.JOINT, "limit_ke", {"newton:limitStiffness": 2.0}, 2.0 / DEG, 2.0),
        ("newton", PrimType.JOINT, "limit_kd", {"newton:limitDamping": 2.0}, 2.0 / DEG, 2.0),
        ("physx", PrimType.JOINT, "armature", {"physxJoint:armature": 2.0}, 2.0, 2.0),
        ("physx", PrimType.JOINT, "velocity_limit", {"physxJoint:maxJointVelocity": 180.0}, math.pi, 180.0),
        ("mjc", PrimType.JOINT, "damping", {"mjc:damping": 2.0}, 2.0, 2.0),
        ("mjc", PrimType.JOINT, "friction", {"mjc:frictionloss": 2.0}, 2.0, 2.0),
        ("mjc", PrimType.JOINT, "stiffness", {"mjc:stiffness": 2.0}, 2.0, 2.0),
        ("mjc", PrimType.JOINT, "ref", {"mjc:ref": 180.0}, math.pi, 180.0),
    ],
)
def test_degree_factors(name, prim, key, authored, turning, sliding):
    row = find(name, prim, key)
    assert row.read(authored, angular=True) == pytest.approx(turning)
    assert row.read(authored, angular=False) == pytest.approx(sliding)


@pytest.mark.parametrize("axis", ["angular", "linear", "rotX", "rotY", "rotZ", "transX", "transY", "transZ"])
@pytest.mark.parametrize("name", ["newton", "physx"])
def test_an_axis_knows_whether_it_turns(axis, name):
    angular = axis in ANGULAR_AXES
    spelled = {
        "newton": (f"newton:{axis}:limitStiffness", f"newton:{axis}:limitDamping", f"newton:{axis}:%s"),
        "physx": (f"physxLimit:{axis}:stiffness", f"physxLimit:{axis}:damping", f"state:{axis}:physics:%s"),
    }[name]
    for key, attribute in zip(("ke", "kd"), spelled, strict=False):
        row = find(name, PrimType.JOINT, f"limit_{axis}_{key}")
        assert row.read({attribute: 3.0}, angular=not angular) == pytest.approx(3.0 / DEG if angular else 3.0)
    for key in ("position", "velocity"):
        row = find(name, PrimType.JOINT, f"{axis}_{key}")
        assert row.read({spelled[2] % key: 90.0}) == pytest.approx(math.pi / 2 if angular else 90.0)


def test_stage_units():
    scale = Scale(length=0.1, mass=3.0)
    assert GAIN.factor(scale, angular=True) == pytest.approx(3.0 * 0.01 / DEG)
    assert GAIN.factor(scale, angular=False) == pytest.approx(3.0)
    assert RATE.factor(scale, angular=True) == pytest.approx(DEG)
    assert RATE.factor(scale, angular=False) == pytest.approx(0.1)
    row = find("newton", PrimType.SHAPE, "margin")
    assert row.read({"newton:contactMargin": 2.0}, scale) == pytest.approx(0.2)


def test_compiler_angle():
    row = find("mjc", PrimType.JOINT, "spring_ref")
    assert row.read({"mjc:springref": 2.0}, Scale(angle=1.0), angular=True) == 2.0
    assert row.read({"mjc:springref": 2.0}, angular=True) == pytest.approx(2.0 * DEG)


@pytest.mark.parametrize(
    ("solref", "expected"),
    [
        ((0.02, 1.0), (2500.0, 100.0)),
        ((0.1, 2.0), (25.0, 20.0)),
        ((-400.0, -5.0), (400.0, 5.0)),
        ((0.02, 0.0), None),
        ((-400.0, 1.0), None),
        ((0.02,), None),
    ],
)
def test_solref(solref, expected):
    assert read_solref(solref) == (None if expected is None else pytest.approx(expected))


def test_solref_is_written_from_both_gains():
    row = find("mjc", PrimType.SHAPE, "ke")
    assert row.write(2500.0, {"kd": 100.0})["mjc:solref"] == pytest.approx((0.02, 1.0))
    assert row.write(2500.0) == {}


def test_offsets():
    gap, margin = find("physx", PrimType.SHAPE, "gap"), find("physx", PrimType.SHAPE, "margin")
    contact, rest = "physxCollision:contactOffset", "physxCollision:restOffset"
    assert gap.read({contact: 0.05, rest: 0.01}) == pytest.approx(0.04)
    assert gap.read({contact: 0.05}) is None
    assert gap.read({contact: -math.inf, rest: 0.0}) is None
    assert margin.read({rest: -math.inf}) is None
    assert gap.write(0.04, {"margin": 0.01}) == pytest.approx({contact: 0.05, rest: 0.01})


def test_margin_of_older_mujoco():
    (row,) = SchemaResolverMjc(legacy_margin_gap=True).rows_of(PrimType.SHAPE, "margin")
    assert row.read({"mjc:margin": 0.05, "mjc:gap": 0.02}) == pytest.approx(0.03)
    assert row.read({"mjc:gap": 0.02}) is None
    assert row.write(0.03, {"gap": 0.02}) == {"mjc:margin": pytest.approx(0.05)}
    assert find("mjc", PrimType.SHAPE, "margin").read({"mjc:margin": 0.05, "mjc:gap": 0.02}) == 0.05


@pytest.mark.parametrize(
    ("authored", "expected"),
    [
        ({"min": -3.0, "max": 8.0}, 8.0),
        ({"min": -9.0, "max": 8.0, "limited": "auto"}, 9.0),
        ({"max": 8.0}, 8.0),
        ({"min": 1.0, "max": 1.0}, None),
        ({"min": 1.0, "max": 1.0, "limited": "true"}, 1.0),
        ({"min": -3.0, "max": 8.0, "limited": "false"}, None),
        ({"limited": "true"}, None),
    ],
)
def test_effort_range(authored, expected):
    names = {
        "min": "mjc:actuatorfrcrange:min",
        "max": "mjc:actuatorfrcrange:max",
        "limited": "mjc:actuatorfrclimited",
    }
    row = find("mjc", PrimType.JOINT, "effort_limit")
    assert row.read({names[key]: value for key, value in authored.items()}) == expected


def test_sentinels():
    stiffness, damping = (find("newton", PrimType.JOINT, key) for key in ("limit_ke", "limit_kd"))
    assert stiffness.read({"newton:limitStiffness": -math.inf}) is UNSET
    assert stiffness.read({"newton:limitStiffness": math.inf}) == math.inf
    assert damping.read({"newton:limitDamping": -math.inf}) is UNSET
    assert damping.read({"newton:limitDamping": math.inf}) == 0.0
    assert damping.read({"newton:limitDamping": 5.0, "newton:limitStiffness": math.inf}) == 0.0
    assert damping.read({"newton:limitStiffness": math.inf}) == 0.0
    assert damping.read({"newton:limitStiffness": 5.0}) is None
    assert damping.write(0.0, {"limit_ke": math.inf}) == {}
    assert find("newton", PrimType.SHAPE, "gap").read({"newton:contactGap": -math.inf}) is UNSET
    assert find("newton", PrimType.JOINT, "velocity_limit").read({"newton:velocityLimit": HUGE * 10}) is UNSET


def test_switches_and_rates():
    off = {"physxRigidBody:disableGravity": True}
    assert find("physx", PrimType.SCENE, "gravity_enabled").read(off) is False
    assert find("physx", PrimType.BODY, "gravity_scale").read(off) == 0.0
    assert find("mjc", PrimType.BODY, "gravity_scale").read({"mjc:gravcomp": 0.25}) == 0.75
    assert find("mjc", PrimType.SHAPE, "mass_model").read({"mjc:shellinertia": False}) == "solid"
    step = find("mjc", PrimType.SCENE, "time_steps_per_second")
    assert step.read({"mjc:option:timestep": 0.003}) == pytest.approx(1000 / 3)
    assert step.read({"mjc:option:timestep": 0.0}) is None
    assert find("physx", PrimType.BODY, "gravity_scale").write(0.5) == {}


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        (ValueForm.NUMBER, 1, "one"),
        (ValueForm.NUMBER, math.inf, math.nan),
        (ValueForm.FLAG, True, "yes"),
        (ValueForm.TEXT, "solid", 3),
        (ValueForm.NUMBERS, [1.0, 2], ["a"]),
        (ValueForm.NUMBERS, (), 2.0),
    ],
)
def test_forms(form, good, bad):
    assert fits(form, good)
    assert not fits(form, bad)


@pytest.mark.parametrize(
    ("kind", "motion", "axis", "word"),
    [
        (JointKind.REVOLUTE, Motion.HINGE, (0, 0, 1), "angular"),
        (JointKind.PRISMATIC, Motion.SLIDE, (1, 0, 0), "linear"),
        (JointKind.D6, Motion.HINGE, (0, -1, 0), "rotY"),
        (JointKind.D6, Motion.SLIDE, (0, 0, 1), "transZ"),
        (JointKind.BALL, Motion.BALL, (0, 0, 1), ""),
    ],
)
def test_the_word_for_the_axis_of_a_freedom(
    kind: JointKind, motion: Motion, axis: tuple[float, float, float], word: str
) -> None:
    dof = Dof(motion, vec3(axis))
    assert find_axis(Joint("j", kind, "", "b", dofs=[dof]), dof) == word

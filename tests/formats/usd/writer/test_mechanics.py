"""What MuJoCo can say about a mechanism, converted to OpenUSD and read back: the same mechanism."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from pxr import Usd
from robots import ACTUATORS, ARM, CONSTRAINTS, ODDS, OPTIONS, STACK_PARTS, STACKS
from usd_trips import Trip, assert_close, assert_same, convert, convert_text, list_dofs, measure

import simwright
from simwright.core.diag import Level
from simwright.model.joint import JointKind

ROBOTS = {
    "arm": (ARM, ""),
    "actuators": (ARM, ACTUATORS),
    "constraints": (ARM, CONSTRAINTS),
    "options": (ARM, OPTIONS),
    "stacks": (STACKS, STACK_PARTS),
    "odds": (ODDS, ""),
}
DOF = ("name", "motion", "lower", "upper", "ref")
ACTUATOR = (
    "name", "kind", "target", "transmission", "gear", "stiffness", "damping", "control_range", "force_range",
)  # fmt: skip


@pytest.fixture(scope="module", params=["single", "exact"])
def trips(request, tmp_path_factory) -> dict[str, Trip]:
    return {
        name: convert_text(text, tmp_path_factory.mktemp(name), more, exact=request.param == "exact")
        for name, (text, more) in ROBOTS.items()
    }


@pytest.mark.parametrize("name", ROBOTS)
def test_same_machine_as_in_mujoco(name, trips):
    errors = measure(trips[name].file, trips[name].back)
    assert max(errors.values()) < 10 * trips[name].tolerance, errors


@pytest.mark.parametrize("name", ROBOTS)
def test_same_joints_in_the_same_order(name, trips):
    source, back = trips[name].source, trips[name].back
    assert [body.name for body in back.bodies] == [body.name for body in source.bodies]
    assert [(j.name, j.kind, j.collide) for j in back.joints] == [
        (j.name, j.kind, j.collide) for j in source.joints
    ]
    assert list_dofs(back) == list_dofs(source)
    for joint, found in zip(source.joints, back.joints, strict=True):
        for dof, other in zip(joint.dofs, found.dofs, strict=True):
            tolerance = trips[name].tolerance
            assert_same(dof, other, *DOF, where=dof.name, tolerance=tolerance)
            for field in ("armature", "friction", "damping", "stiffness"):
                values = [getattr(each, field) or 0.0 for each in (dof, other)]
                assert_close(*values, f"{dof.name} {field}", tolerance)
            if dof.stiffness:
                assert_close(dof.spring_ref, other.spring_ref, dof.name, tolerance)


@pytest.mark.parametrize("name", ["actuators", "stacks", "odds"])
def test_same_actuators(name, trips):
    source, back = trips[name].source, trips[name].back
    tolerance = trips[name].tolerance
    assert len(back.actuators) == len(source.actuators)
    for actuator, found in zip(source.actuators, back.actuators, strict=True):
        assert_same(actuator, found, *ACTUATOR, where=actuator.name, tolerance=tolerance)
        assert_close(actuator.settings, found.settings, actuator.name, tolerance)


def test_plain_motors_are_neutral(trips):
    """Muscles and motors on tendons are MuJoCo's; the others are neutral, and MuJoCo's as well."""
    stage = Usd.Stage.Open(str(trips["actuators"].entry))
    prims = stage.GetPrimAtPath("/arm/Actuators").GetChildren()
    neutral = {p.GetName() for p in prims if "ExtendedPhysicsActuatorAPI" in p.GetAppliedSchemas()}
    assert neutral == {"m", "p", "lagging", "v", "half", "parent"}
    assert {p.GetTypeName() for p in prims} == {"MjcActuator"}


@pytest.mark.parametrize("name", ["actuators", "constraints", "stacks"])
def test_same_tendons(name, trips):
    source, back = trips[name].source, trips[name].back
    assert len(back.tendons) == len(source.tendons) > 0
    for tendon, found in zip(source.tendons, back.tendons, strict=True):
        fields = ("name", "path", "lower", "upper", "stiffness", "damping", "friction", "armature", "width")
        assert_same(tendon, found, *fields, where=tendon.name)
        assert_close(tendon.rest_length, found.rest_length, tendon.name)


@pytest.mark.parametrize("name", ["actuators", "stacks"])
def test_same_keyframes(name, trips):
    for keyframe, found in zip(trips[name].source.keyframes, trips[name].back.keyframes, strict=True):
        assert_same(dataclasses.replace(found, path=keyframe.path), keyframe, where=keyframe.name)
        assert found.path, "a keyframe of a stage says where it is"


@pytest.mark.parametrize("name", ["constraints", "stacks"])
def test_same_couplings(name, trips):
    source, back = trips[name].source, trips[name].back
    fields = ("follower", "leader", "multiplier", "offset", "polynomial", "enabled", "name")
    assert len(back.mimics) == len(source.mimics) > 0
    for mimic in source.mimics:
        found = next(m for m in back.mimics if m.name == mimic.name)
        assert_same(mimic, found, *fields, where=mimic.name, tolerance=trips[name].tolerance)


def test_same_equalities(trips):
    source, back = trips["constraints"].source, trips["constraints"].back
    assert {e.name for e in back.equalities} == {e.name for e in source.equalities} == {"pin", "glue", "tie"}
    for equality in source.equalities:
        found = next(e for e in back.equalities if e.name == equality.name)
        assert_same(
            equality, found, "kind", "a", "b", "polynomial", "torque_scale", "enabled", where=equality.name
        )
        assert found.frame_a.is_close(equality.frame_a, trips["constraints"].tolerance)
        assert found.frame_b.is_close(equality.frame_b, trips["constraints"].tolerance)


def test_same_contacts(trips):
    source, back = trips["constraints"].source, trips["constraints"].back
    assert [(f.a, f.b, f.of) for f in back.contact_filters] == [
        (f.a, f.b, f.of) for f in source.contact_filters
    ]
    (pair,), (found,) = source.contact_pairs, back.contact_pairs
    assert_same(pair, found, "a", "b", "name", "settings")
    bits = {s.name: (s.category_bits, s.collide_bits) for s in back.shapes if s.collision}
    assert (bits["bone"], bits["shell"], bits["palm"]) == ((2, 5), (0, 4), (1, 1))


def test_gravity_compensation_mocap_and_the_world(trips):
    source, back = trips["odds"].source, trips["odds"].back
    assert [(b.name, b.gravity_scale, b.kinematic) for b in back.bodies] == [
        (b.name, b.gravity_scale, b.kinematic) for b in source.bodies
    ]
    assert next(b for b in back.bodies if b.name == "a").gravity_scale == 0.5
    pairs = {(f.of, frozenset((f.a, f.b))) for f in back.contact_filters}
    assert pairs == {("body", frozenset(("a", "sub"))), ("shape", frozenset(("floor", "gb")))}
    (site,), (found,) = source.sites, back.sites
    assert found.geometry.size.tolist() == site.geometry.size.tolist()
    assert next(s for s in back.shapes if s.name == "floor").geometry.size is None
    stage = Usd.Stage.Open(str(trips["odds"].entry))
    knee = stage.GetPrimAtPath("/odds/a/knee")
    assert knee.GetAttribute("mjc:actuatorfrcrange:min").Get() == -5.0


def test_solver_settings_are_in_the_vendor_layer(trips):
    stage = Usd.Stage.Open(str(trips["arm"].entry))
    shell = stage.GetPrimAtPath("/arm/base/upper/fore/collision/shell")
    assert list(shell.GetAttribute("mjc:solref").Get()) == [0.01, 0.9]
    assert (shell.GetAttribute("mjc:priority").Get(), shell.GetAttribute("mjc:condim").Get()) == (2, 6)
    for layer in ("physics.usda", "extended_physics.usda", "base.usda", "instances.usda"):
        assert "mjc:" not in trips["arm"].layer(layer)


def test_options_sensors_and_custom_numbers(trips):
    source, back = trips["options"].source, trips["options"].back
    assert_close(source.environment.gravity, back.environment.gravity, "gravity")
    assert_close(source.environment.wind, back.environment.wind, "wind")
    assert back.environment.timestep == source.environment.timestep == 0.004
    assert back.environment.settings == source.environment.settings
    assert len(back.sensors) == 3
    for sensor, found in zip(source.sensors, back.sensors, strict=True):
        assert_same(sensor, found, "name", "kind", "body", "target", "rate", "settings", where=sensor.name)
        assert found.pose.is_close(sensor.pose, 1e-12)
    layer = trips["options"].layer("mujoco.usda")
    assert "mjc:numeric:gains:data = [1.5, 2.5]" in layer
    assert 'mjc:text:author:data = "nobody"' in layer
    assert "mjc:visual:global:azimuth = 130" in layer


@pytest.mark.parametrize("name", ROBOTS)
def test_nothing_is_lost_and_nothing_is_wrong(name, trips):
    trip = trips[name]
    lost = [
        str(d) for d in trip.said if any(word in d.kind for word in ("lost", "carried", "extras", "reduced"))
    ]
    assert lost == []
    report = simwright.check(trip.entry, profile="all")
    findings = [d for asset in report.assets for d in asset.findings]
    assert [str(d) for d in findings if d.level in (Level.ERROR, Level.WARNING)] == []


def test_stack_of_any_order_is_one_joint(trips):
    """Joints side by side would close loops for everyone else."""
    trip = trips["stacks"]
    assert "usd-write-joint-order" in trip.kinds
    stage = Usd.Stage.Open(str(trip.entry))
    head = [p for p in stage.Traverse() if p.GetTypeName().startswith("Physics") and "head" in p.GetName()]
    assert [p.GetTypeName() for p in head] == ["PhysicsJoint"]
    assert next(j for j in trip.back.joints if j.child == "heavy").kind is JointKind.FLOATING


@pytest.mark.realworld
@pytest.mark.parametrize(
    "name", ["agility_cassie/cassie", "shadow_hand/right_hand", "robotiq_2f85/scene", "skydio_x2/x2"]
)
@pytest.mark.parametrize("exact", [False, True], ids=["single", "exact"])
def test_robots_people_use(name, exact, shared_assets, tmp_path):
    trip = convert(shared_assets / "mjcf" / f"{name}.xml", tmp_path / "out", exact=exact)
    errors = measure(trip.file, trip.back, 5)
    assert max(errors.values()) < 10 * trip.tolerance, errors
    assert list_dofs(trip.back) == list_dofs(trip.source)
    for actuator, found in zip(trip.source.actuators, trip.back.actuators, strict=True):
        assert_same(actuator, found, *ACTUATOR, where=actuator.name, tolerance=trip.tolerance)
    assert len(trip.back.tendons) == len(trip.source.tendons)
    assert [k.name for k in trip.back.keyframes] == [k.name for k in trip.source.keyframes]
    for keyframe, found in zip(trip.source.keyframes, trip.back.keyframes, strict=True):
        assert_close(keyframe.positions, found.positions, keyframe.name)
    assert np.all([s.name in {f.name for f in trip.back.sensors} for s in trip.source.sensors])


def test_six_freedoms_without_limits_are_no_fixed_base(tmp_path):
    """Other tools write such a joint for a fixed base; ours says which freedoms it means."""
    slides = "".join(
        f'<joint name="s{axis}" type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1")
    )
    hinges = slides.replace('name="s', 'name="h').replace('type="slide"', 'type="hinge"')
    below = '<body name="c" pos=".2 0 0"><joint name="j" axis="0 1 0"/><geom size=".1"/></body>'
    text = f'<mujoco><worldbody><body name="b">{slides}{hinges}<geom size=".1"/>{below}</body></worldbody></mujoco>'
    trip = convert_text(text, tmp_path)
    assert list_dofs(trip.back) == list_dofs(trip.source)
    assert len(list_dofs(trip.back)) == 7

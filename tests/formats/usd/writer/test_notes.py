"""Notes: only where a stage says something else without them, exact while they fit, ignored once somebody edits."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, Vt
from writing import make_trip

import simwright
from simwright.core.diag import Level, Reporter
from simwright.core.math3d import Pose, quat_from_rpy
from simwright.formats.usd.stage_reader import as_floats
from simwright.formats.usd.writer.entry import build_layers
from simwright.formats.usd.writer.plan import rank_prims
from simwright.model.asset import Actuator, Articulation, Asset, Body, Keyframe, Site
from simwright.model.extras import CustomAttribute
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Drive, Joint, JointKind, Mimic, Motion
from simwright.model.kinematics import place_bodies
from simwright.model.ros import Controller, Interface, InterfaceKind
from simwright.usd.notes import find_decimal, find_decimals, find_exact, read_exact

MASS = 1.2345678901234567


def make_arm() -> Asset:
    """A link with odd numbers and names on an anchored base."""
    turn = Pose.of((0.1, 0.2, 1.0 / 3.0), quat_from_rpy((0.1, 0.2, 0.3)))
    inertia = np.array(((0.0123, 0.001, 0.002), (0.001, 0.0234, 0.003), (0.002, 0.003, 0.0345)))
    bodies = [
        Body("base-link", inertial=Inertial(2.0, np.zeros(3), np.eye(3))),
        Body("1st link", inertial=Inertial(MASS, np.array((0.1, 1e-3, -0.3)), inertia)),
    ]
    hinge = Dof(Motion.HINGE, axis=np.array((0.6, 0.0, 0.8)), name="joint-1", lower=-0.1, upper=1.0 / 3.0)
    hinge.drive = Drive(stiffness=12.3, damping=0.7, target_position=0.1)
    hinge.safety = {"k_velocity": 10.0}
    joints = [
        Joint("mount", JointKind.FIXED, "", "base-link", parent_frame=turn),
        Joint("joint-1", JointKind.REVOLUTE, "base-link", "1st link", turn, dofs=[hinge]),
    ]
    asset = Asset("arm", bodies, joints, sites=[Site("tool", "1st link")])
    asset.articulations.append(Articulation("arm", "base-link"))
    place_bodies(asset)
    return asset


def edit(entry: Path, prim: str, name: str, value: object) -> Asset:
    layer = Sdf.Layer.FindOrOpen(str(entry.parent / "physics.usda"))
    layer.GetAttributeAtPath(f"{prim}.{name}").default = value
    layer.Save()
    return simwright.load(entry)


def test_doubles_and_names_come_back(tmp_path):
    trip = make_trip(make_arm(), tmp_path / "out", exact=True)
    source, back = trip.asset, trip.back
    assert [body.name for body in back.bodies] == ["base-link", "1st link"]
    assert [joint.name for joint in back.joints] == ["mount", "joint-1"]
    link, found = source.bodies[1].inertial, back.bodies[1].inertial
    assert found.mass == MASS
    assert np.allclose(found.com, link.com, rtol=1e-15, atol=0.0)
    assert np.abs(found.inertia - link.inertia).max() < 1e-16
    dof, other = source.joints[1].dofs[0], back.joints[1].dofs[0]
    assert (other.lower, other.upper) == pytest.approx((dof.lower, dof.upper), rel=1e-15)
    assert other.drive.stiffness == pytest.approx(dof.drive.stiffness, rel=1e-15)
    assert other.safety == dof.safety


@pytest.mark.parametrize("exact", [False, True])
def test_an_edited_float_wins(exact, tmp_path):
    trip = make_trip(make_arm(), tmp_path / "out", exact=exact)
    (path,) = [body.path for body in trip.back.bodies if body.name == "1st link"]
    back = edit(trip.entry, path, "physics:mass", 5.0)
    assert back.body("1st link").inertial.mass == 5.0
    back = edit(trip.entry, path, "physics:centerOfMass", Gf.Vec3f(1, 2, 3))
    assert back.body("1st link").inertial.com.tolist() == [1.0, 2.0, 3.0]


def make_tree(bodies: str, joints: str) -> Asset:
    """A trunk ``t`` with the limbs ``a`` and ``b``, of which ``a`` has a hand ``c``; in the orders of the letters."""
    parents = {"t": "", "a": "t", "b": "t", "c": "a"}
    solid = Inertial(1.0, np.zeros(3), np.eye(3))
    asset = Asset("tree", [Body(name, inertial=solid) for name in bodies])
    for name in joints:
        hinge = Dof(Motion.HINGE, name=f"j{name}", lower=-1.0, upper=1.0)
        asset.joints.append(Joint(f"j{name}", JointKind.REVOLUTE, parents[name], name, dofs=[hinge]))
    asset.actuators = [Actuator(f"m{name}", "motor", f"j{name}") for name in joints]
    asset.sites = [Site(f"s{name}", name) for name in reversed(bodies)]
    place_bodies(asset)
    return asset


@pytest.mark.parametrize(
    ("bodies", "joints", "noted"),
    [
        ("tacb", "tacb", set()),
        ("tbac", "tbac", set()),
        ("tabc", "tabc", {"t", "a", "b", "c"}),
        ("tacb", "tbac", {"t", "a", "b", "c", "jt", "ja", "jb", "jc"}),
        ("cbat", "cbat", {"t", "a", "b", "c"}),
    ],
)
def test_an_order_is_noted_only_where_the_prims_have_another_one(bodies, joints, noted, tmp_path):
    trip = make_trip(make_tree(bodies, joints), tmp_path / "out")
    assert "".join(body.name for body in trip.back.bodies) == bodies
    assert [joint.name for joint in trip.back.joints] == [f"j{name}" for name in joints]
    assert [actuator.name for actuator in trip.back.actuators] == [f"m{name}" for name in joints]
    assert {site.name for site in trip.back.sites} == {f"s{name}" for name in bodies}
    assert {prim.GetName() for prim in trip.stage.Traverse() if prim.HasCustomDataKey("simwright")} == noted


def test_a_motor_on_a_joint_without_freedom_is_noted_the_same_in_any_order_of_its_settings(tmp_path):
    notes = []
    for number, settings in enumerate(({"a": 1, "b": 2}, {"b": 2, "a": 1})):
        asset = make_tree("tacb", "tacb")
        asset.bodies.append(Body("d", inertial=Inertial(1.0, np.zeros(3), np.eye(3))))
        asset.joints.append(Joint("jd", JointKind.FIXED, "t", "d"))
        asset.actuators.append(Actuator("idle", "motor", "jd", settings=settings))
        trip = make_trip(asset, tmp_path / str(number))
        assert trip.back.actuator("idle").settings == settings
        notes += [
            prim.GetCustomDataByKey("simwright:motor")
            for prim in trip.stage.Traverse()
            if prim.GetCustomDataByKey("simwright:motor")
        ]
    assert len(notes) == 2
    assert notes[0] == notes[1]


def test_a_note_of_the_order_counts(tmp_path):
    """Assets of earlier versions have one on every body and joint."""
    entry = make_trip(make_tree("tacb", "tacb"), tmp_path / "out").entry
    layer = Sdf.Layer.FindOrOpen(str(entry.parent / "physics.usda"))
    for order, path in enumerate(("/tree/t/b", "/tree/t/a/c", "/tree/t/a", "/tree/t")):
        layer.GetPrimAtPath(path).SetInfo("customData", {"simwright": {"order": order}})
    layer.Save()
    back = simwright.load(entry)
    assert [body.name for body in back.bodies] == ["b", "c", "a", "t"]
    assert [joint.name for joint in back.joints] == ["jb", "jc", "ja", "jt"]


@pytest.mark.parametrize("name", ["arm/urdf/arm.urdf.xacro", "rover/model.sdf", "quadruped/quadruped.xml"])
def test_the_order_of_prims_is_known_before_they_are_composed(name, samples):
    asset = simwright.load(samples / name)
    layers, _ = build_layers(asset, "robot.usda", Reporter())
    entry = layers["robot.usda"].sdf
    root = f"/{entry.defaultPrim}"
    features = [item.assetPath[2:] for item in entry.GetPrimAtPath(root).referenceList.prependedItems]
    ranks = rank_prims(root, [layers["instances.usda"], *(layers[file] for file in reversed(features))])
    stage = simwright.to_stage(samples / name)
    order = [str(prim.GetPath()) for prim in stage.Traverse() if str(prim.GetPath()) in ranks]
    assert len(order) > len(asset.bodies)
    assert order == sorted(order, key=ranks.__getitem__)


def test_decimals_of_a_vector_are_those_of_its_numbers():
    random = np.random.default_rng(7)
    # any bits, what somebody writes, large integers, and what is special
    bits = random.integers(0, 1 << 32, 3000, dtype=np.uint32).view(np.float32)
    written = np.round(random.uniform(-5, 5, 3000), 4).astype(np.float32)
    integers = random.integers(-(10**12), 10**12, 3000).astype(np.float32)
    special = np.array([0.0, -0.0, 1.0, 1e7, -1e7, 9999999.0, math.inf, -math.inf], dtype=np.float32)
    numbers = np.concatenate((bits[np.isfinite(bits)], written, integers, np.repeat(special, 300))).tolist()
    for count in (2, 3, 4):
        for row in random.choice(numbers, (3000, count)).tolist():
            # by text, which tells zeros apart
            assert repr(find_decimals(tuple(row))) == repr(tuple(map(find_decimal, row)))
    assert math.isnan(find_decimals((0.1, math.nan))[1])


def test_decimals_are_those_of_the_text_of_a_number():
    random = np.random.default_rng(11)
    bits = random.integers(0, 1 << 32, 5000, dtype=np.uint32).view(np.float32)
    halves = random.integers(1, 1 << 24, 5000) / 2.0 ** random.integers(0, 40, 5000)
    powers = 10.0 ** random.uniform(-16, 9, 5000)
    near = np.nextafter(np.float32(10.0) ** np.arange(-12, 7), np.float32(0.0), dtype=np.float32)
    for single in np.concatenate((bits[np.isfinite(bits)], halves, powers, near)).astype(np.float32):
        value = float(single)
        if abs(value) > 1e30:  # texts of eight digits may be too large for single precision
            continue
        texts = [float(f"{value:.{digits}g}") for digits in (7, 8)]
        known = next((decimal for decimal in texts if np.float32(decimal) == single), value)
        assert repr(find_decimal(value)) == repr(value if value.is_integer() else known)


def test_zeros_keep_their_sign_beside_the_same_numbers():
    for zero in (0.0, -0.0, 0.0):
        row = (zero, float(np.float32(0.1)))
        assert repr(find_decimals(row)) == repr((zero, 0.1))


def test_numbers_of_every_kind_of_vector_and_quaternion_are_read():
    for letter, numbers in (
        ("d", (0.1, -2.5, 3.25, 4.0)),
        ("f", (0.5, -2.5, 3.25, 4.0)),
        ("h", (0.5, -2.5, 3.25, 4.0)),
    ):
        for count in (2, 3, 4):
            assert as_floats(getattr(Gf, f"Vec{count}{letter}")(*numbers[:count])) == numbers[:count]
        w, x, y, z = numbers
        imaginary = getattr(Gf, f"Vec3{letter}")(x, y, z)
        assert as_floats(getattr(Gf, f"Quat{letter}")(w, imaginary)) == numbers
    integers = as_floats(Gf.Vec3i(1, -2, 3))
    assert integers == (1.0, -2.0, 3.0)
    assert {type(value) for value in integers} == {float}
    assert as_floats("text") == as_floats(None) == ()


def test_a_float_is_read_as_the_decimal_that_its_text_says(tmp_path):
    numbers = [0.1, 0.333, 1e-7, 123.4567, -2.71828, 0.5, 3.0, math.inf, 16777217.0]
    assert [find_decimal(float(np.float32(v))) for v in numbers[:-1]] == numbers[:-1]
    for value in np.random.default_rng(3).normal(size=2000).astype(np.float32):
        assert np.float32(find_decimal(float(value))) == value
    doubles = [math.pi, 16777217.0, 1e300]
    assert [find_decimal(v) for v in doubles] == doubles
    assert math.isnan(find_decimal(math.nan))
    asset = make_tree("tacb", "tacb")
    asset.bodies[0].inertial = Inertial(0.629769, np.array((0.003875, 0.002081, -0.04762)), np.eye(3))
    found = make_trip(asset, tmp_path / "out").back.bodies[0].inertial
    assert (found.mass, *found.com) == (0.629769, 0.003875, 0.002081, -0.04762)


def test_only_what_is_rounded_is_noted():
    assert find_exact("float", 0.5) is None
    assert find_exact("float", float("inf")) is None
    assert find_exact("token", "x") is None
    assert find_exact("float", 0.1) == 0.1
    assert find_exact("quatf", (1.0, 0.0, 0.0, 0.0)) is None


@pytest.mark.parametrize("note", ["text", 7, Gf.Vec3d(1, 2, 3), None])
def test_a_note_of_another_kind_is_no_note(note):
    stage = Usd.Stage.CreateInMemory()
    attribute = stage.DefinePrim("/p").CreateAttribute("x", Sdf.ValueTypeNames.Float)
    attribute.Set(0.1)
    if note is not None:
        attribute.SetCustomDataByKey("exact", note)
    assert read_exact(attribute, attribute.Get()) is None


KEYS = (
    "order", "dofs", "axes", "kind", "references", "mimics", "mimic_values", "frame", "bits", "stack", "stack_words",
    "stack_axes", "turns", "pitches", "gear", "safety", "resolution", "controller", "urdf", "free_name", "free_order",
    "free_frame0", "free_armature", "equality", "target", "transmission", "at", "marker", "marker_size", "endless",
    "sensor_order", "dof_damping", "mimic_name", "members", "controls",
)  # fmt: skip
NONSENSE = ["x", 3, float("nan"), True, "{", '["a"]', '{"kind": 1, "joints": [2]}', Gf.Vec3d(1, 2, 3)]


@pytest.mark.parametrize("value", [*NONSENSE, Vt.DoubleArray([float("inf")] * 7), Vt.StringArray(["a", "b"])])
def test_notes_of_other_kinds_break_nothing(value, tmp_path):
    """Whatever somebody puts into our custom data, the prims still say what they say."""
    trip = make_trip(make_arm(), tmp_path / "out")
    for name in ("physics.usda", "ros.usda", "extended_physics.usda"):
        file = trip.entry.parent / name
        layer = Sdf.Layer.FindOrOpen(str(file)) if file.exists() else Sdf.Layer.CreateAnonymous()
        layer.Traverse(Sdf.Path.absoluteRootPath, lambda path, layer=layer: spoil(layer, path, value))
        if file.exists():
            layer.Save()
    back = simwright.load(trip.entry)
    assert {body.name for body in back.bodies} == {"base-link", "1st link"}
    assert {joint.kind for joint in back.joints} >= {JointKind.FIXED, JointKind.REVOLUTE}


def spoil(layer: Sdf.Layer, path: Sdf.Path, value: object) -> None:
    spec = layer.GetPrimAtPath(path) if path.IsPrimPath() else None
    if spec is not None:
        spec.SetInfo("customData", {"simwright": dict.fromkeys(KEYS, value)})


def test_custom_attributes(tmp_path):
    asset = make_arm()
    values = {"1st link": 2.5}
    asset.custom_attributes = [
        CustomAttribute("scale", "model", "body", "float", 1.0, values=values),
        CustomAttribute(
            "marker", "state", "body", "vec3", (0.0, 0.0, 0.0), "mine", {"1st link": (1.0, 2.0, 3.0)}
        ),
        CustomAttribute("turn", "state", "joint", "quat", (1.0, 0.0, 0.0, 0.0)),
        CustomAttribute("tags", "model", "body", "string[]", ["a"]),
        CustomAttribute("rest", "model", "joint_dof", "float", 0.0, values={"joint-1": [0.25]}),
    ]
    trip = make_trip(asset, tmp_path / "out")
    assert not trip.kinds & {"usd-write-not-carried", "usd-write-extras"}
    fields = ("name", "assignment", "frequency", "type", "default", "namespace", "values")
    found = {c.name: [getattr(c, f) for f in fields] for c in trip.back.custom_attributes}
    assert found == {c.name: [getattr(c, f) for f in fields] for c in asset.custom_attributes}


def test_controllers_of_any_kind(tmp_path):
    asset = make_arm()
    action = Interface(
        InterfaceKind.ACTION, "server", "grip/gripper_cmd", "control_msgs/action/GripperCommand"
    )
    topic = Interface(InterfaceKind.TOPIC, "publisher", "imu", "sensor_msgs/msg/Imu", 100.0)
    asset.interfaces = [action, topic]
    asset.controllers = [
        Controller(
            "grip", "gripper_action", {"command": ["joint-1"]}, {"server": action.name}, {"max_effort": 5.0}
        ),
        Controller("imu", "imu_broadcaster", {}, {"publisher": "imu"}, {"frame_id": "tool"}),
    ]
    trip = make_trip(asset, tmp_path / "out")
    assert "usd-write-not-carried" not in trip.kinds
    fields = ("name", "kind", "joints", "interfaces", "settings")
    assert [[getattr(c, f) for f in fields] for c in trip.back.controllers] == [
        [getattr(c, f) for f in fields] for c in asset.controllers
    ]
    prim = trip.stage.GetPrimAtPath("/arm/Controllers/grip")
    assert "RosControlExternalAPI" in prim.GetAppliedSchemas()
    assert json.loads(prim.GetCustomDataByKey("simwright:controller"))["kind"] == "gripper_action"


def test_initial_positions(tmp_path):
    asset = make_arm()
    asset.joints[1].dofs[0].position = 0.123456789
    trip = make_trip(asset, tmp_path / "out", exact=True)
    assert trip.back.joints[1].dofs[0].position == pytest.approx(0.123456789, rel=1e-15)
    assert "newton:angular:position" in (trip.entry.parent / "newton.usda").read_text()


def test_mimic_of_higher_order(tmp_path):
    asset = make_arm()
    hinge = Dof(Motion.HINGE, name="tip", lower=-1.0, upper=1.0)
    asset.bodies.append(Body("tip", inertial=Inertial(1.0, np.zeros(3), np.eye(3))))
    asset.joints.append(Joint("tip", JointKind.REVOLUTE, "1st link", "tip", dofs=[hinge]))
    asset.mimics = [Mimic("tip", "joint-1", 0.1, 0.2, (0.3, 0.4, 0.5), name="bend")]
    (found,) = make_trip(asset, tmp_path / "out", exact=True).back.mimics
    assert (found.name, found.follower, found.leader) == ("bend", "tip", "joint-1")
    assert (found.multiplier, found.offset, *found.polynomial) == pytest.approx(
        (0.1, 0.2, 0.3, 0.4, 0.5), rel=1e-14
    )


def test_flattened_asset_keeps_its_notes(tmp_path):
    asset = make_arm()
    asset.keyframes = [Keyframe("home", {"joint-1": 0.2})]
    asset.provenance.format = "mjcf"
    trip = make_trip(asset, tmp_path / "out", exact=True)
    trip.stage.Flatten().Export(str(tmp_path / "flat.usda"))
    reporter = Reporter()
    back = simwright.load(tmp_path / "flat.usda", reporter=reporter)
    assert not [d.message for d in reporter if d.level is not Level.INFO]
    assert back.keyframes[0].positions == {"joint-1": pytest.approx(0.2)}
    assert simwright.diff(trip.back, back).equal
    assert back.bodies[1].inertial.mass == MASS

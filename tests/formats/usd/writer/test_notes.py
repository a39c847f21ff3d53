"""Notes beside attributes: exact while they fit, ignored once somebody edits the attribute."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, Vt

import simwright
from simwright.core.diag import Level, Reporter
from simwright.core.math3d import Pose, quat_from_rpy
from simwright.model.asset import Articulation, Asset, Body, Keyframe, Site
from simwright.model.extras import CustomAttribute
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Drive, Joint, JointKind, Mimic, Motion
from simwright.model.kinematics import place_bodies
from simwright.model.ros import Controller, Interface, InterfaceKind
from simwright.usd.notes import find_decimal, find_exact, read_exact

sys.path.insert(0, str(Path(__file__).parents[1]))

from writing import make_trip

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

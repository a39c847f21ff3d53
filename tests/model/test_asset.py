"""Assets: lookup, sharing and copies."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from simwright.core.math3d import Pose
from simwright.model import asset as model
from simwright.model.asset import ELEMENT_LISTS, Asset, Body, Shape, Site
from simwright.model.extras import CustomAttribute
from simwright.model.geometry import Mesh, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Drive, Joint, JointKind, Motion, Tendon, TendonPoint
from simwright.model.ros import Controller, Interface, InterfaceKind


def build() -> Asset:
    mesh = Mesh.of(np.eye(3), [[0, 1, 2]])
    dof = Dof(Motion.HINGE, name="j", drive=Drive(stiffness=5.0), safety={"k_velocity": 1.0})
    asset = Asset(
        "a",
        bodies=[Body("b", inertial=Inertial(1.0))],
        joints=[Joint("j", JointKind.REVOLUTE, "", "b", dofs=[dof])],
        shapes=[Shape("s", mesh, "b"), Shape("t", mesh, "b"), Shape("u", Sphere(1.0))],
        sites=[Site("tip", "b")],
        tendons=[Tendon("rope", [TendonPoint("joint", "j", 2.0)])],
        interfaces=[Interface(InterfaceKind.TOPIC, "publisher", "js", "sensor_msgs/msg/JointState")],
        controllers=[Controller("c", "diff_drive", joints={"left": ["j"]}, settings={"deep": {"x": [1]}})],
        custom_attributes=[CustomAttribute("n", "model", "body", "float", 0.0, values={"b": 1.0})],
    )
    asset.extras.keep("mjc", "j", "solref", [0.02, 1.0])
    return asset


def test_lookup():
    asset = build()
    assert asset.body("b").name == "b"
    assert asset.joint("j").child == "b"
    assert [shape.name for shape in asset.shapes_of("b")] == ["s", "t"]
    with pytest.raises(KeyError):
        asset.body("nobody")


def test_geometry_is_counted_once():
    assert len(build().geometries()) == 2


def test_copy_can_be_edited_without_touching_the_original():
    asset = build()
    twin = asset.copy()
    twin.bodies[0].name = "other"
    twin.bodies[0].pose = Pose.of((1, 2, 3))
    twin.joints[0].dofs[0].upper = 1.0
    twin.joints[0].dofs[0].drive.stiffness = 9.0
    twin.joints[0].dofs[0].safety["k_velocity"] = 2.0
    twin.tendons[0].path[0].value = 7.0
    twin.controllers[0].joints["left"].append("k")
    twin.controllers[0].settings["deep"]["x"].append(2)
    twin.custom_attributes[0].values["b"] = 3.0
    twin.environment.timestep = 0.1
    twin.provenance.file = "elsewhere"
    twin.extras.keep("mjc", "j", "solref", None)
    twin.shapes.pop()
    fresh = build()
    assert asset.bodies[0].name == "b"
    assert asset.bodies[0].pose.is_identity()
    assert asset.joints[0].dofs[0].upper == fresh.joints[0].dofs[0].upper
    assert asset.joints[0].dofs[0].drive == Drive(stiffness=5.0)
    assert asset.joints[0].dofs[0].safety == {"k_velocity": 1.0}
    assert asset.tendons[0].path[0].value == 2.0
    assert asset.controllers[0].joints == {"left": ["j"]}
    assert asset.controllers[0].settings == {"deep": {"x": [1]}}
    assert asset.custom_attributes[0].values == {"b": 1.0}
    assert asset.environment.timestep is None
    assert asset.provenance.file == ""
    assert asset.extras.get("mjc", "j", "solref") == [0.02, 1.0]
    assert len(asset.shapes) == 3


def test_copy_shares_geometry():
    asset = build()
    assert [s.geometry for s in asset.copy().shapes] == [s.geometry for s in asset.shapes]


def test_every_element_class_is_known_to_copy():
    """A new element class that is forgotten in the copy table would be shared by mistake."""
    lists = {f.name for f in dataclasses.fields(Asset) if str(f.type).startswith("list[")}
    assert lists == set(ELEMENT_LISTS)
    named = {str(f.type)[5:-1] for f in dataclasses.fields(Asset) if f.name in lists}
    assert named <= {cls.__name__ for cls in model._MUTABLE}


def test_extras_table():
    extras = build().extras
    extras.keep("mjc", "k", "armature", 0.1)
    assert len(extras) == 2
    assert extras.values() == {"mjc": {"j": {"solref": [0.02, 1.0]}, "k": {"armature": 0.1}}}
    assert [(space, el, attr) for space, el, attr, _ in extras] == [
        ("mjc", "j", "solref"),
        ("mjc", "k", "armature"),
    ]

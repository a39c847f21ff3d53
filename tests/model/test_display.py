"""How the model shows itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import simwright
from simwright.core.math3d import Pose
from simwright.model.asset import ELEMENT_LISTS, Asset, Body, Environment, Shape, Site
from simwright.model.display import LONGEST
from simwright.model.geometry import Box, Heightfield, Mesh, MeshData, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion

SOURCES = [
    "arm/urdf/arm.urdf",
    "rover/model.sdf",
    "quadruped/quadruped.xml",
    "fourbar/fourbar.usda",
    "warehouse/warehouse.usda",
]


@pytest.mark.parametrize("source", SOURCES)
def test_nothing_of_a_sample_takes_more_than_a_line(samples, source):
    asset = simwright.load(samples / source)
    assert len(repr(asset)) <= 500
    shown = [e for family in ELEMENT_LISTS for e in getattr(asset, family)]
    shown += [dof for joint in asset.joints for dof in joint.dofs]
    shown += [body.inertial for body in asset.bodies if body.inertial]
    shown += asset.geometries()
    shown += [mesh.data for mesh in asset.geometries() if isinstance(mesh, Mesh)]
    shown += asset.geometries()  # and once they are read
    shown += [asset.environment, asset.provenance, asset.extras]
    for element in shown:
        text = repr(element)
        assert len(text) <= 200, text
        assert "\n" not in text
        assert "array(" not in text


def test_what_a_person_wants_to_know(samples):
    arm = simwright.load(samples / "arm/urdf/arm.urdf")
    assert repr(arm) == (
        "<Asset 'simwright_arm': 13 bodies, 13 joints (8 DOF), 48 shapes, 1 sensor, 20.8 kg>"
    )
    assert repr(arm.body("shoulder_link")) == "<Body 'shoulder_link': 3.8 kg, at (0, 0, 0.092)>"
    assert repr(arm.joint("joint_1")) == (
        "<Joint 'joint_1': revolute, base_link -> shoulder_link, hinge along (0, 0, 1), -3.054 to 3.054 rad>"
    )
    assert repr(arm.shapes[0].geometry) == "<Mesh base_shell.obj: not read yet>"
    assert repr(arm.shapes[0]).startswith("<Shape 'base_link_visual': <Mesh base_shell.obj")


def test_only_what_is_not_as_usual_is_shown():
    assert repr(Site("tool")) == "<Site 'tool'>"
    assert repr(Site("tool", "flange", Pose.of((0, 0, 0.1)))) == (
        "<Site 'tool': body 'flange', pose at (0, 0, 0.1)>"
    )
    assert repr(Environment(gravity=np.array((0.0, 0.0, -9.81)))) == "<Environment: gravity (0, 0, -9.81)>"
    assert repr(Dof(Motion.SLIDE, upper=0.04, lower=0.0)) == "<Dof '': slide along (0, 0, 1), 0 to 0.04 m>"
    assert repr(Box.of(1, 2, 3)) == "<Box: size (1, 2, 3)>"
    assert repr(Pose.of((1 / 3, 0, 0))) == "Pose(p=(0.333333, 0, 0), q=(1, 0, 0, 0))"


def test_masses_that_follow_from_shapes_are_not_guessed():
    light = Asset("a", bodies=[Body("b")])
    assert "kg" not in repr(light)
    light.bodies.append(Body("c", inertial=Inertial(2.0)))
    assert repr(light) == "<Asset 'a': 2 bodies, 0 joints (0 DOF), 0 shapes, at least 2 kg>"


def test_large_and_long_things_stay_short():
    field = Heightfield(np.zeros((1000, 1000)), np.ones(2))
    data = MeshData(np.zeros((99999, 3)), np.zeros(30000, np.int32))
    for element in (
        Shape("s" * 5000, Mesh(data)),
        Shape("t", field),
        Body("b" * 5000),
        Joint("j", JointKind.D6, "p" * 500, "c" * 500, dofs=[Dof(Motion.HINGE)] * 6),
        data,
        field,
    ):
        assert len(repr(element)) <= LONGEST + 2


def test_every_element_shows_itself_in_a_line():
    """A new element class that forgets ``repr=False`` would show its arrays."""
    from simwright.model import asset as model
    from simwright.model.display import Shown

    for cls in (*model._MUTABLE, Asset, Environment):
        assert issubclass(cls, Shown)
        assert cls.__repr__ is Shown.__repr__, cls
        assert dataclasses.is_dataclass(cls)


def test_tables_for_notebooks_are_escaped(samples):
    page = simwright.load(samples / "arm/urdf/arm.urdf")._repr_html_()
    assert page.count("<table>") == 2
    for word in ("joint_1", "-3.054 to 3.054 rad", "shoulder_link", "3.8 kg", "revolute", "(0, 0, 1)"):
        assert f"<td>{word}</td>" in page
    empty = Asset("frames", bodies=[Body("frame"), Body("ball")], shapes=[Shape("s", Sphere(0.1), "ball")])
    rows = [row.split("</td><td>") for row in empty._repr_html_().split("<tr><td>")[1:]]
    assert [(row[0], row[-1][:1]) for row in rows] == [("frame", "0"), ("ball", "1")]
    wild = Asset("<script>alert(1)</script>", bodies=[Body(f"<b>{i}") for i in range(100)])
    wild.provenance.file = "<i>"
    text = wild._repr_html_()
    assert "<script>" not in text
    assert "<i>" not in text
    assert "<b>0" not in text
    assert "and 40 more" in text

"""Equalities, mimics, tendons and contact exclusions."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simwright.core.math3d import IDENTITY
from simwright.model.coordinates import shift_polynomial
from simwright.model.joint import EqualityKind

BODIES = """<worldbody>
  <body name="a" pos="0 0 1"><freejoint name="free"/><geom name="ga" size=".1"/>
    <site name="sa" pos=".1 .2 .3" euler="10 20 30"/></body>
  <body name="b" pos="0 1 1" euler="0 0 90"><joint name="h" ref="30"/><joint name="k" axis="1 0 0" ref="-20"/>
    <geom name="gb" size=".1"/><site name="sb" pos="0 0 .2"/></body>
</worldbody>
<tendon>
  <fixed name="sum"><joint joint="h" coef="2"/><joint joint="k" coef="-1"/></fixed>
  <spatial name="cable" limited="true" range=".1 .9" stiffness="7" springlength=".3 .4"
    damping="2" width=".01">
    <site site="sa"/><geom geom="gb" sidesite="sb"/><site site="sb"/>
    <pulley divisor="2"/><site site="sa"/><site site="sb"/></spatial>
</tendon>"""


def model(equality: str, more: str = "") -> str:
    return f"<mujoco>{BODIES}<equality>\n{equality}</equality>{more}</mujoco>"


@pytest.mark.parametrize(
    "text",
    [
        '<connect body1="a" body2="b" anchor=".1 .2 0"/>',
        '<connect body1="a" anchor=".1 .2 0"/>',
        '<weld body1="a" body2="b"/>',
        '<weld body1="a" body2="b" anchor=".3 .2 .1"/>',
    ],
)
def test_frames_meet_where_the_file_starts(text, read_text):
    asset = read_text(model(text))
    (equality,) = asset.equalities
    poses = {body.name: body.pose for body in asset.bodies} | {"": IDENTITY}
    a = poses[equality.a] @ equality.frame_a
    b = poses[equality.b] @ equality.frame_b
    assert np.allclose(a.p, b.p, atol=1e-9)
    if equality.kind is EqualityKind.WELD:
        assert a.is_close(b)


def test_a_weld_with_a_pose_holds_it(read_text):
    text = '<weld name="w" body1="a" body2="b" relpose="1 2 3 0 1 0 0" torquescale=".5" active="false"/>'
    (equality,) = read_text(model(text)).equalities
    assert (equality.name, equality.torque_scale, equality.enabled) == ("w", 0.5, False)
    relative = equality.frame_a @ ~equality.frame_b
    assert np.allclose(relative.p, (1, 2, 3))
    assert np.allclose(np.abs(relative.q), (0, 1, 0, 0))


@pytest.mark.parametrize("kind", ["connect", "weld"])
def test_sites_are_the_frames(kind, read_text):
    asset = read_text(model(f'<{kind} site1="sa" site2="sb"/>'))
    (equality,) = asset.equalities
    assert (equality.kind, equality.a, equality.b) == (kind, "a", "b")
    assert equality.frame_a.is_close(asset.sites[0].pose)
    assert equality.frame_b.is_close(asset.sites[1].pose)


def test_a_mimic_holds_where_mujoco_is_satisfied(read_text, tmp_path):
    (mimic,) = read_text(model('<joint joint1="h" joint2="k" polycoef=".1 2 .3 .4 .5"/>')).mimics
    assert (mimic.follower, mimic.leader) == ("h", "k")
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(compiled)
    data.qpos[8] = 0.7
    powers = [mimic.offset, mimic.multiplier, *mimic.polynomial]
    data.qpos[7] = sum(c * 0.7**i for i, c in enumerate(powers))
    mujoco.mj_forward(compiled, data)
    assert data.efc_pos[0] == pytest.approx(0.0, abs=1e-12)


def test_a_linear_mimic_has_no_polynomial(read_text):
    (mimic,) = read_text(model('<joint joint1="h" joint2="k" polycoef="0 1 0 0 0"/>')).mimics
    assert (mimic.multiplier, mimic.polynomial) == (1.0, ())
    assert mimic.offset == pytest.approx(np.radians(50))


def test_shifting_nothing_changes_nothing():
    assert shift_polynomial((1, 2, 3, 4, 5), 0.0, 0.0) == [1, 2, 3, 4, 5]


def test_a_joint_held_by_itself_is_reported_and_kept(read_text, reporter):
    asset = read_text(model('<joint name="lock" joint1="h" polycoef=".5 0 0 0 0"/>'))
    (finding,) = reporter
    assert (finding.kind, finding.where.line) == ("mjcf-not-carried", 14)
    assert asset.mimics == []
    assert asset.extras.get("mjc", "equality/lock", "joint1") == "h"
    assert asset.extras.get("mjc", "equality/lock", "data")[0] == 0.5


def test_tendons(read_text):
    asset = read_text(model('<tendon tendon1="sum" tendon2="cable" polycoef="1 2 0 0 0"/>'))
    total, cable = asset.tendons
    assert [(p.kind, p.name, p.value) for p in total.path] == [("joint", "h", 2.0), ("joint", "k", -1.0)]
    assert [(p.kind, p.name) for p in cable.path] == [
        ("site", "sa"),
        ("wrap", "gb"),
        ("site", "sb"),
        ("pulley", ""),
        ("site", "sa"),
        ("site", "sb"),
    ]
    assert (cable.path[1].side, cable.path[3].value) == ("sb", 2.0)
    assert (cable.lower, cable.upper, cable.rest_length) == (0.1, 0.9, (0.3, 0.4))
    assert (cable.stiffness, cable.damping, cable.width) == (7.0, 2.0, 0.01)
    (equality,) = asset.equalities
    assert (equality.kind, equality.a, equality.b) == (EqualityKind.TENDON, "sum", "cable")
    assert equality.polynomial == (1.0, 2.0, 0.0, 0.0, 0.0)


def test_exclusions(read_text):
    (pair,) = read_text(model("", '<contact><exclude body1="a" body2="b"/></contact>')).contact_filters
    assert {pair.a, pair.b} == {"a", "b"}
    assert pair.of == "body"

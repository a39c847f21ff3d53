"""Actuators: recognised by their law, and carried whole."""

from __future__ import annotations

import mujoco
import pytest


def model(actuator: str, more: str = "") -> str:
    return (
        '<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/><geom size=".1"/><site name="s"/>'
        '<body name="b" pos="0 0 1"><joint name="k" type="slide"/><geom size=".1"/>'
        '<site name="t"/></body></body></worldbody>'
        '<tendon><spatial name="cable"><site site="s"/><site site="t"/></spatial></tendon>'
        f"<actuator>{actuator}</actuator>{more}</mujoco>"
    )


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ('<motor joint="j"/>', "motor", "motor"),
        ('<general joint="j"/>', "motor", "motor"),
        ('<general joint="j" gainprm="2"/>', "general", "general"),
        ('<position joint="j" kp="3"/>', "position", "position"),
        ('<position joint="j" kp="3" kv="1" timeconst=".1"/>', "position", "position"),
        ('<general joint="j" gainprm="9" biastype="affine" biasprm="0 -9 -2"/>', "position", "position"),
        ('<velocity joint="j" kv="4"/>', "velocity", "velocity"),
        ('<intvelocity joint="j" kp="2" actrange="-1 1"/>', "general", "intvelocity"),
        ('<damper joint="j" kv="3" ctrlrange="0 1"/>', "general", "damper"),
        ('<cylinder joint="j" timeconst="1" area="2"/>', "general", "cylinder"),
        ('<muscle tendon="cable" lengthrange=".1 2"/>', "general", "muscle"),
        ('<adhesion body="b" ctrlrange="0 1"/>', "general", "adhesion"),
    ],
)
def test_kinds(text, kind, word, read_text):
    (actuator,) = read_text(model(text)).actuators
    assert (actuator.kind, actuator.settings["mjcf"]) == (kind, word)


def test_a_position_servo(read_text):
    text = '<position name="p" joint="j" kp="30" kv="2" gear="5" ctrlrange="-1 2" forcerange="-7 8"/>'
    (actuator,) = read_text(model(text)).actuators
    assert (actuator.name, actuator.target, actuator.transmission) == ("p", "j", "joint")
    assert (actuator.stiffness, actuator.damping) == (30.0, 2.0)
    assert actuator.gear == (5.0,)
    assert (actuator.force_range, actuator.settings["gain_type"]) == ((-7.0, 8.0), "fixed")
    assert actuator.control_range == pytest.approx((-1.0, 2.0))


def test_a_damping_ratio_is_resolved(read_text):
    (actuator,) = read_text(model('<position joint="j" kp="30" dampratio="1"/>')).actuators
    assert actuator.kind == "position"
    assert actuator.damping > 0


@pytest.mark.parametrize(
    ("text", "transmission", "target"),
    [
        ('<motor jointinparent="k"/>', "joint_in_parent", "k"),
        ('<motor tendon="cable"/>', "tendon", "cable"),
        ('<motor site="s" refsite="t" gear="0 0 1 0 0 2"/>', "site", "s"),
        ('<motor cranksite="s" slidersite="t" cranklength=".5"/>', "slider_crank", "s"),
    ],
)
def test_transmissions(text, transmission, target, read_text):
    (actuator,) = read_text(model(text)).actuators
    assert (actuator.transmission, actuator.target) == (transmission, target)
    if transmission == "site":
        assert actuator.gear == (0.0, 0.0, 1.0, 0.0, 0.0, 2.0)
        assert actuator.settings["reference_site"] == "t"
    if transmission == "slider_crank":
        assert (actuator.settings["slider_site"], actuator.settings["crank_length"]) == ("t", 0.5)


def test_several_controls(read_text):
    if not hasattr(mujoco.MjModel, "actuator_ctrladr"):
        pytest.skip("actuators with several controls need MuJoCo 4")
    text = '<motor name="m" joint="j"/><pid name="p" joint="j" kp="1"/>'
    text += '<motor name="n" joint="j" ctrlrange="-3 4"/>'
    asset = read_text(model(text, '<keyframe><key ctrl="1 2 3 4"/></keyframe>'))
    assert asset.keyframes[0].controls == {"m": 1.0, "p[0]": 2.0, "p[1]": 3.0, "n": 4.0}
    assert asset.actuators[1].settings["controls"] == 2
    assert asset.actuators[2].control_range == (-3.0, 4.0)

"""Motors on joints: MuJoCo's and Newton's laws as neutral actuators."""

from __future__ import annotations

import math
from typing import Any

import pytest

from simwright.resolve.translation import Untranslatable, read_mjc_motor, read_newton_motor

DEGREE = math.pi / 180.0


def write_laws(unit: float) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Neutral motors and what an MjcActuator of the same law says; ``unit``: one degree, or 1 for a slide."""
    return [
        ({"controlMode": "effort"}, {"mjc:gainPrm": [1.0]}),
        (
            {"controlMode": "effort", "gain": 3.0, "gear": -50.0},
            {"mjc:gainType": "fixed", "mjc:gainPrm": [3.0, *[0.0] * 9], "mjc:gear": [-50.0, *[0.0] * 5]},
        ),
        (
            {"controlMode": "position", "stiffness": 2.0, "damping": 0.5, "controlLower": -90.0,
             "controlUpper": 45.0},
            {"mjc:gainPrm": [2.0 / unit], "mjc:biasType": "affine", "mjc:biasPrm": [0.0, -2.0 / unit, -0.5 / unit],
             "mjc:ctrlRange:min": -90.0 * unit, "mjc:ctrlRange:max": 45.0 * unit, "mjc:ctrlLimited": "true"},
        ),
        (
            {"controlMode": "position", "stiffness": 2.0, "effortLower": -1.0, "effortUpper": 4.0,
             "timeConstant": 0.1},
            {"mjc:gainPrm": [2.0 / unit], "mjc:biasType": "affine", "mjc:biasPrm": [0.0, -2.0 / unit],
             "mjc:dynType": "filter", "mjc:dynPrm": [0.1, *[0.0] * 9],
             "mjc:forceRange:min": -1.0, "mjc:forceRange:max": 4.0, "mjc:forceLimited": "true"},
        ),
        (
            {"controlMode": "velocity", "damping": 0.5, "effortLower": -4.0, "effortUpper": 4.0},
            {"mjc:gainPrm": [0.5 / unit], "mjc:biasType": "affine", "mjc:biasPrm": [0.0, 0.0, -0.5 / unit],
             "mjc:forceRange:min": -4.0, "mjc:forceRange:max": 4.0, "mjc:forceLimited": "true"},
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("angular", [False, True])
@pytest.mark.parametrize("number", range(5))
def test_laws_of_mujoco(number: int, angular: bool) -> None:
    motor, authored = write_laws(DEGREE if angular else 1.0)[number]
    found = read_mjc_motor(authored, angular=angular)
    assert found.pop("controlMode") == motor.pop("controlMode")
    assert found == pytest.approx(motor)


@pytest.mark.parametrize(
    ("authored", "motor"),
    [
        ({"newton:kp": 0.0, "newton:kd": 0.0}, {"controlMode": "effort"}),
        (
            {"newton:kp": 0.0, "newton:kd": 0.5 / DEGREE, "newton:maxEffort": 4.0},
            {"controlMode": "velocity", "damping": 0.5, "effortLower": -4.0, "effortUpper": 4.0},
        ),
        ({"newton:kp": 2.0 / DEGREE}, {"controlMode": "position", "stiffness": 2.0}),
    ],
)
def test_laws_of_newton(authored: dict[str, Any], motor: dict[str, Any]) -> None:
    found = read_newton_motor(authored, angular=True, limited=True)
    assert found.pop("controlMode") == motor.pop("controlMode")
    assert found == pytest.approx(motor)


def test_a_servo_of_mujoco() -> None:
    authored = {
        "mjc:gainPrm": [50, *[0] * 9],
        "mjc:biasType": "affine",
        "mjc:biasPrm": [0, -50, -1, *[0] * 7],
        "mjc:ctrlRange:min": -1.0,
        "mjc:ctrlRange:max": 2.0,
    }
    found = read_mjc_motor(authored, angular=True)
    assert found.pop("controlMode") == "position"
    assert found == pytest.approx(
        {
            "stiffness": 50 * DEGREE,
            "damping": DEGREE,
            "controlLower": -1.0 / DEGREE,
            "controlUpper": 2.0 / DEGREE,
        }
    )
    assert "controlLower" not in read_mjc_motor(authored, angular=True, auto=False)


@pytest.mark.parametrize("gain", [0.25, 4.0])
def test_weak_servos_are_servos_too(gain: float) -> None:
    affine = {"mjc:gainPrm": [gain], "mjc:biasType": "affine"}
    position = read_mjc_motor(affine | {"mjc:biasPrm": [0, -gain, 0]}, angular=False)
    assert (position["controlMode"], position["stiffness"]) == ("position", gain)
    velocity = read_mjc_motor(affine | {"mjc:biasPrm": [0, 0, -gain]}, angular=False)
    assert (velocity["controlMode"], velocity["damping"]) == ("velocity", gain)


def test_a_servo_may_take_its_range_from_the_joint() -> None:
    authored = {
        "mjc:gainPrm": [5.0],
        "mjc:biasType": "affine",
        "mjc:biasPrm": [0.0, -5.0],
        "mjc:inheritRange": 0.5,
    }
    found = read_mjc_motor(authored, angular=False, reach=(1.0, 3.0))
    assert (found["controlLower"], found["controlUpper"]) == (1.5, 2.5)


@pytest.mark.parametrize(
    ("authored", "words"),
    [
        ({"mjc:gainType": "muscle"}, "motor or servo"),
        ({"mjc:biasType": "muscle"}, "of type muscle"),
        ({"mjc:biasType": "affine", "mjc:biasPrm": [0, -50, 1]}, "motor or servo"),
        ({"mjc:gainPrm": [50], "mjc:biasType": "affine", "mjc:biasPrm": [0, -50, 0.5]}, "motor or servo"),
        ({"mjc:biasType": "affine", "mjc:biasPrm": [1, 0, 0]}, "motor or servo"),
        ({"mjc:dynType": "integrator"}, "of type integrator"),
        ({"mjc:gear": [1, 2, 0, 0, 0, 0]}, "several numbers"),
    ],
)
def test_other_laws_have_no_neutral_form(authored: dict[str, Any], words: str) -> None:
    with pytest.raises(Untranslatable, match=words):
        read_mjc_motor(authored, angular=True)


def test_numbers_of_a_bias_that_is_switched_off_say_nothing() -> None:
    assert read_mjc_motor({"mjc:biasPrm": [0, -5, 0]}, angular=True) == {"controlMode": "effort"}


def test_a_constant_effort_of_newton_has_no_neutral_form() -> None:
    with pytest.raises(Untranslatable):
        read_newton_motor({"newton:constEffort": 1.0}, angular=True, limited=False)

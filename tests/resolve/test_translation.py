"""The table between engines' words and neutral ones, used both ways."""

from __future__ import annotations

import math

import pytest

from simwright.resolve.resolver import DEFAULT_ORDER
from simwright.resolve.table import SI, UNSET, PrimType, Scale
from simwright.resolve.translation import (
    Pair,
    are_same,
    list_blocking,
    list_pairs,
    translate_to_neutral,
    translate_to_vendor,
)

PAIRS = [pair for prim in PrimType for pair in list_pairs(prim)]
SCALES = (SI, Scale(0.01, 0.001), Scale(1.0, 1.0, angle=1.0))


def test_there_are_pairs_of_every_engine() -> None:
    assert {pair.vendor for pair in PAIRS} <= set(DEFAULT_ORDER)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.vendor} {pair.theirs.attribute}")
@pytest.mark.parametrize("scale", SCALES, ids=("SI", "centimetres and grams", "radians"))
@pytest.mark.parametrize("angular", [False, True])
def test_a_value_comes_back(pair: Pair, scale: Scale, angular: bool) -> None:
    neutral = {pair.name: 0.25}
    theirs = pair.to_vendor(neutral, scale, angular=angular)
    assert theirs
    assert pair.to_neutral(theirs, scale, angular=angular) == pytest.approx(0.25)
    assert pair.is_exact(theirs, scale, angular=angular)


def test_radians_become_degrees() -> None:
    found = translate_to_neutral(
        "mjc", PrimType.JOINT, {"mjc:damping": 0.1, "mjc:frictionloss": 2.0}, angular=True
    )
    assert found["ext_physics:joint:damping"] == pytest.approx(0.1 * math.pi / 180.0)
    assert found["ext_physics:joint:friction"] == 2.0
    slide = translate_to_neutral("mjc", PrimType.JOINT, {"mjc:damping": 0.1})
    assert slide == {"ext_physics:joint:damping": pytest.approx(0.1)}


def test_what_one_engine_says_another_can_be_told() -> None:
    authored = {"mjc:armature": 0.5, "mjc:damping": 0.1}
    neutral = translate_to_neutral("mjc", PrimType.JOINT, authored, angular=True)
    newton = translate_to_vendor("newton", PrimType.JOINT, neutral, angular=True)
    assert newton == {"newton:armature": 0.5, "newton:damping": pytest.approx(0.1 * math.pi / 180.0)}
    assert translate_to_vendor("physx", PrimType.JOINT, neutral, angular=True) == {"physxJoint:armature": 0.5}
    assert translate_to_vendor("mjc", PrimType.JOINT, neutral, angular=True) == pytest.approx(authored)


def test_attributes_that_mix_quantities_come_back() -> None:
    authored = {"physxCollision:contactOffset": 0.03, "physxCollision:restOffset": 0.01}
    neutral = translate_to_neutral("physx", PrimType.SHAPE, authored)
    assert neutral == {"ext_physics:contact:margin": 0.01, "ext_physics:contact:gap": pytest.approx(0.02)}
    assert translate_to_vendor("physx", PrimType.SHAPE, neutral) == pytest.approx(authored)


def test_no_limit_is_infinite_on_both_sides() -> None:
    pair = next(pair for pair in PAIRS if pair.theirs.attributes == ("newton:velocityLimit",))
    assert pair.to_neutral({"newton:velocityLimit": math.inf}) == math.inf
    assert pair.to_vendor({pair.name: math.inf}) == {"newton:velocityLimit": math.inf}


def test_as_you_like_has_no_neutral_form() -> None:
    pair = next(pair for pair in PAIRS if pair.theirs.attributes == ("newton:contactGap",))
    assert pair.to_neutral({"newton:contactGap": -math.inf}) is UNSET


def test_a_range_that_is_not_symmetric_is_no_limit() -> None:
    pair = next(pair for pair in PAIRS if pair.ours.key == "effort_limit")
    even = {"mjc:actuatorfrcrange:min": -3.0, "mjc:actuatorfrcrange:max": 3.0}
    odd = {"mjc:actuatorfrcrange:min": -1.0, "mjc:actuatorfrcrange:max": 3.0}
    assert pair.is_exact(even)
    assert not pair.is_exact(odd)


def test_a_reference_per_mass_is_no_stiffness() -> None:
    assert not [pair for pair in PAIRS if "mjc:solref" in pair.theirs.attributes]
    assert "mjc:solref" in list_blocking(PrimType.MATERIAL)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 1.0 + 1e-7, True),
        (1.0, 1.001, False),
        (math.inf, math.inf, True),
        (0.0, 0.0, True),
        ("a", "a", True),
    ],
)
def test_same(one: object, other: object, same: bool) -> None:
    assert are_same(one, other) is same

"""Rules of joints that follow others, in every dialect."""

from __future__ import annotations

import math

import pytest

from simwright.resolve.translation import DIALECTS, Dialect, MimicCoefficients

DEGREE = math.pi / 180.0
BY_VENDOR = {dialect.vendor: dialect for dialect in DIALECTS}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.vendor)
@pytest.mark.parametrize("follower", [False, True])
@pytest.mark.parametrize("leader", [False, True])
def test_a_rule_comes_back(dialect: Dialect, follower: bool, leader: bool) -> None:
    rule = MimicCoefficients(10.0, -2.0)
    theirs = dialect.to_vendor(rule, follower=follower, leader=leader)
    assert dialect.to_neutral(theirs, follower=follower, leader=leader) == pytest.approx(rule)


@pytest.mark.parametrize(
    ("vendor", "theirs", "follower", "leader", "neutral"),
    [
        ("newton", MimicCoefficients(10.0, 2.0), True, True, MimicCoefficients(10.0, 2.0)),
        ("newton", MimicCoefficients(0.1, 0.02), False, True, MimicCoefficients(0.1, 0.02 * DEGREE)),
        ("mjc", MimicCoefficients(math.pi, 2.0), True, True, MimicCoefficients(180.0, 2.0)),
        ("mjc", MimicCoefficients(0.1, 0.02), False, True, MimicCoefficients(0.1, 0.02 * DEGREE)),
        ("physx", MimicCoefficients(3.0, 0.5), True, True, MimicCoefficients(-3.0, -0.5)),
        ("physx", MimicCoefficients(3.0, 0.5), False, True, MimicCoefficients(-3.0, -0.5)),
    ],
)
def test_numbers(
    vendor: str, theirs: MimicCoefficients, follower: bool, leader: bool, neutral: MimicCoefficients
) -> None:
    assert BY_VENDOR[vendor].to_neutral(theirs, follower=follower, leader=leader) == pytest.approx(neutral)


def test_an_instance_is_part_of_the_name() -> None:
    physx = BY_VENDOR["physx"]
    assert physx.name(physx.offset, "rotX") == "physxMimicJoint:rotX:offset"
    assert BY_VENDOR["newton"].name("newton:mimicJoint", "") == "newton:mimicJoint"

# SPDX-License-Identifier: Apache-2.0
"""Documents are held against models; every problem has its place and says what was meant."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.documents.read import parse_document
from simwright.core.documents.record import Record
from simwright.core.documents.validate import InvalidDocumentError, suggest, validate_document


class Wheel(Record):
    kind: Literal["wheel"]
    radius: Number = Field(gt=0)


class Leg(Record):
    kind: Literal["leg"]
    length: Number


class Base(Record):
    colour: Literal["red", "green"] = "red"
    size: tuple[Number, Number, Number] | None = None


class Robot(Record):
    name: str
    base: Base = Base()
    parts: list[Annotated[Wheel | Leg, Field(discriminator="kind")]] = Field(default_factory=list)
    named: dict[str, Base] = Field(default_factory=dict)
    strict: bool = False
    count: int = 1


def find_problems(text):
    with pytest.raises(InvalidDocumentError) as caught:
        validate_document(Robot, parse_document(text, name="r.yaml"), what="robot")
    return caught.value


def test_a_good_document():
    robot = validate_document(
        Robot,
        parse_document(
            "name: a\nparts: [{kind: wheel, radius: pi / 2}, {kind: leg, length: 2}]\nnamed: {x: {}}"
        ),
    )
    assert robot.parts[0].radius == pytest.approx(1.5707963)
    assert robot.named["x"].colour == "red"


@pytest.mark.parametrize(
    ("text", "where", "message", "hint"),
    [
        ("nmae: a\nname: b", "1:1", "unknown key 'nmae'", "did you mean 'name'?"),
        ("base: {}", "1:1", "the key 'name' is missing", ""),
        ("name: a\nbase:\n  color: red", "3:3", "unknown key 'color' in base", "did you mean 'colour'?"),
        ("name: a\nbase:\n  colour: gren", "3:11", "base.colour: 'gren' is not one of red, green", "'green'"),
        (
            "name: a\nparts:\n- {kind: wheel, radius: -1}",
            "3:25",
            "parts[0].radius: has to be greater than 0",
            "",
        ),
        (
            "name: a\nparts:\n- {kind: wheel, raduis: 1, radius: 2}",
            "3:17",
            "unknown key 'raduis'",
            "'radius'",
        ),
        ("name: a\nparts:\n- {kind: whel}", "3:3", "'whel' is not one of wheel, leg", "'wheel'"),
        ("name: a\nparts:\n- {radius: 1}", "3:3", "parts[0]: the key 'kind' is missing", ""),
        (
            "name: a\nparts:\n- {kind: leg, length: 1 +}",
            "3:23",
            "'1 +' is not a number: a value is missing",
            "",
        ),
        ("name: a\nnamed:\n  x: {siez: 1}", "3:7", "unknown key 'siez' in named.x", "'size'"),
        ("name: a\nbase: 3", "2:7", "base: has to be a mapping of keys to values, not 3", ""),
        ("name: 1", "1:7", "name: has to be a valid string, not 1", ""),
        ("name: a\ncount: 1.5", "2:8", "count: has to be a valid integer", ""),
        ("name: a\nbase: {size: [1, 2]}", "2:14", "base.size", ""),
        ("- a", "1:1", "the robot has to be a mapping", ""),
    ],
)
def test_each_problem(text, where, message, hint):
    error = find_problems(text)
    assert len(error.problems) == 1, error
    assert message in error.message
    assert hint in error.hint
    assert str(error.where) == f"r.yaml:{where}"


def test_all_problems_at_once_in_order():
    error = find_problems(
        "naem: x\nbase: {colour: blue}\nparts:\n- {kind: leg}\n- {kind: wheel, radius: zero}\n"
    )
    assert [p.where.line for p in error.problems] == [1, 1, 2, 4, 5]
    text = str(error)
    assert text.startswith("r.yaml: the robot has 5 problems:")
    assert "r.yaml:5:25: parts[1].radius: 'zero' is not a number: the name 'zero' is not known" in text


def test_many_problems_are_counted():
    parts = "\n".join("- {kind: leg}" for _ in range(30))
    assert "... and 10 more" in str(find_problems(f"name: a\nparts:\n{parts}\n"))


def test_a_part_of_a_document_keeps_its_places():
    document = parse_document("robots:\n  one:\n    nam: x\n", name="f")
    with pytest.raises(InvalidDocumentError) as caught:
        validate_document(Robot, document, path=("robots", "one"))
    places = [str(problem.where) for problem in caught.value.problems]
    assert places == ["f:3:5", "f:3:5"]
    assert "unknown key 'nam' in robots.one" in str(caught.value)


def test_unknown_keys_can_be_left_out():
    text = "name: a\nnew: 1\nbase: {x: 1, colour: green}\nparts: [{kind: leg, length: 1, y: {z: 2}}]\n"
    ignored = []
    robot = validate_document(Robot, parse_document(text), ignored=ignored)
    assert robot.base.colour == "green"
    assert ignored == ["base.x", "parts[0].y", "new"]
    with pytest.raises(InvalidDocumentError, match="is not one of red, green"):
        validate_document(Robot, parse_document(text.replace("green", "grey"), name="f"), ignored=[])


def test_renamed_keys_keep_their_place():
    def rename(data):
        return {"count" if key == "number" else key: value for key, value in data.items()}

    document = parse_document("name: a\nnumber: many\n", name="f")
    with pytest.raises(InvalidDocumentError) as caught:
        validate_document(Robot, document, prepare=rename, aliases={"count": ["number"]})
    assert str(caught.value.where) == "f:2:9"


def test_a_word_like_no_other_is_answered_with_those_there_are() -> None:
    assert suggest("radios", ["height", "radius"]) == "did you mean 'radius'?"
    assert suggest("zzz", ["height", "radius"]) == "known: height, radius"
    assert suggest("zzz", []) == ""
    words = [f"word{number:02}" for number in range(33)]
    assert suggest("zzz", words) == f"known: {', '.join(words[:30])} and 3 more"

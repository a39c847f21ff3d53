# SPDX-License-Identifier: Apache-2.0
"""Numbers written as expressions."""

import math

import pytest
from pydantic import TypeAdapter, ValidationError

from simwright.core.documents.expressions import Number, evaluate_expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pi * 0.5", math.pi / 2),
        ("-pi", -math.pi),
        ("- -3", 3.0),
        ("1 - 2 - 3", -4.0),
        ("12 / 2 / 3", 2.0),
        ("2 + 3 * 4", 14.0),
        ("(2 + 3) * -4", -20.0),
        ("1e6", 1e6),
        (".5e-1", 0.05),
        ("2.", 2.0),
        ("0x10", 16.0),
        ("1_000", 1000.0),
        ("True", 1.0),
        ("  pi  ", math.pi),
        ("+-+2", -2.0),
    ],
)
def test_values(text, value):
    assert evaluate_expression(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 ** 3", r"'\*\*' is not expected"),
        ("7 // 2", "'//' is not expected"),
        ("e", "the name 'e' is not known"),
        ("sin(pi)", "the name 'sin' is not known"),
        ("__import__('os')", "is not known"),
        ("1/0", "division by zero"),
        ("", "a value is missing"),
        ("1 +", "a value is missing"),
        ("(1", "not closed"),
        ("1 2", "'2' is not expected"),
        ("1;2", "';' is not allowed"),
        ("1e999", "too large"),
        ("(" * 50 + "1" + ")" * 50, "too many parentheses"),
        ("1" + "+1" * 200, "200 characters"),
        ("pi.real", "is not"),
    ],
)
def test_what_is_no_expression(text, message):
    with pytest.raises(ValueError, match=message):
        evaluate_expression(text)


def test_number_fields():
    numbers = TypeAdapter(Number)
    assert numbers.validate_python(True) == 1.0
    assert numbers.validate_python(3) == 3.0
    assert numbers.validate_python("pi/2") == math.pi / 2
    assert numbers.validate_python(math.inf) == math.inf
    for wrong in (None, [1], {}, "one", math.nan, 10**400):
        with pytest.raises(ValidationError):
            numbers.validate_python(wrong)

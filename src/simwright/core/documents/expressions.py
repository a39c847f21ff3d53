# SPDX-License-Identifier: Apache-2.0
"""Numbers as people write them: ``3``, ``0.5``, ``1e6``, ``pi * 0.5``, ``-(pi / 2)``.

A small reader of its own: literals, ``pi``, ``+ - * /``, signs and parentheses; no names, no functions, no powers.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

MAX_LENGTH = 200
MAX_DEPTH = 20
_TOKEN = re.compile(
    r"\s*(?:(?P<hex>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)"
    r"|(?P<number>(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<mark>\*\*|//|[-+*/()])|(?P<end>\Z))"
)
_NAMES = {"pi": math.pi, "True": 1.0, "False": 0.0}


def evaluate_expression(text: str) -> float:
    """The value of an expression; a ValueError says what is wrong with it."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"an expression may have {MAX_LENGTH} characters, this one has {len(text)}")
    # not eval, nor ast: documents come from strangers, and powers such as 9**9**9 would never end
    reader = _Reader(text)
    value = reader.read_sum(0)
    if reader.kind != "end":
        raise ValueError(f"{reader.token!r} is not expected")
    if not math.isfinite(value):
        raise ValueError("the result is too large")
    return value


class _Reader:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.kind = ""
        self.token = ""
        self._advance()

    def read_sum(self, depth: int) -> float:
        if depth > MAX_DEPTH:
            raise ValueError("too many parentheses")
        value = self._read_product(depth)
        while self.token in {"+", "-"}:
            sign = 1.0 if self._take() == "+" else -1.0
            value += sign * self._read_product(depth)
        return value

    def _read_product(self, depth: int) -> float:
        value = self._read_signed(depth)
        while self.token in {"*", "/"}:
            if self._take() == "*":
                value *= self._read_signed(depth)
                continue
            divisor = self._read_signed(depth)
            if divisor == 0.0:
                raise ValueError("division by zero")
            value /= divisor
        return value

    def _read_signed(self, depth: int) -> float:
        sign = 1.0
        while self.token in {"+", "-"}:
            sign = -sign if self._take() == "-" else sign
        return sign * self._read_atom(depth)

    def _read_atom(self, depth: int) -> float:
        kind, token = self.kind, self._take()
        if kind == "number":
            return float(token)
        if kind == "hex":
            # YAML 1.1 has such numbers, and so must the text form
            return float(int(token, 0))
        if kind == "name" and token in _NAMES:
            return _NAMES[token]
        if kind == "name":
            raise ValueError(f"the name {token!r} is not known; there is only 'pi'")
        if token == "(":
            value = self.read_sum(depth + 1)
            if self._take() != ")":
                raise ValueError("a parenthesis is not closed")
            return value
        raise ValueError("a value is missing" if kind == "end" else f"{token!r} is not expected")

    def _take(self) -> str:
        token = self.token
        self._advance()
        return token

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise ValueError(f"{self._text[self._at :].strip()[:1]!r} is not allowed")
        self._at = match.end()
        self.kind = match.lastgroup or "end"
        self.token = match[self.kind]


def read_number(value: Any) -> Any:
    """A number, also written as an expression; anything else is left for the validator to refuse."""
    # before int, of which bool is a kind
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            raise PydanticCustomError("number", "the number is too large") from None
    if isinstance(value, str):
        try:
            return evaluate_expression(value)
        except ValueError as error:
            raise PydanticCustomError(
                "expression", "is not a number: {reason}", {"reason": str(error), "value": value[:60]}
            ) from None
    if isinstance(value, float) and math.isnan(value):
        raise PydanticCustomError("number", "is not a number (NaN)")
    return value


NUMBER_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^[-+*/(). 0-9_a-fA-FxXpibo]+$"},
    ],
    "description": "A number, or an expression of numbers, pi, + - * / and parentheses.",
    "examples": [0.5, "pi * 0.5"],
}

Number = Annotated[float, BeforeValidator(read_number), WithJsonSchema(NUMBER_SCHEMA)]
"""A number field of a model; ``Number`` also takes ``pi * 0.5``."""

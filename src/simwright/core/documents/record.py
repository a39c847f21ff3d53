# SPDX-License-Identifier: Apache-2.0
"""The base of document models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError


class Record(BaseModel):
    """A mapping of a document.  Unknown keys are errors; values are not changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def refuse_word(value: Any, known: Iterable[str]) -> PydanticCustomError:
    """The error of a validator that got a word it does not know; "did you mean" is added where it is shown."""
    shown = str(value)[:60]
    return PydanticCustomError(
        "unknown_word", "{tag} is not one of {expected}", {"tag": shown, "expected": ", ".join(known)}
    )


def refuse(message: str) -> PydanticCustomError:
    """The error of a validator that got a wrong value."""
    return PydanticCustomError("wrong_value", "{message}", {"message": message})

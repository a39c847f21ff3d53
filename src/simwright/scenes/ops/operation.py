# SPDX-License-Identifier: Apache-2.0
"""What an operation is: a function whose keyword parameters are the keys of its mapping in the scene file.

::

    @operation
    def set_joint_armature(
        context: OperationContext, choice: JointSelector, *, value: Annotated[Number, Field(...)]
    ) -> None:
        \"\"\"Inertia added to freedoms.\"\"\"

The first parameter is the :class:`~simwright.scenes.ops.context.OperationContext`.  A second positional one is a record
of selectors, whose keys the mapping has as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import BeforeValidator, Field, create_model

from simwright.core.documents.record import Record

if TYPE_CHECKING:
    from simwright.scenes.ops.context import OperationContext


@dataclass(frozen=True, slots=True)
class Operation:
    """A named operation: ``models`` are the mappings it may be written as, told apart by ``type`` if several."""

    name: str
    summary: str
    models: tuple[type[Record], ...]
    apply: Callable[[OperationContext, Any], None]


def operation(function: Callable[..., None]) -> Operation:
    """Make an operation of a function."""
    name = function.__name__
    # annotations are strings until asked for, their Field() descriptions included
    hints = get_type_hints(function, include_extras=True)
    base, fields, choice = Record, {}, False
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        hint = hints[parameter.name]
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[parameter.name] = (hint, default)
        else:
            base, choice = hint, True
    summary = (inspect.getdoc(function) or "").strip()
    model = make_model(name, summary, base, fields)

    def apply(context: OperationContext, data: Any) -> None:
        values = {key: getattr(data, key) for key in fields}
        if choice:
            function(context, data, **values)
        else:
            function(context, **values)

    return Operation(name, summary.splitlines()[0], (model,), apply)


def make_model(
    name: str, summary: str, base: type[Record], fields: dict[str, Any], suffix: str = ""
) -> type[Record]:
    """The record of an operation: ``op`` and its fields on top of ``base``."""
    title = "".join(word.capitalize() for word in name.split("_")) + suffix
    # op is case-insensitive in SAP Warp
    word = Annotated[Literal[name], BeforeValidator(_lower)]  # type: ignore[valid-type]
    made = create_model(
        title, __base__=base, __doc__=summary, op=(word, Field(description=summary.splitlines()[0])), **fields
    )
    assert issubclass(made, Record)
    return made


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def name_operation(data: Any, with_types: Iterable[str]) -> str:
    """The tag of a mapping: its operation, and its type where the operation is written in several ways."""
    if isinstance(data, dict):
        name, kind = data.get("op"), data.get("type", "box")
    else:
        name, kind = getattr(data, "op", None), getattr(data, "type", "box")
    word = str(name).strip().lower()
    return f"{word}:{str(kind).lower()}" if word in with_types else word

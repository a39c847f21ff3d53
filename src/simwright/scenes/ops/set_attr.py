# SPDX-License-Identifier: Apache-2.0
"""``set_attr``: an attribute of the builder."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from simwright.core.documents.record import refuse, refuse_word
from simwright.scenes.document_settings import GRAVITY_SCHEMA, read_gravity
from simwright.scenes.document_values import is_compat
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation

ATTRIBUTES = ("gravity", "rigid_gap", "default_body_armature")


def check_attribute(name: str, info: ValidationInfo) -> str:
    """One of :data:`ATTRIBUTES`; another is recorded later in ``compat="sap"``."""
    if name not in ATTRIBUTES and not is_compat(info):
        raise refuse_word(name, ATTRIBUTES)
    return name


AttributeName = Annotated[str, AfterValidator(check_attribute), WithJsonSchema({"enum": list(ATTRIBUTES)})]


def read_value(value: Any, info: ValidationInfo) -> Any:
    """A number or a vector; anything else is kept in ``compat="sap"``, where it may be for an attribute we skip."""
    try:
        found = read_gravity(value)
    except PydanticCustomError:
        if is_compat(info):
            return value
        raise
    if not isinstance(found, float | tuple) and not is_compat(info):
        raise refuse("has to be a number or a vector")
    return found


Value = Annotated[Any, BeforeValidator(read_value), WithJsonSchema(GRAVITY_SCHEMA)]


@operation
def set_attr(
    context: OperationContext,
    *,
    name: Annotated[AttributeName, Field(description="gravity, rigid_gap or default_body_armature")],
    value: Annotated[Value, Field(description="a number; gravity may be a vector [m/s^2]")],
) -> None:
    """Set an attribute of the builder."""
    # SAP Warp sets any attribute, methods and internal lists too: we record it
    if name not in ATTRIBUTES:
        context.skip(f"post_build set_attr name={name}")
    elif name == "gravity" and isinstance(value, float | tuple):
        context.builder.gravity = value
    elif isinstance(value, float) and value >= 0.0:
        setattr(context.builder, name, value)
    else:
        context.fail(f"{name} has to be a number that is not negative", "value")

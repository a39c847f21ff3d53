# SPDX-License-Identifier: Apache-2.0
"""``sketch_gravity``: gravity as a multiple."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.scenes.builder import as_vector
from simwright.scenes.document_values import Quantity
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation


@operation
def sketch_gravity(
    context: OperationContext,
    *,
    sketch_factor: Annotated[Quantity, Field(ge=0, description="factor for gravity")] = 0.5,
) -> None:
    """Multiply gravity."""
    context.builder.gravity = tuple(as_vector(context.builder.gravity) * sketch_factor)

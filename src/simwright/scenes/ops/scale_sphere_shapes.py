# SPDX-License-Identifier: Apache-2.0
"""``scale_sphere_shapes``: larger or smaller balls."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.runtime.kinds import ShapeType
from simwright.scenes.document_values import Factor
from simwright.scenes.messages import SELECTOR_EMPTY
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import LabelSelector


@operation
def scale_sphere_shapes(
    context: OperationContext,
    choice: LabelSelector,
    *,
    factor: Annotated[Factor, Field(gt=0, description="factor for the radius")] = 1.0,
) -> None:
    """Multiply the radius of spheres; reach and mass follow."""
    builder = context.builder
    # SAP Warp scales every sphere of the scene, whatever is chosen
    chosen = range(builder.shape_count) if context.is_compat else context.choose_shapes(choice)
    spheres = [shape for shape in chosen if builder.shape_type[shape] == ShapeType.SPHERE]
    if chosen and not spheres and not context.is_compat:
        context.reporter.report(
            SELECTOR_EMPTY, context.find_where("op"), selector="scale_sphere_shapes", what="sphere", hint=""
        )
    for shape in spheres:
        radius, b, c = builder.shape_scale[shape]
        builder.resize_shape(shape, (radius * factor, b, c))

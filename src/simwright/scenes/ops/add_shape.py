# SPDX-License-Identifier: Apache-2.0
"""``add_shape``: another shape on a body or the world."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from simwright.scenes.builder_inline import place_shape
from simwright.scenes.document_shapes import SHAPES
from simwright.scenes.document_values import BodyName
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import Operation, make_model

_SUMMARY = "Add a shape to a body or the world; its density adds to the body's mass."


def _apply(context: OperationContext, entry: Any) -> None:
    body = context.find_body(entry.body, "body")
    place_shape(context.builder, body, entry, {}, context.sources, context.find_where("path"))


add_shape = Operation(
    "add_shape",
    _SUMMARY,
    tuple(
        make_model(
            "add_shape",
            _SUMMARY,
            shape,
            {"body": (BodyName, Field("world"))},
            shape.__name__.removesuffix("Shape"),
        )
        for shape in SHAPES
    ),
    _apply,
)

# SPDX-License-Identifier: Apache-2.0
"""``set_array``: a value, several values, or those of another array."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.scenes.document_values import Quantity
from simwright.scenes.ops.arrays import ARRAYS, ArrayName, choose_entries, cut_entries, get_array, put_values
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import InnerRange, JointSelector, Span


@operation
def set_array(
    context: OperationContext,
    choice: JointSelector,
    *,
    array: Annotated[ArrayName, Field(description="array to edit")],
    value: Annotated[Quantity | None, Field(description="one value for every entry")] = None,
    values: Annotated[list[Quantity] | None, Field(description="a value for each entry")] = None,
    from_array: Annotated[ArrayName | None, Field(description="array to copy from")] = None,
    from_range: Annotated[
        InnerRange | None, Field(description="entries to copy; the same as are set, if not said")
    ] = None,
) -> None:
    """Set entries of an array to a value, to several values, or to those of another array.

    Say one of ``value``, ``values`` and ``from_array``.
    """
    # its keys may be said in three ways that exclude each other: the checks are most of it
    for name in (array, from_array):
        if name is not None and name not in ARRAYS:
            context.skip(f"post_build set_array array={name}")
            return
    given = [
        key
        for key, said in (("value", value), ("values", values), ("from_array", from_array))
        if said is not None
    ]
    if len(given) != 1:
        context.fail("set_array needs one of 'value', 'values' and 'from_array'", *given)
    if from_range is not None and from_array is None:
        context.fail("from_range says what to copy, but there is no from_array", "from_range")
    entries = choose_entries(context, array, choice)
    if value is not None:
        found = [value] * len(entries)
    elif values is not None:
        found = list(values)
    else:
        assert from_array is not None
        found = _copy_values(context, from_array, from_range, choice)
    if len(found) != len(entries):
        context.fail(f"{len(found)} values for {len(entries)} entries of {array}", given[0])
    put_values(context, array, entries, found)


def _copy_values(
    context: OperationContext, array: str, span: Span | None, choice: JointSelector
) -> list[float]:
    """Values of another array: of ``span``, else of the entries that the operation itself chooses there."""
    source = get_array(context, array)
    # measured: SAP Warp reads the range of the operation for both arrays where from_range is not said
    picked = choose_entries(context, array, choice) if span is None else cut_entries(context, array, span)
    return [source[entry] for entry in picked]
